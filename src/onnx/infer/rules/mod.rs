//! The rules of operators, by family. A rule sets what it finds about the results; element types that the schema of the
//! operator determines are set before.

pub(crate) mod arithmetic;
pub(crate) mod axes;
pub(crate) mod cast;
pub(crate) mod elementwise;
pub(crate) mod source;
