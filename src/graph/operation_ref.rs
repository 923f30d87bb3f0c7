//! Operations together with the graph that they are part of.

use std::borrow::Cow;
use std::ops::Deref;
use std::{fmt, slice};

use super::{Graph, Operand, Operation, Output, TensorId};
use crate::source::Location;

/// An operation of a graph, with what its graph tells of it. It is shown as a statement of NNEF.
#[derive(Clone, Copy)]
pub struct OperationRef<'g> {
    graph: &'g Graph,
    operation: &'g Operation,
}

impl<'g> OperationRef<'g> {
    /// The graph that it is part of, which has names and shapes of tensors.
    pub fn graph(self) -> &'g Graph {
        self.graph
    }

    /// The name of what it does, such as `conv`.
    pub fn name(self) -> &'g str {
        self.graph.operation_name(self.operation)
    }

    /// Its arguments for tensor parameters, as [`Graph::inputs_of`] has them.
    pub fn inputs(self) -> Vec<(Cow<'g, str>, Operand<'g>)> {
        self.graph.inputs_of(self.operation)
    }

    /// Its other arguments, with the defaults of the parameters.
    pub fn attributes(self) -> Vec<(Cow<'g, str>, Operand<'g>)> {
        self.graph.attributes_of(self.operation)
    }

    /// The argument of a parameter, or its default.
    pub fn argument(self, name: &str) -> Option<Operand<'g>> {
        self.graph.argument(self.operation, name)
    }

    /// Its results under their names.
    pub fn outputs(self) -> impl Iterator<Item = (Cow<'g, str>, Output<'g>)> {
        self.graph.results(self.operation)
    }

    /// The tensors that it produces, those of arrays one after the other.
    pub fn tensors(self) -> impl Iterator<Item = TensorId> {
        self.graph.tensors_of(self.operation)
    }

    /// Whether it is declared: by the standard library, the document or a library.
    pub fn is_declared(self) -> bool {
        self.graph.is_declared(self.operation)
    }

    /// The calls that it comes from, the innermost first: what was called, and where.
    pub fn calls(self) -> impl Iterator<Item = (&'g str, Location)> {
        self.graph.calls(self.operation)
    }
}

/// What the operation has without its graph: location and type argument.
impl Deref for OperationRef<'_> {
    type Target = Operation;

    fn deref(&self) -> &Operation {
        self.operation
    }
}

impl fmt::Debug for OperationRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The operations of a graph, each after those that it depends on.
#[derive(Clone, Debug)]
pub struct Operations<'g> {
    graph: &'g Graph,
    rest: slice::Iter<'g, Operation>,
}

impl<'g> Iterator for Operations<'g> {
    type Item = OperationRef<'g>;

    fn next(&mut self) -> Option<OperationRef<'g>> {
        self.rest.next().map(|operation| self.graph.operation(operation))
    }

    fn nth(&mut self, n: usize) -> Option<OperationRef<'g>> {
        self.rest.nth(n).map(|operation| self.graph.operation(operation))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }
}

impl DoubleEndedIterator for Operations<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.rest.next_back().map(|operation| self.graph.operation(operation))
    }
}

impl ExactSizeIterator for Operations<'_> {}

impl Graph {
    /// Its operations, each after those that it depends on, with what the graph tells of them.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = leaky_relu(x, alpha = 0.1); }";
    /// let (graph, _) = open(("example", text), &Options::default())?.flatten()?;
    /// let names: Vec<&str> = graph.operations().map(|operation| operation.name()).collect();
    /// assert_eq!(names, ["external", "leaky_relu"]);
    /// for operation in &graph {
    ///     println!("{} at {:?}", operation.name(), operation.location());
    ///     for (name, operand) in operation.inputs().into_iter().chain(operation.attributes()) {
    ///         println!("    {name} = {}", graph.operand_text(operand));
    ///     }
    ///     for (name, output) in operation.outputs() {
    ///         let tensors = output.tensors().iter().map(|tensor| graph.tensor_name(*tensor));
    ///         println!("    gives {name}: {}", tensors.collect::<Vec<_>>().join(", "));
    ///     }
    /// }
    /// let last = graph.operations().last().unwrap();
    /// assert_eq!(last.to_string(), "y = leaky_relu(x, alpha = 0.1);");
    /// assert!(graph.to_string().ends_with("    y = leaky_relu(x, alpha = 0.1);\n}\n"));
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn operations(&self) -> Operations<'_> {
        Operations { graph: self, rest: self.operations.iter() }
    }

    /// [`Graph::operations`], under the name that collections have for it.
    pub fn iter(&self) -> Operations<'_> {
        self.operations()
    }

    /// The operation that produces a tensor; none for an input of a kept fragment.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }";
    /// let (graph, _) = open(("example", text), &Options::default())?.flatten()?;
    /// assert_eq!(graph.producer(graph.outputs()[0]).unwrap().name(), "relu");
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn producer(&self, tensor: TensorId) -> Option<OperationRef<'_>> {
        self.maker(tensor).map(|operation| self.operation(operation))
    }

    /// The operation that produces a tensor, without the graph.
    pub(crate) fn maker(&self, tensor: TensorId) -> Option<&Operation> {
        self.operations.get(self.tensors[tensor.index()].producer?.index())
    }

    /// One of its operations, with what the graph tells of it.
    pub fn operation<'g>(&'g self, operation: &'g Operation) -> OperationRef<'g> {
        OperationRef { graph: self, operation }
    }
}

impl<'g> IntoIterator for &'g Graph {
    type Item = OperationRef<'g>;
    type IntoIter = Operations<'g>;

    fn into_iter(self) -> Operations<'g> {
        self.iter()
    }
}
