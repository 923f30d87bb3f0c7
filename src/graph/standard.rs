//! The names of operations and extensions with a special meaning.

/// Introduces a graph input.
pub(crate) const EXTERNAL: &str = "external";
/// Introduces a stored tensor.
pub(crate) const VARIABLE: &str = "variable";
/// Introduces a tensor of given values.
pub(crate) const CONSTANT: &str = "constant";
/// Overwrites a variable.
pub(crate) const UPDATE: &str = "update";
/// Gives a tensor a second name.
pub(crate) const COPY: &str = "copy";
/// Takes a part of a tensor.
pub(crate) const SLICE: &str = "slice";
/// Drops axes of extent 1.
pub(crate) const SQUEEZE: &str = "squeeze";

/// Puts tensors together along an axis.
pub(crate) const CONCAT: &str = "concat";

/// The word for a trip of a loop in names of tensors.
pub(crate) const TRIP: &str = "trip";
/// The name of the input of a graph that uses none: NNEF 1.0 demands one.
pub(crate) const UNUSED_INPUT: &str = "unused";

/// The extension that allows fragments.
pub(crate) const FRAGMENT_DEFINITIONS: &str = "KHR_enable_fragment_definitions";
/// The extension that allows compound expressions.
pub(crate) const OPERATOR_EXPRESSIONS: &str = "KHR_enable_operator_expressions";

/// The extension of this program that allows loops in bodies.
pub(crate) const FLATTEN_LOOPS: &str = "flatten_loops";

/// Fragments that hold metadata as their body: kept as they are, never expanded or checked.
pub(crate) const METADATA_FRAGMENTS: &[&str] = &["tract_core_properties"];

/// How a vendor extension declares dimension symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbols {
    /// The arguments of the extension are symbols.
    Arguments,
    /// The extension declares this symbol.
    Fixed(&'static str),
}

/// The extension that declares the symbols behind it.
pub(crate) const SYMBOL: &str = "tract_symbol";

/// Vendor extensions that declare symbols standing for unknown extents.
pub(crate) const SYMBOL_EXTENSIONS: &[(&str, Symbols)] =
    &[(SYMBOL, Symbols::Arguments), ("tract_pulse_streaming_symbol", Symbols::Fixed("S"))];
