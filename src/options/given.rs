//! Shapes of inputs and values of dimension symbols that options give.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::shape_text::{input_shape, symbol};
use crate::graph::Extent;
use crate::graph::dims::Dim;

/// Shapes of inputs and values of dimension symbols that replace those of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenShapes {
    /// Shapes that replace those of graph inputs, by name. An empty name stands for the only input.
    pub inputs: Vec<(String, Vec<Extent>)>,
    /// Values of dimension symbols, by name: integers, or expressions on other symbols.
    pub symbols: Vec<(String, Extent)>,
}

/// The name of an input, and the symbol of each extent of its declared shape, if it is one.
pub(crate) type DeclaredSymbols = (String, Vec<Option<String>>);

impl GivenShapes {
    /// Adds the shape of an input as `--input-shape` takes it: `image=1,3,224,224` or `tokens=1,S`, also
    /// `image:[1,3,224,224]`, and `1x3x224x224` for the only input.
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

    /// The same shapes, with the name of the only input for a shape without a name.
    ///
    /// # Errors
    ///
    /// There are several inputs, or none, or its shape is given by its name, too. The text says what the options give.
    pub(crate) fn of_inputs(&self, inputs: &[&str]) -> Result<Cow<'_, GivenShapes>, String> {
        if !self.inputs.iter().any(|(name, _)| name.is_empty()) {
            return Ok(Cow::Borrowed(self));
        }
        let [only] = inputs else { return Err(nameless(inputs)) };
        let mut shapes = self.clone();
        shapes.inputs.iter_mut().filter(|(name, _)| name.is_empty()).for_each(|(name, _)| (*only).clone_into(name));
        let given: Vec<&Vec<Extent>> =
            shapes.inputs.iter().filter(|(name, _)| name == only).map(|(_, shape)| shape).collect();
        if given.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(format!("two shapes for `{only}`"));
        }
        Ok(Cow::Owned(shapes))
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

    /// The same shapes, with what they say about the symbols in declared shapes: an extent that is given for a symbol
    /// is its value everywhere.
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

/// What is wrong with a shape without a name for these inputs.
pub(crate) fn nameless(inputs: &[&str]) -> String {
    match inputs {
        [] => "a shape to the only input, but there is none".to_owned(),
        [first, ..] => {
            let some = inputs.iter().take(8).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let more = if inputs.len() > 8 { ", …" } else { "" };
            format!("a shape without a name, but the inputs are {some}{more}: write {first}=SHAPE")
        }
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
    fn a_shape_without_a_name_is_that_of_the_only_input() {
        let given = |texts: &[&str], inputs: &[&str]| {
            let mut shapes = GivenShapes::default();
            texts.iter().for_each(|text| shapes.add_shape(text).unwrap());
            let found = shapes.of_inputs(inputs).map(Cow::into_owned);
            found.map(|shapes| shapes.inputs.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(given(&["1,3", "[1,3]"], &["x"]).unwrap(), ["x", "x"]);
        assert_eq!(given(&["y=2"], &["x", "z"]).unwrap(), ["y"]);
        assert!(given(&["1,3"], &["x", "y"]).unwrap_err().contains("write x=SHAPE"));
        assert!(given(&["1,3"], &[]).unwrap_err().contains("there is none"));
        assert_eq!(given(&["1,3", "x=1,4"], &["x"]).unwrap_err(), "two shapes for `x`");
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
