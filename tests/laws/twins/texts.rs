//! Calls of operators on texts.

use super::call::Call;
use super::draw::*;
use super::makers::Maker;
use nnef_flatten::tensor::{Data, Tensor};

pub const MAKERS: &[Maker] = &[
    ("StringConcat", concat),
    ("StringSplit", split),
    ("StringNormalizer", normalizer),
    ("RegexFullMatch", matched),
    ("TfIdfVectorizer", counted),
];

const WORDS: &[&str] = &["a", "Cd", "", "a b", "a,b", " d  e", "ab12", "É", "x"];

/// Words of one or two parts.
fn words(s: &mut Draw, shape: &[usize]) -> Tensor {
    let items = (0..volume(shape)).map(|_| s.pick(WORDS).into()).collect();
    Tensor::new(shape, Data::Text(items)).expect("items for all places")
}

fn concat(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shapes = s.together(2);
    Some(Call::of(op).on(words(s, &shapes[0])).on(words(s, &shapes[1])))
}

fn split(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = s.some(1, 2, 3);
    let (sign, most) = (s.pick(&[",", " ", ""]), s.int(0, 2));
    let call = Call::of(op).on(words(s, &shape)).maybe("delimiter", s.maybe(sign)).maybe("maxsplit", s.maybe(most));
    Some(call.results(2))
}

fn normalizer(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = if s.flag() { vec![s.size(1, 4)] } else { vec![1, s.size(1, 4)] };
    let (case, sensitive) = (s.pick(&["UPPER", "LOWER", "NONE"]), s.flag());
    let call = Call::of(op).on(words(s, &shape)).maybe("case_change_action", s.maybe(case));
    let call = call.maybe("is_case_sensitive", s.maybe(sensitive));
    Some(call.maybe("stopwords", s.maybe(vec!["x", "cd"])))
}

fn matched(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = s.some(1, 2, 3);
    let pattern = s.pick(&["[a-z]*[0-9]{2}", "a.*", ".?", "(a|x)"]);
    Some(Call::of(op).on(words(s, &shape)).with("pattern", pattern))
}

/// Words are numbers, of which one or two in a row are counted.
fn counted(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = if s.flag() { vec![s.size(2, 6)] } else { vec![2, s.size(2, 6)] };
    let (of, skips, least) = (s.pick(&[I32, I64]), s.int(0, 2), s.int(1, 2));
    let x = s.indices(of, &shape, 4, false);
    let weights = vec![0.5f32, 2.0, 3.0, 0.25];
    let call = Call::of(op).on(x).with("mode", s.pick(&["TF", "IDF", "TFIDF"])).with("min_gram_length", least);
    let call = call.with("max_gram_length", 2).with("max_skip_count", skips).with("ngram_counts", vec![0, 2]);
    let call = call.with("ngram_indexes", vec![0, 1, 2, 3]).with("pool_int64s", vec![1, 2, 1, 2, 2, 3]);
    Some(call.maybe("weights", s.maybe(weights)))
}
