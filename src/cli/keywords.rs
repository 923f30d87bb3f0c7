//! The options of the command for other programs, such as the module of Python: they are parsed, checked and refused as
//! those of a command line, so that both have the same options with the same meaning.

use std::ffi::OsString;
use std::sync::Arc;

use crate::diff::Difference;
use crate::input::differ::{DiffDetails, differ};
use crate::input::passes::rows::{PASSES, PassStep};
use crate::input::settings::Passes;
use crate::input::table::Notation;
use crate::input::{Findings, Given, Input, Refusal};
use crate::live::LiveRun;
use crate::tensor::Tensor;
use crate::{Lower, write};

use super::args::{Command, Language, Output, Tabled, Verification};
use super::flatten::{Flattening, flatten};
use super::inputs::{self, NotationInput};
use super::options::Commands;
use super::outcome::{Failure, Status};
use super::report::{Messages, Reporter};
use super::usage;

/// The options of flattening or of a subcommand.
///
/// ```
/// use nnef_flatten::cli::Keywords;
///
/// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = moments(x, axes = [0]); }";
/// let keywords = Keywords::new(&["--provenance".into()])?;
/// let refused = keywords.open(("example", text).into(), None).err().unwrap();
/// assert_eq!(
///     refused.to_string(),
///     "--provenance does not apply to documents of NNEF 1.0: it is for onnx or onnxtxt"
/// );
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Keywords {
    language: Language,
    output: Arc<Output>,
    verification: Arc<Verification>,
    /// What comparisons tell in addition.
    compared: DiffDetails,
    /// Whether nothing is expanded, where that can be asked for.
    unexpanded: bool,
    /// Values of inputs that are given as tensors, not as texts.
    bound: Vec<(String, Tensor)>,
}

/// What became of an input whose result is saved.
#[derive(Debug)]
pub struct Saved {
    /// Whether the input was accepted; if not, nothing is written.
    pub accepted: bool,
    /// The findings, and what options ask to be told, as lines of JSON.
    pub messages: Vec<u8>,
}

/// The endings of the names of files that are inputs, such as `.onnx`.
///
/// ```
/// assert!(nnef_flatten::cli::endings().any(|ending| ending == ".nnef"));
/// ```
pub fn endings() -> impl Iterator<Item = String> {
    Notation::endings()
}

/// What a pass is applied to, and its option.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ListedPass {
    /// The name of the option.
    pub option: &'static str,
    /// What the pass takes.
    pub takes: &'static str,
    /// What is so behind it.
    pub changes: &'static str,
    /// Whether flat graphs go through it, or their expansion does it.
    pub graphs: bool,
    /// Whether models of ONNX do.
    pub models: bool,
}

/// The passes, in the order in which they run.
///
/// ```
/// let order: Vec<&str> = nnef_flatten::cli::passes().map(|pass| pass.option).collect();
/// assert!(order.starts_with(&["bind", "set"]) && order.ends_with(&["annotate", "outline"]));
/// ```
pub fn passes() -> impl Iterator<Item = ListedPass> {
    PASSES.iter().map(|row| ListedPass {
        option: row.option,
        takes: row.takes,
        changes: row.changes,
        graphs: !matches!(row.on_graph, PassStep::Refused),
        models: !matches!(row.on_model, PassStep::Refused),
    })
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(found) => Refusal::Found(found),
            Failure::Message(message) => Refusal::Unfit(message),
            Failure::BrokenPipe => Refusal::io("the output", std::io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Keywords {
    /// Parses words of a command line: `check` or `run`, if it is not flattening, and options.
    ///
    /// # Errors
    ///
    /// A word is not an option, or its value is not one.
    pub fn new(words: &[OsString]) -> Result<Self, String> {
        let words = std::iter::once("nnef-flatten".into()).chain(words.iter().cloned());
        let cli = usage::parse_from(words).map_err(|error| usage::message(&error))?;
        let compared = match &cli.command {
            Some(Command::Diff(Tabled(diff))) => diff.details(),
            _ => DiffDetails::default(),
        };
        let language = match cli.command {
            Some(Command::Check(Tabled(check))) => cli.language.merge(check.language),
            Some(Command::Diff(Tabled(diff))) => cli.language.merge(diff.language),
            Some(Command::Run(Tabled(run))) => cli.language.merge(run.language),
            _ => cli.language,
        };
        let (output, verification) = (Arc::new(cli.output), Arc::new(cli.verification));
        Ok(Keywords { language, output, verification, compared, unexpanded: false, bound: Vec::new() })
    }

    /// Makes an input a constant with a value, as `--bind` does.
    pub fn bind(&mut self, name: &str, value: Tensor) {
        self.language.asked.add("bind");
        self.bound.push((name.to_owned(), value));
    }

    /// The same options, for a graph as it is written: nothing is expanded, in notations whose graphs have calls.
    pub fn unexpanded(self) -> Self {
        Keywords { unexpanded: true, ..self }
    }

    /// Whether tensors are computed, not only shapes: that takes time whatever the size of the input is.
    pub fn computes(&self) -> bool {
        self.passes().fold
    }

    fn passes(&self) -> Passes {
        self.output.passes()
    }

    /// An input in its notation, with the options.
    fn input(&self, given: Given) -> Result<NotationInput, Refusal> {
        let (opened, named) = given.opened()?;
        let mut language = self.language.clone();
        if named.is_some() {
            language.from = Some(super::args::From(named));
        }
        language.asked.consistent()?;
        NotationInput::new(opened, language)
    }

    /// The options for a graph as it is written, if that is asked for.
    fn as_written(&self, notation: &Notation, mut language: Language) -> Language {
        if self.unexpanded {
            let lower = language.lower.replace(Lower::None);
            if !language.asked.takes("lower", notation, &language) {
                language.lower = lower;
            }
        }
        language
    }

    /// Opens an input that becomes an output in a notation; without one, in that of the command.
    ///
    /// # Errors
    ///
    /// Those of [`crate::open`]; an option does not apply to the input or the output, or its file cannot be read.
    pub fn open(&self, given: Given, to: Option<&str>) -> Result<Input, Refusal> {
        let mut input = self.input(given)?;
        let notation = input.notation;
        let to = to.unwrap_or(notation.output);
        input.applicable(to)?;
        let NotationInput { opened, language, .. } = input;
        let language = self.as_written(notation, language);
        let mut settings = language.settings();
        let source = (notation.read)(opened, &settings)?;
        inputs::complete(&mut settings, &*source, &language)?;
        let migrated = write::Notation::named(to).is_some_and(|to| to.needs.migrated);
        settings.options.migrate = migrated && source.dialect().is_some();
        settings.passes = self.passes();
        settings.kept.clone_from(&self.output.keep_tensors);
        settings.layouts.clone_from(&self.output.layout);
        settings.provenance = self.output.provenance;
        settings.bound.extend(self.bound.iter().cloned());
        Ok(Input::new(source, notation, settings))
    }

    /// Opens an input that is not written; options of flattening are those for its own output.
    ///
    /// # Errors
    ///
    /// Those of [`Keywords::open`].
    pub fn open_to_look(&self, given: Given) -> Result<Input, Refusal> {
        let flattens = self.language.asked.is_of(Commands::FLATTEN);
        self.open(given, (!flattens).then_some(""))
    }

    /// Flattens an input and writes the result to the path of the option `--output`, as the command does: completely or not
    /// at all, compared with its source before with `--verify`.
    ///
    /// # Errors
    ///
    /// An option does not apply, or files cannot be read or written. What is wrong with the input is among the messages.
    pub fn save(&self, given: Given) -> Result<Saved, Refusal> {
        let _run = LiveRun::within(self.language.limits.options().max_memory);
        let mut input = self.input(given)?;
        input.language = self.as_written(input.notation, input.language);
        let messages = Messages::default();
        let mut reporter = Reporter::kept(&messages);
        let asked = Flattening { output: &self.output, verification: &self.verification, bound: &self.bound };
        let written = flatten(input, asked, &mut reporter);
        let status = written.or_else(|failure| reporter.refused(failure))?;
        reporter.finish()?;
        Ok(Saved { accepted: status == Status::Done, messages: messages.take() })
    }

    /// Compares two inputs, as `diff` does, each with its own options; these say what is told. Returns the findings about
    /// both, too.
    ///
    /// # Errors
    ///
    /// Those of [`Input::diff`]; an option does not apply.
    pub fn diff(&self, inputs: [(Given, &Keywords); 2]) -> Result<(Difference, [Findings; 2]), Refusal> {
        let _run = LiveRun::within(self.language.limits.options().max_memory);
        let [a, b] = inputs.map(|(given, keywords)| keywords.open_to_look(given));
        let (difference, inputs) = differ([("a".to_owned(), a?), ("b".to_owned(), b?)], self.compared)?;
        Ok((difference, inputs.map(|input| input.findings)))
    }
}
