//! The checks: of a whole model, of its structure, and of its external data.

use std::path::Path;

use super::checker::{Check, Pass};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::external::{self, Finding};
use crate::onnx::infer::infer;
use crate::onnx::inline::Functions;
use crate::onnx::model::{ModelNames, ModelProto};
use crate::onnx::places::Places;
use crate::onnx::protobuf::EncodedPart;
use crate::source::FileId;

/// Checks a model.
pub(crate) fn check(model: &ModelProto, file: FileId, places: &Places, options: &Options) -> Diagnostics {
    let mut check = Check::new(&model.names, file, places, options);
    check.model(model, Pass::All, options);
    check.diagnostics
}

/// Reports nodes of a sound model whose operands have shapes that do not go together. A graph in a node may do so: it may
/// never run.
pub(crate) fn shapes(
    model: &ModelProto,
    (file, places): (FileId, &Places),
    options: &Options,
    found: &mut Diagnostics,
) {
    for at in infer(model, options).contradictions {
        let message = "the shapes of the operands do not go together".to_owned();
        found.report(places.diagnostic(Code::OnnxShapes, (file, at), message));
    }
}

/// Checks what a model must have in order that it can be expanded: values that are defined before they are used and
/// only once, operands as many as there may be, and calls that fit the functions. Returns warnings, and the functions by
/// their calls.
///
/// # Errors
///
/// The model is broken.
pub(in crate::onnx) fn structure(
    model: &ModelProto,
    file: FileId,
    places: &Places,
    options: &Options,
) -> Result<(Diagnostics, Functions), Diagnostics> {
    let mut check = Check::new(&model.names, file, places, options);
    check.model(model, Pass::Structure, options);
    let (found, functions) = (check.diagnostics, check.functions);
    if found.has_errors() { Err(found) } else { Ok((found, functions)) }
}

/// Checks the external data of a model or of a part of one, and their files if the folder of the model is known.
///
/// # Errors
///
/// The tensors whose data are not there.
pub(crate) fn external_data(
    names: &ModelNames,
    part: EncodedPart,
    (file, places, folder): (FileId, &Places, Option<&Path>),
    options: &Options,
) -> Result<(), Diagnostics> {
    let findings = external::findings(external::stored(names, part), folder);
    if findings.is_empty() {
        return Ok(());
    }
    let mut check = Check::new(names, file, places, options);
    for Finding { code, path, at, message } in findings {
        check.path = path;
        check.report(code, at, message, None);
    }
    Err(check.diagnostics)
}
