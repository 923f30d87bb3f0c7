//! How the extents of results follow from those of operands: rules on numbers and on expressions of symbols alike.
//!
//! What is here knows no notation and reports no errors: what reads attributes and names operands does, and calls these rules.

mod arithmetic;
mod axes;
mod broadcast;
mod equation;
mod reshape;
mod section;
mod size;
mod window;

pub(crate) use arithmetic::Arithmetic;
pub(crate) use axes::{axis, distinct, from_start, inserted, is_order, replaced};
pub(crate) use broadcast::{Align, Misaligned, broadcast};
pub(crate) use equation::{Equation, EquationAxis, EquationError, EquationSizes, EquationTerm, Formula, is_letter};
pub(crate) use reshape::{ReshapeError, Reshaped, reshaped, rest};
pub(crate) use section::{AxisSection, Before, Bounds, nnef_section};
pub(crate) use size::Size;
pub(crate) use window::{End, Window};
