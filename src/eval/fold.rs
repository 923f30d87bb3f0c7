//! Folds operations on constants: the evaluator computes their results, which become constants. `docs/decisions.md` has
//! the limits and the reasons.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::run::{Engine, Run};
use super::{Budget, Evaluator, Kernel, Limits, kernel_table};
use crate::graph::constant::{items, primitive, written};
use crate::graph::standard::CONSTANT;
use crate::graph::{Argument, Graph, Key, Kind, Operation, OperationId, Output, Primitive, TensorId, Value, prune};
use crate::library::texts::standard;
use crate::tensor::{Tensor, volume};

/// The most values that a folded constant is written with, unless one of the operands is written with more.
const MOST_VALUES: usize = 1024;

/// The most values that all folded constants of a graph are written with.
const MOST_IN_ALL: usize = 1 << 20;

/// The most items of a result.
const MOST_ITEMS: usize = 1 << 20;

/// The limits of an evaluation while folding.
const LIMITS: Limits = Limits { max_items: 1 << 24, max_work: 50_000_000 };

/// The steps that expanding the definition of a compound counts as.
const DEFINITION: u64 = 20_000;

impl Graph {
    /// Computes the operations whose tensor operands are all constants, and returns how many became constants. Only
    /// standard operations are computed, within the limits, and only if the results are finite and not much larger than
    /// their operands; other operations remain. Tensors keep their names. Constants that are no longer used are
    /// removed, unless the document names them, or `keep_unused`. Tensors in `apart` are not treated as constants.
    ///
    /// Extents and other numbers that are known since the expansion are written where operations take them as
    /// attributes, and what only computed them is removed. Otherwise graphs with operations of registries are not changed:
    /// the element types of their tensors are more precise than those of constants. Kept fragments are not changed, either: they mean what the operation that runs them says.
    ///
    /// ```
    /// use nnef_flatten::eval::Limits;
    /// use nnef_flatten::{Options, expand, parse};
    ///
    /// let text = "
    ///     version 1.0;
    ///     graph G( x ) -> ( y )
    ///     {
    ///         x = external(shape = [2]);
    ///         y = mul(x, sqrt(constant(shape = [2], value = [4.0, 9.0])));
    ///     }
    /// ";
    /// let parsed = parse("example", text.to_string(), &Options::default());
    /// let mut graph = expand(&parsed.document, &Options::default()).expect("a valid document").graph;
    /// assert_eq!(graph.fold(Limits::default(), &[], false), 1);
    /// let mut flat = Vec::new();
    /// graph.write_nnef(&mut flat)?;
    /// assert!(String::from_utf8_lossy(&flat).contains("y_sqrt1 = constant(shape = [2], value = [2.0, 3.0]);"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "kernels")]
    pub fn fold(&mut self, limits: Limits, apart: &[TensorId], keep_unused: bool) -> usize {
        let written = self.write_known(keep_unused);
        if self.conventions.follows {
            return written;
        }
        let candidates = FoldCandidates::new(self, apart);
        if candidates.operations.is_empty() {
            return written;
        }
        let Some(declared) = standard(self.dialect).find(CONSTANT) else { return written };
        let kind = declared.kind(self.symbols_mut());
        // The text could not distinguish the standard operation from one of the document with its name.
        if self.kinds.iter().any(|known| known.name == kind.name && !known.standard) {
            return written;
        }
        let folded = Folding::fold_all(self, limits, candidates, kind.generic);
        if !folded.is_empty() {
            rewrite(self, &folded, &kind);
            if !keep_unused {
                drop_unused(self, &kind, apart);
            }
        }
        written + folded.len()
    }
}

/// A constant: its shape, the type of its items, and its value.
pub(super) struct Constant {
    pub(super) shape: Arc<[i64]>,
    pub(super) of: Primitive,
    pub(super) value: Value,
}

/// Operations whose operands would be constants if all others of them were folded.
struct FoldCandidates {
    /// Whether each tensor is a constant, or a result of one of these operations.
    known: Vec<bool>,
    /// These operations, in order.
    operations: Vec<OperationId>,
    /// The last of these operations that uses each of their operands.
    last: FxHashMap<TensorId, OperationId>,
}

impl FoldCandidates {
    fn new(graph: &Graph, apart: &[TensorId]) -> Self {
        let apart: FxHashSet<TensorId> = apart.iter().copied().collect();
        let functions: Vec<bool> = graph.kinds.iter().map(|kind| graph.is_function(kind)).collect();
        let constants: Vec<bool> = graph.kinds.iter().map(|kind| is_constant(graph, kind)).collect();
        let (mut known, mut operations) = (vec![false; graph.tensors.len()], Vec::new());
        let mut last = FxHashMap::default();
        for (i, operation) in graph.operations.iter().enumerate() {
            let kind = graph.kind_id(operation).index();
            let mut all = functions[kind];
            graph.each_operand_tensor(operation, |tensor| all &= known[tensor.index()]);
            if !all || graph.tensors_of(operation).any(|tensor| apart.contains(&tensor)) {
                continue;
            }
            graph.tensors_of(operation).for_each(|tensor| known[tensor.index()] = true);
            if !constants[kind] {
                let id = OperationId::at(i);
                graph.each_operand_tensor(operation, |tensor| {
                    last.insert(tensor, id);
                });
                operations.push(id);
            }
        }
        FoldCandidates { known, operations, last }
    }
}

fn is_constant(graph: &Graph, kind: &Kind) -> bool {
    kind.standard && graph.text_of(kind.name) == CONSTANT
}

/// The state of the computation of a graph's candidates.
struct Folding<'a> {
    graph: &'a Graph,
    run: &'a Run<'a>,
    kernels: Vec<Option<Kernel>>,
    /// Whether each tensor is a constant: of the document, or folded.
    known: Vec<bool>,
    /// Whether constants can have other items than scalars.
    generic: bool,
    /// The number of values that each folded constant is written with.
    sizes: FxHashMap<TensorId, usize>,
    /// The number of values that may still be written.
    left: usize,
}

impl Folding<'_> {
    /// Computes the candidates. Returns the results of those that become constants.
    fn fold_all(
        graph: &Graph,
        limits: Limits,
        candidates: FoldCandidates,
        generic: bool,
    ) -> FxHashMap<OperationId, Vec<Constant>> {
        let limits = Limits {
            max_items: limits.max_items.min(LIMITS.max_items),
            max_work: limits.max_work.min(LIMITS.max_work),
        };
        let (evaluator, budget, variables) = (Evaluator::with_limits(limits), Budget::new(limits), BTreeMap::new());
        let run = Run::new(graph, graph, &evaluator, &budget, &variables, FxHashMap::default());
        let kernels = graph.kinds.iter().map(|kind| kind.standard.then(|| evaluator.kernel(graph, kind)).flatten());
        let FoldCandidates { known, operations, last } = candidates;
        let mut folding = Folding {
            graph,
            run: &run,
            kernels: kernels.collect(),
            known,
            generic,
            sizes: FxHashMap::default(),
            left: MOST_IN_ALL,
        };
        let mut folded = FxHashMap::default();
        for id in operations {
            let operation = &graph.operations[id.index()];
            let constants = folding.results(operation);
            // What an operation would have taken beyond the limit does not count for the operations after it.
            budget.forgive();
            let unused = |tensor: &TensorId| constants.is_none() || !last.contains_key(tensor);
            graph.tensors_of(operation).filter(unused).for_each(|tensor| run.forget(tensor));
            graph.each_operand_tensor(operation, |tensor| {
                if last.get(&tensor) == Some(&id) {
                    run.forget(tensor);
                }
            });
            match constants {
                Some(constants) => {
                    folded.insert(id, constants);
                }
                None => graph.tensors_of(operation).for_each(|tensor| folding.known[tensor.index()] = false),
            }
        }
        folded
    }

    /// The results of an operation as constants; none if it cannot or should not be folded.
    fn results(&mut self, operation: &Operation) -> Option<Vec<Constant>> {
        let (graph, run) = (self.graph, self.run);
        let mut operands = Vec::new();
        graph.each_operand_tensor(operation, |tensor| operands.push(tensor));
        let small = |tensor| self.extents(tensor).and_then(|shape| volume(&shape)).is_some_and(|n| n <= MOST_ITEMS);
        if !operands.iter().all(|tensor| self.known[tensor.index()]) || !graph.tensors_of(operation).all(small) {
            return None;
        }
        let most = operands.iter().map(|tensor| self.size(*tensor)).fold(MOST_VALUES, usize::max);
        for tensor in operands {
            self.load(tensor)?;
        }
        if graph.meaning(graph.kind(operation)).and_then(kernel_table::function).is_none() {
            run.budget.work(DEFINITION).ok()?;
        }
        run.step(operation, self.kernels[graph.kind_id(operation).index()].as_ref()).ok()?;
        let tensors: Vec<TensorId> = graph.tensors_of(operation).collect();
        let constants: Vec<Constant> =
            tensors.iter().map(|tensor| self.constant(*tensor, most)).collect::<Option<_>>()?;
        let sizes = || constants.iter().map(|constant| written(&constant.value));
        self.left = self.left.checked_sub(sizes().sum())?;
        self.sizes.extend(tensors.into_iter().zip(sizes()));
        Some(constants)
    }

    /// The extents of a tensor, if all are known and positive.
    fn extents(&self, tensor: TensorId) -> Option<Vec<usize>> {
        let known = self.graph.shape(tensor)?.known()?;
        known.iter().map(|extent| usize::try_from(*extent).ok().filter(|extent| *extent > 0)).collect()
    }

    /// The number of values that a constant is written with.
    fn size(&self, tensor: TensorId) -> usize {
        let in_text = || {
            let value = self.graph.attribute(self.graph.maker(tensor)?, "value")?;
            Some(written(value))
        };
        self.sizes.get(&tensor).copied().or_else(in_text).unwrap_or(0)
    }

    /// Computes a constant of the document, unless that has been done.
    fn load(&self, tensor: TensorId) -> Option<()> {
        if self.run.tensor(tensor).is_ok() {
            return Some(());
        }
        let producer = self.graph.maker(tensor)?;
        self.run.step(producer, self.kernels[self.graph.kind_id(producer).index()].as_ref()).ok()
    }

    /// A computed tensor as a constant of at most so many values; none if its shape or type is not the inferred one, or
    /// if a constant cannot express it.
    fn constant(&self, tensor: TensorId, most: usize) -> Option<Constant> {
        let value: Arc<Tensor> = self.run.tensor(tensor).ok()?;
        let of = primitive(value.dtype());
        let fits = self.graph.dtype(tensor) == Some(of) && self.extents(tensor)?.as_slice() == value.shape();
        if !fits || of != Primitive::Scalar && !self.generic {
            return None;
        }
        let shape = value.shape().iter().map(|extent| *extent as i64).collect();
        let value = items(value.data()).filter(|value| written(value) <= most)?;
        Some(Constant { shape, of, value })
    }
}

/// Replaces operations by constants.
pub(super) fn rewrite(graph: &mut Graph, folded: &FxHashMap<OperationId, Vec<Constant>>, kind: &Kind) {
    let old = graph.take_operations();
    graph.kinds = old.kinds.clone();
    let constant = graph.standard_kind(kind);
    for (i, operation) in old.operations.iter().enumerate() {
        let Some(constants) = folded.get(&OperationId::at(i)) else {
            graph.add_again(&old, operation);
            continue;
        };
        for (tensor, Constant { shape, of, value }) in old.tensors_of(operation).zip(constants) {
            let values = [Value::Integers(Arc::clone(shape)), value.clone()];
            let arguments = (0..).zip(values).map(|(i, value)| Argument { key: Key::Param(i), value });
            let dtype = (kind.generic.then_some(*of), *of != Primitive::Scalar);
            let source = (operation.at, operation.origin);
            graph.add_operation(constant, dtype, arguments, &[Output::Tensor(&tensor)], source);
        }
    }
}

/// Removes constants that nothing uses and the document does not name.
fn drop_unused(graph: &mut Graph, kind: &Kind, apart: &[TensorId]) {
    let mut used: Vec<bool> = graph.tensors.iter().map(|tensor| graph.names.is_user(tensor.name)).collect();
    graph.outputs.iter().chain(apart).for_each(|tensor| used[tensor.index()] = true);
    for operation in &graph.operations {
        graph.each_operand_tensor(operation, |tensor| used[tensor.index()] = true);
    }
    let needed: Vec<bool> = graph
        .operations
        .iter()
        .map(|operation| {
            let constant = graph.kind(operation).name == kind.name;
            !constant || graph.tensors_of(operation).any(|tensor| used[tensor.index()])
        })
        .collect();
    prune::keep(graph, &needed);
}

#[cfg(test)]
mod tests;
