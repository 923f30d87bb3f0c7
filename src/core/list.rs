//! Sequences of compile-time values: arrays, tuples and strings.
//!
//! A [`List`] is a window into a shared buffer. Slicing only moves the window. Joining puts the
//! new items into the buffer of the larger side where its window reaches that end of the buffer:
//! other windows do not see them, so nothing changes for them, and chains of `xs + [x]` and
//! `[x] + f(..)` are linear overall, in time and in memory.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{VecDeque, vec_deque};
use std::iter::Copied;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::budget::Meter;
use super::value::Value;
use crate::graph::value::Numbers;
use crate::graph::{self, TensorId};

/// The cells of a buffer, packed by what they hold.
#[derive(Debug)]
enum Cells {
    Ints(VecDeque<i64>),
    Scalars(VecDeque<f64>),
    Logicals(VecDeque<bool>),
    Tensors(VecDeque<TensorId>),
    Chars(VecDeque<char>),
    Bytes(VecDeque<u8>),
    Values(VecDeque<Value>),
    /// Items that were there all at once, as those of a literal. They never grow, and the graph may
    /// share them.
    FixedInts(Arc<[i64]>),
    FixedScalars(Arc<[f64]>),
    /// ASCII only, so that a byte is a character.
    FixedText(Arc<str>),
}

macro_rules! with_cells {
    ($cells:expr, $items:ident => $body:expr) => {
        match $cells {
            Cells::Ints($items) => $body,
            Cells::Scalars($items) => $body,
            Cells::Logicals($items) => $body,
            Cells::Tensors($items) => $body,
            Cells::Chars($items) => $body,
            Cells::Bytes($items) => $body,
            Cells::Values($items) => $body,
            Cells::FixedInts($items) => $body,
            Cells::FixedScalars($items) => $body,
            Cells::FixedText($items) => $body,
        }
    };
}

/// Runs a body with both buffers' items where they are packed alike, else another.
macro_rules! with_same_cells {
    ($a:expr, $b:expr, ($x:ident, $y:ident) => $body:expr, else $other:expr) => {
        match ($a, $b) {
            (Cells::Ints($x), Cells::Ints($y)) => $body,
            (Cells::Scalars($x), Cells::Scalars($y)) => $body,
            (Cells::Logicals($x), Cells::Logicals($y)) => $body,
            (Cells::Tensors($x), Cells::Tensors($y)) => $body,
            (Cells::Chars($x), Cells::Chars($y)) => $body,
            (Cells::Bytes($x), Cells::Bytes($y)) => $body,
            (Cells::Values($x), Cells::Values($y)) => $body,
            _ => $other,
        }
    };
}

impl Cells {
    fn of_numbers(numbers: Numbers) -> Self {
        match numbers {
            Numbers::Ints(items) => Cells::FixedInts(items),
            Numbers::Scalars(items) => Cells::FixedScalars(items),
        }
    }

    fn len(&self) -> usize {
        with_cells!(self, items => items.len())
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
            Cells::FixedText(text) => Value::String(List::from_char(char::from(*text.as_bytes().get(i)?))),
        })
    }

    /// What a cell weighs, for the budget.
    fn weight(&self) -> u64 {
        match self {
            Cells::Bytes(_) | Cells::Logicals(_) | Cells::FixedText(_) => 1,
            Cells::Tensors(_) | Cells::Chars(_) => 4,
            Cells::Ints(_) | Cells::Scalars(_) | Cells::FixedInts(_) | Cells::FixedScalars(_) => 8,
            Cells::Values(_) => 24,
        }
    }
}

/// A growable sequence that several lists look into.
#[derive(Debug)]
struct Buffer {
    cells: RefCell<Cells>,
    /// How many cells were added before the first one: what a window's start is relative to.
    front: Cell<i64>,
    /// Whether it may grow; the buffers of literals may not.
    grows: bool,
    meter: Option<Rc<Meter>>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let cells = self.cells.get_mut();
        if let Some(meter) = &self.meter {
            meter.remove(cells.len() as u64 * cells.weight());
        }
        // Nested arrays are taken apart in a loop: their depth is the user's, not the stack's.
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
        }
        let grows = meter.is_some();
        let buffer = Buffer { cells: RefCell::new(cells), front: Cell::new(0), grows, meter: meter.cloned() };
        List { buffer: Rc::new(buffer), start: 0, len }
    }

    /// A list of values, packed where they are alike. Without a meter it is a literal: it is not
    /// counted, and never grows.
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

    /// A literal of integers.
    pub(crate) fn of_ints(items: &[i64]) -> List {
        List::new(Cells::FixedInts(items.into()), None)
    }

    /// A literal of scalars.
    pub(crate) fn of_scalars(items: &[f64]) -> List {
        List::new(Cells::FixedScalars(items.into()), None)
    }

    /// A long literal, whose numbers it shares.
    pub(crate) fn of_numbers(numbers: &Numbers) -> List {
        List::new(Cells::of_numbers(numbers.clone()), None)
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

    /// The first item of the window within the buffer's cells.
    fn base(&self) -> usize {
        (self.buffer.front.get() + i64::from(self.start)) as usize
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

    /// Keeps nothing but the items `begin..end`, which must lie within the list.
    pub(crate) fn narrow(&mut self, begin: usize, end: usize) {
        let end = end.min(self.len());
        let begin = begin.min(end);
        (self.start, self.len) = (self.start + begin as i32, (end - begin) as u32);
    }

    /// Calls a function with each item.
    pub(crate) fn for_each(&self, mut f: impl FnMut(Value)) {
        for i in 0..self.len() {
            if let Some(value) = self.get(i) {
                f(value);
            }
        }
    }

    /// The items.
    pub(crate) fn to_values(&self) -> Vec<Value> {
        let mut values = Vec::with_capacity(self.len());
        self.for_each(|value| values.push(value));
        values
    }

    /// The array as the graph keeps it, where its items are numbers or tensors and packed as such.
    pub(crate) fn packed(&self) -> Option<graph::Value> {
        if self.is_empty() {
            return Some(graph::Value::Integers([].into()));
        }
        let range = self.base()..self.base() + self.len();
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

    /// Calls a function with the tensors, if all items are packed tensors, of which there is one at
    /// least.
    pub(crate) fn with_tensors<T>(&self, f: impl FnOnce(Copied<vec_deque::Iter<TensorId>>) -> T) -> Option<T> {
        let range = self.base()..self.base() + self.len();
        match &*self.buffer.cells.borrow() {
            Cells::Tensors(items) if !self.is_empty() => Some(f(items.range(range).copied())),
            _ => None,
        }
    }

    /// The characters of a string.
    pub(crate) fn text(&self) -> String {
        let range = self.base()..self.base() + self.len();
        match &*self.buffer.cells.borrow() {
            Cells::Bytes(items) => items.range(range).map(|&byte| char::from(byte)).collect(),
            Cells::Chars(items) => items.range(range).collect(),
            Cells::FixedText(text) => text[range].to_owned(),
            _ => String::new(),
        }
    }

    /// The characters of a string, in memory that they may share with a literal.
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

    /// This list and then the other.
    pub(crate) fn concat(&self, other: &List, meter: &Rc<Meter>) -> List {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        let len = self.len + other.len;
        if !Rc::ptr_eq(&self.buffer, &other.buffer) {
            if self.len >= other.len && self.at_end() && self.append(other) {
                return List { buffer: Rc::clone(&self.buffer), start: self.start, len };
            }
            if other.len >= self.len && other.at_front() && other.prepend(self) {
                return List { buffer: Rc::clone(&other.buffer), start: other.start - self.len as i32, len };
            }
            if self.at_end() && self.append(other) {
                return List { buffer: Rc::clone(&self.buffer), start: self.start, len };
            }
        }
        self.copied(other, meter)
    }

    /// Adds items behind the window; false where they are packed differently.
    fn append(&self, other: &List) -> bool {
        let (mut cells, added) = (self.buffer.cells.borrow_mut(), other.buffer.cells.borrow());
        let range = other.base()..other.base() + other.len();
        match (&mut *cells, &*added) {
            (Cells::Ints(x), Cells::FixedInts(y)) => x.extend(&y[range]),
            (Cells::Scalars(x), Cells::FixedScalars(y)) => x.extend(&y[range]),
            (Cells::Bytes(x), Cells::FixedText(y)) => x.extend(y[range].as_bytes()),
            (x, y) => with_same_cells!(x, y, (x, y) => x.extend(y.range(range).cloned()), else return false),
        }
        self.buffer.meter.iter().for_each(|meter| meter.add(u64::from(other.len), cells.weight()));
        true
    }

    /// Adds items before the window; false where they are packed differently.
    fn prepend(&self, other: &List) -> bool {
        let (mut cells, added) = (self.buffer.cells.borrow_mut(), other.buffer.cells.borrow());
        let range = other.base()..other.base() + other.len();
        match (&mut *cells, &*added) {
            (Cells::Ints(x), Cells::FixedInts(y)) => y[range].iter().rev().for_each(|&item| x.push_front(item)),
            (Cells::Scalars(x), Cells::FixedScalars(y)) => y[range].iter().rev().for_each(|&item| x.push_front(item)),
            (Cells::Bytes(x), Cells::FixedText(y)) => y[range].bytes().rev().for_each(|byte| x.push_front(byte)),
            (x, y) => with_same_cells!(x, y, (x, y) => {
                y.range(range).rev().cloned().for_each(|item| x.push_front(item));
            }, else return false),
        }
        self.buffer.front.set(self.buffer.front.get() + i64::from(other.len));
        self.buffer.meter.iter().for_each(|meter| meter.add(u64::from(other.len), cells.weight()));
        true
    }

    fn copied(&self, other: &List, meter: &Rc<Meter>) -> List {
        let (this, other) = (self.growable(), other.growable());
        let (a, b) = (this.buffer.cells.borrow(), other.buffer.cells.borrow());
        let (x, y) = (this.base()..this.base() + this.len(), other.base()..other.base() + other.len());
        macro_rules! join {
            ($($kind:ident),*) => {
                match (&*a, &*b) {
                    $((Cells::$kind(p), Cells::$kind(q)) => {
                        Some(Cells::$kind(p.range(x).chain(q.range(y)).cloned().collect()))
                    })*
                    _ => None,
                }
            };
        }
        let joined = join!(Ints, Scalars, Logicals, Tensors, Chars, Bytes, Values);
        let text = |cells: &Cells| matches!(cells, Cells::Chars(_) | Cells::Bytes(_));
        match joined {
            Some(cells) => List::new(cells, Some(meter)),
            None if text(&a) && text(&b) => List::from_text(&(self.text() + &other.text()), Some(meter)),
            None => {
                let mut values = self.to_values();
                other.for_each(|value| values.push(value));
                List::from_values(values, Some(meter))
            }
        }
    }

    /// The list with cells as those of lists that grow.
    fn growable(&self) -> Cow<'_, List> {
        let range = self.base()..self.base() + self.len();
        let cells = match &*self.buffer.cells.borrow() {
            Cells::FixedInts(items) => Cells::Ints(items[range].to_vec().into()),
            Cells::FixedScalars(items) => Cells::Scalars(items[range].to_vec().into()),
            Cells::FixedText(text) => Cells::Bytes(text[range].as_bytes().to_vec().into()),
            _ => return Cow::Borrowed(self),
        };
        Cow::Owned(List::new(cells, None))
    }

    /// This list `times` times.
    pub(crate) fn repeat(&self, times: usize, meter: &Rc<Meter>) -> List {
        if times == 1 {
            return self.clone();
        }
        let this = self.growable();
        let range = this.base()..this.base() + this.len();
        macro_rules! cycle {
            ($($kind:ident),*) => {
                match &*this.buffer.cells.borrow() {
                    $(Cells::$kind(items) => Cells::$kind(cycled(items.range(range).cloned().collect(), times)),)*
                    // There are none of these in what is growable.
                    Cells::FixedInts(_) | Cells::FixedScalars(_) | Cells::FixedText(_) => Cells::Values(VecDeque::new()),
                }
            };
        }
        List::new(cycle!(Ints, Scalars, Logicals, Tensors, Chars, Bytes, Values), Some(meter))
    }

    /// The bytes that `items` further items like these weigh.
    pub(crate) fn weight_of(&self, items: usize) -> u64 {
        (items as u64).saturating_mul(self.buffer.cells.borrow().weight())
    }

    /// The address of the buffer and the window, equal only for the same list.
    pub(crate) fn identity(&self) -> (usize, i32, u32) {
        (Rc::as_ptr(&self.buffer) as usize, self.start, self.len)
    }
}

/// Some items so many times.
fn cycled<T: Clone>(items: Vec<T>, times: usize) -> VecDeque<T> {
    if let [only] = &items[..] {
        return vec![only.clone(); times].into();
    }
    let mut all = Vec::with_capacity(items.len() * times);
    (0..times).for_each(|_| all.extend_from_slice(&items));
    all.into()
}

/// Numbers of a literal, which are copied only where they are not all of it.
fn shared<T: Copy>(items: &Arc<[T]>, range: Range<usize>) -> Arc<[T]> {
    if range.len() == items.len() { Arc::clone(items) } else { items[range].into() }
}
