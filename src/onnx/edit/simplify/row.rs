//! A row of the table of rules.

use super::step::SimplifyStep;
use crate::graph::names::NameId;
use crate::onnx::model::{NodeProto, TensorProto};

/// A rule: what it looks for, and what it leaves.
#[derive(Debug)]
pub(crate) struct SimplifyRule {
    /// Its name in options.
    pub(crate) name: &'static str,
    /// The operators of the nodes that it looks at; none for a rule that is applied to whole graphs.
    pub(super) operators: &'static [&'static str],
    /// What is simplified.
    pub(crate) pattern: &'static str,
    /// What has to be known for that.
    pub(crate) condition: &'static str,
    /// What is left.
    pub(crate) left: &'static str,
    /// Why no result changes, not even its sign or the bits of a special value; of a merge, what is rounded instead.
    pub(crate) exact: &'static str,
    /// Whether results are rounded in other places: it is a rule of `--merge`.
    pub(crate) merges: bool,
    /// Where it is applied.
    pub(super) applies: Applies,
}

/// Where a rule is applied.
#[derive(Clone, Copy, Debug)]
pub(super) enum Applies {
    /// To a node, after its operands were simplified.
    Node(fn(&SimplifyStep) -> Option<RuleChange>),
    /// To a node with graphs, after these were simplified; see [`super::control`].
    Control,
    /// By the driver, or by a pass of its own.
    Apart,
}

/// What a rule makes of a node.
#[derive(Debug)]
pub(super) enum RuleChange {
    /// Another value is the first result, which is the only one that is used.
    Value(NameId),
    /// Another node has the results.
    Node(Box<NewNode>),
}

/// A node in place of another one.
#[derive(Debug)]
pub(super) struct NewNode {
    pub(super) node: NodeProto,
    /// Its operator of the standard, if it is another one.
    pub(super) operator: Option<&'static str>,
    /// New constants, as these operands.
    pub(super) constants: Vec<(usize, TensorProto)>,
}

impl RuleChange {
    /// A node of the same operator without new constants.
    pub(super) fn node(node: NodeProto) -> Option<RuleChange> {
        RuleChange::new(node, None, Vec::new())
    }

    /// A node of an operator with new constants as operands.
    pub(super) fn new(
        node: NodeProto,
        operator: Option<&'static str>,
        constants: Vec<(usize, TensorProto)>,
    ) -> Option<RuleChange> {
        Some(RuleChange::Node(Box::new(NewNode { node, operator, constants })))
    }
}
