//! The notations as values of `--from` and `--to`.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::input::table;
use crate::write::{NOTATIONS, Notation};

/// A notation that can be read; none lets the input decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From(pub Option<&'static table::Notation>);

/// The value of `--from` that lets the input decide.
const AUTO: &str = "auto";

impl ValueEnum for From {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<From>> =
            LazyLock::new(|| std::iter::once(From(None)).chain(table::NOTATIONS.iter().map(Some).map(From)).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let names: Vec<&str> = table::NOTATIONS.iter().map(|known| known.name).collect();
        let (name, help) = match self.0 {
            None => {
                (AUTO, format!("The notation given by the first bytes, else by the extension: {}", names.join(", ")))
            }
            Some(known) => (known.name, known.help.to_owned()),
        };
        Some(PossibleValue::new(name).help(help))
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
