//! The options of a run.

use std::collections::BTreeMap;

use crate::diagnostics::Policy;
use crate::graph::dims::Dim;
use crate::graph::{Cut, Dialect, Extent};

/// Which calls are replaced by the bodies of their fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lower {
    /// Fragments of the document and of extra declaration files.
    #[default]
    Custom,
    /// These fragments, and the compound operations of the standard library.
    All,
    /// No fragments.
    None,
    /// The fragments of these names.
    Names(Vec<String>),
}

/// The words that `--lower` takes instead of names.
pub(crate) const LEVELS: [&str; 3] = ["custom", "all", "none"];

/// Shapes of inputs and values of dimension symbols that replace those of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenShapes {
    /// Shapes that replace those of graph inputs, by name.
    pub inputs: Vec<(String, Vec<Extent>)>,
    /// Values of dimension symbols, by name: integers, or expressions on other symbols.
    pub symbols: Vec<(String, Extent)>,
}

/// The name of an input, and the symbol of each extent of its declared shape, if it is one.
pub(crate) type DeclaredSymbols = (String, Vec<Option<String>>);

impl GivenShapes {
    /// Adds the shape of an input as `--input-shape` takes it: `image=1,3,224,224` or `tokens=1,S`.
    ///
    /// ```
    /// use nnef_flatten::Options;
    ///
    /// let mut options = Options::default();
    /// options.shapes.add_shape("tokens=1,S")?;
    /// options.shapes.add_symbol("S=2*T")?;
    /// assert_eq!(options.shapes.inputs[0].1.len(), 2);
    /// assert!(options.shapes.add_symbol("S").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text has another form.
    pub fn add_shape(&mut self, text: &str) -> Result<(), String> {
        self.inputs.push(input_shape(text)?);
        Ok(())
    }

    /// Adds the value of a dimension symbol as `--set` takes it: `S=5` or `T=2*S+1`.
    ///
    /// # Errors
    ///
    /// The text has another form.
    pub fn add_symbol(&mut self, text: &str) -> Result<(), String> {
        self.symbols.push(symbol(text)?);
        Ok(())
    }

    /// The same shapes and values with the values of symbols in place of these symbols.
    ///
    /// # Errors
    ///
    /// A symbol has two values or one that depends on itself, or an extent becomes negative or too long. The text
    /// says what the options give.
    pub(crate) fn resolved(&self) -> Result<GivenShapes, String> {
        let mut symbols: Vec<(String, Dim)> = Vec::new();
        for (name, value) in &self.symbols {
            if !value.dim().is_plain() {
                return Err(format!("`{name}` a value that operators alone do not express"));
            }
            symbols.push((name.clone(), value.dim()));
        }
        // Each round replaces one level of symbols in values.
        for round in 0.. {
            let given: BTreeMap<&str, &Dim> = symbols.iter().map(|(name, dim)| (name.as_str(), dim)).collect();
            let uses = |dim: &Dim| {
                let mut found = false;
                dim.each_symbol(&mut |symbol| found |= given.contains_key(symbol));
                found
            };
            let Some((name, _)) = symbols.iter().find(|(_, dim)| uses(dim)) else { break };
            if round > symbols.len() {
                return Err(format!("`{name}` a value that depends on itself"));
            }
            let value = |symbol: &str| given.get(symbol).map(|dim| (*dim).clone());
            let next = symbols.iter().map(|(name, dim)| (name.clone(), dim.substituted(&value)));
            symbols = next.collect();
        }
        let mut given: BTreeMap<&str, &Dim> = BTreeMap::new();
        for (name, dim) in &symbols {
            if given.insert(name, dim).is_some_and(|before| before != dim) {
                return Err(format!("two values for `{name}`"));
            }
        }
        let value = |symbol: &str| given.get(symbol).map(|dim| (*dim).clone());
        let checked = |name: &str, dim: Dim| match Extent::from(dim.clone()) {
            extent if extent.is_unknown() => {
                Err(format!("`{name}` an extent that is negative or too long: {}", dim.text()))
            }
            extent => Ok(extent),
        };
        let extents = |(name, shape): &(String, Vec<Extent>)| {
            let shape = shape.iter().map(|extent| checked(name, extent.dim().substituted(&value)));
            Ok((name.clone(), shape.collect::<Result<_, String>>()?))
        };
        let inputs = self.inputs.iter().map(extents).collect::<Result<_, String>>()?;
        let symbols = symbols.iter().map(|(name, dim)| Ok((name.clone(), checked(name, dim.clone())?)));
        Ok(GivenShapes { inputs, symbols: symbols.collect::<Result<_, String>>()? })
    }

    /// The same shapes, with what they say about the symbols in declared shapes: an extent that is given for a symbol is its
    /// value everywhere.
    pub(crate) fn with_implied(&self, declared: &[DeclaredSymbols]) -> GivenShapes {
        let mut shapes = self.clone();
        let is_declared = |text: &str| declared.iter().any(|(_, of)| of.iter().flatten().any(|symbol| symbol == text));
        for (name, given) in &self.inputs {
            let Some((_, of)) = declared.iter().find(|(input, _)| input == name) else { continue };
            for (symbol, extent) in of.iter().zip(given) {
                let (Some(symbol), dim) = (symbol, extent.dim()) else { continue };
                let mut names_others = false;
                dim.each_symbol(&mut |used| names_others |= is_declared(used));
                if dim != Dim::Unknown && !names_others {
                    shapes.symbols.push((symbol.clone(), extent.clone()));
                }
            }
        }
        shapes
    }

    /// Whether a symbol occurs in a given shape, or in the value of another symbol.
    pub(crate) fn mentions(&self, symbol: &str) -> bool {
        let values = self.symbols.iter().filter(|(name, _)| name != symbol).map(|(_, value)| value);
        let mut found = false;
        for extent in self.inputs.iter().flat_map(|(_, shape)| shape).chain(values) {
            extent.dim().each_symbol(&mut |name| found |= name == symbol);
        }
        found
    }
}

/// The name of an input. Those of ONNX and PNNX have any characters.
pub(crate) fn input_name(text: &str) -> Option<String> {
    let name = text.trim();
    (!name.is_empty() && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// A symbol with its value.
pub(crate) fn symbol(text: &str) -> Result<(String, Extent), String> {
    let form = "expected SYMBOL=N, as in S=5 or T=2*S+1";
    let (symbol, value) = text.rsplit_once('=').ok_or(form)?;
    let value = value.trim().parse::<Extent>().map_err(|_| form)?;
    Ok((input_name(symbol).ok_or(form)?, value))
}

/// An input with its shape.
pub(crate) fn input_shape(text: &str) -> Result<(String, Vec<Extent>), String> {
    let form = "expected NAME=SHAPE, as in image=1,3,224,224";
    let (input, shape) = text.rsplit_once('=').ok_or(form)?;
    let input = input_name(input).ok_or(form)?;
    let extent = |text: &str| text.trim().parse::<Extent>().map_err(|_| format!("`{text}` is not an extent; {form}"));
    let shape = match shape.trim() {
        "" => Vec::new(),
        shape => shape.split(',').map(extent).collect::<Result<_, _>>()?,
    };
    Ok((input, shape))
}

/// What the crate itself sets in the options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Internal {
    /// The standard compounds that are not expanded, if the output notation has equivalents; none if `lower` decides.
    pub(crate) compounds: Option<Vec<&'static str>>,
    /// Whether compounds of NNEF stay, though operators of another notation become operations of NNEF.
    pub(crate) keeps_compounds: bool,
    /// Whether operations that NNEF only approximates are kept by their meaning, which the output notation has.
    pub(crate) exact: bool,
    /// The limits on models and evaluations.
    pub(crate) profile: Profile,
    /// Whether all diagnostics are kept.
    pub(crate) all_findings: bool,
    /// Whether a model is expanded and folded for its translation to NNEF: then numbers are computed from the codes of
    /// quantized constants, too, and types are those of the given shapes in any case.
    pub(crate) translates: bool,
    /// Whether a model was folded.
    pub(crate) is_folded: bool,
    /// The part of the flat graph that is wanted.
    pub(crate) cut: Cut,
    /// The offset of the only call that is expanded, of those in the graph's own body; none if `lower` decides.
    pub(crate) only_call: Option<u32>,
    /// Whether types of all values are inferred after an expansion, which take memory for each node.
    pub(crate) typed: bool,
}

/// A set of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For trusted inputs.
    #[default]
    Trusted,
    /// For inputs from unknown sources.
    Untrusted,
}

/// The options of a run.
///
/// ```
/// use nnef_flatten::Options;
///
/// let mut options = Options::default();
/// options.strict = true;
/// assert_eq!(options, Options::default().with(|options| options.strict = true));
/// assert_eq!(options.max_ops, 10_000_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Accept only what the specification allows (for networks with loops: what TensorRT allows), and evaluate
    /// every local of a fragment.
    pub strict: bool,
    /// The dialect of the document; none to detect it.
    pub dialect: Option<Dialect>,
    /// Which calls are expanded.
    pub lower: Lower,
    /// What the crate itself sets.
    pub(crate) internal: Internal,
    /// Names of operations that are not expanded, regardless of `lower`.
    pub keep: Vec<String>,
    /// Evaluate every local of a fragment, and keep operations whose results are not used.
    pub keep_unused: bool,
    /// The maximum number of operations that are emitted.
    pub max_ops: u64,
    /// The maximum number of open calls.
    pub max_depth: u64,
    /// The maximum number of items of an array, and of characters of a string, during an expansion.
    pub max_length: usize,
    /// The maximum number of bytes of values, open calls and names at any time of an expansion.
    pub max_memory: u64,
    /// The maximum length of an input text in bytes.
    pub max_text: u64,
    /// Additional declaration files: a name for messages and a text, or the name of a registry and an empty text.
    pub libraries: Vec<(String, String)>,
    /// Convert a document of the provisional dialect to operations of NNEF 1.0.
    pub migrate: bool,
    /// Shapes and extents that replace those of the document.
    pub shapes: GivenShapes,
    /// Expand all loops, and scans with a known number of steps.
    pub unroll: bool,
    /// Expand all loops, but keep scans, which the evaluator of the graph runs.
    pub expand_loops: bool,
    /// The trip limit of loops whose condition depends on tensors. When a network with loops is evaluated,
    /// the default is a million trips.
    pub max_trips: Option<u64>,
    /// Report an error for scans that cannot be expanded.
    pub flat: bool,
    /// The maximum number of steps when a network with loops is evaluated; a step is one layer, or some hundred
    /// elements.
    pub max_steps: u64,
    /// The maximum number of bytes of all tensors at any time of such an evaluation.
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strict: false,
            dialect: None,
            lower: Lower::Custom,
            internal: Internal::default(),
            keep: Vec::new(),
            keep_unused: false,
            max_ops: 10_000_000,
            max_depth: 1 << 20,
            max_length: 10_000_000,
            max_memory: 768 << 20,
            max_text: 2 << 30,
            libraries: Vec::new(),
            migrate: false,
            shapes: GivenShapes::default(),
            unroll: false,
            expand_loops: false,
            max_trips: None,
            flat: false,
            max_steps: 200_000_000,
            max_bytes: 768 << 20,
        }
    }
}

impl Options {
    /// How diagnostics are judged.
    pub(crate) fn policy(&self) -> Policy {
        Policy { strict: self.strict, all: self.internal.all_findings }
    }

    /// Limits for untrusted documents, for example in a service; the other options have their defaults.
    /// A document of less than 1 MB takes at most some two seconds and 256 MiB.
    ///
    /// ```
    /// use nnef_flatten::{Options, expand, parse};
    ///
    /// let options = Options::untrusted();
    /// let text = "version 1.0;\n#".to_string() + &"a".repeat(100 << 20);
    /// let parsed = parse("upload", text, &options);
    /// assert!(parsed.diagnostics.has_errors());
    /// ```
    pub fn untrusted() -> Options {
        Options {
            internal: Internal { profile: Profile::Untrusted, ..Internal::default() },
            max_ops: 200_000,
            max_depth: 10_000,
            max_length: 1_000_000,
            max_memory: 144 << 20,
            max_text: 8 << 20,
            max_steps: 4_000_000,
            max_bytes: 144 << 20,
            ..Options::default()
        }
    }

    /// Applies a change to the options.
    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Options {
        change(&mut self);
        self
    }

    /// The operations that `lower` names.
    pub(crate) fn lowered(&self) -> &[String] {
        if let Lower::Names(names) = &self.lower { names } else { &[] }
    }

    /// The operations that `lower` and `keep` name.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        self.lowered().iter().chain(&self.keep).map(String::as_str)
    }

    /// Messages about operations that both `lower` and `keep` name.
    pub(crate) fn conflicts(&self) -> impl Iterator<Item = String> {
        let both = self.lowered().iter().filter(|name| self.keep.contains(name));
        both.map(|name| format!("`{name}` is to be expanded and to be kept"))
    }

    /// The message about an unknown operation in the options.
    pub(crate) fn unknown(name: &str) -> String {
        format!("the options name an unknown operation, `{name}`")
    }

    /// Whether all locals are evaluated, even if no result needs them.
    pub(crate) fn demand_all(&self) -> bool {
        self.strict || self.keep_unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of symbols, and the shape of `x`, with each other's values; or what contradicts.
    fn resolved(symbols: &[(&str, &str)], shape: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let extent = |text: &str| text.parse::<Extent>().unwrap();
        let given = GivenShapes {
            inputs: vec![("x".to_owned(), shape.split(',').map(extent).collect())],
            symbols: symbols.iter().map(|(name, value)| ((*name).to_owned(), extent(value))).collect(),
        };
        let texts = |shape: &[Extent]| shape.iter().map(Extent::to_string).collect();
        let resolved = given.resolved()?;
        let values: Vec<Extent> = resolved.symbols.iter().map(|(_, value)| value.clone()).collect();
        Ok((texts(&values), texts(&resolved.inputs[0].1)))
    }

    #[test]
    fn values_of_symbols_reach_each_other_and_shapes() {
        let found = resolved(&[("T", "2*S+1"), ("S", "P"), ("P", "3")], "T,S,4,Q").unwrap();
        assert_eq!(
            found,
            (vec!["7".to_owned(), "3".into(), "3".into()], vec!["7".to_owned(), "3".into(), "4".into(), "Q".into()])
        );
        assert!(resolved(&[("S", "2"), ("S", "1+1")], "S").is_ok());
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |symbols: &[(&str, &str)]| resolved(symbols, "n,3").unwrap_err();
        assert_eq!(refused(&[("S", "1"), ("S", "2")]), "two values for `S`");
        assert_eq!(refused(&[("S", "T"), ("T", "S+1")]), "`S` a value that depends on itself");
        assert!(refused(&[("S", "P-5"), ("P", "2")]).contains("negative"));
        assert!(refused(&[("n", "P-5"), ("P", "2")]).contains("negative"));
        assert!(refused(&[("S", "max(P,2)")]).contains("operators alone"));
    }
}
