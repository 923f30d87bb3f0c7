//! Sizes of tensors: how an extent follows from others, over integers and over expressions on symbols alike.
//!
//! What is here knows no notation and reports no errors: those who read settings do.

mod arithmetic;
mod window;

pub(crate) use arithmetic::Arithmetic;
pub(crate) use window::{End, Window};
