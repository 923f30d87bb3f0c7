//! The evaluator: every value is a tensor of numbers.

use std::sync::Arc;

use super::domain::{Collecting, Domain, Failure, Site, Slot};
use super::network::{MAX_ELEMENTS, volume};
use super::network::{TensorId, Type};
use super::ops::{Attributes, Op};
use crate::diagnostics::Code;
use crate::tensor::{Data, Dims, Tensor};

/// How many elements an operation handles in the time of a step.
const ELEMENTS_PER_STEP: u64 = 256;

/// Computes with numbers.
#[derive(Debug, Default)]
pub struct Numbers {
    work: u64,
    held: u64,
}

/// Elements of a loop output so far: packed, the new axis first.
pub struct Packed {
    data: Option<Data>,
    shape: Dims,
    count: usize,
}

/// Computes an operation on numbers; also for constants of a flat graph.
pub fn compute(
    site: &Site,
    (op, attributes, known): (Op, &Attributes, Option<&Type>),
    inputs: &[&Tensor],
) -> Slot<Tensor> {
    let inferred;
    let result = match known.filter(|known| known.dims.iter().all(Option::is_some)) {
        Some(known) => known,
        None => {
            let types: Vec<Type> = inputs.iter().map(|input| Type::of(input)).collect();
            inferred = op.infer(&types, attributes).map_err(|message| refuse(site, op, &message))?;
            &inferred
        }
    };
    op.compute(inputs, attributes, result).map_err(|message| refuse(site, op, &message))
}

fn refuse(site: &Site, op: Op, message: &str) -> Arc<Failure> {
    site.fail(Code::LayerOperands, format!("`{}` of `{}`: {message}", op.name(), site.name()))
}

/// What is at an index of an axis.
pub fn element(site: &Site, of: (TensorId, &Tensor), axis: usize, index: i64) -> Slot<Tensor> {
    let found = usize::try_from(index).ok().and_then(|index| of.1.element(axis, index));
    found.ok_or_else(|| out_of_range(site, of.0, index, of.1.shape().get(axis).copied().unwrap_or(0)))
}

/// That an iterator left its axis.
pub fn out_of_range(site: &Site, of: TensorId, index: i64, extent: usize) -> Arc<Failure> {
    let (name, tensor) = (site.name(), site.net.name_of(of));
    let message = format!("iterator `{name}` asks for index {index} of an axis of `{tensor}` that has {extent}");
    site.fail(Code::IteratorRange, message)
}

/// That a loop output is too short for the trips.
pub fn too_short(collecting: &Collecting) -> Arc<Failure> {
    let message =
        format!("loop output `{}` has length {}, and there are more trips", collecting.site.name(), collecting.length);
    collecting.site.fail(Code::OutputTooShort, message)
}

/// The shape of the elements of a loop output without any, if it is known.
pub fn element_type<'a>(collecting: &Collecting<'a>) -> Slot<(&'a Type, Dims)> {
    let dims = collecting.element.and_then(|ty| Some((ty, ty.dims.iter().copied().collect::<Option<Dims>>()?)));
    dims.ok_or_else(|| {
        let message = format!("without any trip the shape of `{}` is not known", collecting.site.name());
        collecting.site.fail(Code::OutputShape, message)
    })
}

/// That the shape of an element differs from that of those before.
pub fn other_shape(collecting: &Collecting) -> Arc<Failure> {
    let message = format!("the elements of loop output `{}` have different shapes", collecting.site.name());
    collecting.site.fail(Code::OutputShape, message)
}

impl Domain for Numbers {
    type Value = Arc<Tensor>;
    type Gathered = Packed;

    fn constant(&mut self, value: &Arc<Tensor>) -> Self::Value {
        Arc::clone(value)
    }

    fn operation(
        &mut self,
        site: &Site,
        what: (Op, &Attributes, Option<&Type>),
        inputs: &[&Self::Value],
    ) -> Slot<Self::Value> {
        let inputs: smallvec::SmallVec<[&Tensor; 4]> = inputs.iter().map(|input| &***input).collect();
        let result = compute(site, what, &inputs)?;
        let operands: usize = inputs.iter().map(|input| input.data().len()).sum();
        // A matrix product visits its operands more than once.
        let visits = if inputs.len() == 2 && operands > 2 && what.0 == matmul() {
            let columns = result.shape().last().copied().unwrap_or(1) as u64;
            columns.saturating_mul(inputs[0].data().len() as u64)
        } else {
            operands as u64
        };
        self.work = self.work.saturating_add(visits.max(result.data().len() as u64) / ELEMENTS_PER_STEP);
        Ok(Arc::new(result))
    }

    fn element(
        &mut self,
        site: &Site,
        of: (TensorId, &Self::Value),
        axis: usize,
        index: i64,
        _: Option<u64>,
    ) -> Slot<Self::Value> {
        let found = element(site, (of.0, of.1), axis, index)?;
        self.work = self.work.saturating_add(found.data().len() as u64 / ELEMENTS_PER_STEP);
        Ok(Arc::new(found))
    }

    fn number(&self, value: &Self::Value) -> Option<i64> {
        value.as_integer()
    }

    fn truth(&self, value: &Self::Value) -> Option<bool> {
        value.as_bool()
    }

    fn open(&mut self, _: &Collecting) -> Packed {
        Packed { data: None, shape: Dims::new(), count: 0 }
    }

    fn push(
        &mut self,
        collecting: &Collecting,
        to: &mut Packed,
        value: &Arc<Tensor>,
        _: Option<&Arc<Tensor>>,
    ) -> Slot<()> {
        if to.count == collecting.length {
            return Err(too_short(collecting));
        }
        to.count += 1;
        match &mut to.data {
            None => {
                to.shape = value.shape().into();
                to.data = Some(value.data().clone());
            }
            Some(_) if to.shape.as_slice() != value.shape() => return Err(other_shape(collecting)),
            Some(data) if data.len() + value.data().len() > MAX_ELEMENTS => {
                let message = format!("loop output `{}` has more than {MAX_ELEMENTS} elements", collecting.site.name());
                return Err(collecting.site.fail(Code::MemoryBudget, message));
            }
            Some(data) => data.append(value.data()),
        }
        self.held += (value.data().len() * value.dtype().size()) as u64;
        self.work = self.work.saturating_add(value.data().len() as u64 / ELEMENTS_PER_STEP);
        Ok(())
    }

    fn close(&mut self, collecting: &Collecting, from: Packed) -> Slot<Arc<Tensor>> {
        let (mut data, mut shape) = match from.data {
            Some(data) => (data, from.shape),
            None => {
                let (ty, dims) = element_type(collecting)?;
                (Data::zeros(ty.dtype, 0), dims)
            }
        };
        self.held = self.held.saturating_sub((data.len() * data.dtype().size()) as u64);
        let size: usize = shape.iter().product();
        if collecting.reverse {
            let count = from.count;
            data = data.pick((0..count).rev().flat_map(|i| i * size..(i + 1) * size));
        }
        shape.insert(0, collecting.length);
        let Some(len) = volume(&shape) else {
            let message = format!("loop output `{}` is too large", collecting.site.name());
            return Err(collecting.site.fail(Code::MemoryBudget, message));
        };
        data.pad(len);
        let whole = Tensor::new(&shape, data).ok_or_else(|| other_shape(collecting))?;
        Ok(Arc::new(whole.move_first_axis(collecting.axis)))
    }

    fn bytes(&self, value: &Arc<Tensor>) -> u64 {
        value.bytes()
    }

    fn held(&self) -> u64 {
        self.held
    }

    fn work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }

    fn bound(&self) -> Option<u64> {
        None
    }

    fn both(&mut self, site: &Site, _: &Self::Value, _: &Self::Value) -> Slot<Self::Value> {
        Err(site.fail(Code::NotFlattenable, "every condition is known"))
    }

    fn choose(&mut self, site: &Site, _: &Self::Value, _: &Self::Value, _: &Self::Value) -> Slot<Self::Value> {
        Err(site.fail(Code::NotFlattenable, "every condition is known"))
    }

    fn unfinished(&mut self, site: &Site, _: &Self::Value) -> Slot<()> {
        Err(site.fail(Code::NotFlattenable, "every condition is known"))
    }
}

/// The operation whose operands are visited more than once.
fn matmul() -> Op {
    use std::sync::LazyLock;
    static MATMUL: LazyLock<Option<Op>> = LazyLock::new(|| Op::find("matmul"));
    MATMUL.unwrap_or_else(Op::identity)
}
