//! Checks of a document before anything is evaluated: declarations, names, arguments, types.
//!
//! Each family of rules is one module. The outcome, [`Checked`], holds side tables indexed by the
//! ids of the syntax tree: the type of every expression, what each name and call refers to.

mod bodies;
mod calls;
mod checked;
mod checker;
mod declarations;
mod document;
mod expressions;
mod fragments;
mod graph;
pub(crate) mod labels;
mod library;
mod loops;
mod operators;
pub(crate) mod positions;
mod scope;
mod signatures;
mod state;
mod symbols;
mod tables;
mod words;

pub(crate) use checked::{Checked, GraphInfo, Slot};
pub(crate) use checker::{Checker, begin, check};
pub(crate) use loops::iterated;
pub(crate) use signatures::{FragmentInfo, ParamInfo, ResultInfo};
pub(crate) use tables::{CallInfo, ModuleInfo, NodeInfo, NodeTable, Ref};
pub(crate) use words::Words;

use checked::BodyInfo;
