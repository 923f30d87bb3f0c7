//! Whole models on the command line: writing them.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;

use crate::Graph;
use crate::input::models::{InputKind, document_path};
use crate::input::source::Files;
use crate::model::{Content, Look, Model, ModelError, Staged, Target, check, rewrite};
use crate::progress::{self, Phase};
use crate::sink::{Bounded, OutputLimit};

use super::outcome::Failure;
use super::report::Reporter;
use super::verify::Comparison;
use super::{interrupt, io};

/// The failure of an operation on a model.
pub(super) fn failed(error: ModelError) -> Failure {
    match error {
        ModelError::Io { path, error } => io::unwritten(&path, &error),
        other => Failure::Message(other.to_string()),
    }
}

/// Writes a whole model.
pub(super) fn write(target: &Target, content: Content, limit: OutputLimit) -> Result<(), Failure> {
    progress::enter_of(Phase::Copying, content.size());
    let mut add = progress::add;
    // The parts of the contents get the shorter lifetime of the counter.
    let Content { graph, quant, files, hidden, document, linked, look, .. } = content;
    let look = look.map(|look| -> Look { look });
    let mut bounded = |out: &mut dyn Write| graph(&mut Bounded::new(out, limit));
    let progress: Option<&mut dyn FnMut(u64)> = Some(&mut add);
    let mut content = Content { graph: &mut bounded, quant, files, hidden, progress, document, linked, look };
    interrupt::watch();
    target.write(&mut content).map_err(failed)
}

/// Writes a whole model, and compares it with its source before it gets its place.
pub(super) fn write_compared(
    target: &Target,
    content: Content,
    limit: OutputLimit,
    comparison: Option<Comparison>,
    reporter: &mut Reporter,
) -> Result<(), Failure> {
    let Some(comparison) = comparison else { return write(target, content, limit) };
    let (document, mut comparison, mut refused) = (content.document, Some(comparison), None);
    let mut look = |staged: Staged| {
        let compared = comparison.take().map_or(Ok(()), |of| of.model(staged, document, reporter));
        compared.map_err(|failure| {
            refused = Some(failure);
            std::io::Error::other("the model is refused")
        })
    };
    let Content { graph, quant, files, hidden, document, linked, .. } = content;
    let content = Content { graph, quant, files, hidden, progress: None, document, linked, look: Some(&mut look) };
    let written = write(target, content, limit);
    match refused {
        Some(failure) => Err(failure),
        None => written,
    }
}

/// A whole model to be written.
pub(crate) struct Whole {
    pub(crate) target: Target,
    pub(crate) files: Files,
    pub(crate) limit: OutputLimit,
}

impl Whole {
    /// Writes the model.
    pub(crate) fn write(
        self,
        graph: &Graph,
        threads: Option<NonZeroUsize>,
        comparison: Option<Comparison>,
        reporter: &mut Reporter,
    ) -> Result<(), Failure> {
        let variables = check::count_variables(graph);
        if self.files.model.is_none() && variables > 0 {
            let are = if variables == 1 { "variable has" } else { "variables have" };
            reporter.remark(&format!("{variables} {are} no data: the input is a document, not a model"));
        }
        let mut text = |out: &mut dyn Write| graph.write_nnef_with(threads, out);
        let content = Content {
            quant: self.files.quant.as_deref().map(str::as_bytes),
            files: self.files.model.as_deref(),
            ..Content::new(&mut text)
        };
        write_compared(&self.target, content, self.limit, comparison, reporter)
    }
}

/// Writes the text of a document to where it was read from.
///
/// # Errors
///
/// It was read from an archive in a stream, or it cannot be written.
pub(crate) fn write_document(path: &Path, origin: &InputKind, text: &str, limit: OutputLimit) -> Result<(), Failure> {
    match origin {
        InputKind::Stream => io::write_stdout(limit, &mut |out| out.write_all(text.as_bytes())),
        InputKind::Archive(_) if !path.is_file() => {
            let message = "an archive on standard input or in a pipe cannot be changed in its place: give its name";
            Err(Failure::Message(message.to_owned()))
        }
        InputKind::Archive(model) => replace_graph(model, text, limit),
        InputKind::Document(_) | InputKind::Folder(_) => {
            io::write_file(&document_path(path), limit, &mut |out| out.write_all(text.as_bytes()))
        }
    }
}

/// Replaces the text of the graph in an archive.
fn replace_graph(model: &Model, text: &str, limit: OutputLimit) -> Result<(), Failure> {
    let quant = model.quant().map_err(failed)?;
    let mut graph = |out: &mut dyn Write| Bounded::new(out, limit).write_all(text.as_bytes());
    let mut content = Content { quant: quant.as_deref(), hidden: true, ..Content::new(&mut graph).with_files(model) };
    interrupt::watch();
    rewrite(model, &mut content).map_err(failed)
}
