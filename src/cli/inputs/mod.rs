//! The input notations: a table with a row for each, and the choice of the row for an input.
//!
//! `--from` decides. Without it the first bytes decide if they are certain, then the extension of the file; an input
//! that says nothing is read as a document of NNEF. What is recognized as the format of another program is refused by
//! its name (`foreign.rs`).

pub(crate) mod foreign;
pub(crate) mod looks;
pub(crate) mod opened;

use std::path::Path;

use clap::ValueEnum;

use crate::diagnostics::{Code, Diagnostic};
use crate::model;
use crate::model::GRAPH;
use crate::source::Sources;
use crate::write::OnnxForm;

use super::args::{self, From, Language, Output, Verification};
use super::io::{self, Unread};
use super::models::Expanded;
use super::report::Reporter;
use super::{Failure, RunResult, documents, flatten, loops, onnx, pnnx, run, tensors};
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

/// What the command does with the inputs of a notation.
pub(crate) struct Verbs {
    /// Flattens an input and writes the result.
    pub(crate) flatten: fn(Opened, &Language, &Output, &Verification, &mut Reporter) -> RunResult,
    /// Checks an input.
    pub(crate) check: fn(Opened, &Language) -> Result<Checked, Unread>,
    /// Evaluates an input and writes its outputs.
    pub(crate) evaluate: fn(Opened, &args::Run, tensors::Written, &Language, &mut Reporter) -> RunResult,
    /// The flat graph of an input.
    pub(crate) graph: fn(Opened, &Language) -> Result<Viewed, Unread>,
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
            flatten: flatten::network,
            check: loops::check,
            evaluate: loops::run,
            graph: loops::graph,
            formatted: false,
        },
    },
    Notation {
        from: From::Onnx,
        extensions: &["onnx"],
        looks: looks::onnx,
        verbs: &Verbs {
            flatten: |input, language, output, verification, reporter| {
                onnx::run(input, OnnxForm::Protobuf, (language, output, verification), reporter)
            },
            check: |input, language| onnx::check(input, OnnxForm::Protobuf, language),
            evaluate: onnx::evaluate,
            graph: onnx::graph_for_fusion,
            formatted: false,
        },
    },
    Notation {
        from: From::Onnxtxt,
        extensions: &["onnxtxt", "onnxtext"],
        looks: looks::onnxtxt,
        verbs: &Verbs {
            flatten: |input, language, output, verification, reporter| {
                onnx::run(input, OnnxForm::Text, (language, output, verification), reporter)
            },
            check: |input, language| onnx::check(input, OnnxForm::Text, language),
            evaluate: onnx::evaluate,
            graph: onnx::graph_for_fusion,
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
            evaluate: pnnx::evaluate,
            graph: pnnx::graph,
            formatted: false,
        },
    },
];

static NNEF: Verbs = Verbs {
    flatten: flatten::run,
    check: documents::check,
    evaluate: run::document,
    graph: documents::graph,
    formatted: true,
};

impl Notation {
    /// Its name, for `--from`.
    pub(crate) fn name(&self) -> String {
        self.from.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
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
    let names: Vec<String> = NOTATIONS.iter().map(Notation::name).collect();
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
    match open(path, &cli.language) {
        Ok(Input { opened, notation, language }) => {
            (notation.verbs.flatten)(opened, &language, &cli.output, &cli.verification, reporter)
        }
        Err(Unread::Failure(Failure::Message(message))) if !path.exists() => {
            let hint = super::usage::subcommand_like(&path.to_string_lossy());
            let hint = hint.map(|name| format!("; did you mean the subcommand `{name}`?")).unwrap_or_default();
            Err(Failure::Message(message + &hint))
        }
        Err(unread) => flatten::report_unread(unread, reporter),
    }
}

/// Evaluates an input.
pub(crate) fn evaluate(path: &Path, arguments: &args::Run, language: &Language, reporter: &mut Reporter) -> RunResult {
    let file = arguments.output.as_deref().filter(|path| !io::is_stdout(path));
    let to = tensors::form(file, arguments.to)?;
    tensors::fits_stdout(file, to)?;
    reporter.need_values();
    match open(path, language) {
        Ok(Input { opened, notation, language }) => {
            language.usable()?;
            (notation.verbs.evaluate)(opened, arguments, (file, to), &language, reporter)
        }
        Err(unread) => flatten::report_unread(unread, reporter),
    }
}
