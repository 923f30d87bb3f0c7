//! Sequences of compile-time values: arrays, tuples and strings.
//!
//! A [`List`] is a window into a shared buffer. Slicing only moves the window. Joining puts the
//! new items into the buffer of the larger side where its window reaches that end of the buffer:
//! other windows do not see them, so nothing changes for them, and chains of `xs + [x]` and
//! `[x] + f(..)` are linear overall, in time and in memory.

use std::cell::{Cell, RefCell};
use std::collections::{VecDeque, vec_deque};
use std::iter::Copied;
use std::rc::Rc;

use super::value::Value;
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
        })
    }

    /// What a cell weighs, for the budget.
    fn weight(&self) -> u64 {
        match self {
            Cells::Bytes(_) | Cells::Logicals(_) => 1,
            Cells::Tensors(_) | Cells::Chars(_) => 4,
            Cells::Ints(_) | Cells::Scalars(_) => 8,
            Cells::Values(_) => 24,
        }
    }
}

/// Counts the bytes of live cells, and the cells that were ever made or compared.
#[derive(Debug, Default)]
pub struct Meter {
    live: Cell<u64>,
    work: Cell<u64>,
}

impl Meter {
    /// The bytes of all live cells.
    pub fn live(&self) -> u64 {
        self.live.get()
    }

    /// The cells that were made or looked at by operations that take time for each.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts bytes that stay alive, as those of the flat graph.
    pub fn keep(&self, bytes: u64) {
        self.live.set(self.live.get().saturating_add(bytes));
    }

    /// Counts cells that are looked at.
    pub fn spend(&self, cells: u64) {
        self.work.set(self.work.get().saturating_add(cells));
    }

    fn add(&self, cells: u64, weight: u64) {
        self.keep(cells * weight);
        self.spend(cells);
    }

    fn remove(&self, bytes: u64) {
        self.live.set(self.live.get().saturating_sub(bytes));
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
pub struct List {
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
    pub fn from_values(values: Vec<Value>, meter: Option<&Rc<Meter>>) -> List {
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
    pub fn from_ints(items: impl IntoIterator<Item = i64>, meter: Option<&Rc<Meter>>) -> List {
        List::new(Cells::Ints(items.into_iter().collect()), meter)
    }

    /// A list of scalars.
    pub fn from_scalars(items: impl IntoIterator<Item = f64>, meter: Option<&Rc<Meter>>) -> List {
        List::new(Cells::Scalars(items.into_iter().collect()), meter)
    }

    /// A list of tensors.
    pub fn from_tensors(items: impl IntoIterator<Item = TensorId>, meter: Option<&Rc<Meter>>) -> List {
        List::new(Cells::Tensors(items.into_iter().collect()), meter)
    }

    /// A string, whose items are characters.
    pub fn from_text(text: &str, meter: Option<&Rc<Meter>>) -> List {
        if text.is_ascii() {
            List::new(Cells::Bytes(text.bytes().collect()), meter)
        } else {
            List::new(Cells::Chars(text.chars().collect()), meter)
        }
    }

    fn from_char(c: char) -> List {
        let mut bytes = [0; 4];
        List::from_text(c.encode_utf8(&mut bytes), None)
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first item of the window within the buffer's cells.
    fn base(&self) -> usize {
        (self.buffer.front.get() + i64::from(self.start)) as usize
    }

    /// An item.
    pub fn get(&self, i: usize) -> Option<Value> {
        if i >= self.len() {
            return None;
        }
        self.buffer.cells.borrow().get(self.base() + i)
    }

    /// The items `begin..end`, which must lie within the list.
    pub fn slice(&self, begin: usize, end: usize) -> List {
        let end = end.min(self.len());
        let begin = begin.min(end);
        List { buffer: Rc::clone(&self.buffer), start: self.start + begin as i32, len: (end - begin) as u32 }
    }

    /// Calls a function with each item.
    pub fn for_each(&self, mut f: impl FnMut(Value)) {
        for i in 0..self.len() {
            if let Some(value) = self.get(i) {
                f(value);
            }
        }
    }

    /// The items.
    pub fn to_values(&self) -> Vec<Value> {
        let mut values = Vec::with_capacity(self.len());
        self.for_each(|value| values.push(value));
        values
    }

    /// The array as the graph keeps it, where its items are numbers or tensors and packed as such.
    pub fn packed(&self) -> Option<graph::Value> {
        if self.is_empty() {
            return Some(graph::Value::Integers([].into()));
        }
        let range = self.base()..self.base() + self.len();
        Some(match &*self.buffer.cells.borrow() {
            Cells::Ints(items) => graph::Value::Integers(items.range(range).copied().collect()),
            Cells::Scalars(items) => graph::Value::Scalars(items.range(range).copied().collect()),
            Cells::Tensors(items) => {
                graph::Value::Array(items.range(range).copied().map(graph::Value::Tensor).collect())
            }
            _ => return None,
        })
    }

    /// Calls a function with the tensors, if all items are packed tensors, of which there is one at
    /// least.
    pub fn with_tensors<T>(&self, f: impl FnOnce(Copied<vec_deque::Iter<TensorId>>) -> T) -> Option<T> {
        let range = self.base()..self.base() + self.len();
        match &*self.buffer.cells.borrow() {
            Cells::Tensors(items) if !self.is_empty() => Some(f(items.range(range).copied())),
            _ => None,
        }
    }

    /// The characters of a string.
    pub fn text(&self) -> String {
        let range = self.base()..self.base() + self.len();
        match &*self.buffer.cells.borrow() {
            Cells::Bytes(items) => items.range(range).map(|&byte| char::from(byte)).collect(),
            Cells::Chars(items) => items.range(range).collect(),
            _ => String::new(),
        }
    }

    fn at_end(&self) -> bool {
        self.buffer.grows && self.base() + self.len() == self.buffer.cells.borrow().len()
    }

    fn at_front(&self) -> bool {
        self.buffer.grows && self.base() == 0 && self.start > i32::MIN / 2
    }

    /// This list and then the other.
    pub fn concat(&self, other: &List, meter: &Rc<Meter>) -> List {
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
        with_same_cells!(&mut *cells, &*added, (x, y) => x.extend(y.range(range).cloned()), else return false);
        self.buffer.meter.iter().for_each(|meter| meter.add(u64::from(other.len), cells.weight()));
        true
    }

    /// Adds items before the window; false where they are packed differently.
    fn prepend(&self, other: &List) -> bool {
        let (mut cells, added) = (self.buffer.cells.borrow_mut(), other.buffer.cells.borrow());
        let range = other.base()..other.base() + other.len();
        with_same_cells!(&mut *cells, &*added, (x, y) => {
            y.range(range).rev().cloned().for_each(|item| x.push_front(item));
        }, else return false);
        self.buffer.front.set(self.buffer.front.get() + i64::from(other.len));
        self.buffer.meter.iter().for_each(|meter| meter.add(u64::from(other.len), cells.weight()));
        true
    }

    fn copied(&self, other: &List, meter: &Rc<Meter>) -> List {
        let (a, b) = (self.buffer.cells.borrow(), other.buffer.cells.borrow());
        let (x, y) = (self.base()..self.base() + self.len(), other.base()..other.base() + other.len());
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

    /// This list `times` times.
    pub fn repeat(&self, times: usize, meter: &Rc<Meter>) -> List {
        if times == 1 {
            return self.clone();
        }
        let range = self.base()..self.base() + self.len();
        macro_rules! cycle {
            ($($kind:ident),*) => {
                match &*self.buffer.cells.borrow() {
                    $(Cells::$kind(items) => {
                        let mut all = VecDeque::with_capacity(self.len() * times);
                        (0..times).for_each(|_| all.extend(items.range(range.clone()).cloned()));
                        Cells::$kind(all)
                    })*
                }
            };
        }
        List::new(cycle!(Ints, Scalars, Logicals, Tensors, Chars, Bytes, Values), Some(meter))
    }

    /// The bytes that `items` further items like these weigh.
    pub fn weight_of(&self, items: usize) -> u64 {
        (items as u64).saturating_mul(self.buffer.cells.borrow().weight())
    }

    /// The address of the buffer and the window, equal only for the same list.
    pub fn identity(&self) -> (usize, i32, u32) {
        (Rc::as_ptr(&self.buffer) as usize, self.start, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(list: &List) -> Vec<i64> {
        list.to_values().iter().map(|value| value.as_int().unwrap()).collect()
    }

    #[test]
    fn windows_do_not_see_what_others_append() {
        let meter = Rc::new(Meter::default());
        let a = List::from_ints([1, 2], Some(&meter));
        let b = a.concat(&List::from_ints([3], Some(&meter)), &meter);
        let c = a.concat(&List::from_ints([4], Some(&meter)), &meter);
        let d = List::from_ints([0], Some(&meter)).concat(&b, &meter);
        assert_eq!(ints(&a), [1, 2]);
        assert_eq!(ints(&b), [1, 2, 3]);
        assert_eq!(ints(&c), [1, 2, 4]);
        assert_eq!(ints(&d), [0, 1, 2, 3]);
        assert_eq!(ints(&d.slice(1, 3)), [1, 2]);
        assert_eq!(ints(&a.concat(&a, &meter)), [1, 2, 1, 2]);
    }

    #[test]
    fn both_ends_grow_in_place() {
        let meter = Rc::new(Meter::default());
        let mut list = List::from_ints([], Some(&meter));
        for i in 0..10_000 {
            let item = List::from_ints([i], Some(&meter));
            list = if i % 2 == 0 { list.concat(&item, &meter) } else { item.concat(&list, &meter) };
        }
        assert_eq!(list.len(), 10_000);
        assert_eq!(list.get(0).and_then(|v| v.as_int()), Some(9_999));
        // One buffer holds them all: 8 bytes an item and what the last single item weighs.
        assert!(meter.live() <= 80_016, "{}", meter.live());
        drop(list);
        assert_eq!(meter.live(), 0);
    }

    #[test]
    fn literals_never_grow() {
        let meter = Rc::new(Meter::default());
        let literal = List::from_ints([1], None);
        let longer = literal.concat(&List::from_ints([2], None), &meter);
        assert_eq!(ints(&longer), [1, 2]);
        assert_eq!(literal.buffer.cells.borrow().len(), 1);
    }

    #[test]
    fn text_is_indexed_by_characters() {
        let meter = Rc::new(Meter::default());
        let text = List::from_text("né", None).concat(&List::from_text("ab", None), &meter);
        assert_eq!(text.text(), "néab");
        assert_eq!(text.len(), 4);
        assert_eq!(text.slice(1, 3).text(), "éa");
        assert_eq!(text.repeat(2, &meter).text(), "néabnéab");
    }

    #[test]
    fn deep_nesting_drops_without_recursion() {
        let meter = Rc::new(Meter::default());
        let mut list = List::from_values(vec![], Some(&meter));
        for _ in 0..200_000 {
            list = List::from_values(vec![Value::Array(list)], Some(&meter));
        }
        drop(list);
        assert_eq!(meter.live(), 0);
    }
}
