//! Networks as flat graphs: a layer becomes one operation `ncnn_KIND`, and weights become variables.

use std::borrow::Cow;
use std::cell::Cell;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::layer_table;
use super::lower::{self, LayerLine};
use super::model::{NcnnLayer, NcnnModel, ParameterValue};
use super::settings::{LayerSettings, WantedWeights};
use super::weights::{NcnnWeights, StoredTensor, WeightFile};
use crate::diagnostics::suggest::UnknownNames;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, too_many};
use crate::graph::names::NameId;
use crate::graph::prune::prune;
use crate::graph::standard::VARIABLE;
use crate::graph::{Element, Graph, Primitive, Shape, TensorId, Value};
use crate::library::build::{Builder, Results};
use crate::library::distinct::Distinct;
use crate::library::identifier::identifier;
use crate::library::label::label;
use crate::parts::TRANSLATION;
use crate::pnnx::arguments;
use crate::pnnx::given::{given_shape, report_unknown_inputs};
use crate::pnnx::import::operand_name;
use crate::pnnx::lower::{Line, Lowered, Refusal};
use crate::pnnx::model::Operator;
use crate::source::{FileId, Location, Span};
use crate::{Lower, Options};

/// The layers of inputs, and of tensors that are stored.
const INPUT: &str = "Input";
const MEMORY: &str = "MemoryData";

/// What operations are called before the kind of their layer.
const PREFIX: &str = "ncnn_";

/// The parameter of any layer with the shapes of its results, and the one with what it must not use.
const SHAPES: u32 = 30;
const MASK: u32 = 31;

/// Why a layer that the table does not have is not lowered.
const UNKNOWN: Refusal = Refusal::Because(Cow::Borrowed("the kind is not known"));

/// The number of unknown kinds that a message mentions.
const MENTIONED: usize = 8;

/// The most dimensions that a blob has.
const RANK: usize = 4;

/// A graph with its weights and warnings.
pub(crate) type ImportedNetwork = (Graph, NcnnWeights, Diagnostics);

impl NcnnModel {
    /// Converts the network to a flat graph. Its weights are in `weights`, if there is such a file.
    ///
    /// # Errors
    ///
    /// Extents of inputs are not known, weights do not follow from the parameters, or are not in the file, or layers are to
    /// be lowered in a build that does not translate.
    pub(crate) fn graph(
        &self,
        file: FileId,
        weights: Option<WeightFile>,
        options: &Options,
    ) -> Result<ImportedNetwork, Diagnostics> {
        if let Some(part) = TRANSLATION.missing().filter(|_| options.lower == Lower::All) {
            return Err(part.at(Location::new(file, Span::default())));
        }
        let mut builder = Builder::new("model");
        builder.graph.conventions.keeps_operators = options.lower != Lower::All;
        let mut import = NetworkImport {
            builder,
            file,
            options,
            weights,
            stored: IndexMap::default(),
            unknown: UnknownNames::default(),
            blobs: FxHashMap::default(),
            blob_names: FxHashMap::default(),
            names: Distinct::default(),
            labels: Distinct::default(),
            read: self.layers.iter().flat_map(|layer| &layer.bottoms).map(String::as_str).collect(),
            batched: FxHashMap::default(),
            codes: FxHashSet::default(),
            found: Diagnostics::of(options.policy()),
        };
        for layer in &self.layers {
            import.layer(layer);
            if import.builder.graph.operations.len() as u64 > options.max_ops {
                let message = too_many("the graph", options.max_ops, "operations");
                import.report(Code::OperationBudget, layer.span, message);
                break;
            }
        }
        import.finish(self)
    }
}

struct NetworkImport<'a> {
    builder: Builder,
    file: FileId,
    options: &'a Options,
    /// The file of weights, at the next tensor; none after an error, since no further tensor can be found.
    weights: Option<WeightFile>,
    /// The weights by the labels of their variables.
    stored: IndexMap<String, StoredTensor>,
    /// The kinds of layers that the table does not have, each with the one that it probably misspells.
    unknown: UnknownNames<'a>,
    /// The tensor of each blob; none if an error has been reported.
    blobs: FxHashMap<&'a str, Option<TensorId>>,
    /// The names of blobs as tensors.
    blob_names: FxHashMap<&'a str, NameId>,
    names: Distinct,
    labels: Distinct,
    /// The blobs that layers read.
    read: FxHashSet<&'a str>,
    /// Tensors with an axis for the batch, by the tensors without it.
    batched: FxHashMap<TensorId, TensorId>,
    /// Blobs that have the codes of a quantization.
    codes: FxHashSet<TensorId>,
    found: Diagnostics,
}

impl<'a> NetworkImport<'a> {
    fn report(&mut self, code: Code, span: Span, message: String) {
        self.found.report(Diagnostic::new(code, Location::new(self.file, span), message));
    }

    fn finish(mut self, model: &'a NcnnModel) -> Result<ImportedNetwork, Diagnostics> {
        self.outputs(model);
        self.check_rest();
        report_unknown_inputs(&self.builder.graph, self.options, self.file, &mut self.found);
        if self.found.has_errors() {
            return Err(self.found);
        }
        let weights = NcnnWeights { file: self.weights, tensors: self.stored };
        // Not all tensors with and without an axis for the batch are used.
        prune(&mut self.builder.graph);
        match self.builder.finish() {
            Ok(graph) => Ok((graph, weights, self.found)),
            Err(_) => Err(self.found),
        }
    }

    /// Blobs that no layer reads are outputs, unless they are inputs.
    fn outputs(&mut self, model: &'a NcnnModel) {
        let made = model.layers.iter().filter(|layer| layer.kind != INPUT).flat_map(|layer| &layer.tops);
        let open: Vec<&String> = made.filter(|blob| !self.read.contains(blob.as_str())).collect();
        if open.is_empty() && !self.found.has_errors() {
            let message = "the network has no outputs: each blob is read by another layer".to_owned();
            self.report(Code::NcnnBlob, Span::default(), message);
        }
        for blob in open {
            if let Some(tensor) = self.blobs.get(blob.as_str()).copied().flatten() {
                let graph = &mut self.builder.graph;
                let own = graph.tensors[tensor.index()].name;
                let name = self.blob_names.get(blob.as_str()).copied().unwrap_or(own);
                // A tensor that is another blob, too, has the name of that one.
                let is_other = own != name && graph.names.is_user(own);
                if !is_other {
                    graph.tensors[tensor.index()].name = name;
                }
                // Copies are operations of the standard.
                let _ = self.builder.output(tensor, name, is_other);
            }
        }
    }

    /// Bytes after the last tensor: the table does not have all weights of the file, or the file is that of another
    /// network.
    fn check_rest(&mut self) {
        let Some(rest) = self.weights.as_ref().map(WeightFile::rest).filter(|rest| *rest > 0) else { return };
        let mut message = format!("{rest} bytes follow the weights of the last layer");
        message += &self.unknown_kinds();
        self.report(Code::NcnnWeights, Span::default(), message);
    }

    /// The end of a message about weights that were not found, if layers before them may have some.
    fn unknown_kinds(&self) -> String {
        let kinds: Vec<&str> = self.unknown.names().take(MENTIONED).collect();
        if kinds.is_empty() { String::new() } else { format!("; layers {} may have weights, too", kinds.join(", ")) }
    }

    fn layer(&mut self, layer: &'a NcnnLayer) {
        self.builder.come_from(Location::new(self.file, layer.span));
        match layer.kind.as_str() {
            INPUT => self.input(layer),
            _ if layer.tops.is_empty() => {
                let message = format!("`{}` has no results and is omitted", layer.kind);
                self.report(Code::NcnnPassed, layer.span, message);
            }
            _ => self.operation(layer),
        }
    }

    /// The name of the tensor of a blob.
    fn name(&mut self, blob: &str) -> NameId {
        self.distinct(&operand_name(blob))
    }

    fn distinct(&mut self, text: &str) -> NameId {
        let text = self.names.add(text, false);
        self.builder.name(&text)
    }

    fn input(&mut self, layer: &'a NcnnLayer) {
        let [blob] = &layer.tops[..] else {
            let message = format!("an input has one result, not {}", layer.tops.len());
            return self.report(Code::NcnnSyntax, layer.span, message);
        };
        let name = self.name(blob);
        self.blobs.insert(blob, None);
        let mut text = String::new();
        self.builder.graph.names.write(&self.builder.graph.symbols, name, &mut text);
        let told = match self.input_extents(layer) {
            Ok(told) => told,
            Err(message) => return self.report(Code::NcnnSyntax, layer.span, message),
        };
        let given = given_shape(self.options, &text);
        if given == Some(None) {
            let message = format!("the extents of the input {} must be integers", layer.name);
            return self.report(Code::OpenExtent, layer.span, message);
        }
        let Some(shape) = given.flatten().or(told.clone()) else {
            let message = format!("the text of ncnn does not have the shape of the input {}", layer.name);
            let diagnostic = Diagnostic::new(Code::OpenExtent, Location::new(self.file, layer.span), message);
            return self.found.report(diagnostic.help(format!("give it: `--input-shape {text}=…`")));
        };
        if told.as_ref().is_some_and(|told| *told != shape) {
            let message = format!("the input {} does not have the shape {shape:?}", layer.name);
            self.report(Code::OptionInput, layer.span, message);
        }
        if let Ok(tensor) = self.builder.input(Primitive::Scalar, name, &shape) {
            self.blobs.insert(blob, Some(tensor));
        }
    }

    /// The extents of an input, as far as the text has them: those of its parameters, or those that it tells of its
    /// result.
    fn input_extents(&self, layer: &NcnnLayer) -> Result<Option<Vec<i64>>, String> {
        let Some(row) = layer_table::row(INPUT) else { return Ok(None) };
        let settings = LayerSettings { layer, row };
        let mut extents = Vec::new();
        for name in ["c", "d", "h", "w"] {
            let extent = settings.integer(name)?;
            if extent < 0 {
                return Err(format!("{extent} is not an extent"));
            }
            extents.extend((extent > 0).then_some(extent));
        }
        Ok(Some(extents).filter(|extents| !extents.is_empty()).or_else(|| shapes(layer).into_iter().next().flatten()))
    }

    fn operation(&mut self, layer: &'a NcnnLayer) {
        let weights = self.layer_weights(layer);
        let operands: Vec<TensorId> =
            layer.bottoms.iter().filter_map(|blob| self.blobs.get(blob.as_str()).copied().flatten()).collect();
        for blob in &layer.tops {
            self.blobs.insert(blob, None);
        }
        let (Some(weights), true) = (weights, operands.len() == layer.bottoms.len()) else { return };
        let names: Vec<NameId> = layer.tops.iter().map(|blob| self.name(blob)).collect();
        self.blob_names.extend(layer.tops.iter().map(String::as_str).zip(names.iter().copied()));
        let is_variable = layer.kind == MEMORY;
        let mut data = Vec::new();
        for (wanted, stored) in weights {
            let name = match names.first() {
                Some(name) if is_variable => *name,
                _ => self.distinct(&identifier(&format!("{}_{}", layer.name, wanted.name))),
            };
            data.extend(self.variable(layer, &wanted, stored, name).map(|tensor| (wanted.name, tensor)));
        }
        if is_variable && let ([(_, tensor)], [blob]) = (&data[..], &layer.tops[..]) {
            self.blobs.insert(blob, Some(*tensor));
            return;
        }
        let meant = self.unknown.known(&layer.kind);
        let refusal = match self.options.lower {
            Lower::All => match self.lowered(layer, &names, &operands, &data) {
                Ok(()) => return,
                Err(refusal) => Some(refusal),
            },
            // Layers that programs have added are no mistakes.
            _ => meant.map(|_| UNKNOWN),
        };
        if let Some(refusal) = refusal {
            let message = format!("`{}` is passed through: {refusal}", layer.kind);
            let found = Diagnostic::new(Code::NcnnPassed, Location::new(self.file, layer.span), message);
            self.found.report(found.help_if(meant.map(|meant| format!("did you mean `{meant}`?"))));
        }
        let shapes = shapes(layer);
        let shape = |at: usize| shapes.get(at).cloned().flatten().map(|extents| Shape::of(&extents));
        let results: Vec<(NameId, Option<Shape>)> =
            names.into_iter().enumerate().map(|(at, name)| (name, shape(at))).collect();
        let kind = identifier(&format!("{PREFIX}{}", layer.kind));
        let tensors = self.builder.pass(&kind, layer_arguments(layer, &operands, &data), Results::Each(&results));
        for (blob, tensor) in layer.tops.iter().zip(tensors) {
            self.builder.graph.tensors[tensor.index()].dtype = None;
            self.blobs.insert(blob, Some(tensor));
        }
    }

    /// Lowers a layer to operations of NNEF. If that is not possible, no operations are added.
    fn lowered(
        &mut self,
        layer: &'a NcnnLayer,
        names: &[NameId],
        operands: &[TensorId],
        weights: &[(&'static str, TensorId)],
    ) -> Lowered<()> {
        let Some(row) = layer_table::row(&layer.kind) else { return Err(UNKNOWN) };
        let mark = self.builder.graph.mark();
        let before = self.builder.graph.tensors.len();
        let (mut found, mut complex) = (Diagnostics::of(self.options.policy()), FxHashSet::default());
        let operator = Operator { kind: layer.kind.clone(), span: layer.span, ..Operator::default() };
        let name = names.first().copied().unwrap_or(NameId::ROOT);
        let mut line = LayerLine {
            to: Line::bare(&mut self.builder, &operator, name, self.file, self.options, &mut found, &mut complex),
            settings: LayerSettings { layer, row },
            operands: operands.to_vec(),
            weights,
            read: Cell::new(0),
            batched: &mut self.batched,
            added: Vec::new(),
            codes: &self.codes,
            coded: Vec::new(),
        };
        let results = lower::lower(&mut line);
        let LayerLine { added, coded, .. } = line;
        let results = match results {
            Ok(results) => results,
            Err(refusal) => {
                self.builder.graph.rewind(mark);
                for tensor in &added {
                    self.batched.remove(tensor);
                }
                return Err(refusal);
            }
        };
        self.codes.extend(coded);
        self.found.extend(found);
        for ((blob, name), tensor) in layer.tops.iter().zip(names).zip(results) {
            // Where all readers use the tensor with the batch, that one has the name of the blob.
            let named = self.batched.get(&tensor).filter(|_| self.read.contains(blob.as_str())).unwrap_or(&tensor);
            // Some results are operands.
            if named.index() >= before {
                self.builder.graph.tensors[named.index()].name = *name;
            }
            self.blobs.insert(blob, Some(tensor));
        }
        Ok(())
    }

    /// The weights of a layer, with their places if there is a file; none if an error has been reported.
    fn layer_weights(&mut self, layer: &'a NcnnLayer) -> Option<Vec<(WantedWeights, Option<StoredTensor>)>> {
        let Some(row) = layer_table::row(&layer.kind) else {
            self.unknown.meant(&layer.kind, layer_table::misspelt);
            return Some(Vec::new());
        };
        let wanted = match (LayerSettings { layer, row }).weights() {
            Ok(wanted) => wanted,
            Err(message) => {
                self.report(Code::NcnnWeights, layer.span, format!("weights of `{}`: {message}", layer.name));
                self.weights = None;
                return None;
            }
        };
        let mut found = Vec::new();
        for wanted in wanted {
            let stored = match self.weights.as_mut().map(|file| file.next(&wanted)).transpose() {
                Ok(stored) => stored,
                Err(message) => {
                    let mut message = format!("weights of `{}`: {message}", layer.name);
                    message += &self.unknown_kinds();
                    self.report(Code::NcnnWeights, layer.span, message);
                    self.weights = None;
                    return None;
                }
            };
            found.push((wanted, stored));
        }
        Some(found)
    }

    /// Adds a variable for weights.
    fn variable(
        &mut self,
        layer: &NcnnLayer,
        wanted: &WantedWeights,
        stored: Option<StoredTensor>,
        name: NameId,
    ) -> Option<TensorId> {
        let label = self.labels.add(&label(&format!("{}.{}", layer.name, wanted.name)), true);
        let element = stored.as_ref().map(StoredTensor::element);
        let of = if element == Some(Element::Int8) { Primitive::Integer } else { Primitive::Scalar };
        let arguments = [Value::Integers(wanted.extents.as_slice().into()), Value::String(label.as_str().into())];
        let results = [(name, Some(Shape::of(&wanted.extents)))];
        let tensor = *self.builder.add(VARIABLE, Some(of), arguments, Results::Each(&results)).ok()?.first()?;
        self.builder.graph.set_element(tensor, element);
        self.stored.extend(stored.map(|stored| (label, stored)));
        Some(tensor)
    }
}

/// The shapes that a layer tells of its results: for each its rank, and its extents with the width first.
fn shapes(layer: &NcnnLayer) -> Vec<Option<Vec<i64>>> {
    let Some(ParameterValue::Integers(told)) = layer.parameter(SHAPES).map(|told| &told.value) else {
        return Vec::new();
    };
    let step = told.len().checked_div(layer.tops.len()).unwrap_or(0);
    if step < 2 || step * layer.tops.len() != told.len() {
        return Vec::new();
    }
    let shape = |told: &[i64]| {
        let (rank, extents) = told.split_first()?;
        let rank = usize::try_from(*rank).ok().filter(|rank| (1..=RANK).contains(rank))?;
        // With room for four extents, the number of channels of three is the last one.
        let mut extents: Vec<i64> = extents.to_vec();
        if rank == 3 && extents.len() == RANK {
            extents.remove(2);
        }
        let extents = extents.get(..rank)?;
        extents.iter().all(|extent| *extent > 0).then(|| extents.iter().rev().copied().collect())
    };
    told.chunks(step).map(shape).collect()
}

/// The arguments of an operation: operands, weights, then parameters.
fn layer_arguments(layer: &NcnnLayer, operands: &[TensorId], weights: &[(&str, TensorId)]) -> Vec<(String, Value)> {
    let row = layer_table::row(&layer.kind);
    let mut arguments: Vec<(String, Value)> = Vec::new();
    let mut names = Distinct::default();
    let mut add = |key: &str, value: Value| arguments.push((names.add(&identifier(key), false), value));
    for (at, tensor) in operands.iter().enumerate() {
        add(&if at == 0 { "input".to_owned() } else { format!("input{at}") }, Value::Tensor(*tensor));
    }
    weights.iter().for_each(|(name, tensor)| add(name, Value::Tensor(*tensor)));
    for parameter in &layer.parameters {
        let named = row.and_then(|row| row.numbered(parameter.number)).map(|known| known.name);
        let named = named.or(match parameter.number {
            SHAPES => Some("top_shapes"),
            MASK => Some("featmask"),
            _ => None,
        });
        let unnamed = format!("param_{}", parameter.number);
        add(named.unwrap_or(&unnamed), value(&parameter.value));
    }
    layer.settings.iter().for_each(|setting| add(&setting.key, arguments::setting(&setting.setting())));
    arguments
}

fn value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Integer(integer) => Value::Int(*integer),
        ParameterValue::Scalar(scalar) => Value::Scalar(*scalar),
        ParameterValue::Integers(integers) => Value::Integers(integers.as_slice().into()),
        ParameterValue::Scalars(scalars) => Value::Scalars(scalars.as_slice().into()),
        ParameterValue::Text(text) => Value::String(text.as_str().into()),
    }
}
