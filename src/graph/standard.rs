//! Operations and extensions that the rules speak of by name.

/// Introduces a graph input.
pub const EXTERNAL: &str = "external";
/// Operations that introduce a graph input: that of the standard, and what tract writes for it.
pub const INPUTS: &[&str] = &[EXTERNAL, "tract_core_external"];
/// Introduces a stored tensor.
pub const VARIABLE: &str = "variable";
/// Introduces a tensor of given values.
pub const CONSTANT: &str = "constant";
/// Overwrites a variable.
pub const UPDATE: &str = "update";
/// Stands for a second name of a tensor.
pub const COPY: &str = "copy";
/// Takes a part of a tensor.
pub const SLICE: &str = "slice";
/// Drops axes of extent 1.
pub const SQUEEZE: &str = "squeeze";

/// Puts tensors together along an axis.
pub const CONCAT: &str = "concat";

/// What the trips of a loop are called in names.
pub const TRIP: &str = "trip";
/// The input of a graph that needs none: NNEF 1.0 demands one.
pub const UNUSED_INPUT: &str = "unused";

/// The extension that allows fragments.
pub const FRAGMENT_DEFINITIONS: &str = "KHR_enable_fragment_definitions";
/// The extension that allows compound expressions.
pub const OPERATOR_EXPRESSIONS: &str = "KHR_enable_operator_expressions";

/// The extension of this program that allows loops in bodies.
pub const FLATTEN_LOOPS: &str = "flatten_loops";

/// Fragments that hold metadata as their body: kept as they are, never expanded or checked.
pub const METADATA_FRAGMENTS: &[&str] = &["tract_core_properties"];

/// How a vendor extension declares dimension symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Its arguments are symbols.
    Arguments,
    /// It declares this one.
    Fixed(&'static str),
}

/// Vendor extensions that declare symbols standing for unknown extents.
pub const SYMBOL_EXTENSIONS: &[(&str, Symbols)] =
    &[("tract_symbol", Symbols::Arguments), ("tract_pulse_streaming_symbol", Symbols::Fixed("S"))];
