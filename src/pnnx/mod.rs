//! PNNX: element-wise expressions such as `mul(add(@0,@1),@2)`, and the files that hold them.

pub(crate) mod evaluate;
pub(crate) mod expand;
pub(crate) mod fold;
pub(crate) mod fuse;
pub(crate) mod graph;
pub(crate) mod number;
pub(crate) mod parse;
pub(crate) mod table;
pub(crate) mod tokens;
pub(crate) mod tree;
