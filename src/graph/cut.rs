//! Cuts: the part of a graph between tensors.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::Location;

/// A part of a graph, by the names that tensors have in the flat graph: the operations that its outputs need, as far as
/// the inputs do not give their operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The tensors that become inputs. Inputs of the graph that are still needed follow them.
    pub inputs: Vec<String>,
    /// The outputs, in this order; those of the graph if there are none.
    pub outputs: Vec<String>,
}

/// The tensors of a cut in a graph or a model that identifies tensors by `T`.
pub(crate) struct Ends<T> {
    pub(crate) inputs: Vec<T>,
    pub(crate) outputs: Vec<T>,
}

impl Cut {
    /// Whether the whole graph is wanted.
    pub(crate) fn keeps_all(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty()
    }

    /// Finds the tensors. `each` calls a function with the name of each tensor, and `elsewhere` tells where else a name
    /// occurs, if it does.
    ///
    /// # Errors
    ///
    /// A name is not that of a tensor, or is given twice.
    pub(crate) fn ends<T: Copy>(
        &self,
        at: Location,
        each: impl Fn(&mut dyn FnMut(&str, T)),
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Result<Ends<T>, Diagnostics> {
        let mut found = Diagnostics::new(false);
        let mut wanted: FxHashSet<&str> = FxHashSet::default();
        for name in self.inputs.iter().chain(&self.outputs) {
            if !wanted.insert(name) {
                let message = format!("the options give `{name}` twice as an end of the part that is wanted");
                found.report(Diagnostic::new(Code::OptionTensor, at, message));
            }
        }
        let mut known: FxHashMap<&str, T> = FxHashMap::default();
        each(&mut |name, tensor| {
            if let Some(name) = wanted.get(name) {
                known.entry(name).or_insert(tensor);
            }
        });
        for name in wanted.iter().filter(|name| !known.contains_key(*name)) {
            let message = format!("the options name the tensor `{name}`, which the flat graph does not have");
            let suggested = || {
                let mut names = Vec::new();
                each(&mut |known, _| names.push(known.to_owned()));
                suggest::did_you_mean(name, names.iter().map(String::as_str))
            };
            let help = elsewhere(name).or_else(suggested);
            found.report(Diagnostic::new(Code::OptionTensor, at, message).help_if(help));
        }
        if found.has_errors() {
            return Err(found);
        }
        let all = |names: &[String]| names.iter().filter_map(|name| known.get(name.as_str()).copied()).collect();
        Ok(Ends { inputs: all(&self.inputs), outputs: all(&self.outputs) })
    }
}

/// The finding about a tensor that is to become an input, and that no output depends on.
pub(crate) fn not_needed(name: &str, at: Location) -> Diagnostic {
    let message = format!("the tensor `{name}` cannot be an input of the part: none of its outputs depends on it");
    Diagnostic::new(Code::OptionTensor, at, message)
}
