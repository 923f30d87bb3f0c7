//! What a check knows: the model, the place in it, the visible values, and what was found.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{Flow, ValueTypes};
use super::part::{ModelPart, opsets};
use super::scopes::Scopes;
use crate::Options;
use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, NodePlace, PlacePart, trace};
use crate::graph::names::NameId;
use crate::onnx::external::PathStep;
use crate::onnx::functions::{Functions, Imports};
use crate::onnx::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto};
use crate::onnx::places::Places;
use crate::onnx::schema::{SchemaLookup, Schemas};
use crate::onnx::scopes::NodeScope;
use crate::room::with_stack;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// What a pass over nodes checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    All,
    /// Names, numbers of operands and calls: what a model must have in order that it can be expanded.
    Structure,
    /// Types in the body of a function, for the types of a call.
    Types,
}

pub(super) struct Check<'m> {
    pub(super) names: &'m ModelNames,
    pub(super) functions: Functions,
    /// The functions of the model, with their bodies.
    pub(super) bodies: Vec<(&'m FunctionProto, Rc<ModelPart<'m>>)>,
    /// The domains of the functions.
    pub(super) domains: FxHashSet<&'m str>,
    pub(super) ir_version: i64,
    /// The operator sets of the model, and those that only functions import.
    pub(super) imports: Imports,
    pub(super) schemas: Schemas,
    /// The operators that were looked up, by domain, name, and version of the operator set.
    pub(super) operators: FxHashMap<(Option<Name>, Option<Name>, i64), SchemaLookup>,
    pub(super) scopes: Scopes,
    pub(super) flow: Flow,
    pub(super) pass: Pass,
    pub(super) path: Vec<PathStep>,
    /// The innermost node with a name or metadata, and the length of its path.
    pub(super) node: Option<(usize, &'m NodeProto)>,
    places: &'m Places,
    file: FileId,
    pub(super) diagnostics: Diagnostics,
}

impl<'m> Check<'m> {
    pub(super) fn new(names: &'m ModelNames, file: FileId, places: &'m Places, options: &Options) -> Self {
        Check {
            names,
            functions: Functions::default(),
            bodies: Vec::new(),
            domains: FxHashSet::default(),
            ir_version: 0,
            imports: Imports::default(),
            schemas: Schemas::new(),
            operators: FxHashMap::default(),
            scopes: Scopes::new(names),
            flow: Flow::default(),
            pass: Pass::All,
            path: Vec::new(),
            node: None,
            places,
            file,
            diagnostics: Diagnostics::of(options.policy()),
        }
    }

    /// Checks a model in one pass.
    pub(super) fn model(&mut self, model: &'m ModelProto, pass: Pass, options: &Options) {
        self.pass = pass;
        match Functions::new(self.names, &model.functions, options) {
            Ok(functions) => {
                self.functions = functions;
                self.domains = model.functions.iter().map(|function| self.text(function.domain)).collect();
            }
            Err(found) => {
                found.into_iter().for_each(|found| found.report(self.file, self.places, &mut self.diagnostics));
            }
        }
        self.header(model);
        let body = |function: &'m FunctionProto| {
            (function, Rc::new(ModelPart::new(self.names, &function.opsets, Some(function))))
        };
        self.bodies = model.functions.iter().map(body).collect();
        if pass == Pass::All {
            self.flow = Flow::new(model);
        }
        for i in 0..model.functions.len() {
            self.within(("functions", Some(i)), |check| check.function(i));
        }
        if let Some(graph) = &model.graph {
            let body = ModelPart::new(self.names, &opsets(model), None);
            self.within(("graph", None), |check| check.graph(graph, &ValueTypes::new(), &body));
        }
    }

    /// Runs a function with a step added to the path.
    pub(super) fn within<T>(&mut self, step: PathStep, run: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = run(self);
        self.path.pop();
        result
    }

    pub(super) fn report(&mut self, code: Code, at: u32, message: String, help: Option<String>) {
        self.report_part(code, at, None, message, help);
    }

    /// [`Self::report`] for a part of a node that is no step of the path.
    pub(super) fn report_part(
        &mut self,
        code: Code,
        at: u32,
        part: Option<PlacePart>,
        message: String,
        help: Option<String>,
    ) {
        let is_hidden = match self.pass {
            Pass::All => false,
            Pass::Structure => code == Code::OnnxShadowed,
            Pass::Types => code != Code::OnnxType,
        };
        if is_hidden {
            return;
        }
        let message = match self.places {
            Places::Text => message,
            Places::Fields(_) => match self.path_text() {
                // What concerns the whole model has no path.
                path if path.is_empty() => message,
                path => format!("{message} ({path})"),
            },
        };
        // A call repeats what is wrong in a function for all calls.
        if code == Code::OnnxType && !self.flow.is_new(at, &message) {
            return;
        }
        let place = |at: u32| Location::new(self.file, Span::new(at, at));
        let mut diagnostic = Diagnostic::new(code, place(at), message).help_if(help).about(self.node_place(part));
        let calls = self.flow.calls();
        trace::attach(&mut diagnostic, calls.len(), |i| {
            let (function, at) = calls[calls.len() - 1 - i];
            (self.functions.keys[function].describe(self.names), place(at))
        });
        self.diagnostics.report(diagnostic);
    }

    /// The path of fields to the current place, with the name of the node, its module and the line of its source.
    fn path_text(&self) -> String {
        let (mut text, mut scope) = (String::new(), None);
        for (i, (field, item)) in self.path.iter().enumerate() {
            let point = if i > 0 { "." } else { "" };
            let item = item.map_or_else(String::new, |item| format!("[{item}]"));
            text.push_str(&format!("{point}{field}{item}"));
            if let Some((len, node)) = self.node
                && len == i + 1
            {
                if let Some(name) = node.name.filter(|name| *name != NameId::ROOT) {
                    text.push_str(&format!(" '{}'", self.names.text(name)));
                }
                scope = Some(NodeScope::of(&node.rest));
            }
        }
        text + &scope.map(|scope| scope.told()).unwrap_or_default()
    }

    /// The current place among the fields of the model, or a part of the node there; none for what concerns the whole model.
    fn node_place(&self, part: Option<PlacePart>) -> Option<NodePlace> {
        let step = |(field, item): &PathStep| match item {
            Some(item) => format!("{field}[{item}]"),
            None => (*field).to_owned(),
        };
        let path = self.path.iter().map(step).collect::<Vec<_>>().join(".");
        let (len, node) = self.node.unzip();
        let within = node.filter(|_| len.is_some_and(|len| len <= self.path.len()));
        let name = within.and_then(|node| node.name).filter(|name| *name != NameId::ROOT);
        let name = name.map(|name| self.names.text(name).to_owned());
        let part = part.or_else(|| self.part());
        (!path.is_empty()).then_some(NodePlace { path, name, part })
    }

    /// The part of a node or a head that the path leads to.
    fn part(&self) -> Option<PlacePart> {
        let is_whole = |step: &PathStep| matches!(step.0, "node" | "graph" | "g" | "graphs" | "functions");
        let around = self.path.iter().rposition(is_whole)?;
        let in_node = self.path.get(around).is_some_and(|step| step.0 == "node");
        let mut steps = self.path.iter().skip(around + 1);
        steps.find_map(|(field, item)| match (*field, (*item)?, in_node) {
            ("output", i, true) => Some(PlacePart::Result(i)),
            ("attribute", i, true) => Some(PlacePart::Attribute(i)),
            ("input", i, false) => Some(PlacePart::Input(i)),
            ("output", i, false) => Some(PlacePart::Output(i)),
            ("initializer", i, false) => Some(PlacePart::Initializer(i)),
            _ => None,
        })
    }

    /// A help text with the nearest known name, if a diagnostic with this code would be kept.
    pub(super) fn nearest<'k>(
        &self,
        code: Code,
        wanted: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Option<String> {
        if self.diagnostics.is_frequent(code) { None } else { did_you_mean(wanted, known) }
    }

    pub(super) fn text(&self, name: Option<Name>) -> &'m str {
        name.map_or("", |name| self.names.texts.text(name))
    }

    /// Checks a graph, whose values are visible in it and in its inner graphs. Inputs that declare no type have the given
    /// ones. Returns the types of its outputs.
    pub(super) fn graph(&mut self, graph: &'m GraphProto, given: &ValueTypes, body: &ModelPart<'m>) -> ValueTypes {
        with_stack(|| {
            let is_main = self.path.len() == 1;
            self.scopes.enter();
            let start = graph.nodes.first().map_or(0, |node| node.at);
            if self.pass == Pass::All && self.text(graph.name).is_empty() {
                self.report(Code::OnnxModel, start, "a graph has no name".to_owned(), None);
            }
            self.inputs(&graph.inputs, given, is_main, start);
            self.initializers(graph, start);
            if self.pass != Pass::Structure {
                self.declare(&graph.value_info);
                self.declare(&graph.outputs);
            }
            self.nodes(&graph.nodes, body);
            let end = graph.nodes.last().map_or(0, |node| node.at);
            self.outputs(&graph.outputs, is_main, end);
            let name = |output: &crate::onnx::model::ValueInfo| output.name.unwrap_or(NameId::ROOT);
            let types = graph.outputs.iter().map(|output| self.scopes.type_of(name(output))).collect();
            self.scopes.leave();
            types
        })
    }
}
