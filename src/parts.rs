//! The parts that a build can leave out, such as that for a browser, where each byte of the program is loaded.
//!
//! A part is left out where it begins: its entries ask first, so that the compiler drops what is behind them, and tables
//! leave out its functions.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::Location;

/// A part that can be left out.
#[derive(Debug)]
pub(crate) struct Part {
    is_built: bool,
    /// The feature; empty if the target decides.
    feature: &'static str,
    /// What is refused without it.
    does: &'static str,
}

/// What computes: the kernels of operations, and the passes that need them.
pub(crate) static KERNELS: Part =
    Part { is_built: cfg!(feature = "kernels"), feature: "kernels", does: "neither evaluates nor folds" };

/// What turns graphs of one notation into those of another: NNEF to ONNX and PNNX, ONNX to NNEF, and operators of torch
/// and layers of ncnn to operations of NNEF.
pub(crate) static TRANSLATION: Part =
    Part { is_built: cfg!(feature = "translate"), feature: "translate", does: "does not translate between notations" };

/// What writes models for other versions of the standard operator set.
pub(crate) static VERSIONS: Part =
    Part { is_built: cfg!(feature = "translate"), feature: "translate", does: "does not convert operator sets" };

/// What gives repeated structure fragments or functions.
pub(crate) static OUTLINING: Part =
    Part { is_built: cfg!(feature = "outline"), feature: "outline", does: "does not outline" };

/// What reads whole models, in folders and archives: WebAssembly has no files.
pub(crate) static FILES: Part =
    Part { is_built: !cfg!(target_family = "wasm"), feature: "", does: "reads no folders and archives" };

/// A part that a build does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingPart(&'static Part);

impl Part {
    /// Whether this build has the part.
    pub(crate) const fn is_built(&self) -> bool {
        self.is_built
    }

    /// The part, if this build does not have it.
    // A condition that the compiler knows: what follows a `return` for it is not built.
    #[inline(always)]
    pub(crate) const fn missing(&'static self) -> Option<MissingPart> {
        if self.is_built { None } else { Some(MissingPart(self)) }
    }
}

impl MissingPart {
    /// Why what needs it is refused.
    pub(crate) fn reason(self) -> String {
        let Part { does, feature, .. } = self.0;
        match *feature {
            "" => format!("this build {does}"),
            feature => format!("this build {does}: it is made without the feature `{feature}`"),
        }
    }

    /// The refusal, with a place.
    pub(crate) fn at(self, at: Location) -> Diagnostics {
        let mut found = Diagnostics::default();
        found.report(Diagnostic::new(Code::NotBuilt, at, self.reason()));
        found
    }
}
