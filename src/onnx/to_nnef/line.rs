//! What a rule gets: a node with its operands and attributes.

use std::sync::Arc;

use super::emit::{Emitter, shortest};
use super::formula::FormulaTerm;
use super::item::{FlatTensor, KnownItems, NnefItem, NnefOutcome};
use super::refusal::{Lowered, NodeRefusal};
use super::shape::{axes_of, axis_of};
use crate::eval::Budget;
use crate::library::assembly::Assembly;
use crate::onnx::model::NodeProto;
use crate::onnx::run::{NodeAttributes, Stores, evaluate_node};
use crate::tensor::{DType, Tensor};

/// A node that is translated.
pub(super) struct NodeLine<'l, 'o, 'm> {
    pub(super) emit: &'l mut Emitter<'o>,
    pub(super) attributes: NodeAttributes<'l, 'm>,
    /// The name of the operator.
    pub(super) operator: &'l str,
    /// The imported version of the operator set.
    pub(super) version: i64,
    /// The operands; none for those that are left out.
    pub(super) operands: &'l [Option<NnefItem>],
    /// What known values are computed with.
    pub(super) computing: (&'l Stores, &'l Budget),
}

/// The refusal of an operand that is not a tensor.
const NO_TENSOR: NodeRefusal = NodeRefusal::because("an operand is not a tensor");

/// The results of a rule, one for each result of the operator; nodes may use fewer.
pub(super) type NodeResults = Lowered<Vec<NnefOutcome>>;

/// The only result.
pub(super) fn one(result: impl Into<NnefOutcome>) -> NodeResults {
    Ok(vec![result.into()])
}

impl NodeLine<'_, '_, '_> {
    // Operands.

    /// The number of operands, left out ones included.
    pub(super) fn count(&self) -> usize {
        self.operands.len()
    }

    /// Whether an operand is there.
    pub(super) fn has(&self, i: usize) -> bool {
        matches!(self.operands.get(i), Some(Some(_)))
    }

    /// Whether the node uses a result.
    pub(super) fn wants(&self, result: usize) -> bool {
        self.attributes.node.outputs.get(result).is_some_and(|name| *name != crate::graph::names::NameId::ROOT)
    }

    /// Refuses results from a position on.
    pub(super) fn only(&self, results: usize) -> Lowered<()> {
        match (results..self.attributes.node.outputs.len()).find(|i| self.wants(*i)) {
            Some(i) => Err(NodeRefusal::from(format!("its result {i} is used"))),
            None => Ok(()),
        }
    }

    /// An operand that must be there.
    pub(super) fn item(&self, i: usize) -> Lowered<&NnefItem> {
        let item = self.operands.get(i).and_then(Option::as_ref);
        item.ok_or_else(|| NodeRefusal::from(format!("it has no operand {i}")))
    }

    /// An operand as a tensor of the graph.
    pub(super) fn flat(&mut self, i: usize) -> Lowered<FlatTensor> {
        let item = self.item(i)?.clone();
        self.emit.flat(&item)
    }

    /// All operands as tensors of the graph.
    pub(super) fn flats(&mut self) -> Lowered<Vec<FlatTensor>> {
        (0..self.count()).map(|i| self.flat(i)).collect()
    }

    /// The items of an operand, if it is known.
    pub(super) fn constant(&self, i: usize) -> Option<&KnownItems> {
        self.operands.get(i)?.as_ref()?.known()
    }

    /// The value of an operand, if it is known and has one item.
    pub(super) fn single(&self, i: usize) -> Option<&Arc<Tensor>> {
        self.constant(i)?.single()
    }

    /// The value of an operand, if it is known.
    pub(super) fn value(&self, i: usize) -> Lowered<Option<Arc<Tensor>>> {
        self.constant(i).map(|items| items.tensor(self.computing.1)).transpose()
    }

    /// The value of an operand that has to be known.
    pub(super) fn known(&self, i: usize) -> Lowered<Arc<Tensor>> {
        self.item(i)?;
        self.value(i)?.ok_or_else(|| NodeRefusal::from(format!("its operand {i} is not known before the model runs")))
    }

    /// An operand of integers that has to be known, if it is there.
    pub(super) fn list(&self, i: usize) -> Lowered<Option<Vec<i64>>> {
        if !self.has(i) {
            return Ok(None);
        }
        let tensor = self.known(i)?;
        let whole = tensor.dtype().is_integer() || tensor.dtype() == DType::Bool;
        let items = (0..tensor.len()).map(|at| tensor.data().integer(at));
        if whole {
            Ok(Some(items.collect()))
        } else {
            Err(NodeRefusal::from(format!("its operand {i} is not integers")))
        }
    }

    /// The numbers of an operand that has to be known, if it is there.
    pub(super) fn numbers(&self, i: usize) -> Lowered<Option<Vec<f64>>> {
        if self.has(i) { Ok(Some(self.known(i)?.to_scalars())) } else { Ok(None) }
    }

    /// The only number of an operand that has to be known, if it is there.
    pub(super) fn number(&self, i: usize) -> Lowered<Option<f64>> {
        match self.numbers(i)?.as_deref() {
            None => Ok(None),
            Some([number]) => Ok(Some(*number)),
            Some(_) => Err(NodeRefusal::from(format!("its operand {i} has more than one item"))),
        }
    }

    /// The extents of an operand.
    pub(super) fn shape(&self, i: usize) -> Lowered<Vec<i64>> {
        match (self.item(i)?, self.constant(i)) {
            (_, Some(items)) => Ok(items.shape().iter().map(|extent| *extent as i64).collect()),
            (NnefItem::FlatTensor(flat), _) => self.emit.extents(*flat),
            _ => Err(NO_TENSOR),
        }
    }

    /// The rank of an operand.
    pub(super) fn rank(&self, i: usize) -> Lowered<usize> {
        match (self.item(i)?, self.constant(i)) {
            (_, Some(items)) => Ok(items.shape().len()),
            (NnefItem::FlatTensor(flat), _) => self.emit.rank(*flat),
            _ => Err(NO_TENSOR),
        }
    }

    /// The element type of an operand.
    pub(super) fn dtype(&self, i: usize) -> Lowered<DType> {
        match (self.item(i)?, self.constant(i)) {
            (_, Some(items)) => Ok(items.dtype()),
            (NnefItem::FlatTensor(flat), _) => Ok(flat.dtype),
            _ => Err(NO_TENSOR),
        }
    }

    /// Operands that are broadcast, with the last axes aligned as ONNX has it: operands of lower rank get leading axes.
    /// Known numbers are literals, unless all operands are known.
    pub(super) fn terms(&mut self, operands: impl IntoIterator<Item = usize>) -> Lowered<Vec<FormulaTerm>> {
        let operands: Vec<usize> = operands.into_iter().collect();
        let mut ranks = Vec::with_capacity(operands.len());
        for i in &operands {
            ranks.push((self.rank(*i)?, self.constant(*i).is_some()));
        }
        let rank = ranks.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
        let open = ranks.iter().filter(|(_, known)| !known).map(|(rank, _)| *rank).max();
        let mut terms = Vec::with_capacity(operands.len());
        for i in operands {
            let literal = self.literal(i).filter(|_| open == Some(rank));
            terms.push(match literal {
                Some(literal) => literal,
                None => FormulaTerm::FlatTensor(self.raised(i, rank)?),
            });
        }
        Ok(terms)
    }

    /// A constant of one item as a literal.
    fn literal(&self, i: usize) -> Option<FormulaTerm> {
        let tensor = self.single(i)?;
        let number = shortest(tensor.dtype(), tensor.data().float(0));
        let exact = !tensor.dtype().is_integer() || tensor.data().integer(0).unsigned_abs() <= 1 << 53;
        (exact && number.is_finite()).then_some(FormulaTerm::Number(number, tensor.dtype()))
    }

    /// An operand with leading axes up to a rank. Constants get these themselves.
    pub(super) fn raised(&mut self, i: usize, rank: usize) -> Lowered<FlatTensor> {
        let own = self.rank(i)?;
        if let Some(items) = self.constant(i).filter(|_| own < rank) {
            let shape: Vec<usize> = std::iter::repeat_n(1, rank - own).chain(items.shape().iter().copied()).collect();
            if let Some(NnefItem::Known(constant)) = self.operands.get(i).and_then(Option::as_ref) {
                return self.emit.constant_in(constant, &shape);
            }
            let items = items.reshaped(&shape)?;
            return self.emit.own_items(items);
        }
        let flat = self.flat(i)?;
        self.emit.raised(flat, rank)
    }

    /// An operand of one axis that is a parameter of each channel: with an axis for the batch.
    pub(super) fn per_channel(&mut self, i: usize) -> Lowered<FlatTensor> {
        if self.rank(i)? == 1 { self.raised(i, 2) } else { Err(NodeRefusal::RANK) }
    }

    /// An operand of one axis that is a parameter of each channel, with an axis for the batch and some behind it.
    pub(super) fn spread(&mut self, i: usize, more: usize) -> Lowered<FlatTensor> {
        match self.operands.get(i).and_then(Option::as_ref) {
            Some(NnefItem::Known(constant)) if constant.items.shape().len() == 1 => {
                let shape: Vec<usize> =
                    [1, constant.items.len()].into_iter().chain(std::iter::repeat_n(1, more)).collect();
                self.emit.constant_in(constant, &shape)
            }
            _ => {
                let flat = self.per_channel(i)?;
                self.emit.with_axes(flat, 2..2 + more as i64)
            }
        }
    }

    /// The results of a node of the same version for known operands.
    pub(super) fn computed(&self, node: &NodeProto, operands: &[Option<Arc<Tensor>>]) -> Lowered<Vec<Arc<Tensor>>> {
        Ok(evaluate_node(self.attributes.names, node, self.version, operands, self.computing.0, self.computing.1)?)
    }

    // NodeAttributes.

    /// An integer attribute with a default.
    pub(super) fn int(&self, name: &str, default: i64) -> Lowered<i64> {
        Ok(self.attributes.read(name)?.unwrap_or(default))
    }

    /// An integer attribute that is a truth value, with a default.
    pub(super) fn flag(&self, name: &str, default: bool) -> Lowered<bool> {
        Ok(self.int(name, i64::from(default))? != 0)
    }

    /// A float attribute with a default, as the shortest number that is equal in its precision.
    pub(super) fn float(&self, name: &str, default: f32) -> Lowered<f64> {
        let value = self.attributes.read(name)?.unwrap_or(default);
        // Floats of 64 bits can tell the number from the shortest text of one of 32 bits.
        let is_wide = self.count() > 0 && self.has(0) && self.dtype(0)? == DType::Float64;
        Ok(if is_wide { value.into() } else { shortest(DType::Float32, value.into()) })
    }

    /// A list of integers, if it is given.
    pub(super) fn ints(&self, name: &str) -> Lowered<Option<Vec<i64>>> {
        Ok(self.attributes.read(name)?)
    }

    /// A list of integers that is an attribute in early versions and an operand in later ones, if it is given.
    pub(super) fn ints_or(&self, name: &str, operand: usize) -> Lowered<Option<Vec<i64>>> {
        self.ints(name)?.map_or_else(|| self.list(operand), |list| Ok(Some(list)))
    }

    /// A text attribute with a default.
    pub(super) fn text(&self, name: &str, default: &str) -> Lowered<String> {
        Ok(self.attributes.read(name)?.unwrap_or_else(|| default.to_owned()))
    }

    /// An axis of an operand.
    pub(super) fn axis(&self, default: i64, rank: usize) -> Lowered<usize> {
        axis_of(self.int("axis", default)?, rank)
    }

    /// The axes that are an attribute in early versions and an operand in later ones; none if they are not given.
    pub(super) fn axes(&self, operand: usize, rank: usize) -> Lowered<Option<Vec<usize>>> {
        self.ints_or("axes", operand)?.map(|axes| axes_of(&axes, rank)).transpose()
    }
}
