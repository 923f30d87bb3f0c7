//! The part of the Python module `nnef_flatten` that is compiled: inputs, options, verbs and graphs.
//!
//! The verbs are those of the library's door ([`nnef_flatten::open`]); the options are words of the command line, which
//! the command parses and refuses. Everything that takes time runs without the interpreter's lock. The pure part of the
//! module, `python/nnef_flatten`, gives this the types of Python.

mod graph;
mod refusal;
mod source;
mod stamp;
mod values;
mod verbs;
mod work;

use pyo3::prelude::*;

/// The compiled part of `nnef_flatten`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::graph::Graph;
    #[pymodule_export]
    use super::refusal::{Refused, panic};
    #[pymodule_export]
    use super::source::{Keywords, Source};
    #[pymodule_export]
    use super::verbs::{check, convert, diff, evaluate, flatten, load, statistics, write};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // In the order of the table, for the types of arguments.
        let notations: Vec<&str> = nnef_flatten::write::NOTATIONS.iter().map(|notation| notation.name).collect();
        module.add("NOTATIONS", notations)?;
        module.add("ENDINGS", nnef_flatten::cli::endings().collect::<Vec<_>>())
    }
}
