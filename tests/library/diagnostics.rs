//! Every example of docs/diagnostics.md: wrong examples give the code of their section, and right ones
//! are accepted under `--strict`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use nnef_flatten::diagnostics::{Code, Severity};
use nnef_flatten::{Diagnostic, Lower, Options, check, expand, parse};

/// Why codes have no example.
const HUGE: &str = "needs a text that is longer than a page";
/// What the command refuses as wrong usage.
const CALLER: &str = "only callers of the library can ask for it: tests/library/options.rs";

/// Codes without an example, and why they have none.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("E0002", HUGE),
    ("E0003", HUGE),
    ("E0005", "only builds without all parts: web/src/answer.rs"),
    ("E0312", "needs a declaration that replaces a standard operation: tests/laws/mutated.rs"),
    ("E0627", "needs literals that strict checks refuse: tests/laws/mutated.rs"),
    ("E0818", HUGE),
    ("E0826", "what reaches the evaluation is checked before: src/eval/tests.rs"),
    ("E0830", "needs operations that two notations compute differently: src/input/verify/tests.rs"),
    ("E0936", "needs two loops that share a condition: src/loops/tests"),
    ("E0969", "needs shapes that differ between trips: src/loops/tests"),
    ("E0971", "needs loops that cross: src/loops/tests"),
    ("E1205", "needs an archive of some hundred kilobytes: tests/notations/models"),
    ("E1303", CALLER),
    ("E1305", "needs a file for --fragments: tests/library/options.rs"),
    ("E1306", CALLER),
    ("E1512", "needs standard input: tests/notations/layouts.rs"),
    ("E2015", "needs a program that changes a file meanwhile: src/onnx/contents"),
    ("E2210", "needs operands from a file: tests/notations/pnnx.rs"),
    ("E2224", "needs data beside the text: tests/notations/pnnx.rs"),
];

/// The most codes without an example.
const MOST_WITHOUT: usize = 19;

/// Codes that always come together with another one.
const COMPANIONS: &[(&str, &str, &str)] = &[
    ("E0220", "E0219", "free text is not a known extension either"),
    ("E0303", "E0410", "a tensor after an attribute can only be given by name"),
];

/// A fenced example: a language, `wrong` or `right`, and the words with which the command reads it.
struct Example {
    code: Code,
    language: &'static str,
    wrong: bool,
    words: &'static str,
    line: usize,
    text: String,
}

impl Example {
    /// Whether it is a document of NNEF that is checked: the library alone tells what is found in it.
    fn is_document(&self) -> bool {
        self.language == "nnef" && self.words.is_empty()
    }
}

/// The examples that are documents.
fn documents() -> Vec<Example> {
    examples().into_iter().filter(Example::is_document).collect()
}

fn examples() -> Vec<Example> {
    let document = include_str!("../../docs/diagnostics.md");
    let mut examples: Vec<Example> = Vec::new();
    let (mut code, mut open) = (None, false);
    for (i, line) in document.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            code = Some(Code::from_text(&heading[..5]).expect(heading));
        } else if line == "```" {
            open = false;
        } else if let Some(info) = line.strip_prefix("```") {
            let (language, info) = info.split_once(' ').unwrap_or((info, ""));
            let (kind, words) = info.split_once(' ').unwrap_or((info, ""));
            if let "wrong" | "right" = kind {
                let (code, wrong) = (code.unwrap(), kind == "wrong");
                examples.push(Example { code, language, wrong, words, line: i + 1, text: String::new() });
                open = true;
            }
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
    for example in documents().iter().filter(|example| example.wrong) {
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
    for example in documents().iter().filter(|example| example.wrong) {
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
    for example in documents().iter().filter(|example| !example.wrong) {
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
    assert!(WITHOUT_EXAMPLE.len() <= MOST_WITHOUT, "examples can be texts of all notations, with options");
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
    let wrong = documents().into_iter().filter(|example| example.wrong).map(|example| example.text);
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

/// What the command finds in the examples that are no documents.
#[cfg(feature = "cli")]
mod called {
    use std::path::Path;

    use super::{Example, examples};
    use crate::common::command::call;

    /// The name of a file with a text in a language.
    fn name(language: &str) -> &'static str {
        match language {
            "nnef" | "nnef-draft" => "example.nnef",
            "onnxtxt" => "example.onnxtxt",
            "loops" => "example.json",
            "pnnx" => "example.pnnx.param",
            "ncnn" => "example.param",
            other => panic!("no file has {other}"),
        }
    }

    /// The bytes that a text in hex has.
    fn bytes(hex: &str) -> Vec<u8> {
        hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    /// Writes files: each begins with `--- NAME`, and has a text, or bytes `in hex`. Returns the name of the first one.
    fn write_files<'t>(folder: &Path, text: &'t str) -> &'t str {
        let parts = text.split("--- ").skip(1).map(|part| part.split_once('\n').unwrap());
        for (name, content) in parts.clone() {
            let (name, content) = match name.strip_suffix(" in hex") {
                Some(name) => (name, bytes(content)),
                None => (name, content.as_bytes().to_vec()),
            };
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let first = parts.clone().next().unwrap().0;
        first.strip_suffix(" in hex").unwrap_or(first)
    }

    /// The words of a call, with the text or the file that has it.
    fn words(example: &Example, folder: &Path) -> Vec<String> {
        let mut words: Vec<String> = example.words.split_whitespace().map(str::to_owned).collect();
        if let "expr" | "layout" = example.language {
            words.insert(0, example.language.to_owned());
            words.extend(["--".to_owned(), example.text.trim_end_matches('\n').to_owned()]);
            return words;
        }
        if words.is_empty() {
            words.push("check".to_owned());
        }
        let name = match example.language {
            "files" => write_files(folder, &example.text),
            "model" => {
                write_files(&folder.join("model"), &example.text);
                "model"
            }
            language => {
                std::fs::write(folder.join(name(language)), &example.text).unwrap();
                name(language)
            }
        };
        words.push(name.to_owned());
        words
    }

    /// The exit status, and the findings: each with its code, and whether it is an error.
    fn found(example: &Example) -> (i32, Vec<(String, bool)>) {
        let folder = tempfile::tempdir().unwrap();
        let words = words(example, folder.path());
        let options = ["--message-format", "json", "--warnings", "all"].map(str::to_owned);
        let output = call(options.into_iter().chain(words)).within(folder.path()).run();
        let lines = [output.stdout, output.stderr].concat();
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let values = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let finding =
            |value: serde_json::Value| Some((value["code"].as_str()?.to_owned(), value["severity"] == "error"));
        (output.status.code().unwrap(), values.filter_map(finding).collect())
    }

    /// A wrong example has its code, and no other error; a right one has no error, and not the code.
    #[test]
    fn examples_of_other_notations_and_options_are_as_told() {
        let mut failed = String::new();
        let mut count = 0;
        for example in examples().iter().filter(|example| !example.is_document()) {
            let (status, found) = found(example);
            let code = example.code.as_str();
            let has_own = found.iter().any(|(own, _)| own == code);
            let others = found.iter().any(|(own, is_error)| *is_error && own != code);
            if status == 2 || others || has_own != example.wrong || !example.wrong && status != 0 {
                failed += &format!("line {}, {code}, status {status}: {found:?}\n", example.line);
            }
            count += 1;
        }
        assert!(failed.is_empty(), "{failed}");
        assert!(count > 250, "{count}");
    }
}
