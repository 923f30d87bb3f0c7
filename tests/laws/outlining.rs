//! The law of `--outline`: the text with fragments flattens to the same graph up to names of inner tensors, with the same
//! numbers.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "cli")]

use std::fmt::Write;

use crate::common::flat_text;
use crate::documents::document;
use crate::passes::{flat, same_numbers};
use crate::real::of_small_models;
use crate::tape::{checked, generated};
use nnef_flatten::Options;
use nnef_flatten::cli::Keywords;
use nnef_flatten::diff::diff;
use proptest::collection::vec;
use proptest::prelude::*;

/// A statement of a layer: the operation, and how far back its operands are, among the tensors of the layer so far and those
/// that all layers see.
type Statement = (usize, usize, usize);

const OPERATIONS: &[&str] = &["add", "mul", "max", "min"];
const OF_ONE: &[&str] = &["tanh", "sigmoid", "abs", "neg"];

/// A graph of layers: each is one of the kinds, and gets what the one before it gives. Each has a variable.
fn layered(kinds: &[Vec<Statement>], layers: &[usize], late: bool) -> String {
    let mut body = String::new();
    let mut from = "x".to_owned();
    let mut seen = vec!["m".to_owned()];
    for (i, kind) in layers.iter().enumerate() {
        let w = format!("layer_{i}_w");
        writeln!(body, "{w} = variable(shape = [2, 4], label = '{w}');").unwrap();
        let mut own = vec![from, w];
        for (j, (operation, a, b)) in kinds[kind % kinds.len()].iter().enumerate() {
            let pick = |at: usize| {
                let all = own.len() + seen.len();
                let at = at % all;
                own.iter().rev().chain(seen.iter().rev()).nth(at).unwrap().clone()
            };
            let name = format!("layer_{i}_t{j}");
            match operation % 8 {
                at @ 0..4 => writeln!(body, "{name} = {}({}, {});", OPERATIONS[at], pick(*a), pick(*b)).unwrap(),
                at => writeln!(body, "{name} = {}({});", OF_ONE[at - 4], pick(*a)).unwrap(),
            }
            own.push(name);
        }
        // What later layers see, too, makes results of its fragment.
        if late && i % 3 == 1 {
            seen.push(own[own.len() / 2].clone());
        }
        from = own.last().unwrap().clone();
    }
    format!(
        "version 1.0;\ngraph G( x, m ) -> ( y )\n{{\nx = external(shape = [2, 4]); m = external(shape = [2, 4]);\n{body}\
         y = add({from}, m);\n}}\n"
    )
}

/// The text with fragments.
fn outlined(text: &str) -> Result<String, String> {
    let keywords = Keywords::new(&["--outline".into()])?;
    let mut out = Vec::new();
    let opened = keywords.open(("law", text).into(), None).map_err(|refused| refused.to_string())?;
    opened.print("nnef", &mut out).map_err(|refused| format!("{refused}\n{text}"))?;
    String::from_utf8(out).map_err(|error| error.to_string())
}

/// The same graph with the same numbers. Tells whether there are any.
fn law(text: &str) -> Result<bool, String> {
    let options = Options::default();
    let before = flat(text, &options)?;
    let short = outlined(text)?;
    let after = flat(&short, &options)?;
    let told = |what: &str| format!("{what}:\n{short}\nwas\n{}", flat_text(&before));
    if outlined(text)? != short {
        return Err(told("two runs differ"));
    }
    if !short.contains("fragment") && short != flat_text(&before) {
        return Err(told("changed without a fragment"));
    }
    if !diff(&before, &after).is_equal() {
        return Err(told("another graph"));
    }
    same_numbers(&before, &after, told)
}

#[test]
fn layers_become_fragments() {
    let kinds = vec(vec((0usize..8, 0usize..6, 0usize..6), 4..14), 1..4);
    checked(200, (kinds, vec(0usize..4, 2..24), any::<bool>()), 4, |(kinds, layers, late)| {
        let text = layered(&kinds, &layers, late);
        Ok(law(&text)? && outlined(&text)?.contains("\nfragment "))
    });
}

#[test]
fn documents_are_outlined_by_the_law() {
    checked(200, generated(160, document), 2, |document| law(&document.text));
}

/// A chain of equal layers is one fragment, which is called for each.
#[test]
fn equal_layers_are_one_fragment() {
    let kind = vec![(1, 0, 1), (4, 0, 0), (0, 0, 3), (5, 0, 0), (2, 0, 9), (6, 0, 0), (1, 0, 2), (7, 0, 0), (3, 0, 4)];
    let text = layered(&[kind], &[0; 12], false);
    let short = outlined(&text).unwrap();
    assert_eq!(short.matches("fragment layer(").count(), 1, "{short}");
    assert_eq!(short.matches("= layer(").count(), 12, "{short}");
    assert!(law(&text).unwrap(), "no numbers");
}

#[test]
fn models_are_outlined_by_the_law() {
    of_small_models(law);
}
