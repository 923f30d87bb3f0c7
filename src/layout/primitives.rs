//! The memory of an array as `pad`, `transpose` and `reshape`.

use crate::Graph;
use crate::Options;
use crate::graph::names::NameId;
use crate::graph::{Extent, Primitive, Shape, TensorId, Value};
use crate::library::build::{Builder, Unknown};
use crate::tensor::shape::Tiling;
use crate::tensor::{ArrayShape, TensorError};

impl Graph {
    /// The graph that turns an array into its linear memory: one input with the dimensions of the array, and one
    /// output of rank 1. Padded dimensions are filled with the padding value of the layout, incomplete tiles and
    /// the tail with 0. Dynamic sizes are set to their bounds; elements of all types become scalars.
    ///
    /// ```
    /// use nnef_flatten::{Graph, tensor::Shape};
    ///
    /// let shape: Shape = "f32[2,3]{0,1}".parse()?;
    /// let mut text = Vec::new();
    /// Graph::memory_of(shape.array().unwrap())?.write_nnef(&mut text)?;
    /// assert!(String::from_utf8(text)?.contains("transpose(x, axes = [1, 0])"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, the array is empty, or its padding value cannot be expressed as a number.
    pub fn memory_of(shape: &ArrayShape) -> Result<Graph, TensorError> {
        Graph::memory_within(shape, Options::default().max_memory)
    }

    /// [`Graph::memory_of`] with another limit on the bytes that the graph takes: each tile adds operations whose
    /// shapes have all dimensions so far.
    pub(crate) fn memory_within(shape: &ArrayShape, max_memory: u64) -> Result<Graph, TensorError> {
        build(Builder::new("memory"), shape, max_memory)
    }
}

/// An array being converted to its memory.
struct Array {
    builder: Builder,
    tensor: TensorId,
    /// The shape of the tensor.
    shape: Vec<u64>,
    /// The shape that it must have before the next operation; `settle` adds a reshape if that differs.
    wanted: Vec<u64>,
    /// The limit on memory, and what is left of it.
    memory: (u64, u64),
}

/// An estimate of the memory of an extent of an operation's shape: in the graph, in its arguments and in its text.
const EXTENT: u64 = 64;

/// Adds an operation whose result has the shape `shape`.
fn emit(
    builder: &mut Builder,
    operation: &'static str,
    arguments: Vec<Value>,
    name: NameId,
    shape: &[u64],
) -> Result<TensorId, TensorError> {
    let extents: Vec<Extent> = shape.iter().map(|&extent| Extent::new(extent as i64)).collect();
    builder.emit(operation, arguments, name, Some(Shape::new(&extents))).map_err(missing)
}

fn integers(items: impl IntoIterator<Item = u64>) -> Value {
    Value::Integers(items.into_iter().map(|item| item as i64).collect())
}

impl Array {
    fn emit(&mut self, operation: &'static str, arguments: Vec<Value>, shape: Vec<u64>) -> Result<(), TensorError> {
        let (limit, left) = self.memory;
        self.memory.1 = left.checked_sub(EXTENT * (shape.len() as u64 + 8)).ok_or_else(|| {
            TensorError::new(format!("the layout as primitives takes more than {limit} bytes (--max-memory)"))
        })?;
        let root = self.builder.name("y");
        let name = self.builder.under(root, operation);
        let arguments = [vec![Value::Tensor(self.tensor)], arguments].concat();
        self.tensor = emit(&mut self.builder, operation, arguments, name, &shape)?;
        (self.wanted, self.shape) = (shape.clone(), shape);
        Ok(())
    }

    /// Reshapes the tensor to the wanted shape.
    fn settle(&mut self) -> Result<(), TensorError> {
        if self.shape == self.wanted {
            return Ok(());
        }
        let wanted = self.wanted.clone();
        self.emit("reshape", vec![integers(wanted.iter().copied())], wanted)
    }

    /// Pads dimensions at their ends up to the sizes `to`.
    fn pad(&mut self, to: Vec<u64>, value: f64) -> Result<(), TensorError> {
        if to == self.wanted {
            return Ok(());
        }
        self.settle()?;
        let pair = |(from, to): (&u64, &u64)| Value::Tuple([Value::Int(0), Value::Int((to - from) as i64)].into());
        let padding = Value::Array(self.shape.iter().zip(&to).map(pair).collect());
        self.emit("pad", vec![padding, Value::String("constant".into()), Value::Scalar(value)], to)
    }

    fn transpose(&mut self, order: &[usize]) -> Result<(), TensorError> {
        if order.iter().copied().eq(0..order.len()) {
            return Ok(());
        }
        self.settle()?;
        let shape = order.iter().map(|&axis| self.shape[axis]).collect();
        self.emit("transpose", vec![integers(order.iter().map(|&axis| axis as u64))], shape)
    }

    /// Combines dimensions, pads them to whole tiles, splits them into tiles, and moves the tile axes to the end.
    fn tile(&mut self, tiling: &Tiling) -> Result<(), TensorError> {
        let ones = std::iter::repeat_n(1, tiling.prepended);
        let outer: Vec<u64> = ones.chain(self.wanted.iter().copied()).take(tiling.kept).collect();
        let with_outer = |inner: Vec<u64>| [outer.as_slice(), &inner].concat();
        let counts = tiling.counts()?;
        let tiles = || counts.iter().zip(&tiling.tile);
        self.wanted = with_outer(tiling.combined()?);
        self.pad(with_outer(tiles().map(|(count, tile)| count * tile).collect()), 0.0)?;
        self.wanted = with_outer(tiles().flat_map(|(count, tile)| [*count, *tile]).collect());
        let (kept, all) = (tiling.kept, tiling.kept + 2 * counts.len());
        let order: Vec<usize> = (0..kept).chain((kept..all).step_by(2)).chain((kept + 1..all).step_by(2)).collect();
        self.transpose(&order)
    }
}

fn build(mut builder: Builder, shape: &ArrayShape, max_memory: u64) -> Result<Graph, TensorError> {
    let memory = shape.memory()?;
    let sizes = shape.sizes()?;
    if sizes.contains(&0) {
        return Err(TensorError::new("the array is empty, and NNEF has no empty tensors"));
    }
    let name = builder.name("x");
    let extents: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let input = builder.input(Primitive::Scalar, name, &extents).map_err(missing)?;
    let memory_left = (max_memory, max_memory);
    let mut array = Array { builder, tensor: input, shape: sizes.clone(), wanted: sizes, memory: memory_left };
    if let Some((padded, value)) = shape.layout().padding() {
        let none = || TensorError::new(format!("no number is the {} of {}", value.name(), shape.element()));
        array.pad(padded.to_vec(), value.value(shape.element()).ok_or_else(none)?)?;
    }
    array.transpose(&shape.layout().major_to_minor())?;
    memory.tilings().iter().try_for_each(|tiling| array.tile(tiling))?;
    array.wanted = vec![memory.physical().iter().product()];
    array.pad(vec![memory.places()], 0.0)?;
    array.settle()?;
    let Array { mut builder, tensor, .. } = array;
    let name = builder.name("y");
    if tensor != input {
        builder.graph.tensors[tensor.index()].name = name;
    }
    builder.output(tensor, name, false).map_err(missing)?;
    builder.finish().map_err(missing)
}

/// The error of an operation that NNEF does not have.
fn missing(Unknown(operation): Unknown) -> TensorError {
    TensorError::new(format!("NNEF has no operation `{operation}`"))
}
