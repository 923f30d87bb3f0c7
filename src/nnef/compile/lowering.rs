//! Which calls are expanded.

use rustc_hash::FxHashSet;

use crate::core::unit::UnitId;
use crate::graph::Dialect;
use crate::graph::deviations;
use crate::graph::operators::{BINARY, UNARY};
use crate::graph::scan;
use crate::nnef::check::{Checked, FragmentInfo};
use crate::nnef::document::ModuleId;
use crate::nnef::types::Type;
use crate::options::{Lower, Options};

/// Whether all results are tensors or arrays of tensors, as for operations of a flat graph. A
/// fragment with a number or a tuple as result has to be expanded whatever the options say.
fn gives_tensors(checked: &Checked, info: &FragmentInfo) -> bool {
    info.results.iter().all(|result| match result.ty {
        Type::Array(array) => checked.types.item(array).is_tensor(),
        ty => ty.is_tensor(),
    })
}

/// Whether a fragment has a body that says what it computes. In a document with registries, some compounds are not what
/// their definitions say.
fn is_defined(checked: &Checked, info: &FragmentInfo) -> bool {
    let follows = info.module == ModuleId::STANDARD && checked.document.of_practice();
    info.has_body && !(follows && deviations::has_no_definition(checked.text(info.name)))
}

/// Which fragments are expanded, and related options.
#[derive(Debug)]
pub(crate) struct Lowering {
    /// Whether each fragment is expanded, by its position in [`Checked::fragments`].
    expand: Vec<bool>,
    open_arrays: Vec<bool>,
    /// The offset of the only call that is expanded, of those in the graph's own body.
    only_call: Option<u32>,
    /// The fragments that [`Options::keep`] names.
    pub(crate) kept: Vec<UnitId>,
    /// The operations of binary and of unary operators on tensors, in the order of their tables.
    pub(crate) binary: Vec<Option<UnitId>>,
    pub(crate) unary: Vec<Option<UnitId>>,
    /// Whether all statements are evaluated, even if no result needs them.
    pub(crate) demand_all: bool,
    /// Whether scans are unrolled.
    pub(crate) unroll: bool,
    /// Whether scans that cannot be unrolled are refused.
    pub(crate) flat: bool,
}

impl Lowering {
    /// Decides for the fragments of a document; `more` are standard compounds to be expanded
    /// whatever the options say.
    pub(crate) fn new(checked: &Checked, options: &Options, more: &[String]) -> Self {
        let names: FxHashSet<&str> = match &options.lower {
            Lower::Names(names) => names.iter().map(String::as_str).collect(),
            _ => FxHashSet::default(),
        };
        let keep: FxHashSet<&str> = options.keep.iter().map(String::as_str).collect();
        let kept = |info: &FragmentInfo| !keep.is_empty() && keep.contains(checked.text(info.name));
        let decide = |info: &FragmentInfo| {
            let compounds = options.internal.compounds.as_ref().filter(|_| info.module == ModuleId::STANDARD);
            let wanted = match (compounds, &options.lower) {
                _ if options.internal.only_call.is_some() => false,
                (Some(stay), _) => !stay.contains(&checked.text(info.name)),
                (None, Lower::Custom) => info.module != ModuleId::STANDARD,
                (None, Lower::All) => true,
                (None, Lower::None) => false,
                (None, Lower::Names(_)) => names.contains(checked.text(info.name)),
            };
            // A body in the notation of the draft cannot be kept in a document of 1.0.
            let needed = match info.module {
                ModuleId::STANDARD => more.iter().any(|needed| needed == checked.text(info.name)),
                _ => options.migrate && checked.document.dialect() == Dialect::Draft,
            };
            is_defined(checked, info) && ((wanted || needed) && !kept(info) || !gives_tensors(checked, info))
        };
        let open_array = |info: &FragmentInfo| {
            info.has_body && info.results.iter().any(|result| matches!(result.ty, Type::Array(_)))
        };
        Lowering {
            expand: checked.fragments.iter().map(decide).collect(),
            only_call: options.internal.only_call,
            open_arrays: checked.fragments.iter().map(open_array).collect(),
            kept: checked.fragment_ids().filter(|&id| kept(checked.fragment(id))).collect(),
            binary: BINARY.iter().map(|row| checked.standard(row.tensor?)).collect(),
            unary: UNARY.iter().map(|row| checked.standard(row.tensor)).collect(),
            demand_all: options.demand_all(),
            unroll: options.unroll && !keep.contains(scan::NAME),
            flat: options.flat,
        }
    }

    /// Whether calls of a fragment are replaced by its body. An array result that no left side takes
    /// apart has a known length only if the fragment is expanded.
    pub(crate) fn expands(&self, fragment: UnitId, taken_apart: bool) -> bool {
        let declared = fragment.index();
        self.expand[declared] || (!taken_apart && self.open_arrays[declared])
    }

    /// Whether a call in the graph's own body is the only one that is expanded, and can be.
    pub(super) fn expands_only(&self, checked: &Checked, fragment: UnitId, at: u32) -> bool {
        self.only_call == Some(at) && is_defined(checked, checked.fragment(fragment))
    }
}
