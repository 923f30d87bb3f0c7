//! Checks models: structure, names, operators, types, and the location of data.
//!
//! The rules are those of the ONNX specification (`IR.md`) and of the table of operators. Errors that only an expansion
//! can detect are reported by the expansion.

mod data;
mod nodes;
mod scopes;
mod types;

use std::path::Path;

use rustc_hash::FxHashSet;

use super::external::{self, Finding, Folder, Step};
use super::inline::{Functions, Imports};
use super::model::{Function, Graph, Model, ModelNames, OperatorSet, Tensor, ValueInfo};
use super::protobuf::Part;
use super::schema::Schemas;
use crate::Options;
use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::room::with_stack;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};
use scopes::Scopes;

/// How messages describe a location in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// By a location in the text.
    Text,
    /// By a path of fields, such as `graph.node[3]`.
    Fields,
}

/// A part of a model with its own imports.
struct Body<'m> {
    imports: Imports,
    /// The function; none for the graph of the model.
    function: Option<&'m Function>,
    /// The names of the function's attributes.
    attributes: FxHashSet<Name>,
}

impl<'m> Body<'m> {
    fn new(names: &ModelNames, opsets: &[OperatorSet], function: Option<&'m Function>) -> Self {
        let attributes = function.into_iter().flat_map(nodes::attributes_of).collect();
        Body { imports: Imports::new(names, opsets), function, attributes }
    }
}

struct Check<'m> {
    names: &'m ModelNames,
    functions: Functions,
    schemas: Schemas,
    scopes: Scopes,
    path: Vec<Step>,
    places: Places,
    file: FileId,
    diagnostics: Diagnostics,
}

/// Checks a model.
pub(crate) fn check(model: &Model, file: FileId, places: Places, options: &Options) -> Diagnostics {
    let mut check = Check::new(&model.names, file, places, options);
    match Functions::new(&model.names, &model.functions, options) {
        Ok(functions) => check.functions = functions,
        Err(found) => found.into_iter().for_each(|found| found.report(file, &mut check.diagnostics)),
    }
    check.header(model);
    if let Some(graph) = &model.graph {
        let body = Body::new(&model.names, &model.opsets, None);
        check.within(("graph", None), |check| check.graph(graph, &body));
    }
    for (i, function) in model.functions.iter().enumerate() {
        check.within(("functions", Some(i)), |check| check.function(function));
    }
    check.diagnostics
}

/// Checks the external data of a model or of a part of one, and their files if the folder of the model is known.
///
/// # Errors
///
/// The tensors whose data are not there.
pub(crate) fn external_data(
    names: &ModelNames,
    part: Part,
    (file, places, folder): (FileId, Places, Option<&Path>),
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
    fn new(names: &'m ModelNames, file: FileId, places: Places, options: &Options) -> Self {
        Check {
            names,
            functions: Functions::default(),
            schemas: Schemas::new(),
            scopes: Scopes::new(names),
            path: Vec::new(),
            places,
            file,
            diagnostics: Diagnostics::new(options.strict),
        }
    }

    /// Runs a function with a step added to the path.
    fn within<T>(&mut self, step: Step, run: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = run(self);
        self.path.pop();
        result
    }

    fn report(&mut self, code: Code, at: u32, message: String, help: Option<String>) {
        let message = match self.places {
            Places::Text => message,
            Places::Fields => {
                let steps = self.path.iter().map(|(field, item)| match item {
                    Some(item) => format!("{field}[{item}]"),
                    None => (*field).to_owned(),
                });
                format!("{message} ({})", steps.collect::<Vec<_>>().join("."))
            }
        };
        let place = Location::new(self.file, Span::new(at, at));
        self.diagnostics.report(Diagnostic::new(code, place, message).help_if(help));
    }

    /// A help text with the nearest known name, if a diagnostic with this code would be kept.
    fn nearest<'k>(&self, code: Code, wanted: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
        if self.diagnostics.only_counts(code) { None } else { did_you_mean(wanted, known) }
    }

    fn text(&self, name: Option<Name>) -> &'m str {
        name.map_or("", |name| self.names.texts.text(name))
    }

    /// Checks the fields that every model must have.
    fn header(&mut self, model: &Model) {
        let missing = [
            ("graph", model.graph.is_none()),
            ("`ir_version`", model.ir_version.is_none()),
            ("imported operator set", model.opsets.is_empty()),
        ];
        for (what, _) in missing.iter().filter(|(_, missing)| *missing) {
            self.report(Code::OnnxModel, 0, format!("the model has no {what}"), None);
        }
    }

    fn function(&mut self, function: &'m Function) {
        if function.opsets.is_empty() {
            let message = format!("the function `{}` imports no operator set", self.text(function.name));
            self.report(Code::OnnxModel, function.at, message, None);
        }
        let body = Body::new(self.names, &function.opsets, Some(function));
        self.scopes.enter();
        for (i, input) in function.inputs.iter().enumerate() {
            self.within(("input", Some(i)), |check| check.define(*input, None, function.at));
        }
        self.declare(&function.value_info);
        self.nodes(&function.nodes, &body);
        for (i, output) in function.outputs.iter().enumerate() {
            self.within(("output", Some(i)), |check| check.output(*output, function.at));
        }
        self.scopes.leave();
    }

    /// Checks a graph, whose values are visible in it and in its inner graphs.
    fn graph(&mut self, graph: &'m Graph, body: &Body<'m>) {
        with_stack(|| {
            self.scopes.enter();
            let start = graph.nodes.first().map_or(0, |node| node.at);
            self.boundary(&graph.inputs, start);
            for (i, tensor) in graph.initializers.iter().enumerate() {
                self.within(("initializer", Some(i)), |check| check.initializer(tensor, start));
            }
            data::sparse_names(graph).for_each(|name| self.define_text(&name));
            self.declare(&graph.value_info);
            self.declare(&graph.outputs);
            self.nodes(&graph.nodes, body);
            let end = graph.nodes.last().map_or(0, |node| node.at);
            for (i, output) in graph.outputs.iter().enumerate() {
                self.within(("output", Some(i)), |check| check.output(output.name.unwrap_or(NameId::ROOT), end));
            }
            self.scopes.leave();
        });
    }

    /// Records the types that a graph declares.
    fn declare(&mut self, values: &[ValueInfo]) {
        for value in values {
            if let (Some(name), Some(ty)) = (value.name, self.type_of(value)) {
                self.scopes.declare(name, ty);
            }
        }
    }

    fn boundary(&mut self, inputs: &[ValueInfo], at: u32) {
        for (i, input) in inputs.iter().enumerate() {
            let ty = self.type_of(input);
            self.within(("input", Some(i)), |check| check.define(input.name.unwrap_or(NameId::ROOT), ty, at));
        }
    }

    /// Checks a constant; it is the default of the input with its name, if there is one.
    fn initializer(&mut self, tensor: &Tensor, at: u32) {
        self.tensor(tensor, at);
        let Some(name) = tensor.name.filter(|name| *name != NameId::ROOT) else {
            return self.report(Code::OnnxModel, at, "an initializer has no name".to_owned(), None);
        };
        if self.scopes.is_own(name) && !self.scopes.has_default(name) {
            return self.scopes.give_default(name);
        }
        let ty = self.tensor_type(tensor.data_type);
        self.define(name, ty, at);
        self.scopes.give_default(name);
    }
}

#[cfg(test)]
mod tests;
