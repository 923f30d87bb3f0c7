//! Every example of docs/diagnostics.md: wrong examples give the code of their section, and right ones
//! are accepted under `--strict`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use nnef_flatten::diagnostics::{Code, Severity};
use nnef_flatten::{Diagnostic, Lower, Options, check, expand, parse};

/// Why codes of networks with loops have no example.
const LOOPS: &str = "arises in another notation: tests/loops";

/// Why codes of whole models have no example.
const MODELS: &str = "arises only with files beside the document: tests/models";
/// Why codes of scans have no example.
const SCANS: &str = "arises only under --unroll or --flat, with operations of a vendor: tests/library/scan.rs";
/// Why codes of options have no example.
const SHAPES: &str = "is about texts of shapes: tests/notations/layouts.rs";
const ONNX: &str = "is about models of ONNX: src/onnx";
/// Why codes of translations have no example.
const TO_ONNX: &str = "arises only with --to onnx: tests/notations/to_onnx.rs";
const TO_NNEF: &str = "arises only with --to nnef: src/onnx/to_nnef/tests.rs";
const PNNX: &str = "is about expressions and files of PNNX: tests/notations/pnnx.rs";
const NCNN: &str = "is about texts of ncnn: src/ncnn/tests.rs";
const OPTIONS: &str = "arises only with certain options: tests/library/options.rs";

/// Codes without an example, and why they have none.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("E0001", "the documentation is UTF-8 itself"),
    ("E0002", "two gigabytes"),
    ("E0003", "hundreds of thousands of brackets"),
    ("E0726", "needs a vendor operation with results of an unknown type"),
    ("E0727", "needs a vendor operation with results of an unknown type"),
    ("E0312", "needs --lower all: tests/laws/mutated.rs"),
    ("E0627", "needs literals that strict checks refuse: tests/laws/mutated.rs"),
    ("E0413", "only documents of registries have it"),
    ("E1307", "needs an option"),
    ("E1312", "needs an option"),
    ("E0811", "ten million operations"),
    ("E0812", "ten million items"),
    ("E0813", "a gigabyte of values"),
    ("E0814", "two hundred million steps"),
    ("E0818", "hundreds of thousands of operations"),
    ("E0819", "needs an option: tests/hostile/limits.rs"),
    ("E0821", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0822", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0823", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0824", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0825", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0826", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0827", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0828", "arises only when tensors are computed: src/eval/tests.rs"),
    ("E0829", "arises only when tensors are computed: tests/evaluation/eval.rs"),
    ("E0830", "arises only when tensors are computed: tests/evaluation/eval.rs"),
    ("E0920", LOOPS),
    ("E0921", LOOPS),
    ("E0922", LOOPS),
    ("E0923", LOOPS),
    ("E0924", LOOPS),
    ("E0925", LOOPS),
    ("E0930", LOOPS),
    ("E0931", LOOPS),
    ("E0932", LOOPS),
    ("E0933", LOOPS),
    ("E0934", LOOPS),
    ("E0935", LOOPS),
    ("E0936", LOOPS),
    ("E0937", LOOPS),
    ("E0940", LOOPS),
    ("E0941", LOOPS),
    ("E0942", LOOPS),
    ("E0943", LOOPS),
    ("E0944", LOOPS),
    ("E0950", LOOPS),
    ("E0951", LOOPS),
    ("E0952", LOOPS),
    ("E0953", LOOPS),
    ("E0960", LOOPS),
    ("E0961", LOOPS),
    ("E0962", LOOPS),
    ("E0963", LOOPS),
    ("E0964", LOOPS),
    ("E0965", LOOPS),
    ("E0966", LOOPS),
    ("E0967", LOOPS),
    ("E0968", LOOPS),
    ("E0969", LOOPS),
    ("E0970", LOOPS),
    ("E0971", LOOPS),
    ("E0972", LOOPS),
    ("E0973", LOOPS),
    ("E0974", LOOPS),
    ("E0975", SCANS),
    ("E0976", SCANS),
    ("E0977", SCANS),
    ("E1101", "arises only when the draft is written as NNEF 1.0: tests/library/migration.rs"),
    ("E1102", "arises only when the draft is written as NNEF 1.0: tests/library/migration.rs"),
    ("E1103", "arises only when the draft is written as NNEF 1.0: tests/library/migration.rs"),
    ("E1104", "arises only when the draft is written as NNEF 1.0: tests/library/migration.rs"),
    ("E1105", "arises only when the draft is written as NNEF 1.0: tests/library/migration.rs"),
    ("E1201", MODELS),
    ("E1202", MODELS),
    ("E1203", MODELS),
    ("E1204", MODELS),
    ("E1205", MODELS),
    ("E0004", "arises with files in other formats: tests/command/inputs.rs"),
    ("E0005", "arises only in builds without all parts: web/src/answer.rs"),
    ("E1206", MODELS),
    ("E1211", MODELS),
    ("E1212", MODELS),
    ("E1213", MODELS),
    ("E1214", MODELS),
    ("E1215", MODELS),
    ("E1216", MODELS),
    ("E1221", MODELS),
    ("E1222", MODELS),
    ("E1223", MODELS),
    ("E1224", MODELS),
    ("E1225", MODELS),
    ("E1301", OPTIONS),
    ("E1302", OPTIONS),
    ("E1303", OPTIONS),
    ("E1304", OPTIONS),
    ("E1305", OPTIONS),
    ("E1306", OPTIONS),
    ("E1308", OPTIONS),
    ("E1309", ONNX),
    ("E1310", ONNX),
    ("E1311", "arises with options only: tests/commands/parts.txt"),
    ("E1501", SHAPES),
    ("E1502", SHAPES),
    ("E1503", SHAPES),
    ("E1504", SHAPES),
    ("E1505", SHAPES),
    ("E1506", SHAPES),
    ("E1507", SHAPES),
    ("E1508", SHAPES),
    ("E1509", SHAPES),
    ("E1510", SHAPES),
    ("E1511", SHAPES),
    ("E1512", SHAPES),
    ("E2001", ONNX),
    ("E2002", ONNX),
    ("E2003", ONNX),
    ("E2004", ONNX),
    ("E2005", ONNX),
    ("E2006", ONNX),
    ("E2007", ONNX),
    ("E2008", ONNX),
    ("E2009", ONNX),
    ("E2010", ONNX),
    ("E2011", ONNX),
    ("E2012", ONNX),
    ("E2013", ONNX),
    ("E2014", ONNX),
    ("E2015", ONNX),
    ("E2050", ONNX),
    ("E2051", ONNX),
    ("E2052", ONNX),
    ("E2053", ONNX),
    ("E2054", ONNX),
    ("E2060", ONNX),
    ("E2061", ONNX),
    ("E2020", ONNX),
    ("E2021", ONNX),
    ("E2022", ONNX),
    ("E2023", ONNX),
    ("E2024", ONNX),
    ("E2025", ONNX),
    ("E2026", ONNX),
    ("E2027", ONNX),
    ("E2090", TO_ONNX),
    ("E2091", TO_ONNX),
    ("E2092", TO_ONNX),
    ("E2093", TO_ONNX),
    ("E2094", TO_NNEF),
    ("E2030", ONNX),
    ("E2031", ONNX),
    ("E2032", ONNX),
    ("E2033", ONNX),
    ("E2034", ONNX),
    ("E2035", ONNX),
    ("E2036", ONNX),
    ("E2037", ONNX),
    ("E2038", ONNX),
    ("E2039", ONNX),
    ("E2040", ONNX),
    ("E2041", ONNX),
    ("E2042", ONNX),
    ("E2043", ONNX),
    ("E2044", ONNX),
    ("E2045", ONNX),
    ("E2046", ONNX),
    ("E2047", ONNX),
    ("E2048", ONNX),
    ("E2049", ONNX),
    ("E2201", PNNX),
    ("E2202", PNNX),
    ("E2203", PNNX),
    ("E2204", PNNX),
    ("E2205", PNNX),
    ("E2206", PNNX),
    ("E2207", PNNX),
    ("E2208", PNNX),
    ("E2209", PNNX),
    ("E2210", PNNX),
    ("E2211", PNNX),
    ("E2212", PNNX),
    ("E2221", PNNX),
    ("E2222", PNNX),
    ("E2223", PNNX),
    ("E2224", PNNX),
    ("E2225", PNNX),
    ("E2226", PNNX),
    ("E2227", PNNX),
    ("E2228", PNNX),
    ("E2229", PNNX),
    ("E2231", NCNN),
    ("E2232", NCNN),
    ("E2233", NCNN),
    ("E2234", NCNN),
    ("E2235", NCNN),
];

/// Codes that always come together with another one.
const COMPANIONS: &[(&str, &str, &str)] = &[
    ("E0220", "E0219", "free text is not a known extension either"),
    ("E0303", "E0410", "a tensor after an attribute can only be given by name"),
];

/// A fenced example.
struct Example {
    code: Code,
    wrong: bool,
    line: usize,
    text: String,
}

fn examples() -> Vec<Example> {
    let document = include_str!("../../docs/diagnostics.md");
    let mut examples: Vec<Example> = Vec::new();
    let (mut code, mut open) = (None, false);
    for (i, line) in document.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            code = Some(Code::from_text(&heading[..5]).expect(heading));
        } else if line.starts_with("```nnef") {
            let wrong = line.ends_with("wrong");
            examples.push(Example { code: code.unwrap(), wrong, line: i + 1, text: String::new() });
            open = true;
        } else if line == "```" {
            open = false;
        } else if open {
            let text = &mut examples.last_mut().unwrap().text;
            text.push_str(line);
            text.push('\n');
        }
    }
    examples
}

/// All diagnostics, as the command reports them.
fn findings(text: &str, options: &Options) -> Vec<Diagnostic> {
    let parsed = parse("example.nnef", text.to_string(), options);
    let mut found: Vec<Diagnostic> = parsed.diagnostics.iter().cloned().collect();
    if parsed.diagnostics.has_errors() {
        found.extend(check(&parsed.document, options).iter().cloned());
        return found;
    }
    match expand(&parsed.document, options) {
        Ok(expansion) => found.extend(expansion.diagnostics.iter().cloned()),
        Err(errors) => found.extend(errors.iter().cloned()),
    }
    found
}

fn told(found: &[Diagnostic]) -> String {
    found.iter().map(|d| format!("\n    {:?} {} {}", d.severity, d.code.as_str(), d.message)).collect()
}

/// The severity of a code in a mode, unless it is not reported there.
fn severity(code: Code, strict: bool) -> Severity {
    code.severity(strict)
}

#[test]
fn wrong_examples_have_their_code() {
    let mut failed = String::new();
    for example in examples().iter().filter(|example| example.wrong) {
        for strict in [false, true] {
            let found = findings(&example.text, &Options::default().with(|o| o.strict = strict));
            let own = found.iter().find(|d| d.code == example.code);
            if own.is_none_or(|d| d.severity != severity(example.code, strict)) {
                let code = example.code.as_str();
                failed += &format!("line {}, strict {strict}: no {code}, but{}\n", example.line, told(&found));
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// An example has one mistake, which is reported once.
#[test]
fn wrong_examples_have_no_other_errors() {
    let mut failed = String::new();
    for example in examples().iter().filter(|example| example.wrong) {
        let found = findings(&example.text, &Options::default().with(|o| o.strict = true));
        let own = example.code.as_str();
        let allowed = |other: &str| COMPANIONS.iter().any(|(code, companion, _)| (*code, *companion) == (own, other));
        if found.iter().any(|d| d.code != example.code && !allowed(d.code.as_str())) {
            failed += &format!("line {} is about {}:{}\n", example.line, example.code.as_str(), told(&found));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn right_examples_are_accepted_under_strict() {
    let mut failed = String::new();
    for example in examples().iter().filter(|example| !example.wrong) {
        for lower in [Lower::Custom, Lower::All] {
            let found = findings(
                &example.text,
                &Options::default().with(|o| {
                    o.strict = true;
                    o.lower = lower.clone();
                }),
            );
            if !found.is_empty() {
                failed += &format!("line {} ({}), {lower:?}:{}\n", example.line, example.code.as_str(), told(&found));
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn every_code_has_both_examples_or_a_reason() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for example in examples() {
        let count = counts.entry(example.code.as_str()).or_default();
        *(if example.wrong { &mut count.0 } else { &mut count.1 }) += 1;
    }
    for code in Code::ALL.iter().map(|code| code.as_str()) {
        let excused = WITHOUT_EXAMPLE.iter().any(|(without, _)| *without == code);
        let (wrong, right) = counts.get(code).copied().unwrap_or_default();
        assert_eq!(excused, wrong == 0, "{code}: {wrong} wrong examples");
        assert_eq!(excused, right == 0, "{code}: {right} right examples");
    }
}

/// The texts of labels: under the locations of diagnostics, and at other locations.
fn labels(found: &[Diagnostic]) -> Vec<String> {
    let own = found.iter().map(|d| d.label.clone().unwrap_or_else(|| "here".to_owned()));
    own.chain(found.iter().flat_map(|d| &d.labels).map(|label| label.message.clone())).collect()
}

/// The documents of `tests/snapshots`.
fn recorded() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let files = std::fs::read_dir(folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let source = |text: String| {
        let start = text.find("--- source\n").unwrap() + "--- source\n".len();
        text[start..text.find("--- human\n").unwrap()].to_owned()
    };
    files.map(source).collect()
}

/// A label says what was found at its location, such as a type or a shape; the message alone says what is wrong.
#[test]
fn labels_say_what_is_there() {
    let wrong = examples().into_iter().filter(|example| example.wrong).map(|example| example.text);
    let mut all = Vec::new();
    for text in wrong.chain(recorded()) {
        for strict in [false, true] {
            all.extend(labels(&findings(&text, &Options::default().with(|o| o.strict = strict))));
        }
    }
    let idle = all.iter().filter(|label| label.split_whitespace().any(|word| word == "here")).count();
    assert!(all.len() > 500 && idle * 10 <= all.len(), "{idle} of {} labels say `here`", all.len());
    let with_types = all.iter().filter(|label| label.starts_with("this is ")).count();
    assert!(with_types > 50, "{with_types} labels name a type");
}

/// The label of a shape error lists the operands and their shapes.
#[test]
fn shape_errors_name_the_operands() {
    let text = "version 1.0;\ngraph G( x, w ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    \
        w = external(shape = [2,4]);\n    y = add(x, w);\n}\n";
    let found = findings(text, &Options::default());
    let label = found.first().and_then(|found| found.label.as_deref());
    assert_eq!(label, Some("`x` has shape [2, 3], `w` has shape [2, 4]"), "{}", told(&found));
}
