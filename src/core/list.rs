//! Sequences of compile-time values: arrays, tuples and strings.
//!
//! A [`List`] is a window into a shared buffer. Slicing only changes the window. Concatenation adds the items
//! of one list to the buffer of the other if the window of that list reaches the end of its buffer, preferably
//! to the longer list. Other windows do not contain the new items. So chains of `xs + [x]` and `[x] + f(..)`
//! take linear time and memory overall.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{VecDeque, vec_deque};
use std::iter::Copied;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::budget::Meter;
use super::value::Value;
use crate::graph::{self, TensorId};

/// The cells of a buffer, packed by type.
#[derive(Debug)]
enum Cells {
    Ints(VecDeque<i64>),
    Scalars(VecDeque<f64>),
    Logicals(VecDeque<bool>),
    Tensors(VecDeque<TensorId>),
    Chars(VecDeque<char>),
    Bytes(VecDeque<u8>),
    Values(VecDeque<Value>),
    /// Items of a fixed number, such as those of a literal. They can be shared with the graph.
    FixedInts(Arc<[i64]>),
    FixedScalars(Arc<[f64]>),
    FixedValues(Arc<[graph::Value]>),
    /// ASCII only, so that a byte is a character.
    FixedText(Arc<str>),
}

/// Matches cells: the variants that can grow share one arm, in which `$kind` is the constructor of the variant;
/// the arms for the others follow it.
macro_rules! match_cells {
    ($cells:expr, ($kind:ident, $items:ident) => $body:expr, $($fixed:tt)*) => {
        match $cells {
            Cells::Ints($items) => { let $kind = Cells::Ints; $body }
            Cells::Scalars($items) => { let $kind = Cells::Scalars; $body }
            Cells::Logicals($items) => { let $kind = Cells::Logicals; $body }
            Cells::Tensors($items) => { let $kind = Cells::Tensors; $body }
            Cells::Chars($items) => { let $kind = Cells::Chars; $body }
            Cells::Bytes($items) => { let $kind = Cells::Bytes; $body }
            Cells::Values($items) => { let $kind = Cells::Values; $body }
            $($fixed)*
        }
    };
}

/// The bytes of a buffer excluding its cells, for the budget.
const HEADER: u64 = 128;

/// How much more work a cell of a value is than a packed one.
const VALUE_WORK: u64 = 7;

/// An end of a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

/// Adds items at an end, keeping their order.
fn put<T>(cells: &mut VecDeque<T>, items: impl DoubleEndedIterator<Item = T>, end: End) {
    match end {
        End::Front => items.rev().for_each(|item| cells.push_front(item)),
        End::Back => cells.extend(items),
    }
}

impl Cells {
    fn len(&self) -> usize {
        match_cells!(self, (_kind, items) => items.len(),
            Cells::FixedInts(items) => items.len(),
            Cells::FixedScalars(items) => items.len(),
            Cells::FixedValues(items) => items.len(),
            Cells::FixedText(text) => text.len(),
        )
    }

    fn get(&self, i: usize) -> Option<Value> {
        Some(match self {
            Cells::Ints(items) => Value::Int(*items.get(i)?),
            Cells::Scalars(items) => Value::Scalar(*items.get(i)?),
            Cells::Logicals(items) => Value::Logical(*items.get(i)?),
            Cells::Tensors(items) => Value::Tensor(*items.get(i)?),
            Cells::Chars(items) => Value::String(List::from_char(*items.get(i)?)),
            Cells::Bytes(items) => Value::String(List::from_char(char::from(*items.get(i)?))),
            Cells::Values(items) => items.get(i)?.clone(),
            Cells::FixedInts(items) => Value::Int(*items.get(i)?),
            Cells::FixedScalars(items) => Value::Scalar(*items.get(i)?),
            Cells::FixedValues(items) => Value::from(items.get(i)?),
            Cells::FixedText(text) => Value::String(List::from_char(char::from(*text.as_bytes().get(i)?))),
        })
    }

    /// Adds the items of a list at an end; false if they have a different packing.
    fn add(&mut self, list: &List, end: End) -> bool {
        let range = list.range();
        match (self, &*list.buffer.cells.borrow()) {
            (Cells::Ints(cells), Cells::Ints(items)) => put(cells, items.range(range).copied(), end),
            (Cells::Ints(cells), Cells::FixedInts(items)) => put(cells, items[range].iter().copied(), end),
            (Cells::Scalars(cells), Cells::Scalars(items)) => put(cells, items.range(range).copied(), end),
            (Cells::Scalars(cells), Cells::FixedScalars(items)) => put(cells, items[range].iter().copied(), end),
            (Cells::Logicals(cells), Cells::Logicals(items)) => put(cells, items.range(range).copied(), end),
            (Cells::Tensors(cells), Cells::Tensors(items)) => put(cells, items.range(range).copied(), end),
            (Cells::Chars(cells), Cells::Chars(items)) => put(cells, items.range(range).copied(), end),
            (Cells::Bytes(cells), Cells::Bytes(items)) => put(cells, items.range(range).copied(), end),
            (Cells::Bytes(cells), Cells::FixedText(text)) => put(cells, text[range].bytes(), end),
            (Cells::Values(cells), Cells::Values(items)) => put(cells, items.range(range).cloned(), end),
            (Cells::Values(cells), Cells::FixedValues(items)) => put(cells, items[range].iter().map(Value::from), end),
            _ => return false,
        }
        true
    }

    fn is_text(&self) -> bool {
        matches!(self, Cells::Chars(_) | Cells::Bytes(_) | Cells::FixedText(_))
    }

    /// The bytes of a cell, for the budget.
    fn weight(&self) -> u64 {
        match self {
            Cells::Bytes(_) | Cells::Logicals(_) | Cells::FixedText(_) => 1,
            Cells::Tensors(_) | Cells::Chars(_) => 4,
            Cells::Ints(_) | Cells::Scalars(_) | Cells::FixedInts(_) | Cells::FixedScalars(_) => 8,
            Cells::Values(_) | Cells::FixedValues(_) => 24,
        }
    }
}

/// A growable sequence that several lists can share.
#[derive(Debug)]
struct Buffer {
    cells: RefCell<Cells>,
    /// The number of cells that were added at the front: starts of windows are relative to the original first cell.
    front: Cell<i64>,
    /// Whether cells can be added; not so for literals.
    grows: bool,
    meter: Option<Rc<Meter>>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let cells = self.cells.get_mut();
        if let Some(meter) = &self.meter {
            meter.remove(cells.len() as u64 * cells.weight() + HEADER);
        }
        // Nested arrays are dropped in a loop, since recursion as deep as the document nests them could
        // overflow the stack.
        let Cells::Values(values) = cells else { return };
        let mut open = std::mem::take(values);
        while let Some(value) = open.pop_back() {
            let (Value::Array(list) | Value::Tuple(list)) = value else { continue };
            if let Some(mut buffer) = Rc::into_inner(list.buffer)
                && let Cells::Values(inner) = buffer.cells.get_mut()
            {
                if let Some(meter) = &buffer.meter {
                    meter.remove(inner.len() as u64 * 24);
                }
                open.append(inner);
            }
        }
    }
}

/// A window into a shared buffer.
#[derive(Clone, Debug)]
pub(crate) struct List {
    buffer: Rc<Buffer>,
    start: i32,
    len: u32,
}

impl List {
    fn new(cells: Cells, meter: Option<&Rc<Meter>>) -> List {
        let len = cells.len() as u32;
        if let Some(meter) = meter {
            meter.add(u64::from(len), cells.weight());
            meter.keep(HEADER);
            // Values are cloned and dropped one by one.
            meter.spend(if matches!(cells, Cells::Values(_)) { u64::from(len) * VALUE_WORK } else { 0 });
        }
        let grows = meter.is_some();
        let buffer = Buffer { cells: RefCell::new(cells), front: Cell::new(0), grows, meter: meter.cloned() };
        List { buffer: Rc::new(buffer), start: 0, len }
    }

    /// A list of values, packed if all have the same type. Without a meter it is a literal: its memory is not
    /// counted, and it never grows.
    pub(crate) fn from_values(values: Vec<Value>, meter: Option<&Rc<Meter>>) -> List {
        macro_rules! pack {
            ($variant:ident, $cells:ident) => {
                if values.iter().all(|value| matches!(value, Value::$variant(_))) {
                    let items = values.iter().filter_map(|value| match value {
                        Value::$variant(item) => Some(*item),
                        _ => None,
                    });
                    return List::new(Cells::$cells(items.collect()), meter);
                }
            };
        }
        match values.first() {
            Some(Value::Int(_)) => pack!(Int, Ints),
            Some(Value::Scalar(_)) => pack!(Scalar, Scalars),
            Some(Value::Logical(_)) => pack!(Logical, Logicals),
            Some(Value::Tensor(_)) => pack!(Tensor, Tensors),
            _ => {}
        }
        List::new(Cells::Values(values.into()), meter)
    }

    /// A list of integers.
    pub(crate) fn from_ints(items: impl IntoIterator<Item = i64>, meter: Option<&Rc<Meter>>) -> List {
        List::new(Cells::Ints(items.into_iter().collect()), meter)
    }

    /// The list of a literal array, tuple or string, which shares its items where possible.
    pub(crate) fn of_literal(value: &graph::Value) -> Option<List> {
        let cells = match value {
            graph::Value::Integers(items) => Cells::FixedInts(Arc::clone(items)),
            graph::Value::Scalars(items) => Cells::FixedScalars(Arc::clone(items)),
            graph::Value::Array(items) | graph::Value::Tuple(items) => Cells::FixedValues(Arc::clone(items)),
            graph::Value::String(text) if text.is_ascii() => Cells::FixedText(Arc::clone(text)),
            graph::Value::String(text) => Cells::Chars(text.chars().collect()),
            _ => return None,
        };
        Some(List::new(cells, None))
    }

    /// A list of tensors.
    pub(crate) fn from_tensors(items: impl IntoIterator<Item = TensorId>, meter: Option<&Rc<Meter>>) -> List {
        List::new(Cells::Tensors(items.into_iter().collect()), meter)
    }

    /// A string, whose items are characters.
    pub(crate) fn from_text(text: &str, meter: Option<&Rc<Meter>>) -> List {
        let cells = match (text.is_ascii(), meter) {
            (true, None) => Cells::FixedText(text.into()),
            (true, Some(_)) => Cells::Bytes(text.bytes().collect()),
            (false, _) => Cells::Chars(text.chars().collect()),
        };
        List::new(cells, meter)
    }

    fn from_char(c: char) -> List {
        let mut bytes = [0; 4];
        List::from_text(c.encode_utf8(&mut bytes), None)
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The position of the window in the buffer's cells.
    fn base(&self) -> usize {
        (self.buffer.front.get() + i64::from(self.start)) as usize
    }

    /// The range of the window in the buffer's cells.
    fn range(&self) -> Range<usize> {
        self.base()..self.base() + self.len()
    }

    /// An item.
    pub(crate) fn get(&self, i: usize) -> Option<Value> {
        if i >= self.len() {
            return None;
        }
        self.buffer.cells.borrow().get(self.base() + i)
    }

    /// The items `begin..end`, which must lie within the list.
    pub(crate) fn slice(&self, begin: usize, end: usize) -> List {
        let mut list = self.clone();
        list.narrow(begin, end);
        list
    }

    /// Keeps only the items `begin..end`, which must be within the list.
    pub(crate) fn narrow(&mut self, begin: usize, end: usize) {
        let end = end.min(self.len());
        let begin = begin.min(end);
        (self.start, self.len) = (self.start + begin as i32, (end - begin) as u32);
    }

    /// Calls a function with each item.
    pub(crate) fn for_each(&self, f: impl FnMut(Value)) {
        (0..self.len()).filter_map(|i| self.get(i)).for_each(f);
    }

    /// The items.
    pub(crate) fn to_values(&self) -> Vec<Value> {
        let mut values = Vec::with_capacity(self.len());
        self.for_each(|value| values.push(value));
        values
    }

    /// The array as a value of the graph, if its items are packed numbers or tensors.
    pub(crate) fn packed(&self) -> Option<graph::Value> {
        if self.is_empty() {
            return Some(graph::Value::Integers([].into()));
        }
        let range = self.range();
        Some(match &*self.buffer.cells.borrow() {
            Cells::Ints(items) => graph::Value::Integers(items.range(range).copied().collect()),
            Cells::Scalars(items) => graph::Value::Scalars(items.range(range).copied().collect()),
            Cells::FixedInts(items) => graph::Value::Integers(shared(items, range)),
            Cells::FixedScalars(items) => graph::Value::Scalars(shared(items, range)),
            Cells::Tensors(items) => {
                graph::Value::Array(items.range(range).copied().map(graph::Value::Tensor).collect())
            }
            _ => return None,
        })
    }

    /// The items of a literal that is not an array of integers or of scalars.
    pub(crate) fn literal_values(&self) -> Option<Arc<[graph::Value]>> {
        match &*self.buffer.cells.borrow() {
            Cells::FixedValues(items) => Some(shared(items, self.range())),
            _ => None,
        }
    }

    /// Calls a function with the tensors, if the list is not empty and its items are packed tensors.
    pub(crate) fn with_tensors<T>(&self, f: impl FnOnce(Copied<vec_deque::Iter<TensorId>>) -> T) -> Option<T> {
        let range = self.range();
        match &*self.buffer.cells.borrow() {
            Cells::Tensors(items) if !self.is_empty() => Some(f(items.range(range).copied())),
            _ => None,
        }
    }

    /// The characters of a string.
    pub(crate) fn text(&self) -> String {
        let range = self.range();
        match &*self.buffer.cells.borrow() {
            Cells::Bytes(items) => items.range(range).map(|&byte| char::from(byte)).collect(),
            Cells::Chars(items) => items.range(range).collect(),
            Cells::FixedText(text) => text[range].to_owned(),
            _ => String::new(),
        }
    }

    /// The characters of a string. A literal is shared if the list is all of it.
    pub(crate) fn to_shared_text(&self) -> Arc<str> {
        match &*self.buffer.cells.borrow() {
            Cells::FixedText(text) if text.len() == self.len() => Arc::clone(text),
            _ => self.text().into(),
        }
    }

    fn at_end(&self) -> bool {
        self.buffer.grows && self.base() + self.len() == self.buffer.cells.borrow().len()
    }

    fn at_front(&self) -> bool {
        self.buffer.grows && self.base() == 0 && self.start > i32::MIN / 2
    }

    /// The concatenation of two lists.
    pub(crate) fn concat(&self, other: &List, meter: &Rc<Meter>) -> List {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        let len = self.len + other.len;
        if !Rc::ptr_eq(&self.buffer, &other.buffer) {
            if self.len >= other.len && self.at_end() && self.grow(other, End::Back) {
                return List { len, ..self.clone() };
            }
            if other.len >= self.len && other.at_front() && other.grow(self, End::Front) {
                return List { buffer: Rc::clone(&other.buffer), start: other.start - self.len as i32, len };
            }
            if self.at_end() && self.grow(other, End::Back) {
                return List { len, ..self.clone() };
            }
        }
        self.joined(other, meter)
    }

    /// Adds items at an end of the buffer that the window reaches; false if they have a different packing.
    fn grow(&self, other: &List, end: End) -> bool {
        let mut cells = self.buffer.cells.borrow_mut();
        if !cells.add(other, end) {
            return false;
        }
        if end == End::Front {
            self.buffer.front.set(self.buffer.front.get() + i64::from(other.len));
        }
        self.buffer.meter.iter().for_each(|meter| meter.add(u64::from(other.len), cells.weight()));
        true
    }

    /// The concatenation of two lists in a new buffer.
    fn joined(&self, other: &List, meter: &Rc<Meter>) -> List {
        let mut cells = self.copied();
        if cells.add(other, End::Back) {
            return List::new(cells, Some(meter));
        }
        if cells.is_text() && other.buffer.cells.borrow().is_text() {
            return List::from_text(&(self.text() + &other.text()), Some(meter));
        }
        let mut values = self.to_values();
        other.for_each(|value| values.push(value));
        List::from_values(values, Some(meter))
    }

    /// A copy of the items in cells that can grow.
    fn copied(&self) -> Cells {
        let range = self.range();
        match_cells!(&*self.buffer.cells.borrow(), (kind, items) => kind(items.range(range).cloned().collect()),
            Cells::FixedInts(items) => Cells::Ints(items[range].to_vec().into()),
            Cells::FixedScalars(items) => Cells::Scalars(items[range].to_vec().into()),
            Cells::FixedValues(items) => Cells::Values(items[range].iter().map(Value::from).collect()),
            Cells::FixedText(text) => Cells::Bytes(text[range].as_bytes().to_vec().into()),
        )
    }

    /// This list `times` times.
    pub(crate) fn repeat(&self, times: usize, meter: &Rc<Meter>) -> List {
        if times == 1 {
            return self.clone();
        }
        let cells = match_cells!(self.copied(), (kind, items) => kind(cycled(items.into(), times)), fixed => fixed);
        List::new(cells, Some(meter))
    }

    /// The bytes of `items` items with this packing.
    pub(crate) fn weight_of(&self, items: usize) -> u64 {
        (items as u64).saturating_mul(self.buffer.cells.borrow().weight())
    }

    /// The address of the buffer and the window: equal only for lists that are the same window of the same buffer.
    pub(crate) fn identity(&self) -> (usize, i32, u32) {
        (Rc::as_ptr(&self.buffer) as usize, self.start, self.len)
    }
}

/// The items repeated `times` times.
fn cycled<T: Clone>(items: Vec<T>, times: usize) -> VecDeque<T> {
    if let [only] = &items[..] {
        return vec![only.clone(); times].into();
    }
    let mut all = Vec::with_capacity(items.len() * times);
    (0..times).for_each(|_| all.extend_from_slice(&items));
    all.into()
}

/// A range of the items of a literal; copied only if it is not all of them.
fn shared<T: Clone>(items: &Arc<[T]>, range: Range<usize>) -> Arc<[T]> {
    if range.len() == items.len() { Arc::clone(items) } else { items[range].into() }
}
