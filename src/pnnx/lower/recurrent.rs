//! `nn.LSTM`, `nn.GRU` and `nn.RNN` of known lengths: the operations of each step.

use super::{Line, Lowered, Refusal, extent_of};
use crate::graph::TensorId;
use crate::library::assembly::Assembly;
use crate::library::assembly::recurrent::{Direction, projected, stacked};
use crate::library::recurrent::RecurrentKind;
use crate::pnnx::item::ExpandedItem;

/// The settings of an operator.
#[derive(Clone, Copy)]
struct LayerSettings {
    kind: RecurrentKind,
    layers: i64,
    directions: i64,
    hidden: i64,
    /// The number of items of a state.
    shown: i64,
    batch: i64,
    biased: bool,
    /// The activation of an RNN.
    activation: &'static str,
}

/// The operands: the input, the first state, and the first cell, as far as they are given.
fn operands(line: &Line) -> Lowered<(TensorId, Vec<TensorId>)> {
    let mut found = Vec::new();
    for operand in &line.operands {
        let items = match &operand.item {
            ExpandedItem::List(items) => &items[..],
            item => std::slice::from_ref(item),
        };
        for item in items {
            match item {
                ExpandedItem::Tensor(tensor) => found.push(*tensor),
                _ => return Err(Refusal::Because("an operand is not a tensor".into())),
            }
        }
        operand.used.set(true);
    }
    match found.split_first() {
        Some((x, states)) => Ok((*x, states.to_vec())),
        None => Err(Refusal::UNFIT),
    }
}

/// The input with the axes (steps, batch, items).
fn steps_first(line: &mut Line, x: TensorId, batch_first: bool) -> Lowered<TensorId> {
    match (line.rank(x)?, batch_first) {
        (2, _) => line.with_axes(x, [1]),
        (3, false) => Ok(x),
        (3, true) => line.transposed(x, &[1, 0, 2]),
        _ => Err(Refusal::UNFIT),
    }
}

fn settings(line: &Line, kind: RecurrentKind, x: TensorId) -> Lowered<LayerSettings> {
    let extents = line.extents(x)?;
    line.agrees("input_size", &[extents.get(2).copied()])?;
    let hidden = line.at_least("hidden_size", 1, None)?;
    let shown = match kind {
        RecurrentKind::Lstm => Some(line.at_least("proj_size", 0, Some(0))?).filter(|size| *size > 0),
        _ => None,
    };
    let activation = match kind {
        RecurrentKind::Rnn => {
            let words = [("tanh", "tanh(@0)"), ("relu", "maximum(@0,0.0)")];
            line.choice("nonlinearity", &words, Some("tanh(@0)"))?
        }
        _ => "tanh(@0)",
    };
    // It has a meaning only in training.
    line.ignore("dropout");
    Ok(LayerSettings {
        kind,
        layers: line.at_least("num_layers", 1, Some(1))?,
        directions: if line.flag("bidirectional")? { 2 } else { 1 },
        hidden,
        shown: shown.unwrap_or(hidden),
        batch: extent_of(&extents, 1)?,
        biased: line.optional("bias")?.unwrap_or(true),
        activation,
    })
}

/// The state of a direction before its first step: zeros, unless it is given with the axes (layers and directions,
/// batch, items), or without a batch.
fn initial(line: &mut Line, given: Option<TensorId>, at: i64, shape: [i64; 2]) -> Lowered<TensorId> {
    match given {
        None => line.numbers(&shape, |_| 0.0),
        Some(all) => {
            let one = line.item_of(all, 0, at)?;
            line.reshaped(one, &shape)
        }
    }
}

/// The biases of a direction: of the products with the input, and of those with the state, as rows.
fn biases(line: &mut Line, of: LayerSettings, suffix: &str) -> Lowered<[Option<TensorId>; 2]> {
    if !of.biased {
        return Ok([None, None]);
    }
    let mut row = |key: &str| {
        let bias = line.data(&format!("{key}{suffix}"))?;
        line.with_axes(bias, [0])
    };
    let (input, state) = (row("bias_ih_l")?, row("bias_hh_l")?);
    match of.kind {
        // The gate of a GRU applies to the second bias.
        RecurrentKind::Gru => Ok([Some(input), Some(state)]),
        _ => Ok([Some(line.formula_of("add(@0,@1)", &[input, state])?), None]),
    }
}

fn direction(line: &mut Line, of: LayerSettings, x: TensorId, suffix: &str) -> Lowered<Direction<TensorId>> {
    let [bias, state_bias] = biases(line, of, suffix)?;
    let weights = line.data(&format!("weight_ih_l{suffix}"))?;
    let recurrent = line.data(&format!("weight_hh_l{suffix}"))?;
    let rows = of.hidden.checked_mul(of.kind.gates()).ok_or(Refusal::UNFIT)?;
    if line.extents(recurrent)? != [rows, of.shown] || extent_of(&line.extents(weights)?, 0)? != rows {
        return Err(Refusal::Because("its weights do not fit its settings".into()));
    }
    let projection = match of.shown == of.hidden && line.stored(&format!("weight_hr_l{suffix}")).is_none() {
        true => None,
        false => Some(line.data(&format!("weight_hr_l{suffix}"))?),
    };
    let activations: &[&str] = match of.kind {
        RecurrentKind::Rnn => &[of.activation],
        _ => &["sigmoid(@0)", of.activation, of.activation],
    };
    Ok(Direction {
        kind: of.kind,
        steps: extent_of(&line.extents(x)?, 0)?,
        hidden: of.hidden,
        reverse: suffix.ends_with("_reverse"),
        projected: projected(line, x, weights, bias)?,
        recurrent,
        bias: state_bias,
        projection,
        activations: activations.iter().map(|formula| (*formula).to_owned()).collect(),
    })
}

/// All layers: the states of the last one, then the last states and the last cells of all layers and directions.
pub(super) fn layers(line: &mut Line, kind: RecurrentKind) -> Lowered<Vec<TensorId>> {
    let (given, states) = operands(line)?;
    let most = if kind == RecurrentKind::Lstm { 2 } else { 1 };
    if !states.is_empty() && states.len() != most {
        return Err(Refusal::UNFIT);
    }
    let (single, batch_first) = (line.rank(given)? == 2, line.flag("batch_first")?);
    let mut x = steps_first(line, given, batch_first)?;
    let of = settings(line, kind, x)?;
    let (mut last, mut cells) = (Vec::new(), Vec::new());
    for layer in 0..of.layers {
        let mut sides = Vec::new();
        for side in 0..of.directions {
            let at = layer.checked_mul(of.directions).and_then(|at| at.checked_add(side)).ok_or(Refusal::UNFIT)?;
            let suffix = format!("{layer}{}", if side == 1 { "_reverse" } else { "" });
            let direction = direction(line, of, x, &suffix)?;
            let state = initial(line, states.first().copied(), at, [of.batch, of.shown])?;
            let cell = match kind {
                RecurrentKind::Lstm => Some(initial(line, states.get(1).copied(), at, [of.batch, of.hidden])?),
                _ => None,
            };
            let run = direction.unrolled(line, (state, cell))?;
            sides.push(run.states);
            last.push(run.last);
            cells.extend(run.cell);
        }
        x = line.concatenated(&sides, 2)?;
    }
    let y = match (single, batch_first) {
        (true, _) => line.without_axes(x, &[1])?,
        (false, true) => line.transposed(x, &[1, 0, 2])?,
        (false, false) => x,
    };
    let mut results = vec![y];
    for states in [last, cells].into_iter().filter(|states| !states.is_empty()) {
        if results.len() < line.operator.outputs.len() {
            let all = stacked(line, &states)?;
            results.push(if single { line.without_axes(all, &[1])? } else { all });
        }
    }
    Ok(results)
}
