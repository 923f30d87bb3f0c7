//! Law 12: passes compose. For every pair of them in the order of their table, one command with both gives what the second
//! one gives of what the first one wrote, up to names of inner tensors; behind outlining and annotating, the same numbers;
//! the same numbers always.

use std::ffi::OsString;

use crate::documents::document;
use crate::nests::nest;
use crate::passes::{flat, same_numbers};
use crate::tape::{Tape, checked, generated};
use nnef_flatten::cli::{Keywords, ListedPass, passes};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Options, open};
use proptest::prelude::*;

/// The words that ask for a pass on a document or a model with these names of values; none if it takes what these lack.
fn words(option: &str, names: &[String], at: usize) -> Option<Vec<OsString>> {
    let name = names.get(at % names.len().max(1));
    let words = match option {
        "bind" => vec!["--bind".to_owned(), "x=[[0.5,-1.25],[2.0,-0.0]]".to_owned()],
        "lower" => vec!["--lower".to_owned(), "all".to_owned()],
        "outputs" => vec!["--outputs".to_owned(), name?.clone()],
        // Layouts are in no notation that is read.
        "layout" => return None,
        "set" => vec!["--set".to_owned(), "N=2".to_owned()],
        "opset" => vec!["--opset".to_owned(), "13".to_owned()],
        other => vec![format!("--{other}")],
    };
    Some(words.into_iter().map(OsString::from).collect())
}

/// What the command writes in a notation, or why it refuses.
fn written(text: &str, words: &[OsString], to: &str) -> Result<String, String> {
    let input =
        Keywords::new(words)?.open(("document", text).into(), Some(to)).map_err(|refused| refused.to_string())?;
    let mut out = Vec::new();
    input.print(to, &mut out).map_err(|refused| refused.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}

/// What two commands and one command write with a pair of passes; none if the second pass has nothing to work on.
fn both_ways(text: &str, of: [&[OsString]; 2], to: &str) -> Result<Option<[String; 2]>, String> {
    let first = match written(text, of[0], to) {
        Ok(first) => first,
        // A pass alone may be refused, such as a cut at a name that expansion alone makes.
        Err(_) => return Ok(None),
    };
    match (written(&first, of[1], to), written(text, &of.concat(), to)) {
        (Ok(twice), Ok(once)) => Ok(Some([twice, once])),
        (Err(_), Err(_)) => Ok(None),
        (Err(why), Ok(once)) => Err(format!("two commands refuse: {why}\n{first}\none gives\n{once}")),
        (Ok(twice), Err(why)) => Err(format!("one command refuses: {why}\ntwo give\n{twice}")),
    }
}

/// A document of which only what its outputs need is left: the second one of two commands keeps what the text names that the
/// first one wrote. Other texts are as they are.
fn needed(text: &str) -> String {
    let results = text.split_once("\ngraph ").and_then(|(_, graph)| graph.split_once("-> ("));
    let outputs = results.and_then(|(_, rest)| rest.split_once(')')).map(|(outputs, _)| outputs.replace(' ', ""));
    let words = outputs.map(|outputs| ["--outputs".into(), outputs.into()]);
    words.and_then(|words| written(text, &words, "nnef").ok()).unwrap_or_else(|| text.to_owned())
}

/// Whether two texts are the same graph up to names of inner tensors, and to what no output needs.
fn same_graph(a: &str, b: &str) -> Result<bool, String> {
    let (a, b) = (&needed(a), &needed(b));
    let opened = |text: &str| open(("document", text), &Options::default()).map_err(|refused| refused.to_string());
    let (difference, _) = opened(a)?.diff(opened(b)?).map_err(|refused| refused.to_string())?;
    Ok(difference.is_empty())
}

/// The outputs of a model, on values of the inputs that it has.
fn outputs(text: &str) -> Result<Vec<(String, Tensor)>, String> {
    let input = open(("document", text), &Options::default()).map_err(|refused| refused.to_string())?;
    let x = Tensor::scalars(&[2, 2], vec![0.5, -1.25, 2.0, -0.0]).map_err(|error| error.to_string())?;
    let open = Tensor::logicals(&[], vec![true]).map_err(|error| error.to_string())?;
    let head = text.split("=>").next().unwrap_or_default();
    let has = |name: &str| [",", ")"].iter().any(|end| head.contains(&format!(" {name}{end}")));
    let given: Vec<(String, Tensor)> = [("x", x), ("open", open)]
        .into_iter()
        .filter(|(name, _)| has(name))
        .map(|(name, of)| (name.to_owned(), of))
        .collect();
    let evaluated = input.evaluate(&given).map_err(|refused| refused.to_string())?;
    Ok(evaluated.0)
}

/// Whether two tensors are the same bit by bit.
fn same_bits(a: &Tensor, b: &Tensor) -> bool {
    let bits = |of: &Tensor| of.to_scalars().into_iter().map(f64::to_bits).collect::<Vec<_>>();
    a.shape() == b.shape() && a.dtype() == b.dtype() && bits(a) == bits(b)
}

/// The pairs of passes that apply, in their order.
fn pairs(applies: impl Fn(&ListedPass) -> bool) -> Vec<[&'static str; 2]> {
    let all: Vec<&'static str> = passes().filter(applies).map(|pass| pass.option).collect();
    // What the command does not know is refused in each case, and would be compared in none.
    for option in &all {
        let unknown = words(option, &["x".to_owned()], 0).and_then(|words| Keywords::new(&words).err());
        assert_eq!(unknown, None, "--{option}");
    }
    let behind = |at: usize| {
        let first = all[at];
        all[at + 1..].iter().map(move |other| [first, *other]).collect::<Vec<_>>()
    };
    (0..all.len()).flat_map(behind).collect()
}

/// Passes behind which only the numbers are the same.
const OF_FORM: &[&str] = &["annotate", "outline"];

/// Whether a pair of passes composes on a text: tells whether both apply, and there are numbers.
fn compose(
    (text, names): (&str, &[String]),
    pair: [&'static str; 2],
    at: usize,
    to: &str,
    numbers: impl Fn(&str, &str) -> Result<bool, String>,
) -> Result<bool, String> {
    let [Some(first), Some(second)] = pair.map(|option| words(option, names, at)) else { return Ok(false) };
    let Some([twice, once]) = both_ways(text, [&first, &second], to)? else { return Ok(false) };
    let told = |what: &str| format!("{pair:?}: {what}:\ntwo commands\n{twice}\none\n{once}\nof\n{text}");
    if !pair.iter().any(|option| OF_FORM.contains(option)) {
        // Equal tensors that the text names stay apart with `--share`, and the first command names all.
        let merged = |text: &String| match pair[1] {
            "share" => written(text, &["--simplify=share".into()], to),
            _ => Ok(text.clone()),
        };
        let same = merged(&twice).and_then(|twice| same_graph(&twice, &merged(&once)?));
        if !same.map_err(|why| told(&why))? {
            return Err(told("other graphs"));
        }
    }
    numbers(&twice, &once).map_err(|why| told(&why))
}

/// Picks a pair and a name with the last choices of a case.
fn chosen<'p>(pairs: &'p [[&'static str; 2]], choices: (u16, u16)) -> (&'p [&'static str; 2], usize) {
    (&pairs[usize::from(choices.0) % pairs.len()], usize::from(choices.1))
}

#[test]
fn passes_over_documents_compose() {
    let pairs = pairs(|pass| pass.graphs && pass.option != "set");
    checked(400, (generated(160, document), any::<(u16, u16)>()), 2, |(document, choices)| {
        let (pair, at) = chosen(&pairs, choices);
        let numbers = |a: &str, b: &str| {
            let options = Options::default().with(|options| options.keep_unused = false);
            let (a, b) = (flat(a, &options)?, flat(b, &options)?);
            same_numbers(&a, &b, str::to_owned)
        };
        compose((&document.text, &document.graph_names), *pair, at, "nnef", numbers)
    });
}

#[test]
fn passes_over_models_compose() {
    let pairs = pairs(|pass| pass.models);
    checked(400, (generated(120, nest), any::<(u16, u16)>()), 2, |(model, choices)| {
        let (pair, at) = chosen(&pairs, choices);
        let numbers = |a: &str, b: &str| {
            let (a, b) = (outputs(a)?, outputs(b)?);
            let same = |(a, b): (&(String, Tensor), &(String, Tensor))| a.0 == b.0 && same_bits(&a.1, &b.1);
            let equal = a.len() == b.len() && a.iter().zip(&b).all(same);
            if equal { Ok(!a.is_empty()) } else { Err(format!("other numbers: {a:?} and {b:?}")) }
        };
        compose((&model.text, &model.names), *pair, at, "onnxtxt", numbers)
    });
}

/// The generated models are models, and have values.
#[test]
fn generated_models_are_valid() {
    for seed in 0..200u16 {
        let choices = (0..120).map(|i: u16| seed.wrapping_mul(7919).wrapping_add(i.wrapping_mul(104)).rotate_left(5));
        let model = nest(&mut Tape::new(choices.collect()));
        let found = open(("model.onnxtxt", model.text.as_str()), &Options::default()).and_then(|input| input.check());
        let found = found.map(|found| found.to_string()).unwrap_or_else(|refused| refused.to_string());
        assert!(!found.contains(": E"), "{found}\n{}", model.text);
        outputs(&model.text).unwrap_or_else(|why| panic!("{why}\n{}", model.text));
    }
}
