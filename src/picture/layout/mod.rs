//! The layout of a picture: rows from top to bottom, and nested groups.
//!
//! Each group is a level: its items are assigned to rows ([`ranks`]), rows are ordered so that few lines cross
//! ([`order`]), and then positions are computed ([`columns`], [`frame`]). An inner group is one item of its level, and
//! lines end at its ports, which are ordered separately. So rows and orders do not depend on which groups are open: a
//! page computes only positions.
//!
//! All steps take at most O(n log n) time, and none is recursive.

mod arrangement;
pub(crate) mod columns;
pub(crate) mod frame;
pub(crate) mod order;
pub(crate) mod ranks;
pub(crate) mod settle;

pub(crate) use arrangement::{Arranged, Arrangement, arrange};
