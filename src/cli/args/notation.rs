//! The notations as values of `--from` and `--to`, from the tables of inputs and outputs.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::cli::inputs;
use crate::write::{NOTATIONS, Notation};

/// Notations that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The content of the input decides, then its extension.
    Auto,
    /// NNEF 1.0.
    Nnef,
    /// The provisional NNEF of 2017.
    NnefDraft,
    /// A network with loops, as JSON.
    Loops,
    /// A model of ONNX, in protobuf.
    Onnx,
    /// A model of ONNX, or a part of one, as text.
    Onnxtxt,
    /// A file of PNNX, with its data beside it.
    Pnnx,
}

impl ValueEnum for From {
    fn value_variants<'a>() -> &'a [Self] {
        &[From::Auto, From::Nnef, From::NnefDraft, From::Loops, From::Onnx, From::Onnxtxt, From::Pnnx]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        static AUTO: LazyLock<String> = LazyLock::new(|| {
            let names: Vec<&str> = inputs::NOTATIONS.iter().map(|notation| notation.name).collect();
            format!("What the content says, then the extension: {}", names.join(", "))
        });
        Some(match inputs::Notation::of(*self) {
            Some(notation) => PossibleValue::new(notation.name).help(notation.help),
            None => PossibleValue::new("auto").help(AUTO.as_str()),
        })
    }
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
