//! Random choices for calls, from a tape.

use crate::tape::Tape;
use nnef_flatten::tensor::{DType, Data, SmallInt, Tensor};

pub const F16: DType = DType::FLOAT16;
pub const F32: DType = DType::Float32;
pub const F64: DType = DType::Float64;
pub const I8: DType = DType::INT8;
pub const I16: DType = DType::Small(SmallInt::Int16);
pub const I32: DType = DType::Int32;
pub const I64: DType = DType::Int64;
pub const U8: DType = DType::UINT8;
pub const U16: DType = DType::Small(SmallInt::Uint16);
pub const U32: DType = DType::Uint32;
pub const U64: DType = DType::Uint64;
pub const BOOL: DType = DType::Bool;

/// Floats, of which those of 32 bits are the most frequent.
pub const FLOATS: &[DType] = &[F32, F32, F32, F32, F32, F64, F64, F16];
/// The same without those of 16 bits, whose sums depend on their order.
pub const WIDE: &[DType] = &[F32, F32, F32, F64];
pub const UNSIGNED: &[DType] = &[U8, U16, U32, U64];
pub const NUMBERS: &[DType] = &[F32, F32, F32, F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, U64];
pub const ALL: &[DType] = &[F32, F32, F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, U64, BOOL];

/// Items that are rarely among random ones.
const EDGES: &[f64] =
    &[0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0];

pub fn is_float(of: DType) -> bool {
    matches!(of, DType::Float32 | DType::Float64 | DType::Narrow(_))
}

/// The least and the greatest integer of a type.
pub fn limits(of: DType) -> (i128, i128) {
    match of {
        DType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DType::Int64 => (i64::MIN.into(), i64::MAX.into()),
        DType::Uint32 => (0, u32::MAX.into()),
        DType::Uint64 => (0, u64::MAX.into()),
        DType::Small(of) if of.is_signed() => (-(1 << (of.bits() - 1)), (1 << (of.bits() - 1)) - 1),
        DType::Small(of) => (0, (1 << of.bits()) - 1),
        _ => (0, 1),
    }
}

/// A tensor of integers or logicals.
pub fn integers(of: DType, shape: &[usize], items: &[i128]) -> Tensor {
    let data = match of {
        DType::Int32 => Data::Int32(items.iter().map(|item| *item as i32).collect()),
        DType::Int64 => Data::Int64(items.iter().map(|item| *item as i64).collect()),
        DType::Uint32 => Data::Uint32(items.iter().map(|item| *item as u32).collect()),
        DType::Uint64 => Data::Uint64(items.iter().map(|item| *item as u64).collect()),
        DType::Small(small) => Data::Small(small, items.iter().map(|item| *item as i32).collect()),
        DType::Bool => Data::Bool(items.iter().map(|item| *item != 0).collect()),
        of => return floats(of, shape, &items.iter().map(|item| *item as f64).collect::<Vec<_>>()),
    };
    Tensor::new(shape, data).expect("items for all places")
}

/// A tensor of floats.
pub fn floats(of: DType, shape: &[usize], items: &[f64]) -> Tensor {
    let data = match of {
        DType::Float64 => Data::Float64(items.to_vec()),
        DType::Narrow(narrow) => Data::Narrow(narrow, items.iter().map(|item| narrow.round(*item)).collect()),
        _ => Data::Float32(items.iter().map(|item| *item as f32).collect()),
    };
    Tensor::new(shape, data).expect("items for all places")
}

/// A list of integers of 64 bits.
pub fn list(items: &[i64]) -> Tensor {
    integers(I64, &[items.len()], &items.iter().map(|item| i128::from(*item)).collect::<Vec<_>>())
}

/// A tensor with one item and no axes.
pub fn scalar(of: DType, item: f64) -> Tensor {
    if is_float(of) { floats(of, &[], &[item]) } else { integers(of, &[], &[item as i128]) }
}

pub fn volume(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Random choices. With `edge`, items are often those of [`EDGES`] or limits of integers.
pub struct Draw<'t> {
    tape: &'t mut Tape,
    pub edge: bool,
}

impl<'t> Draw<'t> {
    pub fn new(tape: &'t mut Tape) -> Self {
        let edge = tape.chance(6);
        Draw { tape, edge }
    }

    /// A number from `low` to `high`, both of which can be.
    pub fn int(&mut self, low: i64, high: i64) -> i64 {
        low + self.tape.below((high - low + 1) as usize) as i64
    }

    pub fn size(&mut self, low: usize, high: usize) -> usize {
        low + self.tape.below(high - low + 1)
    }

    /// A number from 1 to `most`, or 0 in `parts` of 100 cases.
    pub fn size_or_none(&mut self, parts: usize, most: usize) -> usize {
        let low = usize::from(!self.chance(parts));
        self.size(low, most)
    }

    pub fn flag(&mut self) -> bool {
        self.tape.below(2) == 1
    }

    /// True in `parts` of 100 cases.
    pub fn chance(&mut self, parts: usize) -> bool {
        self.tape.below(100) >= 100 - parts
    }

    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.tape.below(items.len())].clone()
    }

    pub fn maybe<T>(&mut self, value: T) -> Option<T> {
        self.flag().then_some(value)
    }

    /// Extents of `low` to `high` axes, of up to `most` each; one of them is 0 in one of twenty cases.
    pub fn extents(&mut self, low: usize, high: usize, most: usize) -> Vec<usize> {
        let mut shape = self.some(low, high, most);
        if !shape.is_empty() && self.chance(5) {
            let at = self.size(0, shape.len() - 1);
            shape[at] = 0;
        }
        shape
    }

    /// The same, all of them positive.
    pub fn some(&mut self, low: usize, high: usize, most: usize) -> Vec<usize> {
        (0..self.size(low, high)).map(|_| self.size(1, most)).collect()
    }

    /// Items from -2 to 2 in eighths; integers from -4 to 4, or from 0 to 4.
    pub fn array(&mut self, of: DType, shape: &[usize]) -> Tensor {
        self.within(of, shape, 2.0)
    }

    /// Items of a magnitude of at most `most`, or twice as much for integers.
    pub fn within(&mut self, of: DType, shape: &[usize], most: f64) -> Tensor {
        if !is_float(of) {
            let most = (2.0 * most) as i64;
            return self.whole(of, shape, (-most, most));
        }
        let items: Vec<f64> = (0..volume(shape)).map(|_| self.number(most)).collect();
        floats(of, shape, &items)
    }

    pub fn number(&mut self, most: f64) -> f64 {
        if self.edge && self.chance(40) {
            return self.pick(EDGES);
        }
        let eighths = (8.0 * most) as i64;
        self.int(-eighths, eighths) as f64 / 8.0
    }

    /// Positive floats, whatever the edges are.
    pub fn positive(&mut self, of: DType, shape: &[usize]) -> Tensor {
        let items: Vec<f64> = (0..volume(shape)).map(|_| self.int(1, 16) as f64 / 8.0).collect();
        floats(of, shape, &items)
    }

    /// Integers between limits, or logicals; limits of the type among them.
    pub fn whole(&mut self, of: DType, shape: &[usize], within: (i64, i64)) -> Tensor {
        let (least, most) = limits(of);
        let low = i128::from(within.0).max(least) as i64;
        let high = i128::from(within.1).min(most) as i64;
        let items: Vec<i128> = (0..volume(shape))
            .map(|_| match self.edge && self.chance(30) {
                true => self.pick(&[least, most, most - 1, 0, 1]),
                false => self.int(low, high).into(),
            })
            .collect();
        integers(of, shape, &items)
    }

    /// Indices of an axis, also those from its end if they may be `negative`.
    pub fn indices(&mut self, of: DType, shape: &[usize], extent: usize, negative: bool) -> Tensor {
        let extent = extent as i64;
        let low = if negative { -extent } else { 0 };
        let items: Vec<i128> = (0..volume(shape)).map(|_| self.int(low, extent - 1).into()).collect();
        integers(of, shape, &items)
    }

    pub fn axis(&mut self, rank: usize) -> i64 {
        self.int(-(rank as i64), rank as i64 - 1)
    }

    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = self.size(0, last);
            order.swap(last, other);
        }
        order
    }

    /// One or more axes in any order, from the start or the end.
    pub fn axes(&mut self, rank: usize) -> Vec<i64> {
        let count = self.size(1, rank);
        let axes: Vec<usize> = self.permutation(rank).into_iter().take(count).collect();
        axes.into_iter().map(|axis| if self.flag() { axis as i64 - rank as i64 } else { axis as i64 }).collect()
    }

    /// A part of extents from the end, some of which are 1: what broadcasts to them.
    pub fn broadcast(&mut self, shape: &[usize]) -> Vec<usize> {
        let from = if self.flag() { self.size(0, shape.len()) } else { 0 };
        shape[from..].iter().map(|extent| if self.chance(25) { 1 } else { *extent }).collect()
    }

    /// Extents that broadcast to one shape.
    pub fn together(&mut self, count: usize) -> Vec<Vec<usize>> {
        let shape = self.extents(0, 4, 4);
        (0..count).map(|_| self.broadcast(&shape)).collect()
    }
}
