//! Whole models on the command line: recognizing inputs, and writing models.

use std::fs::File;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostics::Diagnostics;
use crate::eval::Variables;
use crate::files::parent;
use crate::graph::TensorId;
use crate::model::{self, Content, GRAPH, Model, ModelError, QUANT, Target, check, rewrite};
use crate::source::{Location, Span};
use crate::tensor::DType;
use crate::{Document, Graph};

use super::inputs::opened::Opened;
use super::io::{self, Input, Unread};
use super::limits::Limits;
use super::progress::Progress;
use super::report::Reporter;
use super::{Failure, interrupt};

/// A graph with warnings, or the errors.
pub(crate) type Expanded = Result<(Graph, Diagnostics), Diagnostics>;

/// The kind of an input.
pub(crate) enum Origin {
    /// A text from standard input or a pipe.
    Stream,
    /// A file with a text.
    Document(PathBuf),
    /// A model in a folder.
    Folder(PathBuf),
    /// A model in an archive.
    Archive(Rc<Model>),
}

impl Origin {
    /// Whether the input is the graph of a model: a folder, an archive, or a document with the file name of
    /// a model's graph.
    pub(crate) fn is_model(&self) -> bool {
        match self {
            Origin::Stream => false,
            Origin::Document(path) => is_graph(path),
            Origin::Folder(_) | Origin::Archive(_) => true,
        }
    }
}

/// A text of NNEF.
pub(crate) struct Text {
    /// The text of the graph.
    pub(crate) input: Input,
    /// The kind of the input.
    pub(crate) origin: Origin,
}

/// Reads the text of the graph of an input. Its bytes or its name determine the kind.
pub(crate) fn open(opened: Opened, limits: &Limits) -> Result<Text, Unread> {
    let path = &opened.path.clone();
    if opened.is_folder() {
        return Ok(Text {
            input: graph_in(path, &document_path(path), limits)?,
            origin: Origin::Folder(path.to_owned()),
        });
    }
    if is_graph(path) {
        return Ok(Text { input: graph_in(parent(path), path, limits)?, origin: Origin::Document(path.to_owned()) });
    }
    if model::is_archive(opened.start().bytes()) || model::has_archive_name(path) {
        let name = opened.name.clone();
        let fail = |error: std::io::Error| Unread::Failure(io::failure(&name, &error));
        let archive = match opened.is_file() {
            true => File::open(path).map_err(fail)?,
            // A stream has to be read twice: for the list of its files, and for their bytes.
            false => model::spool(&mut opened.stream()).map_err(fail)?,
        };
        let model = Model::from_file(Path::new(&name), archive, &limits.model()).map_err(unread)?;
        let graph = model.graph().map_err(unread)?;
        return Ok(Text {
            input: io::text(format!("{name}/{GRAPH}"), graph)?,
            origin: Origin::Archive(Rc::new(model)),
        });
    }
    let origin = if opened.is_file() { Origin::Document(path.to_owned()) } else { Origin::Stream };
    Ok(Text { input: opened.text(limits.text())?, origin })
}

/// Whether a document has the file name of a model's graph, so that it belongs to the model in its folder.
fn is_graph(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == GRAPH)
}

/// The file and its size, if a path is that of a model's graph, which is opened as files of models are; none for other
/// paths, and if there is no such file.
pub(crate) fn graph_at(path: &Path) -> Result<Option<(File, u64)>, Unread> {
    if is_graph(path) { model::graph_in(parent(path)).map_err(unread) } else { Ok(None) }
}

/// The file of an input: the path itself, or the document in the folder of a model.
pub(crate) fn document_path(path: &Path) -> PathBuf {
    if !io::is_stream(path) && path.is_dir() { path.join(GRAPH) } else { path.to_owned() }
}

/// Reads the text of the graph in a folder; `document` is its path in messages.
fn graph_in(folder: &Path, document: &Path, limits: &Limits) -> Result<Input, Unread> {
    let name = document.display().to_string();
    match model::graph_in(folder).map_err(unread)? {
        Some((mut file, size)) => io::text(name.clone(), io::read_all(&name, (size, limits.text()), &mut file)?),
        // Fails with the error of the system.
        None => io::read(document, limits.text()),
    }
}

/// The data of the variables of graphs that come from an input: of a model, or files in the folder of
/// the document; `None` for standard input.
pub(crate) fn data(origin: &Origin, graphs: &[&Graph], limits: &Limits) -> Result<Option<Rc<Model>>, Unread> {
    let folder = match origin {
        Origin::Archive(model) => return Ok(Some(Rc::clone(model))),
        Origin::Stream => return Ok(None),
        Origin::Folder(path) => path,
        Origin::Document(path) => parent(path),
    };
    Model::of_variables(folder, graphs, &limits.model()).map(|model| Some(Rc::new(model))).map_err(unread)
}

/// Infers shapes that depend on the data of small variables, as far as there are data: faults of the data are reported
/// where these are checked or used.
pub(crate) fn infer_shapes(origin: &Origin, graph: &mut Graph, limits: &Limits) {
    let variables = graph.variables_of_shapes();
    if variables.is_empty() {
        return;
    }
    let Ok(Some(model)) = data(origin, &[graph], limits) else { return };
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

/// The refusal or failure of a model that was not read.
pub(crate) fn unread(error: ModelError) -> Unread {
    match error.diagnostic() {
        Ok(refused) => Unread::Refused(Box::new(refused)),
        Err(other) => Unread::Failure(failed(other)),
    }
}

/// The failure of an operation on a model.
fn failed(error: ModelError) -> Failure {
    match error {
        ModelError::Io { path, error } => io::failure(&path, &error),
        other => Failure::Message(other.to_string()),
    }
}

/// The whole model, if an input is a folder or an archive.
pub(crate) fn whole(origin: &Origin, limits: &Limits) -> Result<Option<Rc<Model>>, Unread> {
    let open = |path: &Path| Model::open(path, &limits.model()).map(|model| Some(Rc::new(model))).map_err(unread);
    match origin {
        Origin::Archive(model) => Ok(Some(Rc::clone(model))),
        Origin::Folder(path) => open(path),
        Origin::Stream | Origin::Document(_) => Ok(None),
    }
}

/// Checks the data and quantizations of a model. Returns the text of the quantizations whose tensors the
/// flat graph has.
pub(crate) fn examine(
    model: &Model,
    document: &mut Document,
    graph: &Graph,
    found: &mut Diagnostics,
) -> Result<Option<String>, Unread> {
    let main = document.main();
    let span = main.graphs.first().map_or(Span::default(), |graph| graph.name.span);
    check::data(model, graph, Location::new(main.file, span), found).map_err(unread)?;
    let Some(input) = quant(model)? else { return Ok(None) };
    Ok(document.check_quant(&input.name, &input.text, graph, found))
}

/// The text of a model's quantizations, if it has any.
pub(crate) fn quant(model: &Model) -> Result<Option<Input>, Unread> {
    let Some(bytes) = model.quant().map_err(unread)? else { return Ok(None) };
    let name = format!("{}/{QUANT}", model.name().display().to_string().trim_end_matches('/'));
    io::text(name, bytes).map(Some)
}

/// Writes a whole model, and shows the progress of its files.
pub(crate) fn write(target: &Target, content: Content, reporter: &Reporter) -> Result<(), Failure> {
    let mut progress = Progress::new(reporter.interactive(), content.size());
    let mut add = |bytes| progress.add(bytes);
    // The parts of the contents get the shorter lifetime of the progress.
    let Content { graph, quant, files, hidden, document, linked, .. } = content;
    let mut content = Content { graph, quant, files, hidden, progress: Some(&mut add), document, linked };
    interrupt::watch();
    target.write(&mut content).map_err(failed)
}

/// A whole model to be written.
pub(crate) struct Whole {
    target: Target,
    model: Option<Rc<Model>>,
    quant: Option<String>,
}

impl Whole {
    /// A model that consists of a graph only.
    pub(crate) fn without_data(target: Target) -> Self {
        Whole { target, model: None, quant: None }
    }

    /// A model of a graph with the files of another model as its data.
    pub(crate) fn with_data(target: Target, model: Option<Model>) -> Self {
        Whole { target, model: model.map(Rc::new), quant: None }
    }

    /// A model with a flat graph and the other files of the input, if that is a model. A document with
    /// the name `graph.nnef` belongs to the model in its folder.
    pub(crate) fn new(
        target: Target,
        origin: &Origin,
        document: &mut Document,
        result: &mut Expanded,
        limits: &Limits,
    ) -> Result<Self, Unread> {
        let Ok((graph, found)) = result else { return Ok(Whole::without_data(target)) };
        let folder = match origin {
            Origin::Document(path) if is_graph(path) => Some(parent(path)),
            _ => None,
        };
        let model = match folder {
            Some(folder) => whole(&Origin::Folder(folder.to_owned()), limits)?,
            None => whole(origin, limits)?,
        };
        let quant = match &model {
            Some(model) => examine(model, document, graph, found)?,
            None => None,
        };
        if found.has_errors() {
            *result = Err(std::mem::take(found));
        }
        Ok(Whole { target, model, quant })
    }

    /// Writes the model.
    pub(crate) fn write(
        self,
        graph: &Graph,
        threads: Option<NonZeroUsize>,
        reporter: &mut Reporter,
    ) -> Result<(), Failure> {
        let variables = check::count_variables(graph);
        if self.model.is_none() && variables > 0 {
            let are = if variables == 1 { "variable has" } else { "variables have" };
            reporter.remark(&format!("{variables} {are} no data: the input is a document, not a model"));
        }
        let mut text = |out: &mut dyn Write| graph.write_nnef_with(threads, out);
        let content = Content {
            quant: self.quant.as_deref().map(str::as_bytes),
            files: self.model.as_deref(),
            ..Content::new(&mut text)
        };
        write(&self.target, content, reporter)
    }
}

/// Replaces the text of the graph in an archive.
pub(crate) fn replace_graph(model: &Model, text: &str) -> Result<(), Failure> {
    let quant = model.quant().map_err(failed)?;
    let mut graph = |out: &mut dyn Write| out.write_all(text.as_bytes());
    let mut content = Content { quant: quant.as_deref(), hidden: true, ..Content::new(&mut graph).with_files(model) };
    interrupt::watch();
    rewrite(model, &mut content).map_err(failed)
}
