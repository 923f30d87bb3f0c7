//! What is looked up once for a kind of operation: its rules, and where its attributes are.

use super::outcome::RuleResult;
use super::shape_call::{Call, ROLE_COUNT};
use crate::dictionary::{ElementRule, Row};

pub(super) type Rule = fn(&Call) -> RuleResult;

/// The rules of a kind of operation, and the positions of its attributes among its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(super) row: &'static Row,
    pub(super) rule: Rule,
    pub(super) roles: [Option<u8>; ROLE_COUNT],
    pub(super) tensors: u8,
    pub(super) draft: bool,
    /// Whether operations of the kind are elementwise, with only tensor parameters and one result.
    pub(super) by_item: bool,
    /// The rule for the element type of results without a declared one.
    pub(super) elements: Option<ElementRule>,
    /// Whether that rule takes precedence over a declared element type.
    pub(super) follows: bool,
}

impl Plan {
    /// Whether the result has the shape of the operands if all of them have one shape.
    pub(crate) fn is_by_item(&self) -> bool {
        self.by_item
    }

    /// Whether the element type of results follows the operands, regardless of the declaration.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }
}
