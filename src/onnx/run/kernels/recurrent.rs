//! Recurrent layers: RNN, GRU and LSTM.

use super::reals::Reals;
use crate::eval::EvalError;
use crate::eval::kernels::{exchanged, multiplied};
use crate::library::recurrent::RecurrentKind;
use crate::onnx::run::activation::{self, Activation, ActivationError};
use crate::onnx::run::node_call::{KernelResult, NodeCall};
use crate::tensor::Tensor;

/// The activations of a layer, those of one direction after another.
fn activations(call: &NodeCall, kind: RecurrentKind, directions: usize) -> Result<Vec<Activation>, EvalError> {
    let parameters = [call.float_list("activation_alpha")?, call.float_list("activation_beta")?];
    activation::activations(kind, directions, call.texts("activations")?, parameters).map_err(|error| {
        call.refused(match error {
            ActivationError::Count { found, wanted } => format!("there are {found} activations instead of {wanted}"),
            ActivationError::Unknown(name) => format!("the activation '{name}' is not known"),
        })
    })
}

/// A number within a bound, which is positive, and its negative, if there is one. NaN stays.
fn clipped(x: f64, bound: Option<f64>) -> f64 {
    bound.map_or(x, |bound| x.clamp(-bound, bound))
}

/// What the layer computes with.
struct RecurrentLayer<'c> {
    kind: RecurrentKind,
    /// The operand with the axes time, batch, and features.
    x: Vec<f64>,
    time: usize,
    batch: usize,
    features: usize,
    hidden: usize,
    w: Reals<'c>,
    r: Reals<'c>,
    b: Option<Reals<'c>>,
    peepholes: Option<Reals<'c>>,
    lengths: Vec<usize>,
    clip: Option<f64>,
    /// Of GRU: multiplies after the linear transform. Of LSTM: couples the input and the forget gate.
    variant: bool,
}

/// The states of one direction, each of them batch × hidden.
struct RecurrentState {
    h: Vec<f64>,
    c: Vec<f64>,
}

/// The directions of a layer: whether each goes backwards.
fn directions(call: &NodeCall) -> Result<&'static [bool], EvalError> {
    Ok(match &*call.text_or("direction", "forward")? {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(call.refused(format!("`direction` is '{other}'"))),
    })
}

impl<'c> RecurrentLayer<'c> {
    fn read(call: &'c NodeCall, kind: RecurrentKind, directions: usize, batch_first: bool) -> Result<Self, EvalError> {
        let x = Reals::of(call, 0)?.ranked(call, 3)?;
        let (time, batch) = if batch_first { (x.shape[1], x.shape[0]) } else { (x.shape[0], x.shape[1]) };
        let features = x.shape[2];
        call.budget.room(&[time.max(1), batch.max(1)])?;
        let (gates, r) = (kind.gates() as usize, Reals::of(call, 2)?.ranked(call, 3)?);
        let hidden = r.shape[2];
        let stated = call.int("hidden_size")?.is_some_and(|stated| usize::try_from(stated) != Ok(hidden));
        let rows = gates.checked_mul(hidden).filter(|_| !stated);
        let rows = rows.ok_or_else(|| call.misfit(format!("the weights are for {hidden} hidden items")))?;
        let r = Reals::shaped(call, 2, &[directions, rows, hidden])?;
        let w = Reals::shaped(call, 1, &[directions, rows, features])?;
        let b = Reals::optional_shaped(call, 3, &[directions, 2 * rows])?;
        let peepholes = match kind {
            RecurrentKind::Lstm => Reals::optional_shaped(call, 7, &[directions, 3 * hidden])?,
            _ => None,
        };
        let lengths = match call.optional_list(4)? {
            None => vec![time; batch],
            Some(lengths) => {
                let length = |&n: &i64| usize::try_from(n).ok().filter(|&n| n <= time);
                let lengths: Option<Vec<usize>> = lengths.iter().map(length).collect();
                lengths.filter(|all| all.len() == batch).ok_or_else(|| call.misfit("the lengths of sequences"))?
            }
        };
        call.budget.room(x.shape)?;
        let x = if batch_first { exchanged(&x.items, [1, batch, time, features]) } else { x.items.into_owned() };
        let clip = call.float("clip")?.filter(|&clip| clip > 0.0);
        let variant = match kind {
            RecurrentKind::Rnn => false,
            RecurrentKind::Gru => call.flag("linear_before_reset", false)?,
            RecurrentKind::Lstm => call.flag("input_forget", false)?,
        };
        Ok(RecurrentLayer { kind, x, time, batch, features, hidden, w, r, b, peepholes, lengths, clip, variant })
    }

    fn gates(&self) -> usize {
        self.kind.gates() as usize
    }

    /// The sum of both biases of a gate, or one of them.
    fn bias(&self, direction: usize, row: usize, which: [bool; 2]) -> f64 {
        let rows = self.gates() * self.hidden;
        let Some(b) = &self.b else { return 0.0 };
        let part = |half: usize| if which[half] { b.items[direction * 2 * rows + half * rows + row] } else { 0.0 };
        part(0) + part(1)
    }

    /// Runs a direction. Returns the states after each step, at its time, and the last ones.
    fn run(
        &self,
        call: &NodeCall,
        direction: usize,
        backward: bool,
        activations: &[Activation],
        mut state: RecurrentState,
    ) -> Result<(Vec<f64>, RecurrentState), EvalError> {
        let (hidden, rows, batch) = (self.hidden, self.gates() * self.hidden, self.batch);
        let matrix = |of: &Reals, columns: usize| {
            exchanged(&of.items[direction * rows * columns..][..rows * columns], [1, rows, columns, 1])
        };
        let (w, r) = (matrix(&self.w, self.features), matrix(&self.r, hidden));
        let inputs = multiplied(call.budget, &self.x, &w, [self.time * batch, self.features, rows])?;
        let mut all = vec![0.0; call.budget.room(&[self.time, batch, hidden])?];
        let context = Step { layer: self, direction, activations, r: &r };
        for step in 0..self.time {
            let recurrent = call.budget.operation(|| multiplied(call.budget, &state.h, &r, [batch, hidden, rows]))?;
            for (i, &length) in self.lengths.iter().enumerate().filter(|(_, length)| step < **length) {
                let time = if backward { length - 1 - step } else { step };
                let input = &inputs[(time * batch + i) * rows..][..rows];
                let (h, c) = (&state.h[i * hidden..][..hidden], &state.c[i * hidden..][..hidden]);
                let (next, cell) = match self.kind {
                    RecurrentKind::Rnn => (context.rnn(input, &recurrent[i * rows..][..rows]), None),
                    RecurrentKind::Gru => {
                        call.budget.product(hidden, hidden)?;
                        (context.gru(input, &recurrent[i * rows..][..rows], h), None)
                    }
                    RecurrentKind::Lstm => {
                        let (h, c) = context.lstm(input, &recurrent[i * rows..][..rows], c);
                        (h, Some(c))
                    }
                };
                all[(time * batch + i) * hidden..][..hidden].copy_from_slice(&next);
                state.h[i * hidden..][..hidden].copy_from_slice(&next);
                if let Some(cell) = cell {
                    state.c[i * hidden..][..hidden].copy_from_slice(&cell);
                }
            }
        }
        Ok((all, state))
    }
}

/// One step of one direction, for one item of the batch.
struct Step<'s, 'c> {
    layer: &'s RecurrentLayer<'c>,
    direction: usize,
    activations: &'s [Activation],
    /// The transposed recurrent weights.
    r: &'s [f64],
}

impl Step<'_, '_> {
    fn activated(&self, which: usize, x: f64) -> f64 {
        self.activations[which].apply(clipped(x, self.layer.clip))
    }

    /// The sum of a gate before its activation.
    fn gate(&self, input: &[f64], recurrent: &[f64], row: usize) -> f64 {
        input[row] + recurrent[row] + self.layer.bias(self.direction, row, [true; 2])
    }

    fn rnn(&self, input: &[f64], recurrent: &[f64]) -> Vec<f64> {
        (0..self.layer.hidden).map(|k| self.activated(0, self.gate(input, recurrent, k))).collect()
    }

    fn gru(&self, input: &[f64], recurrent: &[f64], h: &[f64]) -> Vec<f64> {
        let hidden = self.layer.hidden;
        let gate = |which: usize, k: usize| self.activated(0, self.gate(input, recurrent, which * hidden + k));
        let reset: Vec<f64> = (0..hidden).map(|k| gate(1, k)).collect();
        let bias = |row: usize, which| self.layer.bias(self.direction, row, which);
        let linear = |k: usize| {
            let row = 2 * hidden + k;
            let past = match self.layer.variant {
                true => reset[k] * (recurrent[row] + bias(row, [false, true])),
                false => {
                    let product = |(j, h): (usize, &f64)| reset[j] * h * self.r[j * 3 * hidden + row];
                    h.iter().enumerate().map(product).sum::<f64>() + bias(row, [false, true])
                }
            };
            self.activated(1, input[row] + bias(row, [true, false]) + past)
        };
        let next = |k: usize| {
            let update = gate(0, k);
            (1.0 - update) * linear(k) + update * h[k]
        };
        (0..hidden).map(next).collect()
    }

    fn lstm(&self, input: &[f64], recurrent: &[f64], c: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let hidden = self.layer.hidden;
        // The gates are input, output, forget and cell; the peepholes are input, output and forget.
        let peephole = |which: usize, k: usize| {
            self.layer.peepholes.as_ref().map_or(0.0, |p| p.items[(self.direction * 3 + which) * hidden + k])
        };
        let gate = |which: usize, k: usize, past: f64| {
            let sum = self.gate(input, recurrent, which * hidden + k);
            self.activated(0, sum + peephole(which, k) * past)
        };
        let next = |k: usize| {
            let admitted = gate(0, k, c[k]);
            let kept = if self.layer.variant { 1.0 - admitted } else { gate(2, k, c[k]) };
            let cell = kept * c[k] + admitted * self.activated(1, self.gate(input, recurrent, 3 * hidden + k));
            (gate(1, k, cell) * self.activations[2].apply(cell), cell)
        };
        (0..hidden).map(next).unzip()
    }
}

fn layer(call: &NodeCall, kind: RecurrentKind) -> KernelResult {
    let (directions, batch_first) = (directions(call)?, call.flag("layout", false)?);
    let layer = RecurrentLayer::read(call, kind, directions.len(), batch_first)?;
    let (time, batch, hidden, count) = (layer.time, layer.batch, layer.hidden, directions.len());
    let activations = activations(call, kind, count)?;
    let extents = if batch_first { [batch, count, hidden] } else { [count, batch, hidden] };
    let initial = |i: usize| -> Result<Vec<f64>, EvalError> {
        call.budget.room(&extents)?;
        Ok(match Reals::optional_shaped(call, i, &extents)? {
            None => vec![0.0; count * batch * hidden],
            Some(found) if batch_first => exchanged(&found.items, [1, batch, count, hidden]),
            Some(found) => found.items.into_owned(),
        })
    };
    let (first_h, first_c) = (initial(5)?, if kind == RecurrentKind::Lstm { initial(6)? } else { initial(5)? });
    let (mut y, mut h, mut c) = (Vec::new(), Vec::new(), Vec::new());
    let each = activation::defaults(kind).len();
    for (i, &backward) in directions.iter().enumerate() {
        let own = |items: &[f64]| items[i * batch * hidden..][..batch * hidden].to_vec();
        let state = RecurrentState { h: own(&first_h), c: own(&first_c) };
        let (all, last) = layer.run(call, i, backward, &activations[i * each..][..each], state)?;
        y.extend(all);
        h.extend(last.h);
        c.extend(last.c);
    }
    // All steps have the axes direction, time, and batch.
    let y = exchanged(&y, [1, count, time, batch * hidden]);
    let (y, shape) = match batch_first {
        false => (y, [time, count, batch, hidden]),
        true => (exchanged(&y, [1, time * count, batch, hidden]), [batch, time, count, hidden]),
    };
    let dtype = call.tensor(0)?.dtype();
    let last = |items: Vec<f64>| -> Result<Tensor, EvalError> {
        let items = if batch_first { exchanged(&items, [1, count, batch, hidden]) } else { items };
        call.rounded(dtype, &extents, items)
    };
    let mut results = vec![call.rounded(dtype, &shape, y)?.into(), last(h)?.into()];
    if kind == RecurrentKind::Lstm {
        results.push(last(c)?.into());
    }
    Ok(results)
}

/// `RNN`.
pub(in crate::onnx) fn rnn(call: &NodeCall) -> KernelResult {
    layer(call, RecurrentKind::Rnn)
}

/// `GRU`.
pub(in crate::onnx) fn gru(call: &NodeCall) -> KernelResult {
    layer(call, RecurrentKind::Gru)
}

/// `LSTM`.
pub(in crate::onnx) fn lstm(call: &NodeCall) -> KernelResult {
    layer(call, RecurrentKind::Lstm)
}
