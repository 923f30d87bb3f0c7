//! Numbers that identify tensors, operations, their kinds and the calls that produced them.

use crate::room::{position_id, table_id};

table_id! {
    /// Identifies a tensor of a [`Graph`](super::Graph).
    pub TensorId;
    /// Identifies a kind of operation of a [`Graph`](super::Graph).
    pub(crate) KindId;
    /// Identifies the innermost of the nested calls that produced an operation.
    pub(crate) OriginId;
}

position_id! {
    /// Identifies an operation of a [`Graph`](super::Graph).
    OperationId
}

impl OriginId {
    /// No call: the operation is written in the body of the graph.
    pub(crate) const NONE: OriginId = OriginId(u32::MAX);
}

impl Default for OriginId {
    fn default() -> Self {
        Self::NONE
    }
}
