//! Checks the data of a model against the variables of its graph.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ModelFile;
use super::error::ModelError;
use super::names::{DATA, GRAPH};
use super::path::data_file;
use super::stored_model::Model;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::origin::with_origin;
use crate::graph::standard::VARIABLE;
use crate::graph::{Graph, KeptFragment, Operation, Value};
use crate::source::Location;
use crate::tensor::dat::{HEADER_LENGTH, Header, ItemType};

/// The variables of a graph and of its kept fragments: graph, operation and label.
fn variables(graph: &Graph) -> Vec<(&Graph, &Operation, &str)> {
    let mut found = Vec::new();
    let mut open = vec![graph];
    while let Some(graph) = open.pop() {
        for operation in &graph.operations {
            if graph.operation_name(operation) == VARIABLE
                && let Some(Value::String(label)) = graph.attribute(operation, "label")
            {
                found.push((graph, operation, &**label));
            }
        }
        open.extend(graph.fragments.iter().filter_map(|fragment| match fragment {
            KeptFragment::Flat(_, body) => Some(&**body),
            KeptFragment::Verbatim(_) => None,
        }));
    }
    found
}

/// The labels of the variables of a graph.
pub(super) fn labels(graph: &Graph) -> impl Iterator<Item = &str> {
    variables(graph).into_iter().map(|(_, _, label)| label)
}

/// The number of variables of a graph.
pub(crate) fn count_variables(graph: &Graph) -> usize {
    variables(graph).len()
}

/// Checks the data files of a model against the variables of a graph: each file exists, is complete, and has the shape
/// and the item type that the variable declares. Only headers are read.
///
/// # Errors
///
/// A file cannot be read.
pub(crate) fn data(model: &Model, graph: &Graph, main: Location, found: &mut Diagnostics) -> Result<(), ModelError> {
    let mut check = ModelCheck { model, named: FxHashMap::default(), found };
    let variables = variables(graph);
    if let [(graph, first, _), _, ..] = variables[..]
        && !model.files().any(|file| file.path().ends_with(DATA))
    {
        let message = format!("none of the {} variables has data: the model has no `{DATA}` files", variables.len());
        check.report(graph, first, Code::DataMissing, message, None);
        return Ok(());
    }
    for (graph, operation, label) in variables {
        check.variable(graph, operation, label)?;
    }
    check.unnamed(graph, main);
    Ok(())
}

struct ModelCheck<'a> {
    model: &'a Model,
    /// The data files of variables, with the headers of those that are valid.
    named: FxHashMap<String, Option<Header>>,
    found: &'a mut Diagnostics,
}

impl ModelCheck<'_> {
    fn report(&mut self, graph: &Graph, operation: &Operation, code: Code, message: String, help: Option<String>) {
        let diagnostic = Diagnostic::new(code, operation.at, message).help_if(help);
        self.found.report(with_origin(graph, operation, diagnostic));
    }

    fn variable(&mut self, graph: &Graph, operation: &Operation, label: &str) -> Result<(), ModelError> {
        let name = match data_file(label) {
            Ok(name) => name,
            // An empty file has been reported already.
            Err(_) if label.is_empty() => return Ok(()),
            Err(why) => {
                self.report(graph, operation, Code::ModelPath, format!("the label '{label}' {why}"), None);
                return Ok(());
            }
        };
        let header = match self.named.get(&name) {
            Some(known) => known.clone(),
            None => {
                let header = self.header(graph, operation, label, &name)?;
                self.named.insert(name, header.clone());
                header
            }
        };
        if let Some(header) = header {
            self.shape(graph, operation, label, &header);
            self.items(graph, operation, label, &header);
        }
        Ok(())
    }

    /// The header of a file; reports a file that is missing or incomplete.
    fn header(
        &mut self,
        graph: &Graph,
        operation: &Operation,
        label: &str,
        name: &str,
    ) -> Result<Option<Header>, ModelError> {
        let model = self.model;
        let Some(file) = model.file(name) else {
            let data = model.files().map(ModelFile::path).filter(|path| path.ends_with(DATA));
            let near = if self.found.is_frequent(Code::DataMissing) { None } else { suggest::nearest(name, data) };
            let help = near.map(|other| format!("the model has `{other}`"));
            let message = format!("variable '{label}' has no data: the model has no `{name}`");
            self.report(graph, operation, Code::DataMissing, message, help);
            return Ok(None);
        };
        let head = model.head(file)?;
        let Some(head) = head.first_chunk::<HEADER_LENGTH>() else {
            let message = format!("`{name}` has {} bytes, its header alone needs {HEADER_LENGTH}", file.size());
            self.report(graph, operation, Code::DataLength, message, None);
            return Ok(None);
        };
        let header = match Header::parse(head) {
            Ok(header) => header,
            Err(error) => {
                self.report(graph, operation, Code::DataHeader, format!("`{name}`: {error}"), None);
                return Ok(None);
            }
        };
        let wanted = HEADER_LENGTH as u64 + u64::from(header.data_length);
        if file.size() != wanted {
            let message = format!("`{name}` has {} bytes, its header asks for {wanted}", file.size());
            self.report(graph, operation, Code::DataLength, message, None);
        }
        Ok(Some(header))
    }

    /// G3: the extents in the file match those of the graph.
    fn shape(&mut self, graph: &Graph, operation: &Operation, label: &str, header: &Header) {
        let Some(wanted) = graph.attribute(operation, "shape").and_then(Value::as_integers) else { return };
        let given = &header.extents;
        let same =
            |axis: usize| wanted.get(axis).copied().unwrap_or(1) == i64::from(given.get(axis).copied().unwrap_or(1));
        let mut fits = (0..wanted.len().max(given.len())).all(same)
            && (wanted.len() == given.len() || graph.dialect == Dialect::Draft);
        if let ItemType::Vendor { .. } = header.item_type {
            // Block-quantized matrices are stored without their shape.
            let volume = wanted.iter().try_fold(1i64, |volume, &extent| volume.checked_mul(extent));
            let stored = given.iter().try_fold(1i64, |volume, &extent| volume.checked_mul(i64::from(extent)));
            fits |= volume.is_some() && volume == stored;
        }
        if !fits {
            let message = format!("variable '{label}' has shape {wanted:?}, its data have shape {given:?}");
            self.report(graph, operation, Code::DataShape, message, None);
        }
    }

    /// Checks the item type: floating-point or quantized for scalars, integers for integers, logicals for logicals.
    fn items(&mut self, graph: &Graph, operation: &Operation, label: &str, header: &Header) {
        use ItemType::{Bool, Float, QuantizedSigned, QuantizedUnsigned, Signed, Unsigned, Vendor};
        let fits = match (operation.dtype(), header.item_type) {
            (None, _) | (_, Vendor { .. }) => true,
            (Some(Primitive::Scalar), item) => matches!(item, Float | QuantizedUnsigned | QuantizedSigned),
            (Some(Primitive::Integer), item) => matches!(item, Unsigned | Signed),
            (Some(Primitive::Logical), item) => item == Bool,
            (Some(_), _) => false,
        };
        if let (false, Some(dtype)) = (fits, operation.dtype()) {
            let (wanted, given) = (dtype.text(), header.item_type.text());
            let message = format!("variable '{label}' has {wanted} items, its data have {given} ones");
            self.report(graph, operation, Code::DataItems, message, None);
        }
    }

    /// Reports data files without a variable, except for those of another model in a subfolder.
    fn unnamed(&mut self, graph: &Graph, main: Location) {
        let model = self.model;
        let inner = format!("/{GRAPH}");
        let inner: FxHashSet<&str> = model.files().filter_map(|file| file.path().strip_suffix(&inner)).collect();
        // Fragments that are kept verbatim may contain labels.
        let quoted = quoted(graph);
        for file in model.files() {
            let path = file.path();
            let Some(label) = path.strip_suffix(DATA) else { continue };
            let of_inner = path.match_indices('/').any(|(at, _)| inner.contains(&path[..at]));
            if !of_inner && !quoted.contains(label) && !self.named.contains_key(path) {
                let message = format!("`{path}` holds data, but no variable has the label '{label}'");
                self.found.report(Diagnostic::new(Code::DataUnnamed, main, message));
            }
        }
    }
}

/// The string literals in the fragments that a graph keeps verbatim.
fn quoted(graph: &Graph) -> FxHashSet<&str> {
    let texts = graph.fragments.iter().filter_map(|fragment| match fragment {
        KeptFragment::Verbatim(text) => Some(text.as_str()),
        KeptFragment::Flat(..) => None,
    });
    texts.flat_map(|text| text.split(['"', '\''])).collect()
}
