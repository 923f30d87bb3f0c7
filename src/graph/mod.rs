//! The flat graph: operations on tensors in topological order.
//!
//! `flat_graph` has the tables of a graph, `ids` what identifies their entries; `tensor`, `kind`, `operation`, `operand`
//! and `value` are what the entries are made of; `operation_ref` joins an entry with its graph. The other files build, read, rewrite and describe graphs.

mod annotation;
mod arguments;
pub(crate) mod border;
mod building;
#[cfg(feature = "tensor")]
pub(crate) mod constant;
mod conventions;
pub(crate) mod cut;
pub(crate) mod deviations;
pub(crate) mod dims;
mod element;
mod flat_graph;
mod ids;
mod kind;
#[cfg(feature = "eval")]
mod known;
#[cfg(feature = "tensor")]
mod layouts;
pub(crate) mod names;
mod operand;
mod operation;
mod operation_ref;
pub(crate) mod operators;
pub(crate) mod origin;
pub(crate) mod outline;
mod packed;
mod part;
mod parts;
pub(crate) mod predication;
mod primitive;
mod provenance;
pub(crate) mod prune;
mod rewrite;
pub(crate) mod scan;
mod shape_table;
pub(crate) mod shapes;
mod share;
mod sign;
#[cfg(feature = "kernels")]
pub(crate) mod simplify;
pub(crate) mod standard;
pub(crate) mod stats;
mod tensor;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(feature = "eval")]
pub(crate) mod trips;
pub(crate) mod value;
mod verify;
mod walk;
pub(crate) mod windows;

pub(crate) use annotation::Annotation;
pub(crate) use building::Common;
pub(crate) use conventions::Conventions;
pub use cut::Cut;
pub(crate) use element::Element;
pub use flat_graph::{Graph, KeptFragment};
pub use ids::TensorId;
pub(crate) use ids::{KindId, OperationId, OriginId};
pub(crate) use kind::{Kind, KindParam};
pub(crate) use operand::{Argument, Key};
pub use operand::{Operand, Output};
pub use operation::Operation;
pub(crate) use operation::{BYTES_OF_OPERATION, Origin};
pub use operation_ref::{OperationRef, Operations};
pub(crate) use packed::{Kept, SignatureId};
pub use primitive::{Dialect, Primitive};
pub(crate) use provenance::{ModulePath, Note};
pub(crate) use shape_table::ShapeId;
pub use shapes::{Extent, InvalidExtent, Shape};
pub(crate) use tensor::Tensor;
pub use value::Value;
