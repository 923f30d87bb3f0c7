//! Cached properties of sites, so that each site is analyzed once.

use rustc_hash::FxHashMap;

use super::program::Site;
use super::unit::UnitId;
use super::value::Value;
use crate::graph::{Graph, KindId, Primitive, SignatureId, TensorId};
use crate::source::names::Name;
use crate::source::{FileId, Location};

/// The cached properties of a site.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Reached {
    /// None yet.
    #[default]
    Other,
    /// The site calls a body: the index of its call place in the graph.
    Call(u32),
    /// The site emits operations with these common properties.
    Emits(Emission),
}

/// The common properties of the operations of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emission {
    pub(super) kind: KindId,
    /// The signature with one result.
    pub(super) signature: SignatureId,
    /// Whether the result has the shape of the arguments if they all have the same shape.
    pub(super) by_item: bool,
    /// Whether the element type of the result is computed from the arguments, regardless of the declaration.
    pub(super) follows: bool,
    /// The declared element type of the only result, `?` for the type argument; none if the result may be
    /// anything but one tensor.
    pub(super) single: Option<Option<Primitive>>,
    /// The file that the site is in.
    pub(super) file: FileId,
    /// The called unit; none for an operation that is not declared.
    pub(super) unit: Option<UnitId>,
    /// The type argument from the checks; `?` stands for the type argument of the running body.
    pub(super) generic: Option<Primitive>,
    /// Whether the source specifies the type argument.
    pub(super) explicit: bool,
    /// Whether the type argument is deduced from the element types of the arguments instead.
    pub(super) deduced: bool,
}

/// The caches of an expansion: kinds, sites and constants.
#[derive(Debug)]
pub(super) struct Sites {
    /// The kinds of the operations of units, indexed by unit.
    pub(super) kinds: Vec<Option<KindId>>,
    /// The kinds of operations that are not declared.
    pub(super) undeclared: FxHashMap<Name, KindId>,
    /// The properties of the sites that were reached, indexed by site.
    pub(super) reached: Vec<Reached>,
    /// The constant tensors of arrays that a name of the graph is bound to, by the identity of the list.
    pub(super) literals: FxHashMap<(usize, i32, u32), (Value, TensorId)>,
    /// The tensors of graph names that are bound to constants, by slot.
    pub(super) bound: FxHashMap<u32, TensorId>,
}

impl Sites {
    /// Empty caches for a number of units.
    pub(super) fn new(units: usize) -> Self {
        Sites {
            kinds: vec![None; units],
            undeclared: FxHashMap::default(),
            reached: Vec::new(),
            literals: FxHashMap::default(),
            bound: FxHashMap::default(),
        }
    }

    /// The cached properties of a site; `sites` is the number of all sites.
    #[inline]
    pub(super) fn reached(&mut self, site: u32, sites: usize) -> &mut Reached {
        if self.reached.len() <= site as usize {
            self.reached.resize(sites, Reached::default());
        }
        &mut self.reached[site as usize]
    }

    /// Adds the call place of a site, which is in `file`, to a graph.
    #[inline(never)]
    pub(super) fn add_call_place(&mut self, index: u32, sites: &[Site], file: FileId, graph: &mut Graph) -> u32 {
        let site = &sites[index as usize];
        let place = graph.add_call_place(site.name, Location::new(file, site.span));
        *self.reached(index, sites.len()) = Reached::Call(place);
        place
    }
}
