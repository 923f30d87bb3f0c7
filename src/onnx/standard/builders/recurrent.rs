//! Recurrent layers of known lengths: the operations of each step.

use super::activation;
use crate::library::recurrent::RecurrentKind;
use crate::onnx::run::activation::{Activation, activations, defaults};
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The most lines of the body of a layer.
const MAX_LINES: i64 = 1 << 18;

/// An upper bound of the lines of a step, and of those around the steps of a direction.
const LINES_OF_STEP: i64 = 64;

/// The first version with the operator that makes states of zeros.
const ZEROS: i64 = 8;

/// The first version in which integers are compared, and items are chosen.
const CHOICES: i64 = 9;

/// The places of operands in a call.
const X: usize = 0;
const W: usize = 1;
const R: usize = 2;
const B: usize = 3;
const LENGTHS: usize = 4;
const INITIAL_H: usize = 5;
const INITIAL_C: usize = 6;
const P: usize = 7;

pub(in crate::onnx::standard) fn lstm(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    Layer::new(call, RecurrentKind::Lstm)?.write(settings);
    Ok(())
}

pub(in crate::onnx::standard) fn gru(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    Layer::new(call, RecurrentKind::Gru)?.write(settings);
    Ok(())
}

pub(in crate::onnx::standard) fn rnn(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    Layer::new(call, RecurrentKind::Rnn)?.write(settings);
    Ok(())
}

/// A layer, as far as its steps depend on it.
struct Layer {
    kind: RecurrentKind,
    steps: i64,
    hidden: i64,
    directions: i64,
    reverse: bool,
    /// Whether the batch is the first axis.
    batch_first: bool,
    biased: bool,
    peepholes: bool,
    initial: bool,
    initial_cell: bool,
    /// Whether items of the batch have lengths of their own.
    has_lengths: bool,
    starts_with_zeros: bool,
    /// The activations of all directions.
    activations: Vec<Activation>,
    clip: Option<f32>,
    /// Whether the reset gate of a GRU applies to the product with the state.
    reset_after: bool,
    /// Whether the forget gate of an LSTM is the complement of the input gate.
    coupled: bool,
    /// Which results are used: all states, the last one, the last cell.
    used: [bool; 3],
}

impl Layer {
    fn new(call: &StandardCall, kind: RecurrentKind) -> Build<Layer> {
        let batch_first = call.int("layout", 0)? != 0;
        let steps = call.extent(X, usize::from(batch_first))?;
        let (directions, hidden) = (call.extent(W, 0)?, call.extent(R, 2)?);
        let direction = call.text("direction", "forward")?;
        let wanted = match direction.as_str() {
            "forward" | "reverse" => 1,
            "bidirectional" => 2,
            _ => return Err(NotKnown),
        };
        let lines = LINES_OF_STEP.checked_mul(steps).and_then(|lines| lines.checked_mul(directions));
        let fits = lines.is_some_and(|lines| lines <= MAX_LINES) && steps > 0 && hidden > 0 && directions == wanted;
        let has_lengths = call.has_input(LENGTHS) && !call.all_items_are(LENGTHS, steps);
        if !fits || has_lengths && call.version < CHOICES {
            return Err(NotKnown);
        }
        let initial_cell = kind == RecurrentKind::Lstm && call.has_input(INITIAL_C);
        let starts_with_zeros = !call.has_input(INITIAL_H) || kind == RecurrentKind::Lstm && !initial_cell;
        if starts_with_zeros && call.version < ZEROS {
            return Err(NotKnown);
        }
        let names = call.read("activations")?;
        let parameters = [call.read("activation_alpha")?, call.read("activation_beta")?];
        let activations = activations(kind, directions as usize, names, parameters).map_err(|_| NotKnown)?;
        if !activations.iter().all(|activation| activation::exists(activation, call.version)) {
            return Err(NotKnown);
        }
        Ok(Layer {
            kind,
            steps,
            hidden,
            directions,
            reverse: direction == "reverse",
            batch_first,
            biased: call.has_input(B),
            peepholes: kind == RecurrentKind::Lstm && call.has_input(P),
            initial: call.has_input(INITIAL_H),
            initial_cell,
            has_lengths,
            starts_with_zeros,
            activations,
            clip: call.float("clip")?.filter(|clip| *clip > 0.0),
            reset_after: call.int("linear_before_reset", 0)? != 0,
            coupled: call.int("input_forget", 0)? != 0,
            used: [0, 1, 2].map(|i| call.has_output(i)),
        })
    }

    /// Writes the body.
    fn write(&self, settings: &mut TemplateSettings) {
        let [all, last, cells] = self.used;
        settings.flag("layout", self.batch_first).flag("all", all).flag("last", last);
        settings.flag("cells", cells && self.kind == RecurrentKind::Lstm);
        let mut out = Lines { settings };
        self.shared(&mut out);
        let mut results: [Vec<String>; 3] = Default::default();
        for direction in 0..self.directions {
            let made = self.direction(&mut out, direction);
            results.iter_mut().zip(made).for_each(|(all, made)| all.push(made));
        }
        let [states, last_states, last_cells] = results;
        let name = |own: &str, result: &str| if self.batch_first { own.to_owned() } else { result.to_owned() };
        if all {
            out.node(&name("all_states", "Y"), "Concat <axis: int = 1>", &states.join(", "));
        }
        if last {
            out.node(&name("last_states", "Y_h"), "Concat <axis: int = 0>", &last_states.join(", "));
        }
        if cells && self.kind == RecurrentKind::Lstm {
            out.node(&name("last_cells", "Y_c"), "Concat <axis: int = 0>", &last_cells.join(", "));
        }
    }

    /// Constants, the input with its steps first, and the state of zeros.
    fn shared(&self, out: &mut Lines) {
        let (gates, hidden) = (self.kind.gates(), self.hidden);
        for i in 0..self.steps.max(gates).max(2) {
            out.line(format!("at{i} = const int64 ({i})"));
        }
        out.line(format!("gate_shape = const int64[3] (0, {gates}, {hidden})"));
        out.line(format!("state_shape = const int64[4] (1, 1, -1, {hidden})"));
        out.line(format!("last_shape = const int64[3] (1, -1, {hidden})"));
        out.line(format!("bias_shape = const int64[2] (2, {})", gates * hidden));
        out.line(format!("parts_shape = const int64[2] (3, {hidden})"));
        out.line(format!("weights_shape = const int64[3] (3, {hidden}, {hidden})"));
        out.line("one = const $T (1)".to_owned());
        if let Some(clip) = self.clip {
            let clip = f64::from(clip);
            out.line(format!("least = const $T ({:e})", -clip));
            out.line(format!("greatest = const $T ({clip:e})"));
        }
        if self.has_lengths {
            out.line("column = const int64[2] (-1, 1)".to_owned());
            out.line("blank = const $T (0)".to_owned());
            out.node("whole_lengths", "Cast <to: int = 7>", "sequence_lens");
            out.node("lengths", "Reshape", "whole_lengths, column");
        }
        if self.batch_first {
            out.node("steps_first", "Transpose <perm: ints = [1, 0, 2]>", "X");
        }
        if self.starts_with_zeros {
            out.line("zero = const $T (0)".to_owned());
            out.line("batch_axis = const int64[1] (1)".to_owned());
            out.line(format!("width = const int64[1] ({hidden})"));
            out.node("extents", "Shape", self.input());
            out.node("batch", "Gather <axis: int = 0>", "extents, batch_axis");
            out.node("zeros_shape", "Concat <axis: int = 0>", "batch, width");
            out.node("zeros", "Expand", "zero, zeros_shape");
        }
    }

    fn input(&self) -> &'static str {
        if self.batch_first { "steps_first" } else { "X" }
    }

    /// The steps of a direction. Returns the names of all states, the last state, and the last cell.
    fn direction(&self, out: &mut Lines, number: i64) -> [String; 3] {
        let each = defaults(self.kind).len();
        let activations = self.activations.chunks(each).nth(number as usize).unwrap_or_default();
        let steps = DirectionSteps { layer: self, number, activations };
        steps.weights(out);
        let mut state = steps.initial(out, "h", "initial_h", self.initial);
        let mut cell = match self.kind {
            RecurrentKind::Lstm => steps.initial(out, "c", "initial_c", self.initial_cell),
            RecurrentKind::Gru | RecurrentKind::Rnn => String::new(),
        };
        let mut states = Vec::new();
        let reverse = self.reverse || number == 1;
        for step in 0..self.steps {
            let at = if reverse { self.steps - 1 - step } else { step };
            let inputs = steps.name("x", at);
            out.node(&inputs, "Gather <axis: int = 0>", &format!("{}, at{at}", steps.own("projected")));
            let (before, cell_before) = (state, cell);
            (state, cell) = steps.step(out, at, &inputs, before.clone(), cell_before.clone());
            let mut shown = state.clone();
            if self.has_lengths {
                (state, cell, shown) = steps.within(out, at, before, cell_before, state, cell);
            }
            if self.used[0] {
                states.push(steps.name("state", at));
                out.node(&steps.name("state", at), "Reshape", &format!("{shown}, state_shape"));
            }
        }
        if reverse {
            states.reverse();
        }
        let [all, last, last_cell] = ["states", "last", "last_cell"].map(|name| steps.own(name));
        if self.used[0] {
            out.node(&all, "Concat <axis: int = 0>", &states.join(", "));
        }
        if self.used[1] {
            out.node(&last, "Reshape", &format!("{state}, last_shape"));
        }
        if self.used[2] && self.kind == RecurrentKind::Lstm {
            out.node(&last_cell, "Reshape", &format!("{cell}, last_shape"));
        }
        [all, last, last_cell]
    }
}

/// Lines of a body.
struct Lines<'s> {
    settings: &'s mut TemplateSettings,
}

impl Lines<'_> {
    fn line(&mut self, line: String) {
        self.settings.line(line);
    }

    fn node(&mut self, result: &str, operator: &str, operands: &str) {
        self.line(format!("{result} = {operator} ({operands})"));
    }
}

/// The steps of one direction.
struct DirectionSteps<'l> {
    layer: &'l Layer,
    number: i64,
    activations: &'l [Activation],
}

impl DirectionSteps<'_> {
    /// A name of the direction.
    fn own(&self, name: &str) -> String {
        format!("{name}_{}", self.number)
    }

    /// A name of a step.
    fn name(&self, name: &str, step: i64) -> String {
        format!("{name}_{}_{step}", self.number)
    }

    /// The part of an operand with an axis of directions that belongs to this one.
    fn part(&self, out: &mut Lines, result: &str, operand: &str) -> String {
        let result = self.own(result);
        out.node(&result, "Gather <axis: int = 0>", &format!("{operand}, at{}", self.number));
        result
    }

    /// The weights, biases, and the products of all steps with the input.
    fn weights(&self, out: &mut Lines) {
        const TRANSPOSE: &str = "Transpose <perm: ints = [1, 0]>";
        let layer = self.layer;
        let weights = self.part(out, "weights", "W");
        out.node(&self.own("input_weights"), TRANSPOSE, &weights);
        let product = if layer.biased { self.own("product") } else { self.own("projected") };
        out.node(&product, "MatMul", &format!("{}, {}", layer.input(), self.own("input_weights")));
        if layer.biased {
            self.biases(out, &product);
        }
        let recurrent = self.part(out, "recurrent", "R");
        if layer.kind == RecurrentKind::Gru {
            let parts = self.own("recurrent_parts");
            out.node(&parts, "Reshape", &format!("{recurrent}, weights_shape"));
            for gate in 0..layer.kind.gates() {
                let part = self.name("recurrent_part", gate);
                out.node(&part, "Gather <axis: int = 0>", &format!("{parts}, at{gate}"));
                out.node(&self.name("state_weights", gate), TRANSPOSE, &part);
            }
        } else {
            out.node(&self.own("state_weights"), TRANSPOSE, &recurrent);
        }
        if layer.peepholes {
            let all = self.part(out, "peephole", "P");
            out.node(&self.own("peepholes"), "Reshape", &format!("{all}, parts_shape"));
            for gate in 0..3 {
                let operands = format!("{}, at{gate}", self.own("peepholes"));
                out.node(&self.name("peephole", gate), "Gather <axis: int = 0>", &operands);
            }
        }
    }

    /// Adds the biases to the products with the input: all of them, except that the reset gate of a GRU may apply to the
    /// second one of the new state.
    fn biases(&self, out: &mut Lines, product: &str) {
        let all = self.part(out, "bias", "B");
        let halves = self.own("biases");
        out.node(&halves, "Reshape", &format!("{all}, bias_shape"));
        let [first, second] = [0, 1].map(|half| self.name("bias", half));
        out.node(&first, "Gather <axis: int = 0>", &format!("{halves}, at0"));
        out.node(&second, "Gather <axis: int = 0>", &format!("{halves}, at1"));
        let mut added = first;
        if self.layer.kind == RecurrentKind::Gru {
            let parts = self.own("state_biases");
            out.node(&parts, "Reshape", &format!("{second}, parts_shape"));
            for gate in 0..3 {
                out.node(&self.name("state_bias", gate), "Gather <axis: int = 0>", &format!("{parts}, at{gate}"));
            }
        } else {
            out.node(&self.own("bias_sum"), "Add", &format!("{added}, {second}"));
            added = self.own("bias_sum");
        }
        out.node(&self.own("projected"), "Add", &format!("{product}, {added}"));
    }

    /// The state before the first step: zeros, unless there is an operand.
    fn initial(&self, out: &mut Lines, result: &str, operand: &str, is_given: bool) -> String {
        if !is_given {
            return "zeros".to_owned();
        }
        let axis = i64::from(self.layer.batch_first);
        let result = self.own(result);
        out.node(&result, &format!("Gather <axis: int = {axis}>"), &format!("{operand}, at{}", self.number));
        result
    }

    /// One step: the names of the next state and the next cell.
    fn step(&self, out: &mut Lines, at: i64, inputs: &str, state: String, cell: String) -> (String, String) {
        match self.layer.kind {
            RecurrentKind::Rnn => {
                let (product, sum) = (self.name("product", at), self.name("sum", at));
                out.node(&product, "MatMul", &format!("{state}, {}", self.own("state_weights")));
                out.node(&sum, "Add", &format!("{inputs}, {product}"));
                (self.activated(out, 0, &sum, "h", at), cell)
            }
            RecurrentKind::Gru => (self.gru(out, at, inputs, &state), cell),
            RecurrentKind::Lstm => self.lstm(out, at, inputs, &state, &cell),
        }
    }

    /// The state and the cell after a step, which are those before it for items that are shorter; and the state that
    /// is shown, which has zeros there.
    fn within(
        &self,
        out: &mut Lines,
        at: i64,
        state: String,
        cell: String,
        next: String,
        next_cell: String,
    ) -> (String, String, String) {
        let is_longer = self.name("is_longer", at);
        out.node(&is_longer, "Greater", &format!("lengths, at{at}"));
        let mut chosen = |result: &str, next: &str, before: &str| {
            let result = self.name(result, at);
            out.node(&result, "Where", &format!("{is_longer}, {next}, {before}"));
            result
        };
        let shown = chosen("shown_state", &next, "blank");
        let last_cell = if next_cell.is_empty() { next_cell } else { chosen("last_cell_so_far", &next_cell, &cell) };
        (chosen("last_so_far", &next, &state), last_cell, shown)
    }

    /// The gates of a step: parts of a tensor along its last axis.
    fn gates<const N: usize>(&self, out: &mut Lines, at: i64, all: &str, names: [&str; N]) -> [String; N] {
        let parts = self.name("gates", at);
        out.node(&parts, "Reshape", &format!("{all}, gate_shape"));
        let mut gate = 0;
        names.map(|name| {
            let result = self.name(name, at);
            out.node(&result, "Gather <axis: int = 1>", &format!("{parts}, at{gate}"));
            gate += 1;
            result
        })
    }

    fn lstm(&self, out: &mut Lines, at: i64, inputs: &str, state: &str, cell: &str) -> (String, String) {
        let name = |name: &str| self.name(name, at);
        out.node(&name("product"), "MatMul", &format!("{state}, {}", self.own("state_weights")));
        out.node(&name("sum"), "Add", &format!("{inputs}, {}", name("product")));
        let sums = ["input_sum", "output_sum", "forget_sum", "fresh_sum"];
        let [input, output, forget, fresh] = self.gates(out, at, &name("sum"), sums);
        let input = self.seeing(out, &input, 0, cell);
        let input = self.activated(out, 0, &input, "input", at);
        let forget = match self.layer.coupled {
            true => {
                out.node(&name("forget"), "Sub", &format!("one, {input}"));
                name("forget")
            }
            false => {
                let forget = self.seeing(out, &forget, 2, cell);
                self.activated(out, 0, &forget, "forget", at)
            }
        };
        let fresh = self.activated(out, 1, &fresh, "fresh", at);
        out.node(&name("kept"), "Mul", &format!("{forget}, {cell}"));
        out.node(&name("added"), "Mul", &format!("{input}, {fresh}"));
        out.node(&name("cell"), "Add", &format!("{}, {}", name("kept"), name("added")));
        let output = self.seeing(out, &output, 1, &name("cell"));
        let output = self.activated(out, 0, &output, "output", at);
        let shown = name("shown");
        self.function(out, 2, &name("cell"), &shown);
        out.node(&name("h"), "Mul", &format!("{output}, {shown}"));
        (name("h"), name("cell"))
    }

    /// A gate with what it gets from the cell.
    fn seeing(&self, out: &mut Lines, gate: &str, weights: i64, cell: &str) -> String {
        if !self.layer.peepholes {
            return gate.to_owned();
        }
        let (seen, sum) = (format!("{gate}_seen"), format!("{gate}_with_cell"));
        out.node(&seen, "Mul", &format!("{cell}, {}", self.name("peephole", weights)));
        out.node(&sum, "Add", &format!("{gate}, {seen}"));
        sum
    }

    fn gru(&self, out: &mut Lines, at: i64, inputs: &str, state: &str) -> String {
        let name = |name: &str| self.name(name, at);
        let [update, reset, fresh] = self.gates(out, at, inputs, ["update_input", "reset_input", "fresh_input"]);
        let update = self.gated(out, 0, at, &update, state, "update");
        let update = self.activated(out, 0, &update, "update", at);
        let reset = self.gated(out, 1, at, &reset, state, "reset");
        let reset = self.activated(out, 0, &reset, "reset", at);
        let fresh = match self.layer.reset_after {
            true => {
                let product = self.product(out, 2, at, state, "fresh");
                out.node(&name("fresh_reset"), "Mul", &format!("{reset}, {product}"));
                out.node(&name("fresh_all"), "Add", &format!("{fresh}, {}", name("fresh_reset")));
                name("fresh_all")
            }
            false => {
                out.node(&name("fresh_state"), "Mul", &format!("{reset}, {state}"));
                self.gated(out, 2, at, &fresh, &name("fresh_state"), "fresh")
            }
        };
        let fresh = self.activated(out, 1, &fresh, "fresh", at);
        out.node(&name("open"), "Sub", &format!("one, {update}"));
        out.node(&name("added"), "Mul", &format!("{}, {fresh}", name("open")));
        out.node(&name("kept"), "Mul", &format!("{update}, {state}"));
        out.node(&name("h"), "Add", &format!("{}, {}", name("added"), name("kept")));
        name("h")
    }

    /// The product of a state with the weights of a gate, and its bias.
    fn product(&self, out: &mut Lines, gate: i64, at: i64, state: &str, name: &str) -> String {
        let product = self.name(&format!("{name}_product"), at);
        out.node(&product, "MatMul", &format!("{state}, {}", self.name("state_weights", gate)));
        if !self.layer.biased {
            return product;
        }
        let biased = self.name(&format!("{name}_biased"), at);
        out.node(&biased, "Add", &format!("{product}, {}", self.name("state_bias", gate)));
        biased
    }

    /// What goes into a gate.
    fn gated(&self, out: &mut Lines, gate: i64, at: i64, input: &str, state: &str, name: &str) -> String {
        let product = self.product(out, gate, at, state, name);
        let sum = self.name(&format!("{name}_sum"), at);
        out.node(&sum, "Add", &format!("{input}, {product}"));
        sum
    }

    /// The value of an activation.
    fn function(&self, out: &mut Lines, i: usize, x: &str, result: &str) {
        // Each direction has all activations of its kind.
        if let Some(of) = self.activations.get(i) {
            activation::write(of, x, result, &mut |line| out.line(line));
        }
    }

    /// The value of an activation, whose operand is clipped.
    fn activated(&self, out: &mut Lines, i: usize, x: &str, result: &str, at: i64) -> String {
        let mut x = x.to_owned();
        if self.layer.clip.is_some() {
            let (above, within) = (format!("{x}_above"), format!("{x}_within"));
            out.node(&above, "Max", &format!("{x}, least"));
            out.node(&within, "Min", &format!("{above}, greatest"));
            x = within;
        }
        let result = self.name(result, at);
        self.function(out, i, &x, &result);
        result
    }
}
