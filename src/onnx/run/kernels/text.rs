//! Text.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::reals::{broadcast, naturals};
use crate::eval::EvalError;
use crate::onnx::run::broadcast::to;
use crate::onnx::run::node_call::{KernelResult, NodeCall, integers, one, texts};
use crate::tensor::{Data, Tensor};

/// `StringConcat`.
pub(in crate::onnx) fn string_concat(call: &NodeCall) -> KernelResult {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let shape = broadcast(call, a.shape(), b.shape())?;
    call.budget.room(&shape)?;
    fn parts(of: &Tensor) -> Result<Vec<&str>, EvalError> {
        Ok(texts(of)?.iter().map(|text| &**text).collect())
    }
    let (x, y) = (parts(a)?, parts(b)?);
    // Each text of an operand is repeated as often as its items are.
    let bytes = |of: &[&str]| {
        let sum: usize = of.iter().map(|text| text.len()).sum();
        sum.saturating_mul(crate::tensor::volume(&shape).unwrap_or(usize::MAX).div_ceil(of.len().max(1)))
    };
    call.texts_room(&shape, bytes(&x).saturating_add(bytes(&y)))?;
    let items: Vec<Arc<str>> = to(&shape).zip((&x, a.shape()), (&y, b.shape()), |x, y| format!("{x}{y}").into());
    one(call.made(&shape, Data::Text(items))?)
}

/// `RegexFullMatch`.
pub(in crate::onnx) fn regex_full_match(call: &NodeCall) -> KernelResult {
    let (x, pattern) = (call.tensor(0)?, call.text_or("pattern", "")?);
    let whole = call.stores.patterns.whole(&pattern, call.budget)?;
    let items = texts(x)?;
    let bytes = items.iter().map(|item| item.len() as u64).fold(0, u64::saturating_add);
    call.budget.work(bytes.saturating_mul(whole.steps))?;
    one(call.made(x.shape(), Data::Bool(items.iter().map(|item| whole.regex.is_match(item)).collect()))?)
}

/// The parts of a text; without a separator those between white space. The last part has the rest.
fn split<'t>(text: &'t str, separator: &str, limit: Option<usize>) -> Vec<&'t str> {
    if !separator.is_empty() {
        return match limit {
            Some(limit) => text.splitn(limit.saturating_add(1), separator).collect(),
            None => text.split(separator).collect(),
        };
    }
    let (mut parts, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).filter(|_| limit.is_none_or(|limit| parts.len() < limit));
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = after.trim_start();
    }
    parts
}

/// The number of parts of a text, at least.
fn count(text: &str, separator: &str, limit: Option<usize>) -> usize {
    let all = match separator.is_empty() {
        true => text.split_whitespace().count(),
        false => text.matches(separator).count().saturating_add(1),
    };
    limit.map_or(all, |limit| all.min(limit.saturating_add(1)))
}

/// `StringSplit`: the parts of each text, filled up with empty ones, and their numbers.
pub(in crate::onnx) fn string_split(call: &NodeCall) -> KernelResult {
    let (x, separator) = (call.tensor(0)?, call.text_or("delimiter", "")?);
    let limit = call.int("maxsplit")?.and_then(|limit| usize::try_from(limit).ok());
    for text in texts(x)? {
        let count = count(text, &separator, limit);
        // A part is a slice first, then a text of its own.
        call.budget.memory(count.saturating_mul(6).saturating_add(text.len() / 8), "the parts of texts")?;
    }
    let parts: Vec<Vec<&str>> = texts(x)?.iter().map(|text| split(text, &separator, limit)).collect();
    let most = parts.iter().map(Vec::len).max().unwrap_or(0);
    let shape = [x.shape(), &[most]].concat();
    call.budget.room(&shape)?;
    let empty: Arc<str> = "".into();
    let row = |parts: &Vec<&str>| {
        let found = parts.iter().map(|part| Arc::from(*part)).collect::<Vec<Arc<str>>>();
        found.into_iter().chain(std::iter::repeat_n(empty.clone(), most - parts.len()))
    };
    let items: Vec<Arc<str>> = parts.iter().flat_map(row).collect();
    let counts = parts.iter().map(|parts| parts.len() as i64).collect();
    Ok(vec![call.made(&shape, Data::Text(items))?.into(), call.made(x.shape(), Data::Int64(counts))?.into()])
}

/// `StringNormalizer`: removes stop words, and changes the case.
pub(in crate::onnx) fn string_normalizer(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let [.., count] = *x.shape() else { return Err(call.misfit("the operand is a scalar")) };
    if x.rank() > 2 || count != x.len() {
        return Err(call.misfit(format!("texts of shape {:?}", x.shape())));
    }
    let change: fn(&str) -> String = match &*call.text_or("case_change_action", "NONE")? {
        "NONE" => str::to_owned,
        "LOWER" => str::to_lowercase,
        "UPPER" => str::to_uppercase,
        other => return Err(call.refused(format!("`case_change_action` is '{other}'"))),
    };
    // A change of case makes a text at most three times as long.
    let bytes = texts(x)?.iter().map(|text| text.len()).fold(0usize, usize::saturating_add);
    call.texts_room(x.shape(), bytes.saturating_mul(3))?;
    let sensitive = call.flag("is_case_sensitive", false)?;
    let compared = |text: &str| if sensitive { text.to_owned() } else { text.to_lowercase() };
    let stops: FxHashSet<String> = call.texts("stopwords")?.unwrap_or_default().iter().map(|s| compared(s)).collect();
    let kept = texts(x)?.iter().filter(|text| !stops.contains(&compared(text)));
    let mut items: Vec<Arc<str>> = kept.map(|text| change(text).into()).collect();
    if items.is_empty() {
        items.push("".into());
    }
    let mut shape = vec![1; x.rank() - 1];
    shape.push(items.len());
    one(call.made(&shape, Data::Text(items))?)
}

/// The n-grams that a node counts.
struct Grams {
    /// The numbers of the items of n-grams.
    integers: FxHashMap<i64, usize>,
    texts: FxHashMap<String, usize>,
    /// The columns of n-grams.
    columns: FxHashMap<Vec<usize>, usize>,
    width: usize,
    sizes: std::ops::RangeInclusive<usize>,
}

impl Grams {
    fn read(call: &NodeCall) -> Result<Self, EvalError> {
        let wrong = || call.refused("the pool of n-grams does not fit its counts");
        let natural = |name: &str| usize::try_from(call.int_or(name, 0)?).map_err(|_| wrong());
        let sizes = natural("min_gram_length")?..=natural("max_gram_length")?;
        let (integers, texts) = (call.ints("pool_int64s")?, call.texts("pool_strings")?);
        let (mut integer_numbers, mut text_numbers) = (FxHashMap::default(), FxHashMap::default());
        let pool: Vec<usize> = match (integers, texts) {
            (Some(pool), _) if !pool.is_empty() => {
                pool.into_iter().map(|item| numbered(&mut integer_numbers, item)).collect()
            }
            (_, Some(pool)) => pool.into_iter().map(|item| numbered(&mut text_numbers, item)).collect(),
            _ => Vec::new(),
        };
        let starts = naturals(call, "ngram_counts")?.ok_or_else(wrong)?;
        let indices = naturals(call, "ngram_indexes")?.ok_or_else(wrong)?;
        let mut ids = indices.iter();
        let mut columns = FxHashMap::default();
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(pool.len());
            let grams = pool.get(start..end).ok_or_else(wrong)?;
            for gram in grams.chunks_exact(i + 1) {
                let column = *ids.next().ok_or_else(wrong)?;
                if sizes.contains(&(i + 1)) {
                    columns.insert(gram.to_vec(), column);
                }
            }
        }
        let width = indices.iter().max().map_or(0, |greatest| greatest.saturating_add(1));
        Ok(Grams { integers: integer_numbers, texts: text_numbers, columns, width, sizes })
    }

    /// The numbers of the items of an operand.
    fn numbers(&self, x: &Tensor) -> Result<Vec<Option<usize>>, EvalError> {
        match x.data() {
            Data::Text(items) => Ok(items.iter().map(|item| self.texts.get(&**item).copied()).collect()),
            _ => Ok(integers(x)?.iter().map(|item| self.integers.get(item).copied()).collect()),
        }
    }

    /// Counts the n-grams of a row, whose items may be up to a distance apart.
    fn count(&self, row: &[Option<usize>], distance: usize, counts: &mut [f64]) {
        let mut least = (*self.sizes.start()).max(1);
        for step in 1..=distance {
            for start in 0..row.len() {
                let mut gram = Vec::new();
                for number in row[start..].iter().step_by(step).take(*self.sizes.end()) {
                    let Some(number) = number else { break };
                    gram.push(*number);
                    if gram.len() < least {
                        continue;
                    }
                    if let Some(&column) = self.columns.get(&gram) {
                        counts[column] += 1.0;
                    }
                }
            }
            // Single items have no distance.
            least = least.max(2);
        }
    }
}

/// The number of an item: a new one if it is new.
fn numbered<K: std::hash::Hash + Eq>(numbers: &mut FxHashMap<K, usize>, item: K) -> usize {
    let next = numbers.len();
    *numbers.entry(item).or_insert(next)
}

/// `TfIdfVectorizer`.
pub(in crate::onnx) fn tf_idf(call: &NodeCall) -> KernelResult {
    let (x, grams) = (call.tensor(0)?, Grams::read(call)?);
    let (shape, width) = match *x.shape() {
        [] => (vec![grams.width], 1),
        [items] => (vec![grams.width], items),
        [rows, items] => (vec![rows, grams.width], items),
        _ => return Err(call.misfit(format!("rows of shape {:?}", x.shape()))),
    };
    let mut counts = vec![0.0; call.budget.room(&shape)?];
    let skips =
        usize::try_from(call.int_or("max_skip_count", 0)?).map_err(|_| call.refused("`max_skip_count` is negative"))?;
    let distance = skips.saturating_add(1).min(width);
    let longest = (*grams.sizes.end()).min(width);
    call.budget.work((x.len() as u64).saturating_mul(distance as u64).saturating_mul(longest as u64))?;
    let numbers = grams.numbers(x)?;
    let rows = numbers.chunks_exact(width.max(1));
    for (row, counts) in rows.zip(counts.chunks_exact_mut(grams.width.max(1))) {
        grams.count(row, distance, counts);
    }
    let (weights, mode) = (call.float_list("weights")?.unwrap_or_default(), call.text_or("mode", "TF")?);
    if !["TF", "IDF", "TFIDF"].contains(&&*mode) {
        return Err(call.refused(format!("`mode` is '{mode}'")));
    }
    let weight = |i: usize| weights.get(i % grams.width.max(1)).map_or(1.0, |weight| f64::from(*weight));
    let weighted = |(i, count): (usize, &f64)| match &*mode {
        "IDF" => {
            if *count > 0.0 {
                weight(i)
            } else {
                0.0
            }
        }
        "TFIDF" => count * weight(i),
        _ => *count,
    };
    let result: Vec<f64> = counts.iter().enumerate().map(weighted).collect();
    one(call.rounded(crate::tensor::DType::Float32, &shape, result)?)
}
