//! Random documents: fragments that call each other, and a graph over them. All tensors have two
//! columns and some rows that broadcast, so that every document is valid.

use std::fmt;

use crate::common::HEADER;
use crate::tape::Tape;

/// What the fragment gives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gives {
    One,
    Two,
    /// An array of two tensors.
    Array,
}

/// A fragment's declaration, as its callers need it.
#[derive(Clone, Debug)]
struct Signature {
    name: String,
    generic: bool,
    tensors: usize,
    takes_array: bool,
    attributes: Vec<Attribute>,
    gives: Gives,
    recursive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Attribute {
    Integer,
    Scalar,
    Logical,
    Integers,
}

impl Attribute {
    const ALL: [Attribute; 4] = [Attribute::Integer, Attribute::Scalar, Attribute::Logical, Attribute::Integers];

    fn name(self) -> &'static str {
        ["n", "s", "flag", "ks"][self as usize]
    }

    fn declaration(self) -> &'static str {
        ["n: integer = 2", "s: scalar = -0.5", "flag: logical = true", "ks: integer[] = [1, 2]"][self as usize]
    }
}

/// A generated document.
pub struct Document {
    pub text: String,
    /// The names of the graph's body.
    pub graph_names: Vec<String>,
    pub outputs: Vec<String>,
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "\n{}", self.text)
    }
}

/// Operations that must not occur in the flat graph: in branches that are not taken, and in locals
/// that nothing needs.
const MARKERS: &str = "fragment never( x: tensor<scalar> ) -> ( y: tensor<scalar> );
fragment dead( x: tensor<scalar> ) -> ( y: tensor<scalar> );
fragment probe( x: tensor<scalar>, a: integer[] = [], s: scalar = 0.0 ) -> ( y: tensor<scalar> );
";

/// Names of a graph that look like the names that expansion makes.
const GRAPH_NAMES: &[&str] = &[
    "h", "y_add1", "h_t", "h_r_t", "y_relu1", "exp1_2", "h_add1_2", "y_f01", "h_f11_t", "z", "y_t", "relu1", "h_2",
    "out_1", "out_2",
];
/// Names of a fragment's locals, some of which do so too.
const LOCALS: &[&str] = &["t", "r", "r_t", "add1", "relu1", "t_add1", "u", "relu", "y_1"];

struct Writer<'t> {
    tape: &'t mut Tape,
    /// The fragments that may be called from the current one.
    callable: Vec<Signature>,
    tensors: Vec<String>,
    arrays: Vec<String>,
    attributes: Vec<Attribute>,
    taken: Vec<String>,
    lines: Vec<String>,
    /// Locals under a name of their own kind.
    locals: &'static [&'static str],
    in_graph: bool,
    /// Whether this is the body of a generic fragment, whose tensors have no particular type.
    generic: bool,
    /// Whether there are loops.
    loops: bool,
}

/// Makes a document.
pub fn document(tape: &mut Tape) -> Document {
    made(tape, false)
}

/// Makes a document that also has loops.
pub fn document_with_loops(tape: &mut Tape) -> Document {
    let document = made(tape, true);
    Document { text: document.text.replacen(HEADER, &format!("{HEADER}extension flatten_loops;\n"), 1), ..document }
}

fn made(tape: &mut Tape, loops: bool) -> Document {
    let count = tape.below(5);
    let signatures: Vec<Signature> = (0..count).map(|i| signature(tape, i)).collect();
    // A fragment calls those after it; the text has them in either order.
    let mut fragments: Vec<String> =
        (0..count).map(|i| fragment(tape, &signatures[i], &signatures[i + 1..], loops)).collect();
    if tape.below(2) == 1 {
        fragments.reverse();
    }
    graph(tape, signatures, &fragments.concat(), loops)
}

fn signature(tape: &mut Tape, i: usize) -> Signature {
    let gives = [Gives::One, Gives::One, Gives::Two, Gives::Array][tape.below(4)];
    let recursive = tape.below(4) == 3;
    let mut attributes: Vec<Attribute> = Attribute::ALL.into_iter().filter(|_| tape.below(3) == 2).collect();
    if recursive && !attributes.contains(&Attribute::Integer) {
        attributes.insert(0, Attribute::Integer);
    }
    Signature {
        name: format!("f{i}"),
        generic: tape.below(5) == 4,
        tensors: 1 + tape.below(2),
        takes_array: tape.below(4) == 3,
        attributes,
        gives,
        recursive,
    }
}

fn fragment(tape: &mut Tape, signature: &Signature, callable: &[Signature], loops: bool) -> String {
    let element = if signature.generic { "?" } else { "scalar" };
    let mut params: Vec<String> = (0..signature.tensors).map(|i| format!("x{i}: tensor<{element}>")).collect();
    if signature.takes_array {
        params.push(format!("xs: tensor<{element}>[]"));
    }
    params.extend(signature.attributes.iter().map(|attribute| attribute.declaration().to_string()));
    let (results, names) = match signature.gives {
        Gives::One => (format!("y: tensor<{element}>"), vec!["y"]),
        Gives::Two => (format!("y: tensor<{element}>, z: tensor<{element}>"), vec!["y", "z"]),
        Gives::Array => (format!("ys: tensor<{element}>[]"), vec!["ys"]),
    };
    let mut writer = Writer {
        tape,
        callable: callable.iter().filter(|callee| callee.generic || !signature.generic).cloned().collect(),
        tensors: (0..signature.tensors).map(|i| format!("x{i}")).collect(),
        arrays: if signature.takes_array { vec!["xs".into()] } else { Vec::new() },
        attributes: signature.attributes.clone(),
        taken: Vec::new(),
        lines: Vec::new(),
        locals: LOCALS,
        in_graph: false,
        generic: signature.generic,
        loops,
    };
    writer.body(signature, &names);
    let generic = if signature.generic { "<?>" } else { "" };
    let lines: String = writer.lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("fragment {}{generic}( {} ) -> ( {results} )\n{{\n{lines}}}\n", signature.name, params.join(", "))
}

fn graph(tape: &mut Tape, callable: Vec<Signature>, fragments: &str, loops: bool) -> Document {
    let outputs: Vec<String> = ["y", "out"][..1 + tape.below(2)].iter().map(|name| (*name).to_string()).collect();
    let mut writer = Writer {
        tape,
        callable,
        tensors: vec!["x".into(), "w".into()],
        arrays: Vec::new(),
        attributes: Vec::new(),
        taken: Vec::new(),
        lines: vec!["x = external(shape = [2, 2]);".into(), "w = variable(shape = [2, 2], label = 'w');".into()],
        locals: GRAPH_NAMES,
        in_graph: true,
        generic: false,
        loops,
    };
    for _ in 0..writer.tape.below(5) {
        writer.statement();
    }
    for output in &outputs {
        let value = writer.tensor(3);
        writer.lines.push(format!("{output} = {value};"));
        writer.tensors.push(output.clone());
    }
    let graph_names = writer.tensors.clone();
    let lines: String = writer.lines.iter().map(|line| format!("    {line}\n")).collect();
    let text = format!("{HEADER}{MARKERS}{fragments}graph G( x ) -> ( {} )\n{{\n{lines}}}\n", outputs.join(", "));
    Document { text, graph_names, outputs }
}

impl Writer<'_> {
    /// The statements of a fragment.
    fn body(&mut self, signature: &Signature, results: &[&str]) {
        for _ in 0..self.tape.below(4) {
            self.statement();
        }
        if self.tape.below(4) == 3 && !self.generic {
            self.unneeded();
        }
        let values: Vec<String> = results
            .iter()
            .map(|_| if signature.gives == Gives::Array { self.array(2) } else { self.tensor(2) })
            .collect();
        let target = if results.len() == 1 { results[0].to_string() } else { format!("({})", results.join(", ")) };
        let value = if values.len() == 1 { values[0].clone() } else { format!("({})", values.join(", ")) };
        if signature.recursive {
            let again = self.call(signature, 1, Some("n - 1"));
            let select = if results.len() == 1 && self.tape.below(2) == 1 {
                format!("{again} if n > 0 else {value}")
            } else {
                format!("{value} if n <= 0 else {again}")
            };
            self.lines.push(format!("{target} = {select};"));
        } else if results.len() > 1 && self.tape.below(2) == 0 {
            for (result, value) in results.iter().zip(&values) {
                self.lines.push(format!("{result} = {value};"));
            }
        } else {
            self.lines.push(format!("{target} = {value};"));
        }
    }

    /// A local that nothing needs, and one that only a branch that is not chosen refers to.
    fn unneeded(&mut self) {
        let tensor = self.tensor(1);
        self.lines.push(format!("unneeded = dead({tensor});"));
        let tensor = self.tensor(1);
        self.lines.push(format!("not_taken = dead({tensor});"));
        let (tensor, condition) = (self.tensor(1), self.holds());
        self.lines.push(format!("chosen = {tensor} if {condition} else not_taken;"));
        self.tensors.push("chosen".into());
    }

    fn fresh(&mut self) -> String {
        let free: Vec<&str> =
            self.locals.iter().copied().filter(|name| !self.taken.iter().any(|taken| taken == name)).collect();
        let name =
            if free.is_empty() { format!("v{}", self.taken.len()) } else { (*self.tape.pick(&free)).to_string() };
        self.taken.push(name.clone());
        name
    }

    /// A loop over an array, with a recurrence, and perhaps with collected items.
    fn looping(&mut self) {
        let (initial, array, name) = (self.tensor(1), self.array(1), self.fresh());
        let (state, item, known) = (format!("{name}_state"), format!("{name}_item"), self.tensors.len());
        self.tensors.extend([state.clone(), item.clone()]);
        let (next, other) = (self.tensor(2), self.tensor(1));
        self.tensors.truncate(known);
        let over = if self.tape.below(3) == 2 { format!("reverse({array})") } else { array };
        let head = format!("with {state}: tensor<scalar> = {initial} for {item} : {over}");
        if self.in_graph || self.tape.below(2) == 0 {
            let count = ["", "..(1)", "..(i -> 2)"][self.tape.below(3)];
            self.lines.push(format!("{name} = {head} unroll{count} {{ {name}_next = {next}; yield {name}_next; }};"));
        } else {
            let all = self.fresh();
            self.lines.push(format!("{name}, {all} = {head} unroll {{ yield {next}, {other}; }};"));
            self.arrays.push(all);
        }
        self.tensors.push(name);
    }

    /// A statement that defines one or two tensors or, in a fragment, an array.
    fn statement(&mut self) {
        if self.loops && !self.generic && self.tape.below(3) == 2 {
            return self.looping();
        }
        let two: Vec<Signature> = self.callable.iter().filter(|callee| callee.gives == Gives::Two).cloned().collect();
        let array: Vec<Signature> =
            self.callable.iter().filter(|callee| callee.gives == Gives::Array).cloned().collect();
        let (open, value, close) = match self.tape.below(8) {
            4 if !self.generic => ("(", format!("moments({}, axes = [0])", self.tensor(1)), ")"),
            5 if !two.is_empty() => {
                let callee = self.tape.pick(&two).clone();
                ("(", self.call(&callee, 1, None), ")")
            }
            6 if !array.is_empty() => {
                let callee = self.tape.pick(&array).clone();
                ("[", self.call(&callee, 1, None), "]")
            }
            6 => ("[", self.split(), "]"),
            7 if !self.in_graph => {
                let (value, name) = (self.array(2), self.fresh());
                self.lines.push(format!("{name} = {value};"));
                self.arrays.push(name);
                return;
            }
            _ => {
                let (value, name) = (self.tensor(2), self.fresh());
                self.lines.push(format!("{name} = {value};"));
                self.tensors.push(name);
                return;
            }
        };
        let (a, b) = (self.fresh(), self.fresh());
        self.lines.push(format!("{open}{a}, {b}{close} = {value};"));
        self.tensors.extend([a, b]);
    }

    fn split(&mut self) -> String {
        let name = self.tape.pick(&self.tensors).clone();
        if self.tape.below(2) == 0 {
            format!("split(concat([{name}, {name}], axis = 0), axis = 0, ratios = [1, 1])")
        } else {
            format!("unstack(stack([{name}, {name}], axis = 0), axis = 0)")
        }
    }

    /// A condition that holds.
    fn holds(&mut self) -> String {
        let conditions =
            ["true", "1 < 2", "!(2 in [1, 3])", "length_of([1, 2]) == 2", "'a' + 'b' == 'ab'", "true || 1 / 0 > 0"];
        (*self.tape.pick(&conditions)).to_string()
    }

    /// A condition that may hold or not.
    fn condition(&mut self) -> String {
        match self.attributes.get(self.tape.below(4)) {
            Some(Attribute::Integer) => "n > 1".into(),
            Some(Attribute::Scalar) => "s < 0.0".into(),
            Some(Attribute::Logical) => "flag".into(),
            Some(Attribute::Integers) => "length_of(ks) > 1".into(),
            None => self.holds(),
        }
    }

    /// A tensor.
    fn tensor(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.tape.pick(&self.tensors).clone();
        }
        let depth = depth - 1;
        let choice = match self.tape.below(16) {
            choice if self.generic => [0, 1, 8, 12, 14][choice % 5],
            choice => choice,
        };
        match choice {
            0 => self.tensor(0),
            1 if self.generic => format!("{}({})", ["copy", "copy<?>"][self.tape.below(2)], self.tensor(depth)),
            1 => {
                let op = ["relu", "exp", "sigmoid", "sqr", "neg", "copy", "copy<scalar>", "silu"][self.tape.below(8)];
                format!("{op}({})", self.tensor(depth))
            }
            2 => {
                let op = ["+", "-", "*", "^"][self.tape.below(4)];
                format!("({} {op} {})", self.tensor(depth), self.tensor(depth))
            }
            3 => format!("({} * {})", ["2.0", "0.5"][self.tape.below(2)], self.tensor(depth)),
            4 => format!("-{}", self.tensor(depth)),
            5 => format!("max({}, {})", self.tensor(depth), self.tensor(depth)),
            6 => format!("clamp({}, 0.0, {})", self.tensor(depth), self.tensor(depth)),
            7 => format!("select({} < {}, {}, 1.0)", self.tensor(depth), self.tensor(depth), self.tensor(depth)),
            8 => format!("({} if {} else {})", self.tensor(depth), self.condition(), self.tensor(depth)),
            9 => format!("({} if {} else never({}))", self.tensor(depth), self.holds(), self.tensor(depth)),
            10 => format!("add_n({})", self.array(depth)),
            11 => format!("sum_reduce(concat({}, axis = 0), axes = [0])", self.array(depth)),
            12 => format!("{}[{}]", self.array(depth), self.tape.below(2)),
            13 => self.probe(depth),
            _ => {
                let one: Vec<Signature> =
                    self.callable.iter().filter(|callee| callee.gives == Gives::One).cloned().collect();
                if one.is_empty() && self.generic {
                    return self.tensor(depth);
                }
                if one.is_empty() {
                    return format!("softmax({}, axes = [0])", self.tensor(depth));
                }
                let callee = self.tape.pick(&one).clone();
                self.call(&callee, depth, None)
            }
        }
    }

    /// An operation whose attributes are computed.
    fn probe(&mut self, depth: usize) -> String {
        let integers = match self.attributes.get(self.tape.below(4)) {
            Some(Attribute::Integer) => "[n, n * 2]".to_string(),
            Some(Attribute::Integers) => "[for k in ks yield k + 1] + ks[1:]".to_string(),
            _ => ["[1]", "[]", "[1] * 2 + [3]"][self.tape.below(3)].to_string(),
        };
        let scalar = if self.attributes.contains(&Attribute::Scalar) { "s * 2.0" } else { "1.0 / 4.0" };
        format!("probe({}, a = {integers}, s = {scalar})", self.tensor(depth))
    }

    /// An array of two tensors.
    fn array(&mut self, depth: usize) -> String {
        let array: Vec<Signature> =
            self.callable.iter().filter(|callee| callee.gives == Gives::Array).cloned().collect();
        match self.tape.below(6) {
            1 if !self.arrays.is_empty() => self.tape.pick(&self.arrays).clone(),
            2 => {
                let (over, name) = (self.array(depth.saturating_sub(1)), format!("i{depth}"));
                let with = self.tensor(0);
                match self.generic {
                    true => format!("[for {name} in {over} yield copy({name})]"),
                    false => format!("[for {name} in {over} yield relu({name}) + {with}]"),
                }
            }
            3 if depth > 0 && !self.generic => {
                let (a, b, name) = (self.array(depth - 1), self.array(depth - 1), format!("j{depth}"));
                format!("[for {name} in {a}, k{depth} in {b} if true yield {name} * k{depth}]")
            }
            4 if depth > 0 => format!("({} + {})[1:3]", self.array(depth - 1), self.array(depth - 1)),
            5 if !array.is_empty() && depth > 0 => {
                let callee = self.tape.pick(&array).clone();
                self.call(&callee, depth - 1, None)
            }
            1 => format!("([{}] * 2)", self.tensor(depth)),
            _ => format!("[{}, {}]", self.tensor(depth), self.tensor(depth)),
        }
    }

    /// A call; `counter` is what a recursive one passes on.
    fn call(&mut self, callee: &Signature, depth: usize, counter: Option<&str>) -> String {
        let mut args: Vec<String> = (0..callee.tensors).map(|_| self.tensor(depth)).collect();
        if callee.takes_array {
            args.push(self.array(depth));
        }
        for attribute in &callee.attributes {
            let own = self.attributes.contains(attribute);
            let value = match attribute {
                Attribute::Integer if counter.is_some() => counter.map(str::to_string),
                _ if self.tape.below(2) == 0 => None,
                _ if own && self.tape.below(2) == 0 => Some(attribute.name().to_string()),
                Attribute::Integer => Some(["0", "1", "3"][self.tape.below(3)].to_string()),
                Attribute::Scalar => Some(["0.25", "-1.0", "1e-3"][self.tape.below(3)].to_string()),
                Attribute::Logical => Some(["false", "!true", "1 > 0"][self.tape.below(3)].to_string()),
                Attribute::Integers => Some(["[3]", "[1] + [2]", "range_of([1, 1])"][self.tape.below(3)].to_string()),
            };
            args.extend(value.map(|value| format!("{} = {value}", attribute.name())));
        }
        let generic = match (callee.generic && self.tape.below(3) == 2, self.generic) {
            (true, true) => "<?>",
            (true, false) => "<scalar>",
            (false, _) => "",
        };
        format!("{}{generic}({})", callee.name, args.join(", "))
    }
}
