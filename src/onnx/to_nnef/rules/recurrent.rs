//! Recurrent layers of known lengths: the operations of each step.

use super::activations::{Activation, activations};
use super::matrices;
use crate::onnx::to_nnef::formula::FormulaTerm;
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome, zeros};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::tensor::{DType, Tensor};

/// The step of a layer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lstm,
    Gru,
    Rnn,
}

impl Kind {
    /// The number of gates.
    fn gates(self) -> i64 {
        match self {
            Kind::Lstm => 4,
            Kind::Gru => 3,
            Kind::Rnn => 1,
        }
    }

    /// The activations of one direction, unless the node states others.
    fn activations(self) -> &'static [&'static str] {
        match self {
            Kind::Lstm => &["Sigmoid", "Tanh", "Tanh"],
            Kind::Gru => &["Sigmoid", "Tanh"],
            Kind::Rnn => &["Tanh"],
        }
    }
}

/// The extents of a layer.
#[derive(Clone, Copy)]
struct LayerExtents {
    steps: i64,
    batch: i64,
    input: i64,
    hidden: i64,
    directions: i64,
}

/// One direction of a layer.
struct Direction<'a> {
    kind: Kind,
    extents: LayerExtents,
    reverse: bool,
    /// The products of all steps with the input, of the shape (steps, batch, gates × hidden).
    projected: FlatTensor,
    /// The weights of the state, of the shape (gates × hidden, hidden).
    recurrent: FlatTensor,
    /// What is added to the products with the state.
    bias: Option<FlatTensor>,
    /// The weights from the cell to its gates.
    peephole: Option<[FlatTensor; 3]>,
    activations: &'a [Activation],
    clip: Option<f64>,
    /// Whether the reset gate of a GRU applies to the product.
    reset_after: bool,
    /// Whether the forget gate of an LSTM is the complement of the input gate.
    coupled: bool,
}

pub(in crate::onnx::to_nnef) fn lstm(line: &mut NodeLine) -> NodeResults {
    layer(line, Kind::Lstm)
}

pub(in crate::onnx::to_nnef) fn gru(line: &mut NodeLine) -> NodeResults {
    layer(line, Kind::Gru)
}

pub(in crate::onnx::to_nnef) fn rnn(line: &mut NodeLine) -> NodeResults {
    layer(line, Kind::Rnn)
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
fn input(line: &mut NodeLine, kind: Kind) -> Lowered<(FlatTensor, LayerExtents)> {
    let mut x = line.flat(0)?;
    if line.int("layout", 0)? != 0 {
        x = line.emit.transpose(x, &[1, 0, 2])?;
    }
    let &[steps, batch, input] = &line.emit.extents(x)?[..] else { return Err(NodeRefusal::RANK) };
    let &[directions, rows, _] = &line.shape(1)?[..] else { return Err(NodeRefusal::RANK) };
    let hidden = rows / kind.gates();
    if line.has(4) {
        let lengths = line.list(4)?.unwrap_or_default();
        if lengths.iter().any(|length| *length != steps) {
            return Err(NodeRefusal::because("its sequences have different lengths"));
        }
    }
    Ok((x, LayerExtents { steps, batch, input, hidden, directions }))
}

/// The biases of a direction: of the products with the input, and of those with the state.
fn biases(line: &mut NodeLine, direction: i64, of: LayerExtents, kind: Kind) -> Lowered<[Option<FlatTensor>; 2]> {
    if !line.has(3) {
        return Ok([None, None]);
    }
    let all = part(line, 3, direction)?;
    let width = crate::onnx::to_nnef::shape::product(&[of.hidden, kind.gates()])?;
    let all = line.emit.reshape(all, &[2, width])?;
    let halves = [line.emit.section(all, 0, (0, 1))?, line.emit.section(all, 0, (1, 2))?];
    match kind {
        // The gate of a GRU may apply to the second bias.
        Kind::Gru => Ok(halves.map(Some)),
        _ => Ok([Some(add(line, halves[0], Some(halves[1]))?), None]),
    }
}

fn direction<'a>(
    line: &mut NodeLine,
    (kind, at): (Kind, i64),
    (x, extents): (FlatTensor, LayerExtents),
    activations: &'a [Activation],
) -> Lowered<Direction<'a>> {
    let of = extents;
    let weights = part(line, 1, at)?;
    let recurrent = part(line, 2, at)?;
    let [bias, state_bias] = biases(line, at, of, kind)?;
    let rows = crate::onnx::to_nnef::shape::product(&[of.steps, of.batch])?;
    let flat = line.emit.reshape(x, &[rows, of.input])?;
    let projected = matrices::product(line, flat, weights, (false, true))?;
    let projected = add(line, projected, bias)?;
    let projected = line.emit.reshape(projected, &[of.steps, of.batch, of.hidden * kind.gates()])?;
    let peephole = match kind == Kind::Lstm && line.has(7) {
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
        extents,
        reverse: text == "reverse" || at == 1,
        projected,
        recurrent,
        bias: state_bias,
        peephole,
        activations,
        clip: line.attributes.float("clip")?.map(f64::from),
        reset_after: line.flag("linear_before_reset", false)?,
        coupled: line.flag("input_forget", false)?,
    })
}

impl Direction<'_> {
    /// Part of a tensor of gates.
    fn gate(&self, line: &mut NodeLine, gates: FlatTensor, at: i64) -> Lowered<FlatTensor> {
        let width = self.extents.hidden;
        line.emit.section(gates, 1, (at * width, (at + 1) * width))
    }

    fn activate(&self, line: &mut NodeLine, at: usize, x: FlatTensor) -> Lowered<FlatTensor> {
        let mut x = x;
        if let Some(clip) = self.clip {
            let bounds = [x.into(), FormulaTerm::of(-clip), FormulaTerm::of(clip)];
            x = line.emit.formula("minimum(maximum(@0,@1),@2)", &bounds)?;
        }
        self.plain(line, at, x)
    }

    fn plain(&self, line: &mut NodeLine, at: usize, x: FlatTensor) -> Lowered<FlatTensor> {
        let activation = self.activations.get(at).ok_or(NodeRefusal::because("it has too few activations"))?;
        line.emit.formula(&activation.formula, &[x])
    }

    /// A gate with what it gets from the cell.
    fn seeing(
        &self,
        line: &mut NodeLine,
        (gate, weights): (FlatTensor, usize),
        cell: FlatTensor,
    ) -> Lowered<FlatTensor> {
        match self.peephole.as_ref().and_then(|all| all.get(weights)) {
            None => Ok(gate),
            Some(weights) => {
                let terms = [gate, cell, *weights];
                line.emit.formula("add(@0,mul(@1,@2))", &terms)
            }
        }
    }

    /// One step: the next state, and the next cell.
    fn step(
        &self,
        line: &mut NodeLine,
        inputs: FlatTensor,
        state: FlatTensor,
        cell: Option<FlatTensor>,
    ) -> Lowered<(FlatTensor, Option<FlatTensor>)> {
        match (self.kind, cell) {
            (Kind::Lstm, Some(cell)) => self.lstm(line, inputs, state, cell).map(|(state, cell)| (state, Some(cell))),
            (Kind::Lstm, None) => Err(NodeRefusal::UNFIT),
            (Kind::Gru, _) => Ok((self.gru(line, inputs, state)?, None)),
            (Kind::Rnn, _) => {
                let product = matrices::product(line, state, self.recurrent, (false, true))?;
                let sum = add(line, inputs, Some(product))?;
                Ok((self.activate(line, 0, sum)?, None))
            }
        }
    }

    fn lstm(
        &self,
        line: &mut NodeLine,
        inputs: FlatTensor,
        state: FlatTensor,
        cell: FlatTensor,
    ) -> Lowered<(FlatTensor, FlatTensor)> {
        let product = matrices::product(line, state, self.recurrent, (false, true))?;
        let gates = add(line, inputs, Some(product))?;
        let (input, output) = (self.gate(line, gates, 0)?, self.gate(line, gates, 1)?);
        let (forget, fresh) = (self.gate(line, gates, 2)?, self.gate(line, gates, 3)?);
        let input = self.seeing(line, (input, 0), cell)?;
        let input = self.activate(line, 0, input)?;
        let forget = match self.coupled {
            true => line.emit.formula("sub(1.0,@0)", &[input])?,
            false => {
                let forget = self.seeing(line, (forget, 2), cell)?;
                self.activate(line, 0, forget)?
            }
        };
        let fresh = self.activate(line, 1, fresh)?;
        let terms = [forget, cell, input, fresh];
        let cell = line.emit.formula("add(mul(@0,@1),mul(@2,@3))", &terms)?;
        let output = self.seeing(line, (output, 1), cell)?;
        let output = self.activate(line, 0, output)?;
        let shown = self.plain(line, 2, cell)?;
        let state = line.emit.formula("mul(@0,@1)", &[output, shown])?;
        Ok((state, cell))
    }

    fn gru(&self, line: &mut NodeLine, inputs: FlatTensor, state: FlatTensor) -> Lowered<FlatTensor> {
        let width = self.extents.hidden;
        let weights = line.emit.section(self.recurrent, 0, (0, 2 * width))?;
        let fresh_weights = line.emit.section(self.recurrent, 0, (2 * width, 3 * width))?;
        let (bias, fresh_bias) = match self.bias {
            None => (None, None),
            Some(all) => {
                let section = |line: &mut NodeLine, range| line.emit.section(all, 1, range).map(Some);
                (section(line, (0, 2 * width))?, section(line, (2 * width, 3 * width))?)
            }
        };
        let product = matrices::product(line, state, weights, (false, true))?;
        let product = add(line, product, bias)?;
        let first = line.emit.section(inputs, 1, (0, 2 * width))?;
        let gates = add(line, first, Some(product))?;
        let (update, reset) = (self.gate(line, gates, 0)?, self.gate(line, gates, 1)?);
        let (update, reset) = (self.activate(line, 0, update)?, self.activate(line, 0, reset)?);
        let multiply = |line: &mut NodeLine, x: FlatTensor| line.emit.formula("mul(@0,@1)", &[reset, x]);
        let state_before = if self.reset_after { state } else { multiply(line, state)? };
        let product = matrices::product(line, state_before, fresh_weights, (false, true))?;
        let product = add(line, product, fresh_bias)?;
        let product = if self.reset_after { multiply(line, product)? } else { product };
        let fresh = self.gate(line, inputs, 2)?;
        let fresh = add(line, fresh, Some(product))?;
        let fresh = self.activate(line, 1, fresh)?;
        let terms = [update, fresh, state];
        line.emit.formula("add(mul(sub(1.0,@0),@1),mul(@0,@2))", &terms)
    }

    /// All steps: the states in the order of the input, the last state, and the last cell.
    fn run(
        &self,
        line: &mut NodeLine,
        (mut state, mut cell): (FlatTensor, Option<FlatTensor>),
    ) -> Lowered<(FlatTensor, FlatTensor, Option<FlatTensor>)> {
        let of = self.extents;
        let mut states = Vec::new();
        for step in 0..of.steps {
            let at = if self.reverse { of.steps - 1 - step } else { step };
            let inputs = line.emit.section(self.projected, 0, (at, at + 1))?;
            let inputs = line.emit.squeeze(inputs, &[0])?;
            (state, cell) = self.step(line, inputs, state, cell)?;
            states.push(line.emit.unsqueeze(state, vec![0, 1])?);
        }
        if self.reverse {
            states.reverse();
        }
        Ok((line.emit.concat(&states, 0)?, state, cell))
    }
}

fn layer(line: &mut NodeLine, kind: Kind) -> NodeResults {
    let (x, of) = input(line, kind)?;
    if of.steps == 0 {
        return Err(NodeRefusal::because("it has no steps"));
    }
    let activations = activations(line, kind.activations(), of.directions)?;
    let each = kind.activations().len();
    let (mut all, mut states, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..of.directions {
        let own = activations.chunks(each).nth(at as usize).unwrap_or_default();
        let direction = direction(line, (kind, at), (x, of), own)?;
        let state = initial(line, (5, at), of)?;
        let cell = if kind == Kind::Lstm { Some(initial(line, (6, at), of)?) } else { None };
        let (outputs, state, cell) = direction.run(line, (state, cell))?;
        all.push(outputs);
        states.push(line.emit.unsqueeze(state, vec![0])?);
        if let Some(cell) = cell {
            cells.push(line.emit.unsqueeze(cell, vec![0])?);
        }
    }
    let (mut outputs, mut last) = (line.emit.concat(&all, 1)?, vec![line.emit.concat(&states, 0)?]);
    if !cells.is_empty() {
        last.push(line.emit.concat(&cells, 0)?);
    }
    if line.int("layout", 0)? != 0 {
        outputs = line.emit.transpose(outputs, &[2, 0, 1, 3])?;
        last = last.into_iter().map(|flat| line.emit.transpose(flat, &[1, 0, 2])).collect::<Lowered<_>>()?;
    }
    Ok(std::iter::once(outputs).chain(last).map(NnefOutcome::FlatTensor).collect())
}
