//! The tables of a flat graph, and reading them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::annotation::Annotation;
use super::conventions::Conventions;
use super::ids::{KindId, OperationId, OriginId, TensorId};
use super::kind::Kind;
#[cfg(feature = "tensor")]
use super::layouts::Layouts;
use super::names::{Speller, TensorNames};
use super::operand::Output;
use super::operation::{Operation, Origin};
use super::packed::{Packed, Signatures};
use super::primitive::Dialect;
use super::provenance::{Note, Provenance};
use super::shape_table::ShapeTable;
use super::shapes::{Items, Shape};
use super::tensor::Tensor;
use super::{operators, standard};
use crate::source::Sources;
use crate::source::names::{Name, Names};

/// A fragment that the output declares because it is not expanded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KeptFragment {
    /// The text of its declaration, which is not expanded.
    Verbatim(String),
    /// Flattened: the text of the declaration up to its body, and the body as a graph.
    Flat(String, Box<Graph>),
}

impl KeptFragment {
    /// The name that its text declares, after comments.
    pub(crate) fn declared_name(&self) -> &str {
        let (KeptFragment::Verbatim(text) | KeptFragment::Flat(text, _)) = self;
        let head = text.lines().find(|line| !line.trim_start().starts_with('#')).unwrap_or_default();
        let head = head.split(['(', '<']).next().unwrap_or_default();
        head.split_whitespace().next_back().unwrap_or_default()
    }
}

/// A flat graph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) symbols: Arc<Names>,
    /// The dialect of its operations.
    pub(crate) dialect: Dialect,
    /// Its name.
    pub(crate) name: Name,
    /// Its inputs.
    pub(crate) inputs: Vec<TensorId>,
    /// Its outputs.
    pub(crate) outputs: Vec<TensorId>,
    /// Its tensors.
    pub(crate) tensors: Vec<Tensor>,
    /// Its operations, each after those that it depends on.
    pub(crate) operations: Vec<Operation>,
    pub(super) packed: Packed,
    pub(super) signatures: Signatures,
    pub(super) shapes: ShapeTable,
    /// The memory layouts of tensors.
    #[cfg(feature = "tensor")]
    pub(super) layouts: Layouts,
    /// The items of small numeric tensors that are known while expanding. Pruning removes them.
    pub(crate) values: FxHashMap<TensorId, Arc<Items>>,
    pub(crate) conventions: Conventions,
    /// The inputs of graphs in attributes of ONNX: how many graphs are around each, and its position among the inputs.
    pub(crate) formals: FxHashMap<TensorId, (u32, u32)>,
    /// The kinds of operations that occur.
    pub(crate) kinds: Vec<Kind>,
    pub(super) provenance: Provenance,
    pub(crate) names: TensorNames,
    /// The lines of the comment at the start of the document.
    pub(crate) comments: Vec<String>,
    /// The text between `extension` and `;` of each directive that the output keeps.
    pub(crate) extensions: Vec<String>,
    /// The fragments that the output keeps.
    pub(crate) fragments: Vec<KeptFragment>,
}

impl Graph {
    pub(crate) fn new(name: Name, symbols: Arc<Names>) -> Self {
        Graph {
            symbols,
            dialect: Dialect::default(),
            name,
            inputs: Vec::new(),
            outputs: Vec::new(),
            tensors: Vec::new(),
            operations: Vec::new(),
            packed: Packed::default(),
            signatures: Signatures::default(),
            shapes: ShapeTable::default(),
            #[cfg(feature = "tensor")]
            layouts: Layouts::default(),
            values: FxHashMap::default(),
            conventions: Conventions::default(),
            formals: FxHashMap::default(),
            kinds: Vec::new(),
            provenance: Provenance::default(),
            names: TensorNames::default(),
            comments: Vec::new(),
            extensions: Vec::new(),
            fragments: Vec::new(),
        }
    }

    /// The number of calls.
    pub(crate) fn origin_count(&self) -> usize {
        self.provenance.calls.len()
    }

    /// The calls that produced operations, in the order of their numbers.
    pub(crate) fn origins(&self) -> impl Iterator<Item = Origin> + Clone {
        (0..self.origin_count() as u32).filter_map(|i| self.origin(OriginId(i)))
    }

    /// A call that produced operations; none for [`OriginId::NONE`].
    pub(crate) fn origin(&self, id: OriginId) -> Option<Origin> {
        let (parent, place) = *self.provenance.calls.get(id.index())?;
        let (fragment, at) = self.provenance.places[place as usize];
        Some(Origin { parent, fragment, at })
    }

    /// What the model tells about an operation, if it does.
    pub(crate) fn note(&self, id: OperationId) -> Option<&Note> {
        self.provenance.notes.get(&id)
    }

    /// Whether the model tells anything about operations.
    pub(crate) fn has_notes(&self) -> bool {
        !self.provenance.notes.is_empty()
    }

    /// Notes what the model tells about an operation.
    pub(crate) fn add_note(&mut self, id: OperationId, note: Note) {
        self.provenance.notes.insert(id, note);
    }

    /// Removes what the model tells about operations, by the operation.
    pub(crate) fn take_notes(&mut self) -> FxHashMap<OperationId, Note> {
        std::mem::take(&mut self.provenance.notes)
    }

    /// The flat graph of a fragment that an operation, `of`, names as its body; without one, what is wrong.
    pub(crate) fn flat_body(&self, name: &str, of: &str) -> Result<&Graph, String> {
        let flat = self.fragments.iter().find_map(|fragment| match fragment {
            KeptFragment::Flat(_, body) if body.text_of(body.name) == name => Some(&**body),
            _ => None,
        });
        flat.ok_or_else(|| match self.fragments.iter().any(|fragment| fragment.declared_name() == name) {
            true => format!("the body `{name}` of {of} is not flat"),
            false => format!("there is no fragment `{name}` for the body of {of}"),
        })
    }

    /// Lets the text of the graph have comments with the types, modules and places of its operations, which come from
    /// `sources`.
    pub(crate) fn annotate(&mut self, sources: &Sources) {
        let mut bodies: Vec<&mut Graph> = Vec::new();
        for fragment in &mut self.fragments {
            if let KeptFragment::Flat(_, body) = fragment {
                bodies.push(body);
            }
        }
        let of_bodies = bodies.iter().flat_map(|body| &body.operations);
        let places = of_bodies.chain(&self.operations).map(|operation| operation.at);
        let annotation = Arc::new(Annotation::new(sources, places));
        bodies.into_iter().for_each(|body| body.provenance.annotation = Some(Arc::clone(&annotation)));
        self.provenance.annotation = Some(annotation);
    }

    /// What the comments of its text tell beside it, if it is annotated.
    pub(crate) fn annotation(&self) -> Option<&Annotation> {
        self.provenance.annotation.as_deref()
    }

    /// Mutable access to the table of names.
    pub(crate) fn symbols_mut(&mut self) -> &mut Names {
        Arc::make_mut(&mut self.symbols)
    }

    /// Moves all operations and their kinds to a new graph. The tensors stay here.
    pub(crate) fn take_operations(&mut self) -> Graph {
        let mut taken = Graph::new(self.name, Arc::clone(&self.symbols));
        std::mem::swap(&mut taken.operations, &mut self.operations);
        std::mem::swap(&mut taken.kinds, &mut self.kinds);
        std::mem::swap(&mut taken.packed, &mut self.packed);
        std::mem::swap(&mut taken.signatures, &mut self.signatures);
        taken
    }

    /// Keeps only the operations marked in `needed`, and the tensors that `renumber` gives a new number.
    pub(super) fn retain(&mut self, needed: &[bool], renumber: &[Option<TensorId>]) {
        let values = std::mem::take(&mut self.values);
        let new = |tensor: TensorId| renumber[tensor.index()].unwrap_or(tensor);
        #[cfg(feature = "tensor")]
        self.layouts.renumber(renumber);
        let values = values.into_iter().filter_map(|(tensor, items)| Some((renumber[tensor.index()]?, items)));
        self.values = values.collect();
        let formals = std::mem::take(&mut self.formals).into_iter();
        self.formals = formals.filter_map(|(tensor, place)| Some((renumber[tensor.index()]?, place))).collect();
        let old = std::mem::take(&mut self.operations);
        let before = std::mem::take(&mut self.packed);
        let mut tensors = std::mem::take(&mut self.tensors).into_iter();
        let kept = renumber.iter().filter_map(|kept| tensors.next().filter(|_| kept.is_some()));
        self.tensors = kept.map(|tensor| Tensor { producer: None, ..tensor }).collect();
        let mut notes = std::mem::take(&mut self.provenance.notes);
        for (i, operation) in old.into_iter().enumerate().filter(|(i, _)| needed.get(*i) == Some(&true)) {
            if let Some(note) = notes.remove(&OperationId::at(i)) {
                self.provenance.notes.insert(OperationId::at(self.operations.len()), note);
            }
            let (_, operands, results) = self.signatures.counts(operation.signature());
            let results = before.results(&operation.result, results);
            self.packed.copy(&before, operation.operands..operation.operands + operands, results, new);
            let source = (operation.at, operation.origin);
            self.finish_operation(operation.signature(), operation.type_argument(), source);
        }
        self.inputs.iter_mut().chain(&mut self.outputs).for_each(|tensor| *tensor = new(*tensor));
    }

    /// Makes the names of all tensors distinct.
    pub(crate) fn finish_names(&mut self) {
        self.names.unmark();
        for tensor in &self.tensors {
            self.names.mark_used(tensor.name);
        }
        let reserved = self.reserved_words();
        self.names.resolve(&self.symbols, &reserved);
    }

    /// The words that generated names must not be: built-in functions, which are the keywords that look like a path,
    /// operations without a declaration, and what values refer to.
    pub(super) fn reserved_words(&self) -> FxHashSet<String> {
        let mut words: FxHashSet<String> = operators::BUILTINS.iter().map(|row| row.text.to_owned()).collect();
        words.extend(self.kinds.iter().filter(|kind| !kind.declared).map(|kind| self.text_of(kind.name).to_owned()));
        self.each_word(|word| words.extend([word.to_owned()]));
        words
    }

    /// Calls a function with every word of [`Value::each_word`](super::Value::each_word) in the arguments of
    /// operations.
    pub(crate) fn each_word(&self, mut f: impl FnMut(&str)) {
        self.packed.values().iter().for_each(|value| value.each_word(&mut f));
    }

    /// The results of an operation.
    pub fn outputs_of<'g>(&'g self, operation: &'g Operation) -> impl ExactSizeIterator<Item = Output<'g>> + Clone {
        self.packed.outputs(self.results_of(operation))
    }

    /// The results of an operation in packed form.
    #[inline]
    pub(super) fn results_of<'g>(&'g self, operation: &'g Operation) -> &'g [TensorId] {
        let (_, _, count) = self.signatures.counts(operation.signature());
        self.packed.results(&operation.result, count)
    }

    /// Calls a function with each tensor in the results of an operation.
    #[inline]
    pub(super) fn each_result(&self, operation: &Operation, mut f: impl FnMut(TensorId)) {
        self.packed.each_result(self.results_of(operation), &mut f);
    }

    /// Calls a function with each tensor in the arguments of an operation.
    #[inline]
    pub(crate) fn each_operand_tensor(&self, operation: &Operation, mut f: impl FnMut(TensorId)) {
        let (_, count, _) = self.signatures.counts(operation.signature());
        self.packed.each_operand_tensor(operation.operands..operation.operands + count, &mut f);
    }

    /// All tensors among the results of an operation.
    pub fn tensors_of<'g>(&'g self, operation: &'g Operation) -> impl Iterator<Item = TensorId> + Clone {
        self.outputs_of(operation).flat_map(Output::tensors).copied()
    }

    /// The shape of a tensor, if its rank is known.
    pub fn shape(&self, tensor: TensorId) -> Option<&Shape> {
        self.shapes.get(self.tensors[tensor.index()].shape?)
    }

    /// Whether an extent of a tensor is not known, not even as an expression.
    pub(crate) fn is_open(&self, tensor: TensorId) -> bool {
        self.tensors[tensor.index()].shape.is_none_or(|shape| self.shapes.is_open(shape))
    }

    /// Identifies the kind of an operation.
    #[inline]
    pub(crate) fn kind_id(&self, operation: &Operation) -> KindId {
        self.signatures.counts(operation.signature()).0
    }

    /// The kind of an operation.
    pub(crate) fn kind(&self, operation: &Operation) -> &Kind {
        &self.kinds[self.kind_id(operation).index()]
    }

    /// Whether the results of operations of a kind depend on nothing but the arguments. This is only known of
    /// standard operations.
    pub(crate) fn is_function(&self, kind: &Kind) -> bool {
        kind.standard && !standard::NO_FUNCTIONS.contains(&self.text_of(kind.name))
    }

    /// The name of an operation's kind.
    pub fn operation_name(&self, operation: &Operation) -> &str {
        self.symbols.text(self.kind(operation).name)
    }

    /// A writer of tensor names.
    pub(crate) fn speller(&self) -> Speller<'_> {
        Speller::new(&self.names, &self.symbols)
    }

    /// The name of a tensor.
    pub fn tensor_name(&self, tensor: TensorId) -> String {
        let mut text = String::new();
        self.names.write(&self.symbols, self.tensors[tensor.index()].name, &mut text);
        text
    }

    /// The text of a name.
    pub(crate) fn text_of(&self, name: Name) -> &str {
        self.symbols.text(name)
    }
}
