//! The input notations: a table with a row for each, and the choice of the row for an input.
//!
//! `--from` decides. Without it the first bytes decide if they are certain, then the extension of the file; an input
//! that says nothing is read as a document of NNEF. What is recognized as the format of another program is refused by
//! its name (`foreign.rs`).

pub(crate) mod foreign;
pub(crate) mod looks;
pub(crate) mod opened;

use std::path::Path;

use crate::diagnostics::{Code, Diagnostic};
use crate::model;
use crate::model::GRAPH;
use crate::source::Sources;
use crate::write::OnnxForm;

use super::args::{self, From, Language};
use super::io::{self, Unread};
use super::models::Expanded;
use super::report::Reporter;
use super::request::{Destination, Request};
use super::{Failure, RunResult, documents, flatten, loops, onnx, options, pnnx, run, suggestions, tensors};
use looks::Start;
use opened::{Checked, Opened};

/// An input notation.
pub(crate) struct Notation {
    /// Its value of `--from`.
    pub(crate) from: From,
    /// The extensions of its files.
    extensions: &'static [&'static str],
    /// Whether the first bytes of an input are certainly in this notation.
    looks: fn(&Start) -> bool,
    /// What the command does with its inputs.
    pub(crate) verbs: &'static Verbs,
}

/// The sources of an input, and its flat graph.
pub(crate) type Viewed = (Sources, Expanded);

/// Gives the flat graph of an input.
type View = fn(Opened, &Language) -> Result<Viewed, Unread>;

/// Evaluates an input.
type Evaluate = fn(Opened, &args::Run, tensors::Written, &Language, &mut Reporter) -> RunResult;

/// What the command does with the inputs of a notation.
pub(crate) struct Verbs {
    /// Flattens an input and writes the result.
    pub(crate) flatten: fn(Opened, Request, &mut Reporter) -> RunResult,
    /// Checks an input.
    pub(crate) check: fn(Opened, &Language) -> Result<Checked, Unread>,
    /// Evaluates an input and writes its outputs, for `run`.
    pub(crate) evaluate: Option<Evaluate>,
    /// The flat graph of an input, for `expr --fuse`.
    pub(crate) graph: Option<View>,
    /// Whether inputs are formatted.
    pub(crate) formatted: bool,
}

/// All notations. The first one is that of inputs that say nothing.
pub(crate) static NOTATIONS: &[Notation] = &[
    Notation { from: From::Nnef, extensions: &["nnef"], looks: looks::nnef, verbs: &NNEF },
    Notation { from: From::NnefDraft, extensions: &[], looks: looks::nothing, verbs: &NNEF },
    Notation {
        from: From::Loops,
        extensions: &[],
        looks: looks::loops,
        verbs: &Verbs {
            flatten: loops::flatten,
            check: loops::check,
            evaluate: Some(loops::run),
            graph: Some(loops::graph),
            formatted: false,
        },
    },
    Notation {
        from: From::Onnx,
        extensions: &["onnx"],
        looks: looks::onnx,
        verbs: &Verbs {
            flatten: |input, request, reporter| onnx::run(input, OnnxForm::Protobuf, request, reporter),
            check: |input, language| onnx::check(input, OnnxForm::Protobuf, language),
            evaluate: None,
            graph: None,
            formatted: false,
        },
    },
    Notation {
        from: From::Onnxtxt,
        extensions: &["onnxtxt", "onnxtext"],
        looks: looks::onnxtxt,
        verbs: &Verbs {
            flatten: |input, request, reporter| onnx::run(input, OnnxForm::Text, request, reporter),
            check: |input, language| onnx::check(input, OnnxForm::Text, language),
            evaluate: None,
            graph: None,
            formatted: false,
        },
    },
    Notation {
        from: From::Pnnx,
        extensions: &["param"],
        looks: looks::pnnx,
        verbs: &Verbs {
            flatten: pnnx::run,
            check: pnnx::check,
            evaluate: Some(pnnx::evaluate),
            graph: Some(pnnx::graph),
            formatted: false,
        },
    },
];

static NNEF: Verbs = Verbs {
    flatten: documents::flatten,
    check: documents::check,
    evaluate: Some(run::document),
    graph: Some(documents::graph),
    formatted: true,
};

impl Notation {
    /// Its name, for `--from`.
    pub(crate) fn name(&self) -> &'static str {
        self.from.known().name
    }

    /// The notation with a value of `--from`; none for the value that lets the input decide.
    pub(crate) fn of(from: From) -> Option<&'static Notation> {
        NOTATIONS.iter().find(|notation| notation.from == from)
    }

    fn of_extension(path: &Path) -> Option<&'static Notation> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        NOTATIONS.iter().find(|notation| notation.extensions.contains(&extension.as_str()))
    }

    /// The notation that the first bytes of an input certainly have.
    fn of_start(start: &Start) -> Option<&'static Notation> {
        NOTATIONS.iter().find(|notation| (notation.looks)(start))
    }
}

/// An input whose notation is known.
pub(crate) struct Input {
    pub(crate) opened: Opened,
    pub(crate) notation: &'static Notation,
    /// The options, with the notation that was found as `--from`.
    pub(crate) language: Language,
}

impl Input {
    /// Refuses options that have no effect on the input, and tells what holds anyway. Options of documents are refused
    /// when their dialect is known.
    ///
    /// # Errors
    ///
    /// The first such option.
    pub(crate) fn usable(&mut self, output: &str, reporter: &mut Reporter) -> Result<(), Failure> {
        output.clone_into(&mut self.language.asked.output);
        self.language.asked.held(self.notation.from).iter().for_each(|held| reporter.remark(held));
        if self.notation.verbs.formatted { Ok(()) } else { self.language.usable(Some(self.notation.from)) }
    }

    /// The refusal of the input by a subcommand that takes other notations.
    pub(crate) fn refused(&self, command: &str, takes: impl Fn(&Verbs) -> bool) -> Failure {
        let known = NOTATIONS.iter().filter(|known| takes(known.verbs)).map(Notation::name);
        let (name, title) = (&self.opened.name, self.notation.from.known().title);
        let known = options::listed(&known.collect::<Vec<_>>());
        Failure::Message(format!("{name}: `{command}` does not apply to {title}: it is for {known}"))
    }
}

/// Opens an input, and finds its notation.
///
/// # Errors
///
/// The input cannot be opened, or is in none of the notations.
pub(crate) fn open(path: &Path, language: &Language) -> Result<Input, Unread> {
    let opened = Opened::open(path)?;
    let notation = notation(&opened, language.from)?;
    // The version line of a document tells its dialect.
    let from = if notation.verbs.formatted { language.from } else { Some(notation.from) };
    Ok(Input { opened, notation, language: Language { from, ..language.clone() } })
}

fn notation(opened: &Opened, from: Option<From>) -> Result<&'static Notation, Unread> {
    let given = from.and_then(Notation::of);
    if opened.is_folder() {
        return match given {
            Some(given) if !given.verbs.formatted => Ok(given),
            _ => folder(opened).map(|()| &NOTATIONS[0]),
        };
    }
    let start = opened.start();
    if let Some(given) = given {
        return if (given.looks)(&start) { Ok(given) } else { foreign::refuse(opened, Some(given)).map(|()| given) };
    }
    if let Some(found) = Notation::of_start(&start) {
        return Ok(found);
    }
    if model::is_archive(start.bytes()) && foreign::packs_archive(&start) {
        return Ok(&NOTATIONS[0]);
    }
    let named = Notation::of_extension(&opened.path);
    foreign::refuse(opened, named)?;
    match named {
        Some(named) => Ok(named),
        None if start.is_binary() && !model::has_archive_name(&opened.path) => Err(unknown(opened)),
        None => Ok(&NOTATIONS[0]),
    }
}

/// The refusal of bytes in no known format.
fn unknown(opened: &Opened) -> Unread {
    let names: Vec<&str> = NOTATIONS.iter().map(Notation::name).collect();
    let message = "the bytes are not in a format that is recognized";
    io::refuse(opened.name.clone(), String::new(), |at| {
        Diagnostic::new(Code::ForeignInput, at, message)
            .help(format!("--from names the notation: {}", names.join(", ")))
    })
}

/// Checks that a folder has a graph; one without it may have a model in another notation, which is named.
fn folder(opened: &Opened) -> Result<(), Unread> {
    if opened.path.join(GRAPH).symlink_metadata().is_ok() {
        return Ok(());
    }
    // Reading the graph fails with the error of the system.
    let Some(other) = foreign::model_in(&opened.path) else { return Ok(()) };
    let message = format!("the folder has no {GRAPH}, but {}", other.what);
    Err(io::refuse(opened.name.clone(), String::new(), |at| {
        Diagnostic::new(Code::ModelWithoutGraph, at, message).help_if(other.help)
    }))
}

/// Flattens an input.
pub(crate) fn flatten(path: &Path, cli: &args::Cli, reporter: &mut Reporter) -> RunResult {
    let mut input = match open(path, &cli.language) {
        Ok(input) => input,
        Err(Unread::Failure(Failure::Message(message))) if !path.exists() => {
            let hint = suggestions::instead_of(path).map(|hint| format!("; {hint}")).unwrap_or_default();
            return Err(Failure::Message(message + &hint));
        }
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let destination = Destination::new(&cli.output, input.notation.from)?;
    input.usable(destination.to.name, reporter)?;
    destination.possible(&cli.output, input.notation.from)?;
    let Input { opened, notation, language } = input;
    let request = Request { language: &language, output: &cli.output, verification: &cli.verification, destination };
    (notation.verbs.flatten)(opened, request, reporter)
}

/// Evaluates an input.
pub(crate) fn evaluate(path: &Path, arguments: &args::Run, language: &Language, reporter: &mut Reporter) -> RunResult {
    let file = arguments.output.as_deref().filter(|path| !io::is_stdout(path));
    let to = tensors::form(file, arguments.to)?;
    tensors::fits_stdout(file, to)?;
    reporter.need_values();
    let mut input = match open(path, language) {
        Ok(input) => input,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let Some(evaluate) = input.notation.verbs.evaluate else {
        return Err(input.refused("run", |verbs| verbs.evaluate.is_some()));
    };
    input.usable(&options::name(&to), reporter)?;
    evaluate(input.opened, arguments, (file, to), &input.language, reporter)
}
