//! The names of operations and extensions with a special meaning.

/// Introduces a graph input.
pub(crate) const EXTERNAL: &str = "external";
/// Introduces a stored tensor.
pub(crate) const VARIABLE: &str = "variable";
/// Introduces a tensor of given values.
pub(crate) const CONSTANT: &str = "constant";
/// Overwrites a variable.
pub(crate) const UPDATE: &str = "update";
/// Copies a tensor.
pub(crate) const COPY: &str = "copy";
/// Extracts a part of a tensor.
pub(crate) const SLICE: &str = "slice";
/// Removes axes of extent 1.
pub(crate) const SQUEEZE: &str = "squeeze";

/// Concatenates tensors along an axis.
pub(crate) const CONCAT: &str = "concat";

/// Standard operations that are not functions of their arguments: inputs, stored data, and changes of them.
pub(crate) const NO_FUNCTIONS: &[&str] = &[EXTERNAL, VARIABLE, UPDATE];

/// The segment for a trip of a loop in generated names.
pub(crate) const TRIP: &str = "trip";
/// The name of the input that is added to a graph without inputs: NNEF 1.0 requires one.
pub(crate) const UNUSED_INPUT: &str = "unused";

/// The extension that allows fragments.
pub(crate) const FRAGMENT_DEFINITIONS: &str = "KHR_enable_fragment_definitions";
/// The extension that allows compound expressions.
pub(crate) const OPERATOR_EXPRESSIONS: &str = "KHR_enable_operator_expressions";

/// This program's own extension, which allows loops in bodies.
pub(crate) const FLATTEN_LOOPS: &str = "flatten_loops";

/// Fragments whose body is metadata: copied to the output, never expanded or checked.
pub(crate) const METADATA_FRAGMENTS: &[&str] = &["tract_core_properties"];

/// How a vendor extension declares dimension symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbols {
    /// The arguments of the extension are symbols.
    Arguments,
    /// The extension declares this symbol.
    Fixed(&'static str),
}

/// The extension that declares the symbols that follow its name.
pub(crate) const SYMBOL: &str = "tract_symbol";

/// Vendor extensions that declare symbols for unknown extents.
pub(crate) const SYMBOL_EXTENSIONS: &[(&str, Symbols)] =
    &[(SYMBOL, Symbols::Arguments), ("tract_pulse_streaming_symbol", Symbols::Fixed("S"))];
