//! Makers of random calls of operators of ONNX.

use super::call::Call;
use super::draw::Draw;
use super::{arrange, items, layers, learning, texts, windows};

/// Makes a call of an operator: none if its choices do not fit together.
pub type Make = fn(&mut Draw, &'static str) -> Option<Call>;

/// Names of operators, and what makes a call of one of them.
pub type Maker = (&'static str, Make);

/// All operators with their makers.
pub fn all() -> Vec<Maker> {
    let makers =
        [items::MAKERS, arrange::MAKERS, windows::MAKERS, layers::MAKERS, learning::MAKERS, texts::MAKERS].concat();
    makers.iter().flat_map(|(names, maker)| names.split_whitespace().map(|name| (name, *maker))).collect()
}
