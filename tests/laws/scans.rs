//! A scan and its unrolling compute the same numbers, whatever its inputs, chunks, directions,
//! states and outputs.

use std::collections::BTreeMap;

use crate::common::{HEADER, run, tell};
use crate::tape::{Tape, cases, generated};
use nnef_flatten::Options;
use nnef_flatten::eval::Evaluator;
use proptest::prelude::*;

/// A document with a scan.
#[derive(Debug)]
struct Scan {
    text: String,
}

/// The parts of a text that are built together.
#[derive(Default)]
struct Parts {
    params: Vec<String>,
    externals: Vec<String>,
    inputs: Vec<String>,
    scan: Vec<String>,
    full: Vec<String>,
    state: Vec<String>,
    output: Vec<String>,
    body: Vec<String>,
    results: Vec<String>,
    /// Tensors of the body that hold one number, as a sum.
    numbers: Vec<String>,
}

impl Parts {
    fn input(&mut self, name: &str, shape: &[usize]) {
        self.inputs.push(name.to_owned());
        self.externals.push(format!("    {name} = external(shape = {shape:?});\n"));
    }

    /// A tensor that the body sees; its items count as one number.
    fn param(&mut self, name: &str) {
        self.params.push(format!("{name}: tensor<scalar>"));
        self.body.push(format!("    {name}_sum = sum_reduce({name}, axes = [0, 1]);\n"));
        self.numbers.push(format!("{name}_sum"));
    }
}

fn signed(tape: &mut Tape, chunk: usize) -> i64 {
    if tape.chance(6) { -(chunk as i64) } else { chunk as i64 }
}

/// A scan of up to three inputs, over tensors of two axes.
fn scan(tape: &mut Tape) -> Scan {
    let steps = 1 + tape.below(4);
    let mut parts = Parts::default();
    let mut sections: Vec<(String, usize)> = Vec::new();
    for i in 0..1 + tape.below(3) {
        let (axis, chunk, other) = (tape.below(2), 1 + tape.below(3), 1 + tape.below(3));
        let mut shape = [other; 2];
        shape[axis] = steps * chunk;
        parts.input(&format!("x{i}"), &shape);
        parts.param(&format!("a{i}"));
        parts.scan.push(format!("('a{i}', x{i}, {axis}, {})", signed(tape, chunk)));
        sections.push((format!("a{i}"), axis));
    }
    for i in 0..tape.below(3) {
        parts.input(&format!("w{i}"), &[1 + tape.below(2), 2]);
        parts.param(&format!("w{i}"));
        parts.full.push(format!("('w{i}', w{i})"));
    }
    let states = tape.below(3);
    for i in 0..states {
        parts.input(&format!("h{i}"), &[1, 1]);
        parts.param(&format!("g{i}"));
        // A state may continue with the result of another one.
        parts.state.push(format!("('g{i}', h{i}, 'n{}')", tape.below(states)));
    }
    body(tape, states, &sections, &mut parts);
    text(tape, &parts)
}

/// The expressions of the body, and the outputs made of its results.
fn body(tape: &mut Tape, states: usize, sections: &[(String, usize)], parts: &mut Parts) {
    let sum = parts.numbers.join(" + ");
    parts.body.push(format!("    all = tanh(0.1 * ({sum}));\n"));
    for i in 0..states {
        let with = tape.pick(&parts.numbers).clone();
        parts.body.push(format!("    n{i} = sin(all + {with} * {i}.5);\n"));
        parts.results.push(format!("n{i}"));
    }
    for (i, (section, axis)) in sections.iter().enumerate() {
        parts.body.push(match tape.chance(3) {
            true => format!("    o{i} = {section};\n"),
            false => format!("    o{i} = {section} * all;\n"),
        });
        parts.results.push(format!("o{i}"));
        let sign = signed(tape, 1);
        parts.output.push(format!("('o{i}', 'full', {axis}, {sign})"));
    }
    for i in 0..states {
        let kind = if tape.chance(8) { "full" } else { "last" };
        parts.output.push(format!("('n{i}', '{kind}', {}, {})", tape.below(2), signed(tape, 1)));
    }
    if tape.chance(4) {
        parts.output.push("('o0', 'last', 0, 1)".to_owned());
    }
}

fn text(tape: &mut Tape, parts: &Parts) -> Scan {
    let typed: Vec<String> = parts.results.iter().map(|name| format!("{name}: tensor<scalar>")).collect();
    let outputs: Vec<String> = (0..parts.output.len()).map(|i| format!("y{i}")).collect();
    let left = if let [output] = &outputs[..] { output.clone() } else { format!("({})", outputs.join(", ")) };
    let list = |items: &[String]| items.join(", ");
    let call = format!(
        "tract_core_scan(body = 'step', scan = [{}], full = [{}], state = [{}], output = [{}])",
        list(&parts.scan),
        list(&parts.full),
        list(&parts.state),
        list(&parts.output)
    );
    let (inputs, params, results) = (list(&parts.inputs), list(&parts.params), list(&typed));
    let body = format!("fragment step( {params} ) -> ( {results} )\n{{\n{}}}\n", parts.body.concat());
    let outputs = outputs.join(", ");
    // The scan may stand in a fragment, too.
    let (fragment, statement) = match tape.chance(6) {
        false => (String::new(), format!("    {left} = {call};\n")),
        true => {
            let typed = |names: &str| names.replace(", ", ": tensor<scalar>, ") + ": tensor<scalar>";
            let (takes, gives) = (typed(&inputs), typed(&outputs));
            let fragment = format!("fragment outer( {takes} ) -> ( {gives} )\n{{\n    {left} = {call};\n}}\n");
            (fragment, format!("    {left} = outer({inputs});\n"))
        }
    };
    let externals = parts.externals.concat();
    let graph = format!("graph G( {inputs} ) -> ( {outputs} )\n{{\n{externals}{statement}}}\n");
    Scan { text: format!("{HEADER}{body}{fragment}{graph}") }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn unrolled_scans_mean_what_the_scans_mean(scan in generated(60, scan)) {
        let expand = |unroll| {
            let options = Options::default().with(|o| { o.unroll = unroll; o.flat = unroll; });
            run(&scan.text, &options).map_err(|errors| TestCaseError::fail(format!("{}\n{}", tell(&errors), scan.text)))
        };
        let (kept, flat) = (expand(false)?.graph, expand(true)?.graph);
        prop_assert_eq!(kept.fragments().len(), 1);
        prop_assert!(flat.fragments().is_empty());
        let given = kept.random_inputs(&[], 3).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let found = Evaluator::default().compare([&kept, &flat], &given, &BTreeMap::new());
        let found = found.map_err(|finding| TestCaseError::fail(format!("{}\n{}", finding.message, scan.text)))?;
        prop_assert!(found.largest < 1e-12, "{:?}\n{}", found, scan.text);
    }
}
