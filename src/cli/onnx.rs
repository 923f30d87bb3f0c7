//! Models of ONNX on the command line: flattening and checking.

use std::io::{IsTerminal, Write};
use std::path::Path;

use bytes::Bytes;

use crate::Options;
use crate::diagnostics::Diagnostics;
use crate::onnx::Document;
use crate::source::Sources;
use crate::write::{Notation, OnnxForm, Writer};

use super::args::{self, From, Language};
use super::io::{self, Unread};
use super::report::Reporter;
use super::{Failure, RunResult, Status, flatten};

/// The form of an input that is a model of ONNX: the one that is named, or that of the ending of the file.
pub(crate) fn form(input: &Path, from: Option<From>) -> Option<OnnxForm> {
    match from {
        Some(From::Onnx) => return Some(OnnxForm::Protobuf),
        Some(From::Onnxtxt) => return Some(OnnxForm::Text),
        // A folder is a model of NNEF, whatever its name.
        None | Some(From::Auto) if input.is_dir() => return None,
        None | Some(From::Auto) => {}
        Some(From::Nnef | From::NnefDraft | From::Loops) => return None,
    }
    match Notation::of_extension(input.extension()?.to_str()?)?.writer {
        Writer::Onnx(form) => Some(form),
        _ => None,
    }
}

/// A document with the sources of its places, or with the reasons for its refusal.
type Read = (Sources, Option<Document>, Diagnostics);

fn read(input: &Path, form: OnnxForm, language: &Language, options: &Options) -> Result<Read, Unread> {
    let mut sources = Sources::new();
    let (document, diagnostics) = match form {
        OnnxForm::Text => {
            let input = io::read(input, options.max_text)?;
            let file = sources.add(input.name, input.text);
            Document::parse(&sources, file, language.production.unwrap_or_default(), options)
        }
        OnnxForm::Protobuf => {
            let (name, bytes) = io::read_bytes(input, options.max_text)?;
            let file = sources.add(name, "");
            Document::decode(file, Bytes::from(bytes), options)
        }
    };
    Ok((sources, document, diagnostics))
}

/// Checks a model: the sources, whether it is accepted, and what was found.
pub(crate) fn check(input: &Path, form: OnnxForm, language: &Language) -> Result<(Sources, bool, Diagnostics), Unread> {
    let (sources, document, diagnostics) = read(input, form, language, &flatten::options(language)?)?;
    Ok((sources, document.is_some() && !diagnostics.has_errors(), diagnostics))
}

/// Flattens a model and writes it, by default in the form of the input.
pub(crate) fn run(
    input: &Path,
    form: OnnxForm,
    language: &Language,
    output: &args::Output,
    verification: &args::Verification,
    reporter: &mut Reporter,
) -> RunResult {
    usable(language, output, verification)?;
    let to = target(form, output)?;
    let read = flatten::options(language).and_then(|options| Ok((read(input, form, language, &options)?, options)));
    let ((sources, document, mut diagnostics), options) = match read {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let document = document.and_then(|document| flatten(document, &options, &mut diagnostics));
    let encoded = document.and_then(|document| encode(&document, to, language, &mut diagnostics));
    reporter.all(&sources, diagnostics);
    reporter.summary();
    let Some(encoded) = encoded else { return Ok(Status::Refused) };
    let mut content = |out: &mut dyn Write| out.write_all(&encoded);
    match flatten::path(output) {
        Some(path) => io::write_file(path, &mut content)?,
        None => io::write_stdout(&mut content)?,
    }
    Ok(Status::Done)
}

/// Expands calls; none where that fails.
fn flatten(mut document: Document, options: &Options, found: &mut Diagnostics) -> Option<Document> {
    match document.flatten(options) {
        Ok(()) => Some(document),
        Err(errors) => {
            found.extend(errors);
            None
        }
    }
}

fn encode(document: &Document, to: OnnxForm, language: &Language, found: &mut Diagnostics) -> Option<Vec<u8>> {
    match to {
        OnnxForm::Protobuf => Some(document.to_protobuf()),
        OnnxForm::Text => match document.to_text(language.strict) {
            Ok((text, warnings)) => {
                found.extend(warnings);
                Some(text.into_bytes())
            }
            Err(errors) => {
                found.extend(errors);
                None
            }
        },
    }
}

/// The form of the result.
fn target(form: OnnxForm, output: &args::Output) -> Result<OnnxForm, Failure> {
    let to = match output.to.is_none() && flatten::path(output).is_none() {
        true => form,
        false => match flatten::notation(output, false)?.writer {
            Writer::Onnx(form) => form,
            _ => return Err(Failure::Message("models of ONNX are written as onnx or onnxtxt".to_owned())),
        },
    };
    fits_stdout(to, output)?;
    Ok(to)
}

/// Refuses protobuf on a terminal.
pub(super) fn fits_stdout(to: OnnxForm, output: &args::Output) -> Result<(), Failure> {
    if to != OnnxForm::Protobuf || flatten::path(output).is_some() || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::Message("protobuf is nothing for a terminal: name a file with -o, or --to onnxtxt".to_owned()))
}

/// Refuses options that mean nothing for models of ONNX.
fn usable(language: &Language, output: &args::Output, verification: &args::Verification) -> Result<(), Failure> {
    language.usable()?;
    let vain = [
        ("--fragments", !language.fragments.is_empty()),
        ("--input-shape", !language.input_shape.is_empty()),
        ("--stats", output.stats),
        ("--source-map", output.source_map.is_some()),
        ("--verify", verification.verify),
    ];
    match vain.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::Message(format!("{option} means nothing for models of ONNX"))),
        None => Ok(()),
    }
}
