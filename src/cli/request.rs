//! What is asked of the flattening of an input: the options, and where the result goes.

use std::io::IsTerminal;
use std::path::Path;

use crate::files::parent;
use crate::input::settings::Settings;
use crate::input::table;
use crate::model;
use crate::sink::OutputLimit;
use crate::write::{NOTATIONS, Notation};

use super::args::{self, Language};
use super::inputs::NotationInput;
use super::io;
use super::outcome::Failure;
use super::report::Reporter;

/// What is asked of the flattening of an input.
pub(crate) struct Request<'a> {
    pub(super) language: &'a Language,
    pub(super) settings: &'a Settings,
    pub(super) output: &'a args::Output,
    pub(super) verification: &'a args::Verification,
    pub(super) destination: Destination,
}

impl Request<'_> {
    /// The notation of the result.
    pub(super) fn to(&self) -> &'static Notation {
        self.destination.to
    }

    /// The most bytes of each output.
    pub(super) fn limit(&self) -> OutputLimit {
        self.language.limits.output()
    }
}

/// The form of the output: a file in a notation, or a whole model.
pub(super) struct Destination {
    pub(super) to: &'static Notation,
    pub(super) target: Option<model::Target>,
}

impl Destination {
    /// The form of the result of an input. Refuses options that have no effect on it, and forms that cannot be written.
    ///
    /// # Errors
    ///
    /// The first such option, options that contradict each other, or an unknown extension of the path.
    pub(super) fn of(
        input: &mut NotationInput,
        output: &args::Output,
        reporter: &mut Reporter,
    ) -> Result<Self, Failure> {
        let destination = Destination::new(output, input.notation)?;
        input.usable(destination.to.name, reporter)?;
        destination.possible(output, input.notation)?;
        Ok(destination)
    }

    /// The form that an option or the path names, else that of inputs in a notation.
    ///
    /// # Errors
    ///
    /// The extension of the path is unknown.
    fn new(output: &args::Output, from: &table::Notation) -> Result<Self, Failure> {
        let path = path(output);
        let target = path.and_then(model::Target::of);
        let known = || NOTATIONS.iter().flat_map(|known| known.extensions);
        let to = match (output.to, path.filter(|_| target.is_none())) {
            (Some(to), _) => Some(to.0),
            (None, Some(path)) => io::by_ending(path, Notation::of_extension, known())?,
            (None, None) => None,
        };
        let default = || Notation::named(from.output).unwrap_or(&NOTATIONS[0]);
        Ok(Destination { to: to.unwrap_or_else(default), target })
    }

    /// Refuses a form that cannot be written there.
    ///
    /// # Errors
    ///
    /// Options that contradict each other.
    fn possible(&self, output: &args::Output, from: &table::Notation) -> Result<(), Failure> {
        if let Some(target) = self.target.as_ref().filter(|_| !from.whole.contains(&self.to.name)) {
            let (path, whole) = (target.path().display(), from.whole.join(" or "));
            let message = format!("folders and archives hold models, which are {whole} here; leave out --to");
            return Err(Failure::Message(format!("{path}: {message}")));
        }
        fits_stdout(self.to, output)?;
        distinct(output, self.to)?;
        path(output).into_iter().chain(output.source_map.as_deref()).try_for_each(has_folder)
    }
}

/// Refuses an output in a folder that is not there, before anything is computed.
fn has_folder(path: &Path) -> Result<(), Failure> {
    let folder = parent(path);
    match folder.try_exists() {
        Ok(false) if !io::is_stdout(path) => {
            Err(Failure::Message(format!("{}: there is no folder `{}`", path.display(), folder.display())))
        }
        _ => Ok(()),
    }
}

/// Refuses protobuf on a terminal.
fn fits_stdout(to: &Notation, output: &args::Output) -> Result<(), Failure> {
    let Some(instead) = to.on_terminal.filter(|_| path(output).is_none() && std::io::stdout().is_terminal()) else {
        return Ok(());
    };
    let message = format!("protobuf is not written to a terminal: name a file with -o, or use --to {instead}");
    Err(Failure::Message(message))
}

/// Refuses to write two results to the same stream or file: the graph, the data of a PNNX file, the source map.
fn distinct(output: &args::Output, to: &Notation) -> Result<(), Failure> {
    let map = output.source_map.as_deref();
    let Some(path) = path(output) else {
        if map.is_some_and(io::is_stdout) {
            let message = "result and source map cannot both go to standard output; use -o or name a file";
            return Err(Failure::Message(message.to_owned()));
        }
        return Ok(());
    };
    let data = to.data_beside().map(|extension| path.with_extension(extension));
    let map = map.filter(|map| !io::is_stdout(map)).map(Path::to_owned);
    let mut files = vec![("the graph", path.to_owned()), ("a graph", path.join(model::GRAPH))];
    files.extend(data.map(|data| ("the data of the graph", data)));
    files.extend(map.map(|map| ("the source map", map)));
    for (i, (what, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..i].iter().find(|(_, other)| io::is_same_file(file, other)) {
            let message = format!("{}: {other} and {what} cannot both be written to this file", file.display());
            return Err(Failure::Message(message));
        }
    }
    Ok(())
}

/// The path of the result, unless it is standard output.
pub(super) fn path(output: &args::Output) -> Option<&Path> {
    output.output.as_deref().filter(|path| !io::is_stdout(path))
}
