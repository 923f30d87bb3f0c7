//! Why a node has no counterpart.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostics::Code;
use crate::eval::EvalError;
use crate::graph::shapes::ShapeError;

/// Why a node is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeRefusal {
    /// Only an operation of a registry computes it.
    Registry(&'static str),
    /// A clause.
    Because(Cow<'static, str>),
    /// A limit of the run: another run may translate it.
    Failed(Code, String),
    /// An operand is the result of a node that was refused.
    Operand,
}

/// The result of a rule or a part of it.
pub(super) type Lowered<T> = Result<T, NodeRefusal>;

impl NodeRefusal {
    /// Extents that do not fit the operator, or that have more than 63 bits.
    pub(super) const UNFIT: NodeRefusal = NodeRefusal::Because(Cow::Borrowed("its operands do not fit each other"));
    /// An operand of a rank for which the operator is not defined.
    pub(super) const RANK: NodeRefusal = NodeRefusal::Because(Cow::Borrowed("the rank of an operand does not fit"));

    /// A reason that is always the same.
    pub(super) const fn because(reason: &'static str) -> NodeRefusal {
        NodeRefusal::Because(Cow::Borrowed(reason))
    }
}

impl From<String> for NodeRefusal {
    fn from(reason: String) -> Self {
        NodeRefusal::Because(reason.into())
    }
}

impl From<EvalError> for NodeRefusal {
    fn from(error: EvalError) -> Self {
        match error.code {
            code @ (Code::EvalMemory | Code::EvalWork) => NodeRefusal::Failed(code, error.message),
            _ => NodeRefusal::from(error.message),
        }
    }
}

impl From<ShapeError> for NodeRefusal {
    fn from(error: ShapeError) -> Self {
        NodeRefusal::from(error.message)
    }
}

/// The clause of a message.
impl fmt::Display for NodeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NodeRefusal::Registry(operation) => {
                write!(f, "only `{operation}`, an operation of a registry, computes it")
            }
            NodeRefusal::Because(reason) => f.write_str(reason),
            NodeRefusal::Failed(_, reason) => f.write_str(reason),
            NodeRefusal::Operand => f.write_str("an operand is not translated"),
        }
    }
}
