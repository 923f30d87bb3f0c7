//! Loop outputs that collect an element from each trip.

use std::sync::Arc;

use super::network::{MAX_ELEMENTS, StaticType, volume};
use super::site::{ComputationError, Computed, Site};
use super::symbols::{Sym, Symbols};
use crate::diagnostics::Code;
use crate::graph::Value;
use crate::graph::predication::Predicated;
use crate::tensor::{DType, Data, Dims, Tensor};

/// The maximum number of elements of a loop output whose elements are not all known.
const MAX_ITEMS: usize = 10_000_000;

/// The elements that a loop output has collected so far.
pub(crate) struct Collector<'n> {
    /// The position of the new axis.
    axis: usize,
    /// The extent of the new axis.
    length: usize,
    /// Whether the last element comes first.
    reverse: bool,
    /// The type of an element, if it was inferred before the run.
    declared: Option<&'n StaticType>,
    /// The element type and shape of an element, set by the first element.
    element: Option<(DType, Dims)>,
    count: usize,
    /// All elements, as long as all are known.
    packed: Option<Data>,
    /// All elements, once one of them is not known.
    items: Vec<Sym>,
    /// Whether elements are in reverse order already, since run-time data determines which trip is the last.
    shifted: bool,
}

impl<'n> Collector<'n> {
    /// A collector without elements; they are stacked along a new axis of extent `length`.
    pub(crate) fn new(axis: usize, length: usize, reverse: bool, declared: Option<&'n StaticType>) -> Self {
        let (element, packed, items) = (None, None, Vec::new());
        Collector { axis, length, reverse, declared, element, count: 0, packed, items, shifted: false }
    }

    /// The failure of a loop output whose length is less than the number of trips.
    fn too_short(&self, site: &Site) -> Arc<ComputationError> {
        let message = format!("loop output `{}` has length {}, and there are more trips", site.name(), self.length);
        site.fail(Code::OutputTooShort, message)
    }

    /// Adds an element; if there is a predicate `active` and it is false, the element is not part of the output.
    pub(crate) fn push(
        &mut self,
        symbols: &mut Symbols,
        site: &Site,
        value: &Sym,
        active: Option<&Sym>,
    ) -> Computed<()> {
        if !self.shifted && self.count == self.length {
            return Err(self.too_short(site));
        }
        let shape = &self.element.get_or_insert_with(|| (value.dtype(), value.shape().into())).1;
        if shape.as_slice() != value.shape() {
            return Err(other_shape(site));
        }
        match value {
            Sym::Known(known) if active.is_none() && self.items.is_empty() => self.pack(symbols, site, known)?,
            value => self.push_item(symbols, site, value, active)?,
        }
        self.count += 1;
        Ok(())
    }

    /// Adds a known element to elements that are all known.
    fn pack(&mut self, symbols: &mut Symbols, site: &Site, known: &Tensor) -> Computed<()> {
        let packed = self.packed.get_or_insert_with(|| Data::zeros(known.dtype(), 0));
        if packed.len() + known.len() > MAX_ELEMENTS {
            let message = format!("loop output `{}` has more than {MAX_ELEMENTS} elements", site.name());
            return Err(site.fail(Code::MemoryBudget, message));
        }
        packed.append(known.data());
        symbols.usage.hold((known.len() * known.dtype().size()) as u64);
        symbols.count(known.len());
        Ok(())
    }

    /// Adds an element if some elements are not known or have a predicate.
    fn push_item(&mut self, symbols: &mut Symbols, site: &Site, value: &Sym, active: Option<&Sym>) -> Computed<()> {
        self.unpack(symbols);
        let count = self.items.len();
        if count >= MAX_ITEMS {
            let message = format!("loop output `{}` has more than {MAX_ITEMS} elements", site.name());
            return Err(site.fail(Code::LengthBudget, message));
        }
        let Some(active) = active else {
            self.items.push(value.clone());
            return Ok(());
        };
        let zeros = zeros(value.dtype(), value.shape()).ok_or_else(|| other_shape(site))?;
        if !self.reverse {
            self.items.push(symbols.at(site).choose(active, value, &zeros)?);
            return Ok(());
        }
        // The last active trip comes first: each active trip shifts the other elements back by one.
        if !self.shifted {
            self.items.reverse();
            self.shifted = true;
        } else if count == self.length {
            return Err(self.too_short(site));
        }
        let mut moved = Vec::with_capacity(count + 1);
        for i in 0..=count {
            let new = if i == 0 { value } else { &self.items[i - 1] };
            let old = self.items.get(i).unwrap_or(&zeros);
            moved.push(symbols.at(site).choose(active, new, old)?);
        }
        self.items = moved;
        Ok(())
    }

    /// Subtracts the memory of packed elements from the usage.
    fn release(symbols: &Symbols, packed: &Data) {
        symbols.usage.release((packed.len() * packed.dtype().size()) as u64);
    }

    /// Converts packed elements to single items.
    fn unpack(&mut self, symbols: &Symbols) {
        let (Some(packed), Some((_, shape))) = (self.packed.take(), &self.element) else { return };
        Self::release(symbols, &packed);
        let mut all = shape.clone();
        all.insert(0, self.count);
        let whole = Tensor::new(&all, packed);
        let item = |i: usize| Some(Sym::Known(Arc::new(whole.as_ref()?.element(0, i)?)));
        self.items = (0..self.count).filter_map(item).collect();
    }

    /// Stacks the collected elements into one tensor.
    pub(crate) fn close(mut self, symbols: &mut Symbols, site: &Site) -> Computed<Sym> {
        let too_large = || site.fail(Code::MemoryBudget, format!("loop output `{}` is too large", site.name()));
        let element = self.element.take().or_else(|| self.declared.and_then(StaticType::closed));
        let (dtype, shape) = element.ok_or_else(|| {
            let message = format!("without a trip the shape of `{}` is not known", site.name());
            site.fail(Code::OutputShape, message)
        })?;
        let size: usize = shape.iter().product();
        let reverse = self.reverse && !self.shifted;
        let mut whole = shape.clone();
        if self.items.iter().all(|item| item.known().is_some()) {
            let mut data = self.packed.unwrap_or_else(|| Data::zeros(dtype, 0));
            Self::release(symbols, &data);
            self.items.iter().filter_map(Sym::known).for_each(|item| data.append(item.data()));
            if reverse {
                data = data.pick((0..self.count).rev().flat_map(|i| i * size..(i + 1) * size));
            }
            whole.insert(0, self.length);
            data.pad(volume(&whole).ok_or_else(too_large)?);
            let whole = Tensor::new(&whole, data).ok_or_else(|| other_shape(site))?;
            return Ok(Sym::Known(Arc::new(whole.move_first_axis(self.axis))));
        }
        if reverse {
            self.items.reverse();
        }
        if self.length.saturating_mul(size.max(1)) > MAX_ELEMENTS {
            return Err(too_large());
        }
        self.items.resize(self.length, zeros(dtype, &shape).ok_or_else(too_large)?);
        let value = |item: &Sym| Ok(Value::from(&symbols.tensor(site, item)?));
        let values = self.items.iter().map(value).collect::<Computed<Vec<Value>>>()?;
        whole.insert(self.axis, self.length);
        let arguments = [Value::Array(values.into()), Value::Int(self.axis as i64)];
        symbols.emit(site, "stack", arguments, (dtype, &whole), "").map(Sym::Flat)
    }
}

/// The failure of a loop output whose elements have different shapes.
fn other_shape(site: &Site) -> Arc<ComputationError> {
    let message = format!("the elements of loop output `{}` have different shapes", site.name());
    site.fail(Code::OutputShape, message)
}

/// The element of an inactive trip.
fn zeros(dtype: DType, shape: &[usize]) -> Option<Sym> {
    let zeros = Tensor::new(shape, Data::zeros(dtype, shape.iter().product()))?;
    Some(Sym::Known(Arc::new(zeros)))
}
