//! The parts of a graph under their names: tensors, symbols, and the arguments and results of operations.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::names::Spellings;
use super::{Graph, Key, Operand, Operation, Output, TensorId};

/// A part of an operation under the name of its parameter or result.
pub(crate) type NamedPart<'g, T> = (Cow<'g, str>, T);

/// Arguments of an operation.
pub(crate) type NamedOperands<'g> = SmallVec<[NamedPart<'g, Operand<'g>>; 6]>;

impl Graph {
    /// Its tensors.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = TensorId> + use<> {
        (0..self.tensors.len() as u32).map(TensorId)
    }

    /// The tensor of a name. This looks at the names of all tensors.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = leaky_relu(x, alpha = 0.1); }";
    /// let (graph, _) = open(("example", text), &Options::default())?.flatten()?;
    /// let y = graph.tensor("y").unwrap();
    /// let operation = graph.producer(y).unwrap();
    /// let names = |of: Vec<(std::borrow::Cow<str>, _)>| of.into_iter().map(|(name, _)| name.into_owned()).collect::<Vec<_>>();
    /// assert_eq!(names(operation.inputs()), ["x"]);
    /// assert_eq!(names(operation.attributes()), ["alpha"]);
    /// assert_eq!(operation.outputs().next().unwrap().0, "y");
    /// assert_eq!(graph.element_type(y), Some("scalar"));
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn tensor(&self, name: &str) -> Option<TensorId> {
        let mut spellings = Spellings::new(&self.names, &self.symbols);
        self.tensors().find(|tensor| spellings.spell(self.name_of(*tensor)) == name)
    }

    /// The dimension symbols in the shapes of its tensors, in the order in which they occur, each with the input and
    /// the axis that it is the extent of; none if no input has it as an extent of its own.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = r#"<ir_version: 10, opset_import: ["" : 21]> g (float[B, 4] x) => (float[B, 4] y) { y = Relu (x) }"#;
    /// let (graph, _) = open(("example.onnxtxt", text), &Options::default())?.flatten()?;
    /// assert_eq!(graph.dimension_symbols(), [("B".to_owned(), Some((graph.inputs()[0], 0)))]);
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn dimension_symbols(&self) -> Vec<(String, Option<(TensorId, usize)>)> {
        let mut found: Vec<(String, Option<(TensorId, usize)>)> = Vec::new();
        let mut known: FxHashSet<String> = FxHashSet::default();
        for &input in &self.inputs {
            for (axis, extent) in self.shape(input).map_or(&[][..], |shape| shape.extents()).iter().enumerate() {
                let text = extent.to_string();
                extent.dim().each_symbol(&mut |symbol| {
                    if symbol == text && known.insert(text.clone()) {
                        found.push((text.clone(), Some((input, axis))));
                    }
                });
            }
        }
        for tensor in self.tensors() {
            for extent in self.shape(tensor).map_or(&[][..], |shape| shape.extents()) {
                extent.dim().each_symbol(&mut |symbol| {
                    if !known.contains(symbol) {
                        known.insert(symbol.to_owned());
                        found.push((symbol.to_owned(), None));
                    }
                });
            }
        }
        found
    }

    /// The arguments for the tensor parameters of an operation, with the defaults of the parameters. Of operations
    /// without a declaration, these are all tensors and all arguments by position.
    pub fn inputs_of<'g>(&'g self, operation: &'g Operation) -> Vec<(Cow<'g, str>, Operand<'g>)> {
        self.named(operation, true).into_vec()
    }

    /// The other arguments of an operation, with the defaults of the parameters.
    pub fn attributes_of<'g>(&'g self, operation: &'g Operation) -> Vec<(Cow<'g, str>, Operand<'g>)> {
        self.named(operation, false).into_vec()
    }

    /// The results of an operation under their names: `output`, `output1`, … if it is not declared.
    pub fn results<'g>(&'g self, operation: &'g Operation) -> impl Iterator<Item = (Cow<'g, str>, Output<'g>)> {
        let names = &self.kind(operation).results;
        self.outputs_of(operation).enumerate().map(|(i, output)| match names.get(i) {
            Some(name) => (Cow::Borrowed(self.text_of(*name)), output),
            None => (numbered("output", i), output),
        })
    }

    /// The arguments for tensors, or all others.
    pub(crate) fn named<'g>(&'g self, operation: &'g Operation, tensor: bool) -> NamedOperands<'g> {
        match self.kind(operation).declared {
            true => self.declared_arguments(operation, tensor),
            false => self.given_arguments(operation, tensor),
        }
    }

    /// All tensor parameters, or all others, with their defaults.
    fn declared_arguments<'g>(&'g self, operation: &'g Operation, tensor: bool) -> NamedOperands<'g> {
        let given = self.arguments(operation);
        let params = self.kind(operation).params.iter().enumerate().filter(|(_, param)| param.tensor == tensor);
        let value = |(i, param): (usize, &'g super::KindParam)| {
            let argument = given.clone().find(|(key, _)| *key == Key::Param(i as u32)).map(|(_, value)| value);
            let value = argument.or(param.default.as_ref().map(Operand::from))?;
            Some((Cow::Borrowed(self.text_of(param.name)), value))
        };
        params.filter_map(value).collect()
    }

    /// The arguments of an undeclared operation: positional arguments, tensors and arrays of tensors are inputs, all
    /// others attributes. A positional argument has its number as a name, unless another argument has that name.
    fn given_arguments<'g>(&'g self, operation: &'g Operation, tensor: bool) -> NamedOperands<'g> {
        let is_input = |(key, value): &(Key, Operand)| *key == Key::Positional || value.value().is_none();
        let given = self.arguments(operation);
        let named = |(key, _): (Key, Operand)| match key {
            Key::Named(name) => Some(self.text_of(name)),
            _ => None,
        };
        let taken: FxHashSet<&str> = given.clone().filter_map(named).collect();
        let mut numbers = (0..).map(|i| numbered("input", i)).filter(|name| !taken.contains(&**name));
        let of_kind = given.clone().filter(|argument| is_input(argument) == tensor);
        let name = |(key, value): (Key, Operand<'g>)| match named((key, value)) {
            Some(name) => (Cow::Borrowed(name), value),
            None => (numbers.next().unwrap_or_default(), value),
        };
        of_kind.map(name).collect()
    }
}

/// The name of the `i`th argument or result that has none: `output`, `output1`, …
fn numbered(name: &'static str, i: usize) -> Cow<'static, str> {
    if i == 0 { Cow::Borrowed(name) } else { Cow::Owned(format!("{name}{i}")) }
}
