//! What operators with windows have in common.

use crate::extents::End;

/// The attribute `auto_pad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::onnx) enum AutoPad {
    /// The padding of the attribute `pads`.
    Given,
    /// Automatic padding, whose larger half is at this end.
    Same(End),
    /// No padding.
    Valid,
}

impl AutoPad {
    /// The value of the attribute with a name.
    pub(in crate::onnx) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "NOTSET" | "" => AutoPad::Given,
            "SAME_UPPER" => AutoPad::Same(End::After),
            "SAME_LOWER" => AutoPad::Same(End::Before),
            "VALID" => AutoPad::Valid,
            _ => return None,
        })
    }

    /// The end that has the larger half of padding that follows from extents.
    pub(in crate::onnx) fn larger(self) -> End {
        if self == AutoPad::Same(End::After) { End::After } else { End::Before }
    }
}
