//! The inputs of the trials: those of `tests/data/options`, and others made from them.

use std::fs;
use std::path::{Path, PathBuf};

use super::trials::Trial;
use super::{Outcome, words};

/// The sample of each input notation for trials that name none.
const INPUTS: &[(&str, &str)] = &[
    ("nnef", "plain.nnef"),
    ("nnef-draft", "draft.nnef"),
    ("loops", "plain.json"),
    ("onnx", "plain.onnx"),
    ("onnxtxt", "plain.onnxtxt"),
    ("pnnx", "plain.pnnx.param"),
    ("ncnn", "plain.ncnn.param"),
];

/// The input of each subcommand that reads no model.
const OTHERS: &[(&str, &str)] = &[
    ("expr", "add(@0,@1)"),
    ("layout", "f32[3,5]{1,0:T(2,2)}"),
    ("explain", "E0401"),
    ("completions", "bash"),
    ("man", "check"),
    ("lsp", "<@plain.lsp"),
];

/// The folder of the samples.
pub struct Samples {
    folder: tempfile::TempDir,
}

impl Samples {
    /// Copies the samples, and makes those that are binary or large.
    pub fn new(run: fn(&[String]) -> Outcome) -> Self {
        let samples = Samples { folder: tempfile::tempdir().unwrap() };
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/options");
        for entry in fs::read_dir(data).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), samples.path(&entry.file_name().to_string_lossy())).unwrap();
        }
        let make = |line: &str| {
            let words: Vec<String> = words(&[line]).iter().map(|word| samples.replaced(word)).collect();
            let made = run(&words);
            assert_eq!(made.status, 0, "{line}: {}", made.told);
        };
        samples.repeated();
        for name in ["plain", "loop", "seed", "repeated", "known", "merged"] {
            make(&format!("-q --lower none @{name}.onnxtxt -o @{name}.onnx"));
        }
        for name in ["weights.pnnx.param", "weights.pnnx.bin"] {
            let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pnnx");
            fs::copy(examples.join(name.replace("weights", "centre")), samples.path(name)).unwrap();
        }
        for (version, ending) in [("version 1.0;", ""), ("version 1.0", "-draft")] {
            for (name, variables) in [("model", &[("w", 6), ("v", 6)][..]), ("zeros", &[("w", 400_000)])] {
                let name = format!("{name}{ending}");
                samples.folder(&name, version, variables);
                let to = if ending.is_empty() { "nnef" } else { "nnef-draft" };
                make(&format!("-q @{name} --to {to} -o @{name}.tgz"));
            }
        }
        samples.large();
        make("-q --lower none --max-text 99999999 @large.onnxtxt -o @large.onnx");
        for name in ["plain", "deep", "large"] {
            samples.session(name);
        }
        samples
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A model with variables of zeros.
    fn folder(&self, name: &str, version: &str, variables: &[(&str, u32)]) {
        fs::create_dir(self.path(name)).unwrap();
        let mut body = String::new();
        let mut sum = "x".to_owned();
        for (label, items) in variables {
            body += &format!("    {label} = variable(shape = [1, {items}], label = '{label}');\n");
            body += &format!("    s{label} = add({sum}, {label});\n");
            sum = format!("s{label}");
            let mut bytes = vec![0x4E, 0xEF, 1, 0];
            let header = [items * 4, 2, 1, *items, 0, 0, 0, 0, 0, 0, 32];
            header.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.resize(128 + *items as usize * 4, 0);
            fs::write(self.path(name).join(format!("{label}.dat")), bytes).unwrap();
        }
        let items = variables[0].1;
        let text = format!(
            "{version}\ngraph model( x ) -> ( {sum} )\n{{\n    x = external(shape = [1, {items}]);\n{body}}}\n"
        );
        fs::write(self.path(name).join("graph.nnef"), text).unwrap();
    }

    /// What an editor sends that opens a document and asks for its findings.
    fn session(&self, name: &str) {
        let text = fs::read_to_string(self.path(&format!("{name}.nnef"))).unwrap();
        let text = serde_json::Value::from(text).to_string();
        let about = r#""textDocument": {"uri": "file:///a.nnef", "languageId": "nnef", "version": 1"#;
        let mut sent = String::new();
        for rest in [
            r#""id": 1, "method": "initialize", "params": {"capabilities": {"textDocument": {"diagnostic": {}}}}"#
                .to_owned(),
            format!(r#""method": "textDocument/didOpen", "params": {{{about}, "text": {text}}}}}"#),
            format!(r#""id": 2, "method": "textDocument/diagnostic", "params": {{{about}}}}}"#),
            r#""id": 3, "method": "shutdown""#.to_owned(),
            r#""method": "exit""#.to_owned(),
        ] {
            let message = format!(r#"{{"jsonrpc": "2.0", {rest}}}"#);
            sent += &format!("Content-Length: {}\r\n\r\n{message}", message.len());
        }
        fs::write(self.path(&format!("{name}.lsp")), sent).unwrap();
    }

    /// Chains of equal parts, in each notation.
    fn repeated(&self) {
        let parts = |part: &dyn Fn(String, usize) -> String| -> String {
            (0..12).map(|i| part(if i == 0 { "x".to_owned() } else { format!("e{}", i - 1) }, i)).collect()
        };
        let statements = |end: &str| {
            let part = |from: String, i: usize| {
                format!(
                    "    a{i} = tanh({from}){end} b{i} = exp(a{i}){end} c{i} = max(b{i}, 0.25){end} d{i} = sigmoid(c{i}){end} e{i} = min(d{i}, 0.75){end}\n"
                )
            };
            parts(&part)
        };
        let graph = |version: &str, input: &str, end: &str| {
            let body = statements(end);
            format!("{version}\ngraph repeated( x ) -> ( e11 )\n{{\n    x = {input}{end}\n{body}}}\n")
        };
        fs::write(self.path("repeated.nnef"), graph("version 1.0;", "external(shape = [2, 3])", ";")).unwrap();
        fs::write(self.path("repeated-draft.nnef"), graph("version 1.0", "external(shape = [2, 3])", "\n")).unwrap();
        let nodes = parts(&|from, i| {
            format!(
                "a{i} = Tanh ({from}) b{i} = Exp (a{i}) c{i} = LeakyRelu <alpha = 0.25> (b{i}) d{i} = Sigmoid (c{i}) e{i} = HardSigmoid <alpha = 0.25, beta = 0.5> (d{i})\n"
            )
        });
        let head = "<ir_version: 10, opset_import: [\"\" : 21]> repeated (float[2, 3] x) => (float[2, 3] e11)";
        fs::write(self.path("repeated.onnxtxt"), format!("{head}\n{{\n{nodes}}}\n")).unwrap();
        let operators = parts(&|from, i| {
            let from = if from == "x" { "0".to_owned() } else { i.to_string() };
            let to = i + 1;
            format!(
                "pnnx.Expression e{i} 1 1 {from} {to} expr=add(mul(tanh(exp(sqrt(@0))),0.25),0.5) #{from}=(2,3)f32 #{to}=(2,3)f32\n"
            )
        });
        let text = format!(
            "7767517\n14 13\npnnx.Input in0 0 1 0 #0=(2,3)f32\n{operators}pnnx.Output out0 1 0 12 #12=(2,3)f32\n"
        );
        fs::write(self.path("repeated.pnnx.param"), text).unwrap();
        let layers = parts(&|from, i| {
            format!(
                "ReLU a{i} 1 1 {from} a{i}\nAbsVal b{i} 1 1 a{i} b{i}\nTanH c{i} 1 1 b{i} c{i}\nSigmoid d{i} 1 1 c{i} d{i}\nUnaryOp e{i} 1 1 d{i} e{i} 0=7\n"
            )
        });
        let text = format!("7767517\n61 61\nInput x 0 1 x 0=3 1=2\n{layers}");
        fs::write(self.path("repeated.ncnn.param"), text).unwrap();
        let layers = parts(&|from, i| {
            let layer = |op: &str, name: &str, inputs: &str| {
                format!("{{\"op\": \"{op}\", \"name\": \"{name}{i}\", \"inputs\": [{inputs}]}},")
            };
            let one = |name: &str| format!("\"{name}{i}\", \"one\"");
            let first = layer("add", "a", &format!("\"{from}\", \"one\""));
            first
                + &layer("mul", "b", &one("a"))
                + &layer("mul", "c", &one("b"))
                + &layer("add", "d", &one("c"))
                + &layer("mul", "e", &one("d"))
        });
        let text = format!(
            r#"{{"inputs": {{"x": {{"dtype": "float32", "shape": [2, 3]}}}},
            "constants": {{"one": {{"dtype": "float32", "data": [[1.0]]}}}},
            "layers": [{}], "outputs": ["e11"]}}"#,
            layers.trim_end_matches(',')
        );
        fs::write(self.path("repeated.json"), text).unwrap();
    }

    /// Texts of more than 8 MiB, in each notation.
    fn large(&self) {
        let long = "long ".repeat((8 << 20) / 5 + 1);
        for (from, to, before, after) in [
            ("plain.nnef", "large.nnef", "version 1.0;\n", format!("version 1.0;\n# {long}\n")),
            ("draft.nnef", "large-draft.nnef", "version 1.0\n", format!("version 1.0\n# {long}\n")),
            ("plain.json", "large.json", "\"outputs\"", format!("\"note\": \"{long}\",\n  \"outputs\"")),
            ("plain.onnxtxt", "large.onnxtxt", "    opset", format!("    doc_string: \"{long}\",\n    opset")),
            ("torch.pnnx.param", "large.pnnx.param", "dims=", format!("note={} dims=", long.replace(' ', "_"))),
            ("custom.ncnn.param", "large.ncnn.param", "y 0=1", format!("y 0=1 1={}", long.replace(' ', "_"))),
        ] {
            let text = fs::read_to_string(self.path(from)).unwrap();
            assert!(text.contains(before), "{from}");
            fs::write(self.path(to), text.replacen(before, &after, 1)).unwrap();
        }
        fs::write(self.path("large.txt"), format!("f32[2,3]{{1,0}} {long}")).unwrap();
        fs::write(self.path("large.operands.json"), format!("[1.0, 2.0{}]", " ".repeat(long.len()))).unwrap();
    }

    /// The input of a trial in a notation, or of a subcommand that has none.
    pub fn input(&self, trial: &Trial, (subcommand, notation): (&str, &str)) -> String {
        let of = if notation.is_empty() { subcommand } else { notation };
        // Evaluations need inputs.
        let of_run = format!("run-{notation}");
        let own = trial.inputs.iter().find(|(known, _)| subcommand == "run" && *known == of_run);
        if let Some((_, input)) = own.or(trial.inputs.iter().chain(OTHERS).find(|(known, _)| *known == of)) {
            return (*input).to_owned();
        }
        if subcommand == "run" && trial.option != "--inputs" {
            let values = if notation == "pnnx" { "pnnx" } else { "plain" };
            let known = INPUTS.iter().find(|(of, _)| *of == notation).unwrap();
            return format!("@{} --inputs @{values}.inputs.json", known.1);
        }
        let known = INPUTS.iter().find(|(of, _)| *of == notation);
        known.map_or_else(|| panic!("no sample for {notation}"), |(_, file)| format!("@{file}"))
    }

    /// [`Samples::input`]; a comparison has it twice, so that there is no difference.
    pub fn inputs(&self, trial: &Trial, (subcommand, notation): (&str, &str)) -> String {
        let input = self.input(trial, (subcommand, notation));
        if subcommand == "diff" && !input.contains(' ') { format!("{input} {input}") } else { input }
    }

    /// A word with the folder of the samples in place of `@`; operands of expressions keep it.
    pub fn replaced(&self, word: &str) -> String {
        let at = word.strip_prefix('<').unwrap_or(word);
        match at.strip_prefix('@') {
            Some(name) => format!("{}{}", &word[..word.len() - at.len()], self.path(name).display()),
            None => word.to_owned(),
        }
    }
}
