//! How the extents of results follow from those of operands: rules on numbers and on expressions of symbols alike.
//!
//! What reads attributes, names operands or reports errors calls these rules; nothing else says what an equation means.

mod axes;
mod broadcast;
mod equation;
mod section;
mod size;

pub(crate) use axes::{axis, distinct, from_start, inserted, is_order, replaced};
pub(crate) use broadcast::{Align, Misaligned, broadcast};
pub(crate) use equation::{Equation, EquationAxis, EquationError, EquationSizes, EquationTerm, Formula, is_letter};
pub(crate) use section::{AxisSection, Before, Bounds, nnef_section};
pub(crate) use size::Size;
