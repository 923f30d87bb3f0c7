//! Recurrent layers of known lengths.

use super::activations::{Activation, activations};
use crate::library::assembly::recurrent::{Direction, GateOrder, RecurrentKind, projected, stacked};
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome, zeros};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::tensor::{DType, Tensor};

/// The extents of a layer.
#[derive(Clone, Copy)]
struct LayerExtents {
    steps: i64,
    batch: i64,
    hidden: i64,
    directions: i64,
}

/// The activations of one direction, unless the node states others.
fn defaults(kind: RecurrentKind) -> &'static [&'static str] {
    match kind {
        RecurrentKind::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        RecurrentKind::Gru => &["Sigmoid", "Tanh"],
        RecurrentKind::Rnn => &["Tanh"],
    }
}

pub(in crate::onnx::to_nnef) fn lstm(line: &mut NodeLine) -> NodeResults {
    layer(line, RecurrentKind::Lstm)
}

pub(in crate::onnx::to_nnef) fn gru(line: &mut NodeLine) -> NodeResults {
    layer(line, RecurrentKind::Gru)
}

pub(in crate::onnx::to_nnef) fn rnn(line: &mut NodeLine) -> NodeResults {
    layer(line, RecurrentKind::Rnn)
}

/// The part of an operand that belongs to a direction: without the first axis.
fn part(line: &mut NodeLine, i: usize, direction: i64) -> Lowered<FlatTensor> {
    let shape = line.shape(i)?;
    let inner = shape.get(1..).ok_or(NodeRefusal::RANK)?;
    if let Some(tensor) = line.value(i) {
        let extents: Vec<usize> = tensor.shape().iter().skip(1).copied().collect();
        let count = crate::tensor::volume(&extents).ok_or(NodeRefusal::UNFIT)?;
        let first = usize::try_from(direction).ok().and_then(|at| at.checked_mul(count)).ok_or(NodeRefusal::UNFIT)?;
        let data = tensor.data().pick(first..first.saturating_add(count));
        return line.emit.own_constant(Tensor::new(&extents, data).ok_or(NodeRefusal::UNFIT)?);
    }
    let x = line.flat(i)?;
    let section = line.emit.section(x, 0, (direction, direction + 1))?;
    line.emit.reshape(section, inner)
}

fn add(line: &mut NodeLine, x: FlatTensor, y: Option<FlatTensor>) -> Lowered<FlatTensor> {
    y.map_or(Ok(x), |y| line.emit.formula("add(@0,@1)", &[x, y]))
}

/// The state before the first step: zeros, unless there is an operand.
fn initial(line: &mut NodeLine, (i, direction): (usize, i64), of: LayerExtents) -> Lowered<FlatTensor> {
    if !line.has(i) {
        return line.emit.own_constant(zeros(&[of.batch, of.hidden], DType::Float32)?);
    }
    if line.int("layout", 0)? == 0 {
        return part(line, i, direction);
    }
    let x = line.flat(i)?;
    let section = line.emit.section(x, 1, (direction, direction + 1))?;
    line.emit.squeeze(section, &[1])
}

/// The input, with the axis of steps first, and the extents.
fn input(line: &mut NodeLine, kind: RecurrentKind) -> Lowered<(FlatTensor, LayerExtents)> {
    let mut x = line.flat(0)?;
    if line.int("layout", 0)? != 0 {
        x = line.emit.transpose(x, &[1, 0, 2])?;
    }
    let &[steps, batch, _] = &line.emit.extents(x)?[..] else { return Err(NodeRefusal::RANK) };
    let &[directions, rows, _] = &line.shape(1)?[..] else { return Err(NodeRefusal::RANK) };
    let hidden = rows / kind.gates();
    if line.has(4) {
        let lengths = line.list(4)?.unwrap_or_default();
        if lengths.iter().any(|length| *length != steps) {
            return Err(NodeRefusal::because("its sequences have different lengths"));
        }
    }
    Ok((x, LayerExtents { steps, batch, hidden, directions }))
}

/// The biases of a direction: of the products with the input, and of those with the state.
fn biases(
    line: &mut NodeLine,
    direction: i64,
    of: LayerExtents,
    kind: RecurrentKind,
) -> Lowered<[Option<FlatTensor>; 2]> {
    if !line.has(3) {
        return Ok([None, None]);
    }
    let all = part(line, 3, direction)?;
    let width = crate::onnx::to_nnef::shape::product(&[of.hidden, kind.gates()])?;
    let all = line.emit.reshape(all, &[2, width])?;
    let halves = [line.emit.section(all, 0, (0, 1))?, line.emit.section(all, 0, (1, 2))?];
    match kind {
        // The gate of a GRU may apply to the second bias.
        RecurrentKind::Gru => Ok(halves.map(Some)),
        _ => Ok([Some(add(line, halves[0], Some(halves[1]))?), None]),
    }
}

fn direction(
    line: &mut NodeLine,
    (kind, at): (RecurrentKind, i64),
    (x, extents): (FlatTensor, LayerExtents),
    activations: &[Activation],
) -> Lowered<Direction<FlatTensor>> {
    let of = extents;
    let weights = part(line, 1, at)?;
    let recurrent = part(line, 2, at)?;
    let [bias, state_bias] = biases(line, at, of, kind)?;
    let projected = projected(line.emit, x, weights, bias)?;
    let peephole = match kind == RecurrentKind::Lstm && line.has(7) {
        true => {
            let all = part(line, 7, at)?;
            let all = line.emit.reshape(all, &[1, of.hidden * 3])?;
            let section = |line: &mut NodeLine, i: i64| line.emit.section(all, 1, (i * of.hidden, (i + 1) * of.hidden));
            Some([section(line, 0)?, section(line, 1)?, section(line, 2)?])
        }
        false => None,
    };
    let text = line.text("direction", "forward")?;
    Ok(Direction {
        kind,
        order: GateOrder::Onnx,
        steps: of.steps,
        hidden: of.hidden,
        reverse: text == "reverse" || at == 1,
        projected,
        recurrent,
        bias: state_bias,
        peephole,
        projection: None,
        activations: activations.iter().map(|activation| activation.formula.clone()).collect(),
        clip: line.attributes.float("clip")?.map(f64::from),
        reset_after: line.flag("linear_before_reset", false)?,
        coupled: line.flag("input_forget", false)?,
    })
}

fn layer(line: &mut NodeLine, kind: RecurrentKind) -> NodeResults {
    let (x, of) = input(line, kind)?;
    if of.steps == 0 {
        return Err(NodeRefusal::because("it has no steps"));
    }
    let activations = activations(line, defaults(kind), of.directions)?;
    let each = defaults(kind).len();
    let (mut all, mut states, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..of.directions {
        let own = activations.chunks(each).nth(at as usize).unwrap_or_default();
        let direction = direction(line, (kind, at), (x, of), own)?;
        let state = initial(line, (5, at), of)?;
        let cell = if kind == RecurrentKind::Lstm { Some(initial(line, (6, at), of)?) } else { None };
        let run = direction.unrolled(line.emit, (state, cell))?;
        all.push(line.emit.unsqueeze(run.states, vec![1])?);
        states.push(run.last);
        cells.extend(run.cell);
    }
    let (mut outputs, mut last) = (line.emit.concat(&all, 1)?, vec![stacked(line.emit, &states)?]);
    if !cells.is_empty() {
        last.push(stacked(line.emit, &cells)?);
    }
    if line.int("layout", 0)? != 0 {
        outputs = line.emit.transpose(outputs, &[2, 0, 1, 3])?;
        last = last.into_iter().map(|flat| line.emit.transpose(flat, &[1, 0, 2])).collect::<Lowered<_>>()?;
    }
    Ok(std::iter::once(outputs).chain(last).map(NnefOutcome::FlatTensor).collect())
}
