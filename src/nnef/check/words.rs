//! The names that rules refer to.

use crate::graph::standard::{EXTERNAL, METADATA_FRAGMENTS, UPDATE, VARIABLE};
use crate::source::names::{Name, Names};

/// Names that rules refer to; `None` if they occur neither in the document nor in its libraries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) external: Option<Name>,
    pub(crate) variable: Option<Name>,
    pub(crate) update: Option<Name>,
    pub(crate) label: Option<Name>,
    pub(crate) shape: Option<Name>,
    pub(crate) value: Option<Name>,
    pub(crate) metadata: [Option<Name>; METADATA_FRAGMENTS.len()],
}

impl Words {
    pub(super) fn of(names: &Names) -> Self {
        Words {
            external: names.get(EXTERNAL),
            variable: names.get(VARIABLE),
            update: names.get(UPDATE),
            label: names.get("label"),
            shape: names.get("shape"),
            value: names.get("value"),
            metadata: std::array::from_fn(|i| names.get(METADATA_FRAGMENTS[i])),
        }
    }
}
