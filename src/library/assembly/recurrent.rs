//! Recurrent layers of known lengths, as torch has them: the operations of each step. The gates of weights are, for an LSTM,
//! input, forget, cell, output, and for a GRU reset, update, new; its reset gate applies to the product with the state.

use super::Assembly;
use crate::library::recurrent::RecurrentKind;

/// One direction of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Direction<T> {
    pub(crate) kind: RecurrentKind,
    /// The number of steps.
    pub(crate) steps: i64,
    /// The number of items of a gate.
    pub(crate) hidden: i64,
    pub(crate) reverse: bool,
    /// The products of all steps with the input, of the shape (steps, batch, gates × hidden).
    pub(crate) projected: T,
    /// The weights of the state, of the shape (gates × hidden, items of the state).
    pub(crate) recurrent: T,
    /// What is added to the products with the state, of the shape (1, gates × hidden).
    pub(crate) bias: Option<T>,
    /// The weights that make the state of an LSTM smaller, of the shape (items of the state, hidden).
    pub(crate) projection: Option<T>,
    /// The formulas of the activations: of gates, of new values, of the cell that is shown.
    pub(crate) activations: Vec<String>,
}

/// The results of a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unrolled<T> {
    /// The states in the order of the input, of the shape (steps, batch, items of the state).
    pub(crate) states: T,
    /// The last state.
    pub(crate) last: T,
    /// The last cell of an LSTM.
    pub(crate) cell: Option<T>,
}

/// The least number of operations of a step.
const LEAST_OPERATIONS: i64 = 4;

/// The operations of a direction.
struct Steps<'a, A: Assembly> {
    to: &'a mut A,
    of: &'a Direction<A::Tensor>,
}

/// The state, and the cell of an LSTM.
type States<T> = (T, Option<T>);

impl<T: Copy> Direction<T> {
    /// Adds the operations of all steps.
    ///
    /// # Errors
    ///
    /// There are no steps, or the operands do not fit.
    pub(crate) fn unrolled<A: Assembly<Tensor = T>>(
        &self,
        to: &mut A,
        (mut state, mut cell): States<T>,
    ) -> Result<Unrolled<T>, A::Refusal> {
        if self.steps < 1 {
            return Err(to.refusal("it has no steps"));
        }
        to.allows(self.steps.saturating_mul(LEAST_OPERATIONS))?;
        let mut steps = Steps { to, of: self };
        let mut states = Vec::new();
        for step in 0..self.steps {
            let at = if self.reverse { self.steps.saturating_sub(1).saturating_sub(step) } else { step };
            let inputs = steps.to.item_of(self.projected, 0, at)?;
            let inputs = steps.to.without_axes(inputs, &[0])?;
            (state, cell) = steps.step(inputs, (state, cell))?;
            states.push(steps.to.with_axes(state, [0])?);
        }
        if self.reverse {
            states.reverse();
        }
        Ok(Unrolled { states: to.concatenated(&states, 0)?, last: state, cell })
    }
}

impl<A: Assembly> Steps<'_, A> {
    fn add(&mut self, x: A::Tensor, y: Option<A::Tensor>) -> Result<A::Tensor, A::Refusal> {
        y.map_or(Ok(x), |y| self.to.formula_of("add(@0,@1)", &[x, y]))
    }

    /// The gate at a place of a tensor of gates.
    fn gate(&mut self, gates: A::Tensor, at: i64) -> Result<A::Tensor, A::Refusal> {
        let bound = |at: i64| self.of.hidden.checked_mul(at).ok_or_else(|| self.to.unfit());
        let range = bound(at)?..bound(at.saturating_add(1))?;
        self.to.part_of(gates, 1, range)
    }

    fn activate(&mut self, at: usize, x: A::Tensor) -> Result<A::Tensor, A::Refusal> {
        match self.of.activations.get(at) {
            Some(formula) => self.to.formula_of(formula, &[x]),
            None => Err(self.to.refusal("it has too few activations")),
        }
    }

    /// One step: the next state, and the next cell.
    fn step(&mut self, inputs: A::Tensor, (state, cell): States<A::Tensor>) -> Result<States<A::Tensor>, A::Refusal> {
        match (self.of.kind, cell) {
            (RecurrentKind::Lstm, Some(cell)) => self.lstm(inputs, state, cell),
            (RecurrentKind::Lstm, None) => Err(self.to.unfit()),
            (RecurrentKind::Gru, _) => Ok((self.gru(inputs, state)?, None)),
            (RecurrentKind::Rnn, _) => {
                let product = self.product(state, self.of.recurrent)?;
                let product = self.add(product, self.of.bias)?;
                let sum = self.add(inputs, Some(product))?;
                Ok((self.activate(0, sum)?, None))
            }
        }
    }

    /// The product of a state with weights.
    fn product(&mut self, state: A::Tensor, weights: A::Tensor) -> Result<A::Tensor, A::Refusal> {
        self.to.multiplied(state, weights, [false, true])
    }

    fn lstm(&mut self, inputs: A::Tensor, state: A::Tensor, cell: A::Tensor) -> Result<States<A::Tensor>, A::Refusal> {
        let product = self.product(state, self.of.recurrent)?;
        let product = self.add(product, self.of.bias)?;
        let gates = self.add(inputs, Some(product))?;
        let input = self.gate(gates, 0)?;
        let input = self.activate(0, input)?;
        let forget = self.gate(gates, 1)?;
        let forget = self.activate(0, forget)?;
        let fresh = self.gate(gates, 2)?;
        let fresh = self.activate(1, fresh)?;
        let cell = self.to.formula_of("add(mul(@0,@1),mul(@2,@3))", &[forget, cell, input, fresh])?;
        let output = self.gate(gates, 3)?;
        let output = self.activate(0, output)?;
        let shown = self.activate(2, cell)?;
        let mut state = self.to.formula_of("mul(@0,@1)", &[output, shown])?;
        if let Some(projection) = self.of.projection {
            state = self.product(state, projection)?;
        }
        Ok((state, Some(cell)))
    }

    fn gru(&mut self, inputs: A::Tensor, state: A::Tensor) -> Result<A::Tensor, A::Refusal> {
        let twice = self.of.hidden.checked_mul(2).ok_or_else(|| self.to.unfit())?;
        let all = twice.checked_add(self.of.hidden).ok_or_else(|| self.to.unfit())?;
        let parts = |steps: &mut Self, x: A::Tensor, axis: i64| {
            Ok([steps.to.part_of(x, axis, 0..twice)?, steps.to.part_of(x, axis, twice..all)?])
        };
        let [weights, fresh_weights] = parts(self, self.of.recurrent, 0)?;
        let [bias, fresh_bias] = match self.of.bias {
            None => [None, None],
            Some(bias) => parts(self, bias, 1)?.map(Some),
        };
        let [first, fresh] = parts(self, inputs, 1)?;
        let product = self.product(state, weights)?;
        let product = self.add(product, bias)?;
        let gates = self.add(first, Some(product))?;
        let update = self.gate(gates, 1)?;
        let update = self.activate(0, update)?;
        let reset = self.gate(gates, 0)?;
        let reset = self.activate(0, reset)?;
        let product = self.product(state, fresh_weights)?;
        let product = self.add(product, fresh_bias)?;
        let product = self.to.formula_of("mul(@0,@1)", &[reset, product])?;
        let fresh = self.add(fresh, Some(product))?;
        let fresh = self.activate(1, fresh)?;
        self.to.formula_of("add(mul(sub(1.0,@0),@1),mul(@0,@2))", &[update, fresh, state])
    }
}

/// The products of all steps with the input, plus the bias: (steps, batch, items) becomes (steps, batch, rows of the
/// weights).
///
/// # Errors
///
/// The operands do not fit.
pub(crate) fn projected<A: Assembly>(
    to: &mut A,
    x: A::Tensor,
    weights: A::Tensor,
    bias: Option<A::Tensor>,
) -> Result<A::Tensor, A::Refusal> {
    let (&[steps, batch, items], &[rows, columns]) = (&to.extents_of(x)?[..], &to.extents_of(weights)?[..]) else {
        return Err(to.unfit());
    };
    if items != columns {
        return Err(to.unfit());
    }
    let flat = to.count(&[steps, batch])?;
    let flat = to.reshaped(x, &[flat, items])?;
    let mut product = to.multiplied(flat, weights, [false, true])?;
    if let Some(bias) = bias {
        product = to.formula_of("add(@0,@1)", &[product, bias])?;
    }
    to.reshaped(product, &[steps, batch, rows])
}

/// The last state of each direction as one tensor with a leading axis for them.
///
/// # Errors
///
/// There are none.
pub(crate) fn stacked<A: Assembly>(to: &mut A, states: &[A::Tensor]) -> Result<A::Tensor, A::Refusal> {
    let mut raised = Vec::with_capacity(states.len());
    for state in states {
        raised.push(to.with_axes(*state, [0])?);
    }
    to.concatenated(&raised, 0)
}
