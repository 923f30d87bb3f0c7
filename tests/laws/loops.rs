//! Loops in NNEF text give the same numbers as their trips written out one after the other.

use std::collections::BTreeMap;

use crate::common::{run, tell};
use crate::tape::{Tape, cases, generated};
use nnef_flatten::Options;
use nnef_flatten::eval::Evaluator;
use nnef_flatten::tensor::{Data, Tensor};
use proptest::prelude::*;

const LOOPS: &str = "version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension flatten_loops;
";

const INPUTS: &str = "    x = external(shape = [2]);
    y = external(shape = [2]);
    z = external(shape = [2]);
";

/// Expressions for recurrences and collected items, of the state `s`, the item `t` and the number `k`.
const NEXT: &[&str] = &["tanh(s + t)", "s - t * scalar(k)", "t", "sin(s + t)"];
const ITEMS: &[&str] = &["s * t", "t", "s", "exp(s) + scalar(k)"];

/// A loop, and the same without one.
#[derive(Debug)]
struct Both {
    looped: String,
    written_out: String,
}

/// A loop over a state and a counter.
struct Drawn {
    items: Vec<&'static str>,
    reverse: bool,
    trips: usize,
    /// The next state, an expression of `s`, `t` and the number `k`.
    next: &'static str,
    /// The expression that is collected.
    item: &'static str,
    /// The clause that ends the loop.
    end: usize,
    nested: bool,
    block: bool,
}

fn drawn(tape: &mut Tape) -> Drawn {
    let items: Vec<&'static str> = (0..1 + tape.below(4)).map(|_| *tape.pick(&["x", "y", "z"])).collect();
    let trips = tape.below(items.len() + 1);
    Drawn {
        reverse: tape.chance(5),
        trips,
        next: NEXT[tape.below(NEXT.len())],
        item: ITEMS[tape.below(ITEMS.len())],
        end: tape.below(4),
        nested: tape.chance(5),
        block: tape.chance(8),
        items,
    }
}

impl Drawn {
    /// An expression of the body for its variables.
    fn with(&self, of: &str, s: &str, t: &str, k: &str) -> String {
        let word = |word: &str| match word {
            "s" => s.to_owned(),
            "t" => t.to_owned(),
            "k" => k.to_owned(),
            other => other.to_owned(),
        };
        let mut out = String::new();
        let mut name = String::new();
        for c in of.chars().chain([' ']) {
            if c.is_ascii_alphanumeric() || c == '_' || (c == '.' && !name.is_empty()) {
                name.push(c);
            } else {
                out += &word(&std::mem::take(&mut name));
                out.push(c);
            }
        }
        out.trim_end().to_owned()
    }

    /// The clauses that end the loop after a number of trips.
    fn clauses(&self) -> (String, String, String) {
        let n = self.trips;
        let none = String::new();
        match self.end {
            // As many trips as items; the arrays are cut.
            0 => (none.clone(), none.clone(), none),
            1 => (none.clone(), format!("..(k0 -> {n})"), none),
            2 => (format!(" while k < {n}"), none.clone(), none),
            // The condition is tested after a trip, so there is at least one.
            _ => (none.clone(), none, format!(" while k < {}", n.max(1))),
        }
    }

    fn trips(&self) -> usize {
        match self.end {
            0 => self.items.len(),
            3 => self.trips.max(1),
            _ => self.trips,
        }
    }

    /// The item of a trip. The last one comes first counted from the number of trips, where that
    /// is known beforehand.
    fn item_of(&self, trip: usize) -> &'static str {
        let count = if self.end == 1 { self.trips } else { self.items.len() };
        if self.reverse { self.items[count - 1 - trip] } else { self.items[trip] }
    }

    fn looped(&self) -> String {
        let list = format!("[{}]", self.items.join(", "));
        let list = if self.reverse { format!("reverse({list})") } else { list };
        let (before, limit, after) = self.clauses();
        let next = self.with(self.next, "s", "t", "k");
        let item = self.with(self.item, "s", "t", "k");
        let body = match (self.block, self.nested) {
            (_, true) => format!(
                "{{ v = with u: tensor<scalar> = s for w : [t, x] unroll u + w; n = {next} + v; yield n, k + 1, {item}; }}"
            ),
            (true, _) => format!("{{ n = {next}; c = {item}; yield n, k + 1, c; }}"),
            _ => format!("{{ yield {next}, k + 1, {item}; }}"),
        };
        format!("r, count, all = with s = a, k = 0 for t : {list}{before} unroll{limit} {body}{after};")
    }

    fn written_out(&self) -> String {
        let mut text = String::new();
        let mut state = "a".to_owned();
        let mut collected = Vec::new();
        for trip in 0..self.trips() {
            let (t, k) = (self.item_of(trip), trip.to_string());
            let nested = if self.nested { format!(" + ({state} + {t} + x)") } else { String::new() };
            text += &format!("    c{trip} = copy({});\n", self.with(self.item, &state, t, &k));
            text += &format!("    s{trip} = copy({}{nested});\n", self.with(self.next, &state, t, &k));
            state = format!("s{trip}");
            collected.push(format!("c{trip}"));
        }
        text + &format!("    r = copy({state});\n    joined = stack([a, {}], axis = 0);\n", collected.join(", "))
            .replace(", ]", "]")
    }

    fn both(&self) -> Both {
        let graph = "graph G( x, y, z ) -> ( out, total )\n{\n";
        let fragment = |body: &str, all: &str| {
            format!(
                "{LOOPS}fragment f( a: tensor<scalar>, x: tensor<scalar>, y: tensor<scalar>, z: tensor<scalar> )\n\
                -> ( r: tensor<scalar>, joined: tensor<scalar> )\n{{\n{body}{all}}}\n{graph}{INPUTS}    out, total = f(x, x, y, z);\n}}\n"
            )
        };
        Both {
            looped: fragment(&format!("    {}\n", self.looped()), "    joined = stack([a] + all, axis = 0);\n"),
            written_out: fragment(&self.written_out(), ""),
        }
    }
}

fn numbers(text: &str, options: &Options) -> Result<Vec<Tensor>, TestCaseError> {
    let fail = |why: String| TestCaseError::fail(format!("{why}\n{text}"));
    let graph = run(text, options).map_err(|errors| fail(tell(&errors)))?.graph;
    let given = graph.random_inputs(&[], 3).map_err(|error| fail(error.to_string()))?;
    let found = Evaluator::default().run(&graph, &given, &BTreeMap::new()).map_err(|error| fail(error.to_string()))?;
    Ok(found.outputs.into_iter().map(|(_, tensor)| Tensor::clone(&tensor)).collect())
}

fn same(found: &[Tensor], wanted: &[Tensor]) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(a, b)| a.difference(b).is_some_and(|apart| apart < 1e-12))
}

/// A loop that ends by a condition on a tensor, and its state after each number of trips.
fn on_tensors(tape: &mut Tape) -> (String, String, usize) {
    let (bound, after, limit) = (1 + tape.below(4), tape.chance(6), tape.below(40) as f64 * 0.2 - 2.0);
    let next = *tape.pick(&["s + 1.5", "s * 1.5 + 0.5", "s + y * y"]);
    let condition = |s: &str| format!("sum_reduce({s}, axes = [0]) < {limit:?}");
    let (before, behind) = match after {
        true => (String::new(), format!(" while {}", condition("s"))),
        false => (format!(" while {}", condition("s")), String::new()),
    };
    let head = |outputs: &str| format!("{LOOPS}graph G( x, y, z ) -> ( {outputs} )\n{{\n{INPUTS}");
    let looped =
        format!("{}    r = with s = x{before} unroll..({bound}) {{ yield {next}; }}{behind};\n}}\n", head("r"));
    let mut text = "    s0 = copy(x);\n".to_owned();
    let mut outputs = Vec::new();
    for i in 0..=bound {
        if i > 0 {
            text += &format!("    s{i} = copy({});\n", next.replace('s', &format!("s{}", i - 1)));
        }
        text += &format!("    c{i} = {};\n", condition(&format!("s{i}")));
        outputs.extend([format!("s{i}"), format!("c{i}")]);
    }
    (looped, format!("{}{text}}}\n", head(&outputs.join(", "))), if after { 1 } else { 0 })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn loops_mean_their_trips(both in generated(40, |tape| drawn(tape).both())) {
        let options = Options::default();
        let (found, wanted) = (numbers(&both.looped, &options)?, numbers(&both.written_out, &options)?);
        prop_assert!(same(&found, &wanted), "{}\n{}\n{:?}\n{:?}", both.looped, both.written_out, found, wanted);
    }

    #[test]
    fn conditions_on_tensors_freeze_the_last_values((looped, trips, least) in generated(12, on_tensors)) {
        let options = Options::default();
        let (found, all) = (numbers(&looped, &options)?, numbers(&trips, &options)?);
        let holds = |i: usize| matches!(all[2 * i + 1].data(), Data::Bool(items) if items.iter().all(|holds| *holds));
        let bound = all.len() / 2 - 1;
        let count = (least..bound).find(|&i| !holds(i)).unwrap_or(bound);
        prop_assert!(same(&found, &all[2 * count..=2 * count]), "{count}\n{looped}\n{found:?}\n{all:?}");
    }
}
