//! Quantizations: `graph.quant` (5.3 of the 1.0.5 text).
//!
//! Each tensor that is stored in quantized form has an entry `"tensor": algorithm(arg = value, …);`. `parse` reads
//! entries with their locations, `check` resolves names, and `entries` returns the unchanged text of the entries that
//! are valid for a graph; `older` has an algorithm that older converters wrote.

mod check;
mod document;
mod entries;
mod older;
mod parse;
