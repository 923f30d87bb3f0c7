//! Lowers layers to operations of NNEF, by a table that maps kinds to rules.
//!
//! Blobs have no axis for a batch, which convolutions and pooling of NNEF have: it is added before them and removed
//! behind them. Layers that torch has, too, are lowered by its rules.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod boxes;
mod elements;
mod extents;
mod line;
mod norms;
mod products;
mod quantized;
mod sequences;
mod shaping;
mod vision;
mod windows;

use crate::graph::TensorId;
use crate::parts::TRANSLATION;
use crate::pnnx::lower::{Lowered, Refusal};

pub(super) use line::LayerLine;
use line::LayerRuleRow;

/// The rules.
fn table() -> impl Iterator<Item = &'static LayerRuleRow> {
    let families = [
        elements::ROWS,
        windows::ROWS,
        norms::ROWS,
        products::ROWS,
        quantized::ROWS,
        shaping::ROWS,
        sequences::ROWS,
        vision::ROWS,
        boxes::ROWS,
    ];
    families.into_iter().flatten()
}

/// The parameters of any layer that do not change what it computes: the shapes of its results, and what it must not use.
const WITHOUT_EFFECT: &[u32] = &[30, 31];

/// Lowers a layer.
///
/// # Errors
///
/// There is no rule, the rule does not support the operands or parameters, or it does not use all of them.
pub(super) fn lower(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    if let Some(part) = TRANSLATION.missing() {
        return Err(Refusal::Because(part.reason().into()));
    }
    let layer = line.settings.layer;
    let rule = table().find(|(kinds, _)| kinds.contains(&layer.kind.as_str())).map(|(_, rule)| rule);
    let rule = rule.ok_or_else(|| {
        let depends = boxes::OF_DATA.contains(&layer.kind.as_str());
        let reason =
            if depends { "the shape of its result depends on how many boxes are found" } else { "it has no rule" };
        Refusal::Because(reason.into())
    })?;
    let has_codes = line.operands.iter().any(|operand| line.codes.contains(operand));
    if has_codes && !quantized::OF_CODES.contains(&layer.kind.as_str()) {
        return Err(Refusal::Because("an operand of it has integers of 8 bits, the codes of a quantized layer".into()));
    }
    let results = rule(line)?;
    let is_read = |number: u32| WITHOUT_EFFECT.contains(&number) || line.read.get() & (1 << number) != 0;
    if let Some(unread) = layer.parameters.iter().find(|parameter| !is_read(parameter.number)) {
        let name = line.settings.row.numbered(unread.number).map_or("", |known| known.name);
        return Err(Refusal::Because(format!("its parameter {} `{name}` is not supported", unread.number).into()));
    }
    match results.len() == layer.tops.len() {
        true => Ok(results),
        false => Err(Refusal::UNFIT),
    }
}

#[cfg(test)]
mod tests;
