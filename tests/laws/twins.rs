//! Whatever can be asked of two engines has one answer: what is inferred of a call is what evaluation gives, and that is
//! what its expansion gives, its translations, and the constants that folding leaves.
//!
//! A call is an operator with random attributes and operands, from the whole domain of both. With
//! `NNEF_FLATTEN_TWINS=20000` there are as many, `NNEF_FLATTEN_TWINS_ONLY` names operators.

#[path = "twins/arrange.rs"]
mod arrange;
#[path = "twins/call.rs"]
mod call;
#[path = "twins/compare.rs"]
mod compare;
#[path = "twins/differences.rs"]
mod differences;
#[path = "twins/draw.rs"]
mod draw;
#[path = "twins/engines.rs"]
mod engines;
#[path = "twins/items.rs"]
mod items;
#[path = "twins/layers.rs"]
mod layers;
#[path = "twins/learning.rs"]
mod learning;
#[path = "twins/makers.rs"]
mod makers;
#[path = "twins/nnef.rs"]
mod nnef;
#[path = "twins/texts.rs"]
mod texts;
#[path = "twins/windows.rs"]
mod windows;

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::tape::Tape;
use compare::{apart, misfit};
use differences::{Differing, Row, is_wide};
use draw::Draw;
use engines::{Answer, Inferred, InferredOutput, Subject, Tensors};
use nnef_flatten::tensor::Tensor;

/// What has no counterpart in another notation, or needs what is not known; numbers that NNEF cannot write, or that are no
/// integers of 64 bits, which it has alone.
const REFUSED: [&str; 5] = ["E2090", "E2094", "E1103", "E1309", "E0825"];

/// How many calls there are.
fn count() -> usize {
    std::env::var("NNEF_FLATTEN_TWINS").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

/// A tape of choices that depends only on a number.
fn tape(seed: u64) -> Tape {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u16
    };
    Tape::new(std::iter::repeat_with(next).take(3000).collect())
}

/// What is told of many calls.
#[derive(Default)]
struct Tally {
    calls: usize,
    /// By operator, how many calls evaluation accepts.
    accepted: BTreeMap<&'static str, usize>,
    /// By engine and operator, how many calls a translation refuses.
    refused: BTreeMap<(&'static str, &'static str), usize>,
    /// By engine, how many calls it answers with numbers or with whole shapes, and how many it was asked.
    answered: BTreeMap<&'static str, (usize, usize)>,
    differences: Vec<String>,
    /// What differs as the page of the translation says.
    rows: Vec<Row>,
}

/// A call while engines are asked.
struct Question<'q> {
    operator: &'static str,
    call: &'q dyn Display,
    operands: Vec<Tensor>,
    /// What evaluation gives.
    wanted: Tensors,
}

impl Tally {
    fn differs(&mut self, question: &Question, engine: &'static str, why: Option<String>) {
        let Some(why) = why else { return };
        let differing = Differing { operator: question.operator, engine, operands: &question.operands, why: &why };
        match self.rows.iter_mut().find(|row| row.covers(&differing)) {
            Some(row) => row.seen += 1,
            None => self.differences.push(format!("== {} {engine}: {why}\n{}", question.operator, question.call)),
        }
    }

    fn answers(&mut self, engine: &'static str, is_answer: bool) {
        let (answered, asked) = self.answered.entry(engine).or_default();
        (*answered, *asked) = (*answered + usize::from(is_answer), *asked + 1);
    }

    /// Compares the answer of an engine with what evaluation gives.
    fn compare(&mut self, question: &Question, engine: &'static str, answer: Answer) {
        let translation = matches!(engine, "nnef" | "strict" | "back" | "onnx" | "pnnx");
        self.answers(engine, answer.is_ok());
        let why = match answer {
            _ if translation && question.operands.iter().any(|x| is_wide(x, 63)) => None,
            Err(why) if engine != "lower" && REFUSED.iter().any(|code| why.contains(code)) => {
                *self.refused.entry((engine, question.operator)).or_default() += 1;
                None
            }
            Err(why) => Some(format!("refused: {why}")),
            Ok(answer) => question.wanted.iter().find_map(|(name, wanted)| match answer.get(name) {
                Some(found) => apart(found, wanted, translation).map(|why| format!("{name}: {why}")),
                None => Some(format!("{name} is missing")),
            }),
        };
        self.differs(question, engine, why);
    }

    /// Compares what is inferred with what evaluation gives.
    fn infer(&mut self, question: &Question, engine: &'static str, inferred: Result<Inferred, String>, typed: bool) {
        self.answers(engine, inferred.as_ref().is_ok_and(|inferred| inferred.values().all(InferredOutput::is_whole)));
        let why = match inferred {
            Err(why) => Some(format!("refused: {why}")),
            Ok(inferred) => question.wanted.iter().find_map(|(name, wanted)| match inferred.get(name) {
                Some(inferred) => misfit(inferred, wanted, typed).map(|why| format!("{name}: {why}")),
                None => Some(format!("{name} is missing")),
            }),
        };
        self.differs(question, engine, why);
    }

    /// A question about what evaluation accepts.
    fn question<'q>(
        &mut self,
        operator: &'static str,
        (call, operands): (&'q dyn Display, Vec<Tensor>),
        run: Answer,
    ) -> Option<Question<'q>> {
        self.calls += 1;
        match run {
            Ok(wanted) => {
                *self.accepted.entry(operator).or_default() += 1;
                Some(Question { operator, call, operands, wanted })
            }
            Err(why) => {
                if std::env::var_os("NNEF_FLATTEN_TWINS_REFUSALS").is_some() {
                    println!("{operator} is refused: {why}\n{call}");
                }
                let panics = (why == engines::PANICS).then(|| format!("== {operator} run: {why}\n{call}"));
                self.differences.extend(panics);
                None
            }
        }
    }

    fn told(&self) {
        for ((engine, operator), count) in &self.refused {
            println!("{engine} refuses {count} of {} calls of {operator}", self.accepted[operator]);
        }
        for (engine, (answered, asked)) in &self.answered {
            println!("{engine} answers {answered} of {asked} calls");
        }
        let (count, differences) = (self.differences.len(), self.differences.join("\n"));
        for row in &self.rows {
            println!("{} calls differ as told: {}", row.seen, row.text);
        }
        assert!(self.differences.is_empty(), "{count} differences in {} calls:\n{differences}", self.calls);
    }
}

/// As many calls as are asked for, of each operator in turn.
fn each<M: Copy>(
    page: &str,
    makers: Vec<(&'static str, M)>,
    share: usize,
    mut ask: impl FnMut(&mut Tally, &'static str, M, Draw),
) {
    let only = std::env::var("NNEF_FLATTEN_TWINS_ONLY").ok();
    let named = |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == name));
    let makers: Vec<_> = makers.into_iter().filter(|(name, _)| named(name)).collect();
    let (mut tally, count) = (Tally { rows: differences::rows(page), ..Tally::default() }, count() * share / 4);
    for turn in 0.. {
        if tally.calls >= count || makers.is_empty() {
            break;
        }
        let (operator, maker) = makers[turn % makers.len()];
        ask(&mut tally, operator, maker, Draw::new(&mut tape(turn as u64)));
    }
    // What evaluation accepts of no operator tests nothing.
    let silent: Vec<_> =
        makers.iter().map(|(name, _)| *name).filter(|name| !tally.accepted.contains_key(name)).collect();
    tally.told();
    assert!(silent.is_empty() || count < 3 * makers.len(), "no call is accepted of {silent:?}");
    // Whoever says nothing is never wrong. Of open extents, only some shapes are whole.
    let mute: Vec<_> = tally.answered.iter().filter(|(_, (answered, asked))| answered * 2 < *asked).collect();
    assert!(
        mute.iter().all(|(engine, _)| **engine == "open") || count < 3 * makers.len(),
        "{mute:?} of {} calls",
        tally.calls
    );
    // A row that no call needs tells what is not so.
    let idle: Vec<&str> = tally.rows.iter().filter(|row| row.seen == 0).map(|row| row.text.as_str()).collect();
    assert!(idle.is_empty() || count < 100 * makers.len(), "nothing differs as told: {idle:#?}");
}

#[test]
fn operators_of_onnx() {
    each("onnx-to-nnef.md", makers::all(), 3, |tally, operator, maker, mut draw| {
        let Some(call) = maker(&mut draw, operator) else { return };
        let subject =
            |shapes| Subject { notation: "onnxtxt", bytes: call.text(shapes).into_bytes(), inputs: call.inputs() };
        let known = call.constants();
        let given = subject(true).knowing(&known);
        let run = given.as_ref().map_err(String::clone).and_then(Subject::run);
        let Some(question) = tally.question(operator, (&call, call.tensors()), run) else { return };
        let Ok(given) = given else { return };
        tally.compare(&question, "fold", given.folded());
        tally.compare(&question, "lower", given.lowered());
        tally.compare(&question, "nnef", given.in_nnef(false));
        tally.compare(&question, "strict", given.in_nnef(true));
        tally.compare(&question, "back", given.there_and_back());
        tally.infer(&question, "shape", given.inferred(), true);
        tally.infer(&question, "open", subject(false).knowing(&known).and_then(|open| open.inferred()), true);
    });
}

#[test]
fn operations_of_nnef() {
    each("nnef-to-onnx.md", nnef::all(), 1, |tally, operator, maker, mut draw| {
        let Some(call) = maker(&mut draw, operator) else { return };
        let given = Subject { notation: "nnef", bytes: call.text().into_bytes(), inputs: call.inputs() };
        let Some(question) = tally.question(operator, (&call, call.tensors()), given.run()) else { return };
        tally.compare(&question, "fold", given.folded());
        tally.compare(&question, "lower", given.lowered());
        tally.compare(&question, "onnx", given.translated("onnx"));
        tally.compare(&question, "pnnx", given.in_pnnx());
        tally.infer(&question, "shape", given.inferred(), false);
    });
}

/// The operators that have a kernel, and take and give tensors: sequences are made by other nodes, and maps have no literals.
fn evaluated() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/onnx/operators/operator_table.rs");
    let text = std::fs::read_to_string(path).expect("the table of operators");
    let (_, table) = text.split_once("OPERATORS: &[OperatorRow] = &[").expect("the rows");
    let rows = ["\n    onnx(\"", "\n    learning_row(\""].iter().flat_map(|start| table.split(start).skip(1));
    let row = |row: &str| {
        let (name, rest) = row.split_once('"')?;
        let rest = rest.split("\n    onnx(").next()?.split("\n    learning_row(").next()?;
        let has = [".runs(", ".means"].iter().any(|column| rest.contains(column));
        let of_tensors = ["k::sequence::", "k::ml::maps::"].iter().all(|made| !rest.contains(made));
        (has && of_tensors).then(|| name.to_owned())
    };
    rows.filter_map(row).collect()
}

#[test]
fn all_operators_with_kernels_are_called() {
    let makers = makers::all();
    let missing: Vec<String> =
        evaluated().into_iter().filter(|name| makers.iter().all(|made| made.0 != name)).collect();
    assert!(evaluated().len() > 150 && missing.is_empty(), "{missing:?} have kernels, and no maker of calls");
}
