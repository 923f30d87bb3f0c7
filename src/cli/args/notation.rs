//! The notations as values of `--from` and `--to`.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::Dialect;
use crate::write::{NOTATIONS, Notation};

/// Notations that can be read; `inputs/mod.rs` has their functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Auto,
    Nnef,
    NnefDraft,
    Loops,
    Onnx,
    Onnxtxt,
    Pnnx,
}

/// What there is to know of an input notation without reading it.
pub(crate) struct Known {
    from: From,
    /// Its value of `--from`.
    pub(crate) name: &'static str,
    /// Its inputs, for messages.
    pub(crate) title: &'static str,
    help: &'static str,
    /// The dialect of its documents, if it is one of NNEF.
    dialect: Option<Dialect>,
    /// The output notation of its inputs if nothing else is asked for.
    pub(crate) output: &'static str,
    /// The output notations of whole models in folders and archives.
    pub(crate) whole: &'static [&'static str],
}

const WHOLE_NNEF: &[&str] = &["nnef", "nnef-draft"];
const WHOLE_ONNX: &[&str] = &["onnx", "onnxtxt"];

/// All input notations, and first the value that lets the input decide.
static INPUTS: &[Known] = &[
    Known {
        from: From::Auto,
        name: "auto",
        title: "inputs",
        help: "The notation given by the first bytes, else by the extension",
        dialect: None,
        output: "nnef",
        whole: WHOLE_NNEF,
    },
    Known {
        from: From::Nnef,
        name: "nnef",
        title: "documents of NNEF 1.0",
        help: "NNEF 1.0: a document, or a model in a folder or archive",
        dialect: Some(Dialect::V1),
        output: "nnef",
        whole: WHOLE_NNEF,
    },
    Known {
        from: From::NnefDraft,
        name: "nnef-draft",
        title: "documents of the provisional NNEF",
        help: "The provisional NNEF of 2017",
        dialect: Some(Dialect::Draft),
        output: "nnef",
        whole: WHOLE_NNEF,
    },
    Known {
        from: From::Loops,
        name: "loops",
        title: "networks with loops",
        help: "A network with loops, as JSON",
        dialect: None,
        output: "nnef",
        whole: WHOLE_NNEF,
    },
    Known {
        from: From::Onnx,
        name: "onnx",
        title: "models of ONNX",
        help: "A model of ONNX, in protobuf",
        dialect: None,
        output: "onnx",
        whole: WHOLE_ONNX,
    },
    Known {
        from: From::Onnxtxt,
        name: "onnxtxt",
        title: "models of ONNX as text",
        help: "A model of ONNX, or a part of one, as text",
        dialect: None,
        output: "onnxtxt",
        whole: WHOLE_ONNX,
    },
    Known {
        from: From::Pnnx,
        name: "pnnx",
        title: "files of PNNX",
        help: "A file of PNNX (.pnnx.param), with its data next to it",
        dialect: None,
        output: "nnef",
        whole: WHOLE_NNEF,
    },
];

impl From {
    /// What there is to know of it.
    pub(crate) fn known(self) -> &'static Known {
        INPUTS.iter().find(|known| known.from == self).unwrap_or(&INPUTS[0])
    }

    /// The dialect of its documents; none for other notations, and if the text decides.
    pub(crate) fn dialect(self) -> Option<Dialect> {
        self.known().dialect
    }

    /// The notation of the documents of a dialect.
    pub(crate) fn of_dialect(dialect: Dialect) -> Self {
        From::all().find(|from| from.dialect() == Some(dialect)).unwrap_or(From::Nnef)
    }

    /// All notations.
    pub(crate) fn all() -> impl Iterator<Item = From> {
        INPUTS.iter().map(|known| known.from).filter(|from| *from != From::Auto)
    }
}

impl ValueEnum for From {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<From>> = LazyLock::new(|| INPUTS.iter().map(|known| known.from).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let known = self.known();
        let names: Vec<&str> = From::all().map(|from| from.known().name).collect();
        let help = match self {
            From::Auto => format!("{}: {}", known.help, names.join(", ")),
            _ => known.help.to_owned(),
        };
        Some(PossibleValue::new(known.name).help(help))
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
