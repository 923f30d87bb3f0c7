//! Documents and whole models: the text of the graph, and the data and quantizations beside it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Refusal;
use super::opened::Opened;
use super::settings::Settings;
use super::text::{self, Text, read_all};
use crate::diagnostics::Diagnostics;
use crate::eval::Variables;
use crate::files::parent;
use crate::graph::TensorId;
use crate::model::{self, GRAPH, Model, QUANT, check};
use crate::parts::FILES;
use crate::source::{Location, Span};
use crate::tensor::DType;
use crate::{Document, Graph};

/// The kind of an input.
#[derive(Clone)]
pub(crate) enum InputKind {
    /// A text from standard input or a pipe.
    Stream,
    /// A file with a text.
    Document(PathBuf),
    /// A model in a folder.
    Folder(PathBuf),
    /// A model in an archive.
    Archive(Arc<Model>),
}

impl InputKind {
    /// Whether the input is the graph of a model: a folder, an archive, or a document with the file name of
    /// a model's graph.
    pub(crate) fn is_model(&self) -> bool {
        match self {
            InputKind::Stream => false,
            InputKind::Document(path) => is_graph(path),
            InputKind::Folder(_) | InputKind::Archive(_) => true,
        }
    }
}

/// The text of a document, which may be that of a model.
#[derive(Clone)]
pub(crate) struct Written {
    /// The text of the graph.
    pub(crate) text: Text,
    /// The kind of the input.
    pub(crate) origin: InputKind,
}

/// Reads the text of the graph of an input. Its bytes or its name determine the kind.
pub(crate) fn open(opened: Opened, settings: &Settings) -> Result<Written, Refusal> {
    let named = opened.path.clone();
    let path = named.as_deref().unwrap_or(Path::new(""));
    if opened.is_folder() {
        let text = graph_in(path, &document_path(path), settings)?;
        return Ok(Written { text, origin: InputKind::Folder(path.to_owned()) });
    }
    if is_graph(path) {
        let text = graph_in(parent(path), path, settings)?;
        return Ok(Written { text, origin: InputKind::Document(path.to_owned()) });
    }
    if model::is_archive(opened.start().bytes()) || model::has_archive_name(path) {
        if let Some(part) = FILES.missing() {
            return Err(Refusal::Unfit(format!("{}: {}", opened.name, part.reason())));
        }
        let name = opened.name.clone();
        let fail = |error: io::Error| Refusal::io(&name, error);
        let archive = match opened.is_file() {
            true => File::open(path).map_err(fail)?,
            // A stream has to be read twice: for the list of its files, and for their bytes.
            false => model::spool(&mut opened.stream()).map_err(fail)?,
        };
        return archived(&name, archive, settings);
    }
    let origin = if opened.is_file() { InputKind::Document(path.to_owned()) } else { InputKind::Stream };
    Ok(Written { text: opened.text(settings.options.max_text)?, origin })
}

/// Reads the text of the graph in an archive, under a name for messages.
pub(super) fn archived(name: &str, archive: File, settings: &Settings) -> Result<Written, Refusal> {
    let model = Model::from_file(Path::new(name), archive, &settings.model)?;
    let text = text::text(format!("{name}/{GRAPH}"), model.graph()?)?;
    Ok(Written { text, origin: InputKind::Archive(Arc::new(model)) })
}

/// Whether a document has the file name of a model's graph, so that it belongs to the model in its folder.
fn is_graph(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == GRAPH)
}

/// The file and its size, if a path is that of a model's graph, which is opened as files of models are; none for other
/// paths, and if there is no such file.
pub(crate) fn graph_at(path: &Path) -> Result<Option<(File, u64)>, Refusal> {
    if is_graph(path) && !path.is_dir() { Ok(model::graph_in(parent(path))?) } else { Ok(None) }
}

/// The file of an input: the path itself, or the document in the folder of a model.
pub(crate) fn document_path(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(GRAPH) } else { path.to_owned() }
}

/// Reads the text of the graph in a folder; `document` is its path in messages.
fn graph_in(folder: &Path, document: &Path, settings: &Settings) -> Result<Text, Refusal> {
    let name = document.display().to_string();
    match model::graph_in(folder)? {
        Some((mut file, size)) => {
            text::text(name.clone(), read_all(&name, size, settings.options.max_text, &mut file)?)
        }
        // Fails with the error of the system.
        None => text::read(document, settings.options.max_text),
    }
}

/// The data of the variables of graphs that come from an input: of a model, or files in the folder of
/// the document; `None` for standard input.
pub(crate) fn data(origin: &InputKind, graphs: &[&Graph], settings: &Settings) -> Result<Option<Arc<Model>>, Refusal> {
    if FILES.missing().is_some() {
        return Ok(None);
    }
    let folder = match origin {
        InputKind::Archive(model) => return Ok(Some(Arc::clone(model))),
        InputKind::Stream => return Ok(None),
        InputKind::Folder(path) => path,
        InputKind::Document(path) => parent(path),
    };
    Ok(Some(Arc::new(Model::of_variables(folder, graphs, &settings.model)?)))
}

/// Infers shapes that depend on the data of small variables, as far as there are data: faults of the data are reported
/// where these are checked or used.
pub(crate) fn infer_shapes(origin: &InputKind, graph: &mut Graph, settings: &Settings) {
    let variables = graph.variables_of_shapes();
    if variables.is_empty() {
        return;
    }
    let Ok(Some(model)) = data(origin, &[graph], settings) else { return };
    let data = model.data();
    let items = |(tensor, label, shape): &(TensorId, &str, Vec<i64>)| {
        let shape: Vec<usize> = shape.iter().map(|&extent| usize::try_from(extent).ok()).collect::<Option<_>>()?;
        let stored = data.load(label, &shape, None).ok().flatten()?;
        let scalars = matches!(stored.dtype(), DType::Float32 | DType::Float64);
        Some((*tensor, stored.to_scalars(), scalars))
    };
    let known = variables.iter().filter_map(items).collect();
    graph.infer_with(known);
}

/// The whole model, if an input is a folder or an archive.
pub(crate) fn whole(origin: &InputKind, settings: &Settings) -> Result<Option<Arc<Model>>, Refusal> {
    if FILES.missing().is_some() {
        return Ok(None);
    }
    match origin {
        InputKind::Archive(model) => Ok(Some(Arc::clone(model))),
        InputKind::Folder(path) => Ok(Some(Arc::new(Model::open(path, &settings.model)?))),
        InputKind::Stream | InputKind::Document(_) => Ok(None),
    }
}

/// Checks the data and quantizations of a model. Returns the text of the quantizations whose tensors the
/// flat graph has.
pub(crate) fn examine(
    model: &Model,
    document: &mut Document,
    graph: &Graph,
    found: &mut Diagnostics,
) -> Result<Option<String>, Refusal> {
    if FILES.missing().is_some() {
        return Ok(None);
    }
    let main = document.main();
    let span = main.graphs.first().map_or(Span::default(), |graph| graph.name.span);
    check::data(model, graph, Location::new(main.file, span), found)?;
    let Some(input) = quant(model)? else { return Ok(None) };
    Ok(document.check_quant(&input.name, &input.text, graph, found))
}

/// The text of a model's quantizations, if it has any.
pub(crate) fn quant(model: &Model) -> Result<Option<Text>, Refusal> {
    let Some(bytes) = model.quant()? else { return Ok(None) };
    let name = format!("{}/{QUANT}", model.name().display().to_string().trim_end_matches('/'));
    text::text(name, bytes).map(Some)
}

/// The data of the variables of a model; empty without a model.
pub(crate) fn variables(model: Option<&Model>) -> Box<dyn Variables + '_> {
    match model {
        Some(model) => Box::new(model.data()),
        None => Box::new(BTreeMap::new()),
    }
}
