//! The flat graph of a document, for flattening and for commands that use the graph.

use crate::diagnostics::Diagnostics;
use crate::graph::Dialect;
use crate::library::registries::find;
use crate::nnef::dialect;
use crate::nnef::standardize::standardize;
use crate::onnx::from_nnef;
use crate::write::{Notation, Writer};
use crate::{Document, Graph, Options};

use super::args::{self, Language};
use super::io::{self, Input, Unread};
use super::report::Reporter;
use super::{RunResult, Status};

/// A document with its graph and warnings, or with its errors.
pub(crate) type Processed = (Document, Result<(Graph, Diagnostics), Diagnostics>);

/// Parses and expands an input for a notation: NNEF 1.0 and ONNX need a migration from the provisional
/// dialect, and for ONNX, the compounds of NNEF that are not operators of ONNX are expanded.
pub(crate) fn process(input: Input, language: &Language, to: &Notation) -> Result<Processed, Unread> {
    let for_onnx = matches!(to.writer, Writer::Onnx(_));
    let compounds = for_onnx.then(|| from_nnef::names().collect());
    let migrate = for_onnx || to.dialect == Some(Dialect::V1);
    let (document, result) = process_with(input, Options { migrate, compounds, ..options(language) }, language)?;
    let without_registries = for_onnx || matches!(to.writer, Writer::Pnnx(_));
    let result = result.and_then(|(mut graph, mut warnings)| {
        let Some(errors) = without_registries.then(|| standardize(&mut graph).err()).flatten() else {
            return Ok((graph, warnings));
        };
        warnings.extend(errors);
        Err(warnings)
    });
    Ok((document, result))
}

/// Parses and expands an input for commands that do not write the graph: loops are always expanded, and
/// the dialect is kept.
pub(crate) fn process_for_use(input: Input, language: &Language) -> Result<Processed, Unread> {
    process_with(input, Options { expand_loops: true, ..options(language) }, language)
}

/// Parses and expands an input with options of the library and the declaration files.
fn process_with(input: Input, mut options: Options, language: &Language) -> Result<Processed, Unread> {
    let dialect = options.dialect.unwrap_or_else(|| dialect::detect(&input.text));
    language.usable(Some(args::From::of_dialect(dialect))).map_err(Unread::Failure)?;
    for path in &language.fragments {
        options.libraries.push(match path.to_str().and_then(find) {
            Some(registry) => (registry.name.to_owned(), String::new()),
            None => io::read(path, options.max_text).map(|library| (library.name, library.text))?,
        });
    }
    let options = &options;
    let mut parsed = crate::parse(&input.name, input.text, options);
    let mut diagnostics = Diagnostics::new(options.strict);
    let refused = parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    if refused {
        // The part that could be parsed may have further errors, which are reported in the same run.
        diagnostics.extend(crate::check(&parsed.document, options));
        return Ok((parsed.document, Err(diagnostics)));
    }
    let result = match crate::expand(&parsed.document, options) {
        Ok(expansion) => {
            diagnostics.extend(expansion.diagnostics);
            if diagnostics.has_errors() { Err(diagnostics) } else { Ok((expansion.graph, diagnostics)) }
        }
        Err(mut errors) => {
            language.locate(&mut errors, |option, name| parsed.document.add_source(option, name.to_owned()));
            diagnostics.extend(errors);
            Err(diagnostics)
        }
    };
    Ok((parsed.document, result))
}

/// The options of the library, without declaration files: a document has those that it was parsed with.
pub(crate) fn options(language: &Language) -> Options {
    Options {
        strict: language.strict,
        lower: language.lower.clone().unwrap_or_default(),
        dialect: language.from.and_then(args::From::dialect),
        keep: language.keep.clone(),
        keep_unused: language.keep_unused,
        shapes: language.shapes(),
        unroll: language.unroll,
        max_trips: language.max_trips,
        flat: language.flat,
        ..language.limits.options()
    }
}

/// Reports why an input was not read.
pub(crate) fn report_unread(unread: Unread, reporter: &mut Reporter) -> RunResult {
    match unread {
        Unread::Failure(failure) => Err(failure),
        Unread::Refused(refused) => {
            reporter.one(&refused.0, &refused.1);
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}
