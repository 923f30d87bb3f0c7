//! The notations as values of `--from` and `--to`.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::write::{NOTATIONS, Notation};

/// Notations that can be read; `inputs/mod.rs` has the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// The notation given by the first bytes, else by the extension: NNEF, ONNX, PNNX or loops.
    Auto,
    /// NNEF 1.0: a document, or a model in a folder or archive.
    Nnef,
    /// The provisional NNEF of 2017.
    NnefDraft,
    /// A network with loops, as JSON.
    Loops,
    /// A model of ONNX, in protobuf.
    Onnx,
    /// A model of ONNX, or a part of one, as text.
    Onnxtxt,
    /// A file of PNNX (.pnnx.param), with its data next to it.
    Pnnx,
}

/// A notation that can be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct To(pub &'static Notation);

impl ValueEnum for To {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<To>> = LazyLock::new(|| NOTATIONS.iter().map(To).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.help))
    }
}
