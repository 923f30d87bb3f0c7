//! Checks models: structure, names, operators, types, and the location of data.
//!
//! The rules are those of the ONNX specification (`IR.md`) and of the table of operators. Errors that only an expansion
//! can detect are reported by the expansion.

mod attributes;
mod calls;
mod constants;
mod data;
mod functions;
mod header;
mod nodes;
mod scopes;
mod sparse;
mod types;
mod values;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::external::{self, Finding, Folder, PathStep};
use super::inline::{Functions, Imports};
use super::model::{FunctionProto, GraphProto, ModelNames, ModelProto, OperatorSet};
use super::places::Places;
use super::protobuf::EncodedPart;
use super::schema::{SchemaLookup, Schemas, TypeId};
use crate::Options;
use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, trace};
use crate::graph::names::NameId;
use crate::room::with_stack;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};
use calls::Flow;
use scopes::Scopes;

/// The types of some values, as far as they are known.
type ValueTypes = Vec<Option<TypeId>>;

/// What a pass over nodes checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    All,
    /// Names, numbers of operands and calls: what a model must have in order that it can be expanded.
    Structure,
    /// Types in the body of a function, for the types of a call.
    Types,
}

/// The domain and the name of an operator.
type OperatorName = (Option<Name>, Option<Name>);

/// A part of a model with its own imports.
struct ModelPart<'m> {
    imports: Imports,
    /// The function; none for the graph of the model.
    function: Option<&'m FunctionProto>,
    /// The names of the function's attributes.
    attributes: FxHashSet<Name>,
    /// The operators that were looked up, by domain and name.
    operators: RefCell<FxHashMap<OperatorName, SchemaLookup>>,
}

impl<'m> ModelPart<'m> {
    fn new(names: &ModelNames, opsets: &[OperatorSet], function: Option<&'m FunctionProto>) -> Self {
        let attributes = function.into_iter().flat_map(functions::attributes_of).collect();
        ModelPart { imports: Imports::new(names, opsets), function, attributes, operators: RefCell::default() }
    }
}

struct Check<'m> {
    names: &'m ModelNames,
    functions: Functions,
    /// The functions of the model, with their bodies.
    bodies: Vec<(&'m FunctionProto, Rc<ModelPart<'m>>)>,
    /// The domains of the functions.
    domains: FxHashSet<&'m str>,
    ir_version: i64,
    /// The operator sets of the model, and those that only functions import.
    imports: Imports,
    schemas: Schemas,
    scopes: Scopes,
    flow: Flow,
    pass: Pass,
    path: Vec<PathStep>,
    /// The innermost node with a name: the length of its path, and the name.
    node: Option<(usize, NameId)>,
    places: &'m Places,
    file: FileId,
    diagnostics: Diagnostics,
}

/// Checks a model.
pub(crate) fn check(model: &ModelProto, file: FileId, places: &Places, options: &Options) -> Diagnostics {
    let mut check = Check::new(&model.names, file, places, options);
    check.model(model, Pass::All, options);
    check.diagnostics
}

/// Checks what a model must have in order that it can be expanded: values that are defined before they are used and
/// only once, operands as many as there may be, and calls that fit the functions. Returns warnings.
///
/// # Errors
///
/// The model is broken.
pub(crate) fn structure(
    model: &ModelProto,
    file: FileId,
    places: &Places,
    options: &Options,
) -> Result<Diagnostics, Diagnostics> {
    let mut check = Check::new(&model.names, file, places, options);
    check.model(model, Pass::Structure, options);
    let found = check.diagnostics;
    if found.has_errors() { Err(found) } else { Ok(found) }
}

/// Checks the external data of a model or of a part of one, and their files if the folder of the model is known.
///
/// # Errors
///
/// The tensors whose data are not there.
pub(crate) fn external_data(
    names: &ModelNames,
    part: EncodedPart,
    (file, places, folder): (FileId, &Places, Option<&Path>),
    options: &Options,
) -> Result<(), Diagnostics> {
    let findings = external::findings(external::stored(names, part), folder.and_then(Folder::new));
    if findings.is_empty() {
        return Ok(());
    }
    let mut check = Check::new(names, file, places, options);
    for Finding { code, path, at, message } in findings {
        check.path = path;
        check.report(code, at, message, None);
    }
    Err(check.diagnostics)
}

impl<'m> Check<'m> {
    fn new(names: &'m ModelNames, file: FileId, places: &'m Places, options: &Options) -> Self {
        Check {
            names,
            functions: Functions::default(),
            bodies: Vec::new(),
            domains: FxHashSet::default(),
            ir_version: 0,
            imports: Imports::default(),
            schemas: Schemas::new(),
            scopes: Scopes::new(names),
            flow: Flow::default(),
            pass: Pass::All,
            path: Vec::new(),
            node: None,
            places,
            file,
            diagnostics: Diagnostics::new(options.strict),
        }
    }

    /// Checks a model in one pass.
    fn model(&mut self, model: &'m ModelProto, pass: Pass, options: &Options) {
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
        self.flow = Flow::new(model);
        for i in 0..model.functions.len() {
            self.within(("functions", Some(i)), |check| check.function(i));
        }
        if let Some(graph) = &model.graph {
            let body = ModelPart::new(self.names, &header::opsets(model), None);
            self.within(("graph", None), |check| check.graph(graph, &body));
        }
    }

    /// Runs a function with a step added to the path.
    fn within<T>(&mut self, step: PathStep, run: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = run(self);
        self.path.pop();
        result
    }

    fn report(&mut self, code: Code, at: u32, message: String, help: Option<String>) {
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
            Places::Fields(_) => format!("{message} ({})", self.path_text()),
        };
        // A call repeats what is wrong in a function for all calls.
        if code == Code::OnnxType && !self.flow.is_new(at, &message) {
            return;
        }
        let place = |at: u32| Location::new(self.file, Span::new(at, at));
        let mut diagnostic = Diagnostic::new(code, place(at), message).help_if(help);
        let calls = self.flow.calls();
        trace::attach(&mut diagnostic, calls.len(), |i| {
            let (function, at) = calls[calls.len() - 1 - i];
            (self.functions.keys[function].describe(self.names), place(at))
        });
        self.diagnostics.report(diagnostic);
    }

    /// The path of fields to the current place, with the name of the node.
    fn path_text(&self) -> String {
        let mut text = String::new();
        for (i, (field, item)) in self.path.iter().enumerate() {
            let point = if i > 0 { "." } else { "" };
            let item = item.map_or_else(String::new, |item| format!("[{item}]"));
            text.push_str(&format!("{point}{field}{item}"));
            if let Some((len, name)) = self.node
                && len == i + 1
            {
                text.push_str(&format!(" '{}'", self.names.text(name)));
            }
        }
        text
    }

    /// A help text with the nearest known name, if a diagnostic with this code would be kept.
    fn nearest<'k>(&self, code: Code, wanted: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
        if self.diagnostics.only_counts(code) { None } else { did_you_mean(wanted, known) }
    }

    fn text(&self, name: Option<Name>) -> &'m str {
        name.map_or("", |name| self.names.texts.text(name))
    }

    /// Checks a graph, whose values are visible in it and in its inner graphs. Returns the types of its outputs.
    fn graph(&mut self, graph: &'m GraphProto, body: &ModelPart<'m>) -> ValueTypes {
        with_stack(|| {
            let is_main = self.path.len() == 1;
            self.scopes.enter();
            let start = graph.nodes.first().map_or(0, |node| node.at);
            if self.pass == Pass::All && self.text(graph.name).is_empty() {
                self.report(Code::OnnxModel, start, "a graph has no name".to_owned(), None);
            }
            self.inputs(&graph.inputs, is_main, start);
            self.initializers(graph, start);
            if self.pass != Pass::Structure {
                self.declare(&graph.value_info);
                self.declare(&graph.outputs);
            }
            self.nodes(&graph.nodes, body);
            let end = graph.nodes.last().map_or(0, |node| node.at);
            self.outputs(&graph.outputs, is_main, end);
            let name = |output: &super::model::ValueInfo| output.name.unwrap_or(NameId::ROOT);
            let types = graph.outputs.iter().map(|output| self.scopes.type_of(name(output))).collect();
            self.scopes.leave();
            types
        })
    }
}

#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod tests;
