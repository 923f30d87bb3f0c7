//! What is remembered of the places that call or emit something, so that each is looked at once.

use rustc_hash::FxHashMap;

use super::program::Site;
use super::unit::UnitId;
use super::value::Value;
use crate::graph::{Graph, KindId, Primitive, SignatureId, TensorId};
use crate::source::names::Name;
use crate::source::{FileId, Location};

/// What is known of a site that was reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Reached {
    /// Nothing yet.
    #[default]
    Other,
    /// It called a body: its place in the graph.
    Call(u32),
    /// It adds operations that have this in common.
    Emits(Emission),
}

/// What the operations of a site have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emission {
    pub(super) kind: KindId,
    /// That of operations with one result.
    pub(super) signature: SignatureId,
    /// Whether the result may share its shape with the arguments.
    pub(super) by_item: bool,
    /// Whether the elements of the result follow the arguments.
    pub(super) follows: bool,
    /// The elements of the one tensor that is the result, `?` for the type argument; none where there may
    /// be other results.
    pub(super) single: Option<Option<Primitive>>,
    /// The file that the site is in.
    pub(super) file: FileId,
    /// What is called; none for an operation that is not declared.
    pub(super) unit: Option<UnitId>,
    /// The type argument that follows from the text; `?` is that of the running body.
    pub(super) generic: Option<Primitive>,
    /// Whether it was written.
    pub(super) explicit: bool,
    /// Whether the elements of arguments decide it instead.
    pub(super) deduced: bool,
}

/// What is known of the operations of a run and of the places that make them.
#[derive(Debug)]
pub(super) struct Sites {
    /// The kinds of the operations of units, by unit.
    pub(super) kinds: Vec<Option<KindId>>,
    /// The kinds of operations that are not declared.
    pub(super) undeclared: FxHashMap<Name, KindId>,
    /// What is known of the sites that were reached, by their numbers.
    pub(super) reached: Vec<Reached>,
    /// Constant tensors made of named literal arrays.
    pub(super) literals: FxHashMap<(usize, i32, u32), (Value, TensorId)>,
    /// The tensors of names of the graph that stand for constants, by slot.
    pub(super) bound: FxHashMap<u32, TensorId>,
}

impl Sites {
    /// Nothing is known, for so many units.
    pub(super) fn new(units: usize) -> Self {
        Sites {
            kinds: vec![None; units],
            undeclared: FxHashMap::default(),
            reached: Vec::new(),
            literals: FxHashMap::default(),
            bound: FxHashMap::default(),
        }
    }

    /// What is known of a site, of so many that there are.
    #[inline]
    pub(super) fn reached(&mut self, site: u32, sites: usize) -> &mut Reached {
        if self.reached.len() <= site as usize {
            self.reached.resize(sites, Reached::default());
        }
        &mut self.reached[site as usize]
    }

    /// Adds the place of a site that calls, which is in this file, to a graph.
    #[inline(never)]
    pub(super) fn add_call_place(&mut self, index: u32, sites: &[Site], file: FileId, graph: &mut Graph) -> u32 {
        let site = &sites[index as usize];
        let place = graph.add_call_place(site.name, Location::new(file, site.span));
        *self.reached(index, sites.len()) = Reached::Call(place);
        place
    }
}
