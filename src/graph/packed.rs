//! Packed storage of the arguments and results of operations.
//!
//! Each argument and each result is one 32-bit word. Nearly all are tensors: the word is the number of the tensor.
//! Otherwise it is an index into one of two tables: arrays of tensors, and all other values. The parameters of the
//! arguments are the same for all operations of a site, so they are stored once, as a signature.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::{Key, KindId, Operand, Output, TensorId, Value};
use crate::live::Held;
use crate::room::{self, table_id};

/// Set in words that are indices into a table. Numbers of tensors are smaller.
const TABLE: u32 = 1 << 31;
/// Set in indices into the table of arrays of tensors, in addition to [`TABLE`].
const LIST: u32 = 1 << 30;

/// The size of the cache of recently stored numbers. A power of two.
const RECENT: usize = 64;

/// The arguments and results of all operations, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    operands: Vec<u32>,
    /// Arrays of tensors: the length of each, then its tensors.
    lists: Vec<TensorId>,
    values: Vec<Value>,
    /// The bytes of the lists of all values; those that several values share count once for each.
    value_bytes: usize,
    /// A cache: the indices of recently stored numbers by their hashes, so that equal numbers share an index.
    recent: Vec<u32>,
    /// The results of operations that do not have exactly one result: tensors, or indices into `arrays`.
    results: Vec<TensorId>,
    arrays: Vec<Arc<[TensorId]>>,
    /// The bytes of the graph, once [`Graph::count_memory`](super::Graph::count_memory) or
    /// [`Graph::may_grow`](super::Graph::may_grow) counted them.
    pub(super) held: Held,
}

/// A value that is stored in the tables of a graph, to be used as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept(u32);

impl Kept {
    /// A tensor.
    #[inline]
    pub(crate) fn tensor(tensor: TensorId) -> Self {
        Kept(tensor.0)
    }
}

impl Packed {
    /// The bytes of all tables, and of the lists in them.
    pub(crate) fn bytes(&self) -> usize {
        // Long lists of numbers are often shared by several arguments.
        let mut seen: FxHashSet<*const u8> = FxHashSet::default();
        let mut heap = |value: &Value| match value {
            Value::Integers(items) if !seen.insert(items.as_ptr().cast()) => 0,
            Value::Scalars(items) if !seen.insert(items.as_ptr().cast()) => 0,
            value => bytes_of_items(value),
        };
        self.bytes_of_tables() + self.values.iter().map(&mut heap).sum::<usize>()
    }

    /// At least the bytes of all tables, and of the lists in them, in constant time.
    pub(super) fn bytes_at_most(&self) -> usize {
        self.bytes_of_tables() + self.value_bytes
    }

    fn bytes_of_tables(&self) -> usize {
        let words = size_of_val(&self.operands[..]) + size_of_val(&self.lists[..]) + size_of_val(&self.results[..]);
        words + size_of_val(&self.values[..])
    }

    #[inline]
    pub(crate) fn push_tensor(&mut self, tensor: TensorId) {
        room::push(&mut self.operands, tensor.0);
    }

    pub(crate) fn push_value(&mut self, value: Value) -> Kept {
        let kept = self.keep(value);
        self.push_again(kept);
        kept
    }

    /// Stores a value for use as an argument.
    pub(crate) fn keep(&mut self, value: Value) -> Kept {
        Kept(match value {
            Value::Tensor(tensor) => tensor.0,
            Value::Array(items) if is_list(&items) => return self.keep_tensors(items.iter().filter_map(tensor_of)),
            value => TABLE | self.place(value),
        })
    }

    /// Stores an array of tensors for use as an argument.
    #[inline]
    pub(crate) fn keep_tensors(&mut self, tensors: impl Iterator<Item = TensorId>) -> Kept {
        let start = self.lists.len();
        self.lists.push(TensorId(0));
        self.lists.extend(tensors);
        self.lists[start] = TensorId((self.lists.len() - start - 1) as u32);
        if self.lists.len() < LIST as usize {
            return Kept(TABLE | LIST | start as u32);
        }
        let items = self.lists.drain(start..).skip(1).map(Value::Tensor).collect();
        Kept(TABLE | self.place(Value::Array(items)))
    }

    #[inline]
    pub(crate) fn push_again(&mut self, kept: Kept) {
        room::push(&mut self.operands, kept.0);
    }

    /// Stores a value and returns its index. A recently stored number is not stored again.
    fn place(&mut self, value: Value) -> u32 {
        let bits = match value {
            Value::Int(i) => Some(i as u64),
            Value::Scalar(s) => Some(s.to_bits()),
            Value::Logical(b) => Some(u64::from(b)),
            _ => None,
        };
        let new = self.values.len() as u32;
        if let Some(bits) = bits {
            self.recent.resize(RECENT, u32::MAX);
            let slot = &mut self.recent[(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % RECENT];
            if self.values.get(*slot as usize).is_some_and(|known| same_number(known, &value)) {
                return *slot;
            }
            *slot = new;
        }
        self.value_bytes += bytes_of_items(&value);
        self.values.push(value);
        new
    }

    #[inline]
    pub(crate) fn push_result(&mut self, tensor: TensorId) {
        self.results.push(tensor);
    }

    pub(crate) fn push_output(&mut self, output: Output) {
        match output {
            Output::Tensor(tensor) => self.push_result(*tensor),
            Output::Array(tensors) => {
                self.results.push(TensorId(TABLE | self.arrays.len() as u32));
                self.arrays.push(tensors.into());
            }
        }
    }

    /// The positions of the last `operands` arguments and the last `results` results. A single result is
    /// removed and returned instead of its position, since the operation itself stores it.
    pub(crate) fn take_last(&mut self, operands: u32, results: u32) -> (u32, TensorId) {
        let result = match (results, self.results.last()) {
            (1, Some(&result)) => {
                self.results.truncate(self.results.len() - 1);
                result
            }
            _ => TensorId(self.results.len() as u32 - results),
        };
        (self.operands.len() as u32 - operands, result)
    }

    /// The words of the results of an operation, given their number and the second value from [`Packed::take_last`].
    #[inline]
    pub(crate) fn results<'p>(&'p self, result: &'p TensorId, count: u32) -> &'p [TensorId] {
        match count {
            1 => std::slice::from_ref(result),
            _ => &self.results[result.index()..][..count as usize],
        }
    }

    /// All stored values, each of which may be an argument of several operations.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    pub(crate) fn operands_len(&self) -> u32 {
        self.operands.len() as u32
    }

    /// Removes the last arguments.
    pub(crate) fn truncate_operands(&mut self, len: u32) {
        self.operands.truncate(len as usize);
    }

    /// Whether any result is an empty array.
    pub(crate) fn has_empty_array(&self) -> bool {
        self.arrays.iter().any(|tensors| tensors.is_empty())
    }

    #[inline]
    fn unpack(&self, word: u32) -> Operand<'_> {
        match word & (TABLE | LIST) {
            TABLE => Operand::Value(&self.values[(word & !TABLE) as usize]),
            tagged if tagged & TABLE != 0 => Operand::Tensors(self.list(word)),
            _ => Operand::Tensor(TensorId(word)),
        }
    }

    fn list(&self, word: u32) -> &[TensorId] {
        let start = (word & !(TABLE | LIST)) as usize;
        &self.lists[start + 1..][..self.lists[start].index()]
    }

    pub(crate) fn operand(&self, at: u32) -> Operand<'_> {
        self.unpack(self.operands[at as usize])
    }

    #[inline]
    pub(crate) fn operands(&self, range: Range<u32>) -> impl ExactSizeIterator<Item = Operand<'_>> + Clone {
        self.operands[range.start as usize..range.end as usize].iter().map(|&word| self.unpack(word))
    }

    /// Decodes words to results.
    #[inline]
    pub(crate) fn outputs<'p>(&'p self, results: &'p [TensorId]) -> impl ExactSizeIterator<Item = Output<'p>> + Clone {
        results.iter().map(|result| match result.0 & TABLE {
            0 => Output::Tensor(result),
            _ => Output::Array(&self.arrays[(result.0 & !TABLE) as usize]),
        })
    }

    /// Calls a function with each tensor in a range of arguments.
    #[inline]
    pub(crate) fn each_operand_tensor(&self, range: Range<u32>, f: &mut impl FnMut(TensorId)) {
        for &word in &self.operands[range.start as usize..range.end as usize] {
            match word & TABLE {
                0 => f(TensorId(word)),
                _ => self.unpack(word).each_tensor(f),
            }
        }
    }

    /// Calls a function with each tensor in results.
    #[inline]
    pub(crate) fn each_result(&self, results: &[TensorId], f: &mut impl FnMut(TensorId)) {
        for &result in results {
            match result.0 & TABLE {
                0 => f(result),
                _ => self.arrays[(result.0 & !TABLE) as usize].iter().for_each(|&tensor| f(tensor)),
            }
        }
    }

    /// Replaces every tensor in the arguments.
    pub(crate) fn map_operands(&mut self, new: impl Fn(TensorId) -> TensorId) {
        for word in self.operands.iter_mut().filter(|word| **word & TABLE == 0) {
            *word = new(TensorId(*word)).0;
        }
        let mut rest = &mut self.lists[..];
        while let Some((length, after)) = rest.split_first_mut() {
            let (tensors, next) = after.split_at_mut(length.index());
            tensors.iter_mut().for_each(|tensor| *tensor = new(*tensor));
            rest = next;
        }
        self.values.iter_mut().for_each(|value| value.map_tensors(&mut |tensor| new(tensor)));
    }

    /// Copies arguments and results of another table, with tensors replaced by `new`.
    pub(crate) fn copy(
        &mut self,
        from: &Packed,
        operands: Range<u32>,
        results: &[TensorId],
        new: impl Fn(TensorId) -> TensorId,
    ) {
        for operand in from.operands(operands) {
            match operand {
                Operand::Tensor(tensor) => self.push_tensor(new(tensor)),
                Operand::Tensors(tensors) => {
                    let kept = self.keep_tensors(tensors.iter().map(|&tensor| new(tensor)));
                    self.push_again(kept);
                }
                Operand::Value(value) => {
                    let mut value = value.clone();
                    value.map_tensors(&mut |tensor| new(tensor));
                    self.push_value(value);
                }
            }
        }
        for output in from.outputs(results) {
            match output {
                Output::Tensor(tensor) => self.results.push(new(*tensor)),
                Output::Array(tensors) => {
                    let tensors: SmallVec<[TensorId; 8]> = tensors.iter().map(|&tensor| new(tensor)).collect();
                    self.push_output(Output::Array(&tensors));
                }
            }
        }
    }
}

/// The bytes of the items or letters of a value.
fn bytes_of_items(value: &Value) -> usize {
    match value {
        Value::Integers(items) => size_of_val(&items[..]),
        Value::Scalars(items) => size_of_val(&items[..]),
        Value::Array(items) | Value::Tuple(items) => size_of_val(&items[..]),
        Value::String(text) | Value::Symbol(text) => text.len(),
        Value::Int(_) | Value::Scalar(_) | Value::Logical(_) | Value::Tensor(_) => 0,
    }
}

fn tensor_of(value: &Value) -> Option<TensorId> {
    match value {
        Value::Tensor(tensor) => Some(*tensor),
        _ => None,
    }
}

/// Whether there are items and all of them are tensors.
fn is_list(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| tensor_of(item).is_some())
}

/// Whether two numbers have the same type and the same bits.
fn same_number(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Scalar(a), Value::Scalar(b)) => a.to_bits() == b.to_bits(),
        (Value::Logical(a), Value::Logical(b)) => a == b,
        _ => false,
    }
}

table_id! {
    /// Identifies a signature: the kind of operations, the parameters of their arguments, and the number of results.
    pub(crate) SignatureId;
}

#[derive(Clone, Copy, Debug)]
struct Signature {
    kind: KindId,
    keys: (u32, u32),
    results: u32,
}

/// All signatures of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Signatures {
    table: Vec<Signature>,
    keys: Vec<Key>,
    known: FxHashMap<(KindId, u32, SmallVec<[Key; 8]>), SignatureId>,
    /// A cache: the most recently used signature of each kind.
    recent: Vec<Option<SignatureId>>,
}

impl Signatures {
    pub(crate) fn intern(&mut self, kind: KindId, keys: &[Key], results: u32) -> SignatureId {
        if self.recent.len() <= kind.index() {
            self.recent.resize(kind.index() + 1, None);
        }
        if let Some(recent) = self.recent[kind.index()]
            && self.counts(recent).2 == results
            && self.keys(recent) == keys
        {
            return recent;
        }
        let id = SignatureId(self.table.len() as u32);
        let known = *self.known.entry((kind, results, keys.into())).or_insert(id);
        if known == id {
            let start = self.keys.len() as u32;
            self.keys.extend_from_slice(keys);
            self.table.push(Signature { kind, keys: (start, keys.len() as u32), results });
        }
        self.recent[kind.index()] = Some(known);
        known
    }

    /// The kind, and the numbers of arguments and results.
    #[inline]
    pub(crate) fn counts(&self, id: SignatureId) -> (KindId, u32, u32) {
        let signature = &self.table[id.0 as usize];
        (signature.kind, signature.keys.1, signature.results)
    }

    /// Whether any signature has no results.
    pub(crate) fn any_without_results(&self) -> bool {
        self.table.iter().any(|signature| signature.results == 0)
    }

    #[inline]
    pub(crate) fn keys(&self, id: SignatureId) -> &[Key] {
        let (start, len) = self.table[id.0 as usize].keys;
        &self.keys[start as usize..(start + len) as usize]
    }
}

#[cfg(test)]
mod tests;
