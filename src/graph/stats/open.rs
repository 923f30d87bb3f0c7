//! What makes sizes open: symbols and unknown extents in the shapes of inputs, and the options that fix them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::amount::Amount;
use crate::diagnostics::visible::clean;
use crate::graph::dims::UNNAMED;
use crate::graph::{Extent, Graph, TensorId};

/// The most symbols and inputs that a line lists.
const MOST_LISTED: usize = 8;

/// The symbols on which sums depend, and the inputs whose extents are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenInputs {
    /// Symbols of the shapes of inputs.
    symbols: Vec<String>,
    /// Other symbols: extents that depend on data.
    computed: Vec<String>,
    /// Inputs, each with the texts of its extents; none if the rank is not known.
    inputs: Vec<(String, Option<Vec<String>>)>,
}

impl OpenInputs {
    /// Those of a graph, on which these sums depend.
    pub(super) fn of(graph: &Graph, sums: [&Amount; 5]) -> Self {
        let mut used = BTreeSet::new();
        sums.iter().for_each(|sum| sum.each_symbol(&mut |symbol| _ = used.insert(symbol.to_owned())));
        let mut given = BTreeSet::new();
        for extent in graph.inputs.iter().filter_map(|input| graph.shape(*input)).flat_map(|shape| shape.extents()) {
            extent.dim().each_symbol(&mut |symbol| _ = given.insert(symbol.to_owned()));
        }
        let least = sums.iter().any(|sum| sum.is_least());
        let inputs = graph.inputs.iter().filter_map(|input| open_input(graph, *input, least, &used));
        let inputs = inputs.collect();
        let (symbols, computed): (Vec<String>, _) = used.into_iter().partition(|symbol| given.contains(symbol));
        let symbols = symbols.into_iter().filter(|symbol| !symbol.starts_with(UNNAMED)).collect();
        OpenInputs { symbols, computed, inputs }
    }

    pub(super) fn json(&self) -> Value {
        let inputs: Vec<&str> = self.inputs.iter().map(|(name, _)| name.as_str()).collect();
        json!({ "symbols": self.symbols, "computed": self.computed, "inputs": inputs })
    }

    /// The lines about them; empty if there are none.
    pub(super) fn lines(&self) -> String {
        let mut text = String::new();
        let listed = |names: &[String]| {
            let more = if names.len() > MOST_LISTED { ", …" } else { "" };
            let names: Vec<String> = names.iter().take(MOST_LISTED).map(|name| clean(name)).collect();
            names.join(", ") + more
        };
        if let Some(first) = self.symbols.first() {
            let each = if self.symbols.len() > 1 { "each symbol" } else { "it" };
            let (symbols, first) = (listed(&self.symbols), clean(first));
            text.push_str(&format!("sizes depend on {symbols}, unknown here: --set {first}=1 gives {each} a number\n"));
        }
        if !self.computed.is_empty() {
            text.push_str(&format!("sizes depend on data, as {}\n", listed(&self.computed)));
        }
        for (name, extents) in self.inputs.iter().take(MOST_LISTED) {
            let name = clean(name);
            let shape = extents.as_ref().map_or_else(|| "SHAPE".to_owned(), |extents| extents.join(","));
            let what = if extents.is_some() { "extents" } else { "a shape" };
            text.push_str(&format!("the input {name} has {what} that are not known: --input-shape {name}={shape}\n"));
        }
        text
    }
}

/// An input with extents on which sums depend and that have no name; 1 stands for each of them.
fn open_input(
    graph: &Graph,
    input: TensorId,
    least: bool,
    used: &BTreeSet<String>,
) -> Option<(String, Option<Vec<String>>)> {
    let name = graph.tensor_name(input);
    let Some(shape) = graph.shape(input) else {
        // Sequences and the like have no shape.
        let is_tensor = graph.element_type(input).is_none_or(|element| !element.contains('('));
        return (least && is_tensor).then_some((name, None));
    };
    let is_open = |extent: &Extent| {
        let mut found = least && extent.is_unknown();
        extent.dim().each_symbol(&mut |symbol| found |= symbol.starts_with(UNNAMED) && used.contains(symbol));
        found
    };
    let text = |extent: &Extent| if is_open(extent) { "1".to_owned() } else { extent.to_string() };
    shape.extents().iter().any(is_open).then(|| (name, Some(shape.extents().iter().map(text).collect())))
}
