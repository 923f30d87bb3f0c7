//! Makers of random calls of operators of ONNX.

use super::call::Call;
use super::draw::Draw;
use super::{arrange, items, layers, learning, texts, windows};

/// Names of operators, and what makes a call of one of them: none if its choices do not fit together.
pub type Maker = (&'static str, fn(&mut Draw, &'static str) -> Option<Call>);

/// All operators with their makers.
pub fn all() -> Vec<(&'static str, fn(&mut Draw, &'static str) -> Option<Call>)> {
    let makers =
        [items::MAKERS, arrange::MAKERS, windows::MAKERS, layers::MAKERS, learning::MAKERS, texts::MAKERS].concat();
    makers.iter().flat_map(|(names, maker)| names.split_whitespace().map(|name| (name, *maker))).collect()
}
