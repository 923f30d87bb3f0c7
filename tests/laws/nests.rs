//! Random models of ONNX: functions that call each other, branches whose conditions are known or not, loops with known
//! trips, constants, and nodes that change nothing. All values are matrices of two columns.

use crate::tape::Tape;

/// A model, and names of values of its graph.
pub struct Nest {
    pub text: String,
    pub names: Vec<String>,
}

impl std::fmt::Debug for Nest {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "\n{}", self.text)
    }
}

struct Writer<'t> {
    tape: &'t mut Tape,
    /// The functions that may be called.
    callable: Vec<String>,
    values: Vec<String>,
    lines: Vec<String>,
    prefix: &'static str,
    count: usize,
}

const OF_ONE: &[&str] = &["Neg", "Abs", "Tanh", "Identity", "Relu", "Floor"];
const OF_TWO: &[&str] = &["Add", "Mul", "Sub", "Max"];

/// Makes a model.
pub fn nest(tape: &mut Tape) -> Nest {
    let count = tape.below(4);
    let mut functions = Vec::new();
    for i in 0..count {
        let callable = (i + 1..count).map(|other| format!("f{other}")).collect();
        let (values, lines) = (vec!["a".to_owned(), "b".to_owned()], Vec::new());
        let mut writer = Writer { tape: &mut *tape, callable, values, lines, prefix: "t", count: 0 };
        let steps = 1 + writer.tape.below(4);
        (0..steps).for_each(|_| writer.statement(1));
        let result = writer.pick();
        let body = writer.lines.join(" ");
        functions.push(format!(
            "<domain: \"l\", opset_import: [\"\" : 17, \"l\" : 1]> f{i} (a, b) => (r) {{ {body} r = Mul (a, {result}) }}"
        ));
    }
    let callable = (0..count).map(|i| format!("f{i}")).collect();
    let (values, lines) = (vec!["x".to_owned(), "w".to_owned(), "k".to_owned()], Vec::new());
    let mut writer = Writer { tape, callable, values, lines, prefix: "v", count: 0 };
    let steps = 2 + writer.tape.below(6);
    (0..steps).for_each(|_| writer.statement(2));
    let results = [writer.pick(), writer.pick()];
    let names = writer.values[3..].to_vec();
    let body = writer.lines.join("\n    ");
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]>\ng (float[N, 2] x, bool open) => (float[M, 2] y, float[K, 2] z)\n\
         <float[2, 2] w = {{1.5, -2, 0.25, 3}}, float[1, 2] k = {{-0.5, 2}}, bool yes = {{1}}, int64 three = {{3}}, \
         int64[2] same = {{0, 2}}>\n{{\n    {body}\n    y = Add ({}, x) z = Sub ({}, k)\n}}\n{}",
        results[0],
        results[1],
        functions.join("\n")
    );
    Nest { text, names }
}

impl Writer<'_> {
    fn pick(&mut self) -> String {
        self.tape.pick(&self.values).clone()
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("{}{}", self.prefix, self.count)
    }

    /// A node on values, as a text with its result.
    fn node(&mut self, result: &str) -> String {
        let (a, b) = (self.pick(), self.pick());
        match self.tape.below(3) {
            0 => format!("{result} = {} ({a})", self.tape.pick(OF_ONE)),
            _ => format!("{result} = {} ({a}, {b})", self.tape.pick(OF_TWO)),
        }
    }

    /// A statement with a result that others may use. Names of constants are those of the graph, so that only it has
    /// branches and loops.
    fn statement(&mut self, level: usize) {
        let result = self.fresh();
        let (a, b) = (self.pick(), self.pick());
        let text = match self.tape.below(10) {
            0 | 1 if !self.callable.is_empty() => {
                format!("{result} = l.{} ({a}, {b})", self.tape.pick(&self.callable))
            }
            2 if level > 1 => format!("{result} = Reshape ({a}, same)"),
            3 => format!("{result}_t = Transpose ({a}) {result} = Transpose ({result}_t)"),
            4 if level > 1 => {
                let condition = *self.tape.pick(&["yes", "open"]);
                let (then, other) = (self.node("p"), self.node("q"));
                format!(
                    "{result}_i = If ({condition}) <then_branch = h () => (float[] p) {{ {then} }}, else_branch = e () => \
                     (float[] q) {{ {other} }}> {result} = Add ({result}_i, {a})"
                )
            }
            5 if level > 1 => {
                let step = self.node("u");
                format!(
                    "{result} = Loop (three, yes, x) <body = o (int64 i, bool c, float[] s) => (bool d, float[] n) \
                     {{ {step} n = Tanh (u) d = Identity (c) }}>"
                )
            }
            6 => format!("{result}_c = Less ({a}, {b}) {result} = Where ({result}_c, {a}, {b})"),
            _ => self.node(&result),
        };
        self.lines.push(text);
        self.values.push(result);
    }
}
