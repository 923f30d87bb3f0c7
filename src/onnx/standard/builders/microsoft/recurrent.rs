//! Recurrent layers whose products are those of codes, which are found for the state of each step.

use super::numbers::{bounded, extent};
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

const B: usize = 3;
const LENGTHS: usize = 4;
const INITIAL_H: usize = 5;
const INITIAL_C: usize = 6;
const PEEPHOLES: usize = 7;

/// The activations of a direction unless a call says otherwise.
const ACTIVATIONS: [&str; 3] = ["Sigmoid", "Tanh", "Tanh"];

/// The layer as a scan in each direction.
pub(in crate::onnx::standard) fn lstm(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let directions: &[bool] = match call.text("direction", "forward")?.as_str() {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        _ => return Err(NotKnown),
    };
    let given = call.read::<Vec<String>>("activations")?.unwrap_or_default();
    let usual = given.iter().zip(ACTIVATIONS.iter().cycle()).all(|(given, usual)| given == usual);
    let clips = call.float("clip")?.is_some_and(|clip| clip > 0.0) || call.int("input_forget", 0)? != 0;
    let hidden = bounded(call.int("hidden_size", 0)?)?;
    if !usual || clips || hidden == 0 || call.has_input(LENGTHS) || call.version < 11 {
        return Err(NotKnown);
    }
    if extent(call, 2, 1)? != hidden {
        return Err(NotKnown);
    }
    settings.line("codes, scale, zero = DynamicQuantizeLinear (X)".to_owned());
    settings.line("shape = Shape (X)".to_owned());
    settings.line("batch_at = const int64[1] (1)".to_owned());
    settings.line("batch = Gather (shape, batch_at)".to_owned());
    settings.line(format!("hidden = const int64[1] ({hidden})"));
    settings.line("state_shape = Concat <axis: int = 0> (batch, hidden)".to_owned());
    settings.line("nothing = const float (0)".to_owned());
    for (d, reverse) in directions.iter().enumerate() {
        Direction { call, settings, d, hidden }.write(*reverse);
    }
    for (i, name, part, axis) in [(0, "Y", "states", 1), (1, "Y_h", "last", 0), (2, "Y_c", "cell", 0)] {
        if !call.has_output(i) {
            continue;
        }
        let mut parts = Vec::new();
        for d in 0..directions.len() {
            settings.line(format!("{part}_of{d} = along Unsqueeze ({axis}) ({part}{d})"));
            parts.push(format!("{part}_of{d}"));
        }
        settings.line(format!("{name} = Concat <axis: int = {axis}> ({})", parts.join(", ")));
    }
    Ok(())
}

/// A direction of a layer.
struct Direction<'c, 's> {
    call: &'c StandardCall<'c>,
    settings: &'s mut TemplateSettings,
    d: usize,
    hidden: i64,
}

impl Direction<'_, '_> {
    fn line(&mut self, line: String) {
        self.settings.line(line);
    }

    fn write(&mut self, reverse: bool) {
        let d = self.d;
        self.line(format!("at{d} = const int64 ({d})"));
        for name in ["W", "W_scale", "W_zero_point", "R", "R_scale", "R_zero_point"] {
            self.line(format!("{name}{d} = Gather ({name}, at{d})"));
        }
        self.line(format!("product{d} = MatMulInteger (codes, W{d}, zero, W_zero_point{d})"));
        self.line(format!("real{d} = Cast <to: int = 1> (product{d})"));
        self.line(format!("factor{d} = Mul (scale, W_scale{d})"));
        self.line(format!("gates{d} = Mul (real{d}, factor{d})"));
        let gates = self.biased();
        self.initial("initial_h", INITIAL_H, "h");
        self.initial("initial_c", INITIAL_C, "c");
        let peepholes = self.call.has_input(PEEPHOLES);
        if peepholes {
            self.line(format!("P{d} = Gather (P, at{d})"));
            let thirds = if self.call.version >= 18 { ", num_outputs: int = 3" } else { "" };
            self.line(format!("Pi{d}, Po{d}, Pf{d} = Split <axis: int = 0{thirds}> (P{d})"));
        }
        let order = i64::from(reverse);
        let head = format!(
            "num_scan_inputs: int = 1, scan_input_directions: ints = [{order}], scan_output_directions: ints = [{order}]"
        );
        let body = self.step(peepholes);
        self.line(format!(
            "last{d}, cell{d}, states{d} = Scan <{head}, body: graph = step{d} (float[] h, float[] c, float[] g) => (float[] next_h, float[] next_c, float[] state) {{ {body} }}> (h{d}, c{d}, {gates})"
        ));
    }

    /// Writes the products with both halves of the bias added, if the call gives one. Returns their name.
    fn biased(&mut self) -> String {
        let d = self.d;
        if !self.call.has_input(B) {
            return format!("gates{d}");
        }
        let halves = if self.call.version >= 18 { ", num_outputs: int = 2" } else { "" };
        self.line(format!("B{d} = Gather (B, at{d})"));
        self.line(format!("Wb{d}, Rb{d} = Split <axis: int = 0{halves}> (B{d})"));
        self.line(format!("bias{d} = Add (Wb{d}, Rb{d})"));
        self.line(format!("biased{d} = Add (gates{d}, bias{d})"));
        format!("biased{d}")
    }

    /// Writes the first state: that of the call, or zeros.
    fn initial(&mut self, name: &str, i: usize, state: &str) {
        let d = self.d;
        if self.call.has_input(i) {
            self.line(format!("{state}{d} = Gather ({name}, at{d})"));
        } else {
            self.line(format!("{state}{d} = Expand (nothing, state_shape)"));
        }
    }

    /// The nodes of a step.
    fn step(&self, peepholes: bool) -> String {
        let (d, size) = (self.d, self.hidden);
        let split = if self.call.version >= 18 {
            "gi, go, gf, gc = Split <axis: int = 1, num_outputs: int = 4> (sum)".to_owned()
        } else {
            format!("gi, go, gf, gc = Split <axis: int = 1{}> (sum)", self.sizes(size))
        };
        let mut nodes = vec![
            "hq, hs, hz = DynamicQuantizeLinear (h)".to_owned(),
            format!("hp = MatMulInteger (hq, R{d}, hz, R_zero_point{d})"),
            "hr = Cast <to: int = 1> (hp)".to_owned(),
            format!("hf = Mul (hs, R_scale{d})"),
            "part = Mul (hr, hf)".to_owned(),
            "sum = Add (g, part)".to_owned(),
            split,
        ];
        let (mut input, mut forget) = ("gi", "gf");
        if peepholes {
            nodes.push(format!("ci = Mul (Pi{d}, c) pi = Add (gi, ci) cf = Mul (Pf{d}, c) pf = Add (gf, cf)"));
            (input, forget) = ("pi", "pf");
        }
        nodes.push(format!("i = Sigmoid ({input}) f = Sigmoid ({forget}) t = Tanh (gc)"));
        nodes.push("kept = Mul (f, c) new = Mul (i, t) next_c = Add (kept, new)".to_owned());
        let mut output = "go";
        if peepholes {
            nodes.push(format!("co = Mul (Po{d}, next_c) po = Add (go, co)"));
            output = "po";
        }
        nodes.push(format!("o = Sigmoid ({output}) u = Tanh (next_c) next_h = Mul (o, u) state = Identity (next_h)"));
        nodes.join(" ")
    }

    /// The sizes of the gates before version 13, where they are an attribute; equal ones need none.
    fn sizes(&self, size: i64) -> String {
        if self.call.version < 13 { format!(", split: ints = [{size}, {size}, {size}, {size}]") } else { String::new() }
    }
}
