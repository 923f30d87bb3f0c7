//! The table of layers, `layers.txt`: the names and defaults of parameters by their numbers, and the weights in the
//! order of a `.bin` file.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::diagnostics::suggest;

/// The text of the table.
const TEXT: &str = include_str!("layers.txt");

/// A kind of layers.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerRow {
    /// The parameters.
    pub(super) parameters: Vec<ParameterRow>,
    /// The weights in the order of the file.
    pub(super) weights: Vec<WeightRow>,
    /// The conditions under which weights are not understood, and what they are then.
    pub(super) refused: Vec<(ParameterCondition, &'static str)>,
}

/// A parameter of a kind of layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParameterRow {
    /// Its number in texts.
    pub(super) number: u32,
    /// Its name.
    pub(super) name: &'static str,
    /// What it is if it is not given: a number, or an expression of other parameters; none for arrays and texts.
    pub(super) default: Option<&'static str>,
}

/// Weights of a kind of layers.
#[derive(Clone, Debug)]
pub(super) struct WeightRow {
    /// Their name.
    pub(super) name: &'static str,
    /// Whether they are 32-bit floats without a tag.
    pub(super) is_raw: bool,
    /// Their extents: products and quotients of parameters and numbers.
    pub(super) extents: Vec<&'static str>,
    /// The conditions under which the layer has them.
    pub(super) conditions: Vec<ParameterCondition>,
}

/// A condition on parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParameterCondition {
    pub(super) left: &'static str,
    pub(super) relation: Relation,
    pub(super) right: &'static str,
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Different,
    Above,
    AtLeast,
}

/// The signs of relations. Those that begin with another one come first.
const RELATIONS: &[(&str, Relation)] =
    &[("==", Relation::Equal), ("!=", Relation::Different), (">=", Relation::AtLeast), (">", Relation::Above)];

static ROWS: LazyLock<FxHashMap<&'static str, LayerRow>> = LazyLock::new(|| {
    let mut rows: FxHashMap<&'static str, LayerRow> = FxHashMap::default();
    let mut kind = "";
    for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if !line.starts_with(' ') {
            kind = line.split(' ').next().unwrap_or(line);
        }
        let row = rows.entry(kind).or_default();
        let rest = line.strip_prefix(kind).unwrap_or(line).trim();
        if let Some(weight) = rest.strip_prefix("+ ") {
            row.weights.push(weights(weight));
        } else if let Some(refused) = rest.strip_prefix("- ") {
            let (of, what) = refused.split_once(' ').unwrap_or((refused, ""));
            row.refused.push((condition(of), what));
        } else {
            row.parameters.extend(rest.split(',').filter_map(|text| parameter(text.trim())));
        }
    }
    rows
});

/// The row of a kind of layers.
pub(super) fn row(kind: &str) -> Option<&'static LayerRow> {
    ROWS.get(kind)
}

/// Shorter kinds differ in a letter from others.
const LEAST_LETTERS: usize = 5;

/// The kind that one without a row probably misspells.
pub(super) fn misspelt(kind: &str) -> Option<&'static str> {
    let short = kind.len() < LEAST_LETTERS;
    suggest::misspelt(kind, ROWS.keys().copied()).filter(|known| !short || suggest::anagram(kind, known))
}

impl LayerRow {
    /// The parameter with a number.
    pub(super) fn numbered(&self, number: u32) -> Option<&ParameterRow> {
        self.parameters.iter().find(|parameter| parameter.number == number)
    }

    /// The parameter with a name.
    pub(super) fn named(&self, name: &str) -> Option<&ParameterRow> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// `11 kernel_h=kernel_w`.
fn parameter(text: &'static str) -> Option<ParameterRow> {
    let (number, rest) = text.split_once(' ')?;
    let (name, default) = rest.split_once('=').map_or((rest, None), |(name, default)| (name, Some(default)));
    Some(ParameterRow { number: number.parse().ok()?, name, default })
}

/// `bias_data raw num_output ; bias_term, !dynamic_weight`.
fn weights(text: &'static str) -> WeightRow {
    let (sized, conditions) = text.split_once(" ; ").unwrap_or((text, ""));
    let (name, extents) = sized.split_once(' ').unwrap_or((sized, ""));
    let (extents, is_raw) = extents.strip_prefix("raw ").map_or((extents, false), |extents| (extents, true));
    let parts = |text: &'static str| text.split(',').map(str::trim).filter(|part| !part.is_empty());
    WeightRow {
        name,
        is_raw,
        extents: parts(extents).collect(),
        conditions: parts(conditions).map(condition).collect(),
    }
}

/// `a==1`, `a` for `a!=0`, `!a` for `a==0`.
fn condition(text: &'static str) -> ParameterCondition {
    if let Some(name) = text.strip_prefix('!') {
        return ParameterCondition { left: name, relation: Relation::Equal, right: "0" };
    }
    let split = RELATIONS.iter().find_map(|(sign, relation)| Some((text.split_once(sign)?, *relation)));
    let ((left, right), relation) = split.unwrap_or(((text, "0"), Relation::Different));
    ParameterCondition { left, relation, right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        assert!(ROWS.len() > 100, "{}", ROWS.len());
        for (kind, row) in ROWS.iter() {
            let is_known = |name: &str| {
                name.parse::<i64>().is_ok()
                    || row.named(name).is_some()
                    || name == "directions" && row.named("direction").is_some()
            };
            let known = |text: &str| text.split(['*', '/']).all(is_known);
            for (at, parameter) in row.parameters.iter().enumerate() {
                let fits =
                    parameter.number < 32 && row.parameters[..at].iter().all(|other| other.number != parameter.number);
                assert!(fits, "{kind} {parameter:?}");
                let default = parameter.default.unwrap_or("0");
                assert!(default.parse::<f64>().is_ok() || known(default), "{kind} {parameter:?}");
            }
            let weights = row.weights.iter().flat_map(|weights| &weights.conditions);
            for condition in weights.chain(row.refused.iter().map(|(condition, _)| condition)) {
                assert!(known(condition.left) && known(condition.right), "{kind} {condition:?}");
            }
            for weights in &row.weights {
                let fits = !weights.extents.is_empty() && weights.extents.iter().all(|extent| known(extent));
                assert!(fits && !weights.name.is_empty(), "{kind} {weights:?}");
            }
        }
    }
}
