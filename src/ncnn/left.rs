//! Operators of PNNX in texts of ncnn: pnnx leaves what ncnn has no layer for, and ncnn does not load such a text.

use crate::diagnostics::{Code, Diagnostic};
use crate::pnnx::model::{Operator, PnnxModel};
use crate::source::{FileId, Location};

use super::model::{NcnnLayer, NcnnModel};

impl NcnnModel {
    /// Whether there are operators of PNNX.
    pub(crate) fn has_left(&self) -> bool {
        self.layers.iter().any(NcnnLayer::is_left)
    }

    /// A warning for each operator of PNNX. `beside` is the file of PNNX that pnnx wrote with the text.
    pub(crate) fn left(&self, file: FileId, beside: Option<&(FileId, PnnxModel)>) -> Vec<Diagnostic> {
        let layers = self.layers.iter().filter(|layer| layer.is_left());
        layers.map(|layer| left(layer, file, beside)).collect()
    }
}

fn left(layer: &NcnnLayer, file: FileId, beside: Option<&(FileId, PnnxModel)>) -> Diagnostic {
    let message = format!("ncnn has no layer `{}`: pnnx has left the operator `{}`", layer.kind, layer.name);
    let found = Diagnostic::new(Code::NcnnPassed, Location::new(file, layer.span), message);
    let operator = beside.and_then(|(file, model)| {
        let named = |operator: &&Operator| operator.name == layer.name;
        model.operators.iter().find(named).map(|operator| (*file, operator))
    });
    match operator {
        Some((file, operator)) => found.see(Location::new(file, operator.span), "the operator in the file of PNNX"),
        None => found.help("the operator is complete in the file `.pnnx.param` that pnnx writes, too"),
    }
}
