//! Merges equal operations.
//!
//! Operations are equal if they have the same kind, type argument and arguments, defaults included; numbers are equal
//! if their bits are. Only standard operations that are functions of their arguments are merged. The first of equal
//! operations remains, and what uses the results of a later one uses its results instead, so that one pass in the order
//! of the graph also finds operations that are equal because their operands are.
//!
//! Names of the document and outputs survive. If only the later one of two equal tensors has such a name, the first gets
//! it. If both have one, the later operation remains, too, but nothing else uses it, unless it is an output.

use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;

use super::{Graph, KeptFragment, Key, Operand, Operation, Output, TensorId, prune};

impl Graph {
    /// Merges equal operations, also in kept fragments, and returns how many were removed. Tensors that the document
    /// names and outputs are kept with their names; operations with results in `apart` are not merged. Of tensors with
    /// different [layouts](Graph::layout), the first keeps its own.
    ///
    /// ```
    /// use nnef_flatten::{Options, expand, parse};
    ///
    /// let text = "
    ///     version 1.0;
    ///     graph G( x ) -> ( y ) { x = external(shape = [2]); y = add(exp(x), exp(x)); }
    /// ";
    /// let parsed = parse("example", text.to_string(), &Options::default());
    /// let mut graph = expand(&parsed.document, &Options::default()).expect("a valid document").graph;
    /// assert_eq!(graph.share(&[]), 1);
    /// assert_eq!(graph.operations().len(), 3);
    /// ```
    pub fn share(&mut self, apart: &[TensorId]) -> usize {
        self.share_all(apart, true)
    }

    /// [`Graph::share`], which keeps the names of the document or only those of outputs.
    pub(crate) fn share_all(&mut self, apart: &[TensorId], keeps_names: bool) -> usize {
        let mut removed = 0;
        for fragment in &mut self.fragments {
            if let KeptFragment::Flat(_, body) = fragment {
                removed += body.share_all(&[], keeps_names);
            }
        }
        let mut sharing = Sharing::new(self, apart, keeps_names);
        (0..self.operations.len()).for_each(|at| sharing.visit(at));
        let Sharing { alias, needed, renamed, sources, .. } = sharing;
        if alias.iter().enumerate().all(|(i, tensor)| tensor.index() == i) {
            return removed;
        }
        for output in &mut self.outputs {
            let producer = self.tensors[output.index()].producer;
            if producer.is_some_and(|producer| !needed[producer.index()]) {
                *output = alias[output.index()];
            }
        }
        self.packed.map_operands(|tensor| alias[tensor.index()]);
        for (first, later) in renamed {
            self.tensors[first.index()].name = self.tensors[later.index()].name;
        }
        for (first, later) in sources {
            let Operation { at, origin, .. } = self.operations[later];
            (self.operations[first].at, self.operations[first].origin) = (at, origin);
        }
        removed += needed.iter().filter(|needed| !**needed).count();
        prune::keep(self, &needed);
        removed
    }
}

/// The equal operations found so far.
struct Sharing<'g> {
    graph: &'g Graph,
    /// Whether operations of each kind are functions of their arguments.
    functions: Vec<bool>,
    /// Whether each tensor keeps its name: it is an output, or the document names it.
    named: Vec<bool>,
    /// Whether each tensor is kept apart.
    apart: Vec<bool>,
    /// The tensor that replaces each tensor in arguments: usually itself.
    alias: Vec<TensorId>,
    /// The first operation with each hash. A different operation with the same hash is not merged with any other, so
    /// that the time remains linear.
    first: FxHashMap<u64, usize>,
    /// Whether each operation remains.
    needed: Vec<bool>,
    /// Tensors that get the name of a later one.
    renamed: Vec<(TensorId, TensorId)>,
    /// Operations that get the location of a later one, with the name of its result.
    sources: Vec<(usize, usize)>,
}

impl<'g> Sharing<'g> {
    fn new(graph: &'g Graph, apart: &[TensorId], keeps_names: bool) -> Self {
        let mut named = graph.marked(&graph.outputs);
        for (named, tensor) in named.iter_mut().zip(&graph.tensors) {
            *named |= keeps_names && graph.names.is_user(tensor.name);
        }
        Sharing {
            graph,
            functions: graph.kinds.iter().map(|kind| graph.is_function(kind)).collect(),
            named,
            apart: graph.marked(apart),
            alias: (0..graph.tensors.len()).map(|i| TensorId(i as u32)).collect(),
            first: FxHashMap::default(),
            needed: vec![true; graph.operations.len()],
            renamed: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Merges an operation with an equal one before it, if there is one.
    fn visit(&mut self, at: usize) {
        let graph = self.graph;
        let operation = &graph.operations[at];
        let declared = graph.keys(operation).iter().all(|key| matches!(key, Key::Param(_)));
        let apart = graph.tensors_of(operation).any(|tensor| self.apart[tensor.index()]);
        if !self.functions[graph.kind_id(operation).index()] || !declared || apart {
            return;
        }
        let first = match self.first.entry(self.hash(operation)) {
            Entry::Vacant(entry) => {
                entry.insert(at);
                return;
            }
            Entry::Occupied(first) => *first.get(),
        };
        if !self.equal(&graph.operations[first], operation) {
            return;
        }
        let pairs: Vec<(TensorId, TensorId)> =
            graph.tensors_of(&graph.operations[first]).zip(graph.tensors_of(operation)).collect();
        for (before, tensor) in &pairs {
            self.alias[tensor.index()] = *before;
        }
        if pairs.iter().any(|(before, tensor)| self.named[before.index()] && self.named[tensor.index()]) {
            return;
        }
        self.needed[at] = false;
        let named: Vec<(TensorId, TensorId)> =
            pairs.into_iter().filter(|(_, tensor)| self.named[tensor.index()]).collect();
        self.sources.extend((!named.is_empty()).then_some((first, at)));
        named.iter().for_each(|(before, _)| self.named[before.index()] = true);
        self.renamed.extend(named);
    }

    /// The arguments of all parameters, in order.
    fn arguments(&self, operation: &'g Operation) -> impl Iterator<Item = Option<Operand<'g>>> + use<'g> {
        let graph = self.graph;
        let count = graph.kind(operation).params.len() as u32;
        (0..count).map(move |param| graph.argument_of(operation, param))
    }

    fn hash(&self, operation: &'g Operation) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.graph.kind_id(operation).hash(&mut hasher);
        operation.dtype().hash(&mut hasher);
        for argument in self.arguments(operation) {
            argument.is_some().hash(&mut hasher);
            match argument {
                Some(Operand::Tensor(tensor)) => self.alias[tensor.index()].hash(&mut hasher),
                Some(Operand::Tensors(tensors)) => {
                    tensors.len().hash(&mut hasher);
                    tensors.iter().for_each(|tensor| self.alias[tensor.index()].hash(&mut hasher));
                }
                Some(Operand::Value(value)) => value.hash_with(&mut hasher, &|tensor| self.alias[tensor.index()]),
                None => {}
            }
        }
        hasher.finish()
    }

    /// Whether two operations give the same results, of the same structure.
    fn equal(&self, a: &'g Operation, b: &'g Operation) -> bool {
        let graph = self.graph;
        let structure = |a: Output, b: Output| {
            matches!(a, Output::Tensor(_)) == matches!(b, Output::Tensor(_)) && a.tensors().len() == b.tensors().len()
        };
        let (of_a, of_b) = (graph.outputs_of(a), graph.outputs_of(b));
        graph.kind_id(a) == graph.kind_id(b)
            && a.dtype() == b.dtype()
            && of_a.len() == of_b.len()
            && of_a.zip(of_b).all(|(a, b)| structure(a, b))
            && graph.tensors_of(a).zip(graph.tensors_of(b)).all(|(a, b)| graph.dtype(a) == graph.dtype(b))
            && self.arguments(a).zip(self.arguments(b)).all(|(a, b)| self.same_argument(a, b))
    }

    fn same_argument(&self, a: Option<Operand>, b: Option<Operand>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(Operand::Tensor(a)), Some(Operand::Tensor(b))) => self.same(a, b),
            (Some(Operand::Tensors(a)), Some(Operand::Tensors(b))) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same(*a, *b))
            }
            (Some(Operand::Value(a)), Some(Operand::Value(b))) => a.is_same(b, &|a, b| self.same(a, b)),
            _ => false,
        }
    }

    /// Whether two tensors are replaced by the same one.
    fn same(&self, a: TensorId, b: TensorId) -> bool {
        self.alias[a.index()] == self.alias[b.index()]
    }
}

#[cfg(test)]
mod tests;
