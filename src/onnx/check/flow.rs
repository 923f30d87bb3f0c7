//! The types that are followed through calls of functions.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::onnx::model::ModelProto;
use crate::onnx::schema::TypeId;
use crate::onnx::walk::each_node_of_model;
use crate::source::names::Name;

/// The types of some values, as far as they are known.
pub(super) type ValueTypes = Vec<Option<TypeId>>;

/// The attributes that a function needs, each with the operator for which it does.
pub(super) type Needs = IndexMap<Name, Option<Name>, FxBuildHasher>;

/// The types that are followed through calls.
#[derive(Default)]
pub(super) struct Flow {
    /// The types of results by function and types of operands.
    pub(super) results: FxHashMap<(usize, ValueTypes), Rc<ValueTypes>>,
    /// The attributes without which a function cannot be called.
    pub(super) needs: FxHashMap<usize, Rc<Needs>>,
    /// The nodes that may still be visited: functions can be called with more combinations of types than a check
    /// should take time for.
    left: usize,
    /// The open calls: the function, and the location of the call.
    pub(super) calls: Vec<(usize, u32)>,
    /// What has been reported about types.
    told: FxHashSet<(u32, String)>,
}

impl Flow {
    pub(super) fn new(model: &ModelProto) -> Self {
        const VISITS: usize = 16;
        const LEAST: usize = 10_000;
        let mut nodes = 0_usize;
        each_node_of_model(model, &mut |_| nodes += 1);
        Flow { left: nodes.saturating_mul(VISITS).max(LEAST), ..Flow::default() }
    }

    /// Whether another node may be visited.
    pub(super) fn spend(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    pub(super) fn is_new(&mut self, at: u32, message: &str) -> bool {
        self.told.insert((at, message.to_owned()))
    }

    pub(super) fn calls(&self) -> &[(usize, u32)] {
        &self.calls
    }
}
