//! Dialogues with the language server, as an editor has them.
//!
//! Each file of `tests/lsp` is a dialogue: a line is a request (see [`Dialogue::line`]), and the lines after it that
//! start with `|` are the answer. With `UPDATE_SNAPSHOTS=1` in the environment the answers are rewritten; look at the
//! difference before committing it. In texts, `§1` is a place that requests name; it is not sent.
#![cfg(all(feature = "cli", feature = "lsp"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../common/mod.rs"]
mod common;
mod editor;
mod proposals;

use std::fs;
use std::path::{Path, PathBuf};

use editor::{Editor, Place};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lsp")
}

/// A dialogue with what was answered so far.
struct Dialogue {
    editor: Editor,
    told: String,
}

impl Dialogue {
    /// Runs a file.
    fn run(text: &str) -> String {
        let mut dialogue = Dialogue { editor: Editor::start(&[]), told: String::new() };
        let mut lines = text.lines().filter(|line| !line.starts_with('|'));
        while let Some(line) = lines.next() {
            dialogue.told += &format!("{line}\n");
            let opened = line.strip_prefix("open ").or_else(|| line.strip_prefix("replace "));
            if opened.is_none() {
                dialogue.line(line);
                continue;
            }
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "end").collect();
            dialogue.told += &format!("{}\nend\n", body.join("\n"));
            let (name, is_new) = (opened.unwrap(), line.starts_with("open"));
            dialogue.editor.set(name, &format!("{}\n", body.join("\n")), is_new);
        }
        assert_eq!(dialogue.editor.end(), 0);
        dialogue.told
    }

    /// One request: its name, a place, and a word. A line that is empty or starts with `#` is for readers.
    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let place = |at: usize| self.editor.place(words.get(at).copied().unwrap_or_default());
        match words[..] {
            [] | [""] | ["#", ..] => {}
            ["initialize", ..] => {
                let offered = line.strip_prefix("initialize").unwrap().trim();
                let offered = if offered.is_empty() { json!({}) } else { serde_json::from_str(offered).unwrap() };
                let answer = self.editor.initialize(offered);
                self.tell(&answer);
            }
            ["findings", name] => {
                let found = self.editor.findings(name);
                for one in found.as_array().unwrap() {
                    let related = one["relatedInformation"].as_array().unwrap().iter();
                    let related: Vec<String> =
                        related.map(|also| format!(" [{} {}]", shown(&also["location"]), also["message"])).collect();
                    let message = one["message"].as_str().unwrap().replace('\n', "; ");
                    let (severity, code) = (&one["severity"], one["code"].as_str().unwrap());
                    self.say(&format!("{} {severity} {code} {message}{}", range(&one["range"]), related.concat()));
                }
                if found.as_array().unwrap().is_empty() {
                    self.say("nothing");
                }
            }
            ["underlined", name] => {
                for one in self.editor.findings(name).as_array().unwrap() {
                    let words = self.editor.words(name, &one["range"]);
                    let message = one["message"].as_str().unwrap().lines().next().unwrap();
                    self.say(&format!("{words:?} {} {message}", one["code"].as_str().unwrap()));
                    let related = one["relatedInformation"].as_array().unwrap().iter();
                    for also in related.filter(|also| also["location"]["uri"] == uri(name)) {
                        let words = self.editor.words(name, &also["location"]["range"]);
                        self.say(&format!("    {words:?} {}", also["message"].as_str().unwrap()));
                    }
                }
            }
            ["outline", name] => {
                let answer =
                    self.editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri(name) } }));
                self.items(&answer["result"], 0);
            }
            ["folds", name] => {
                let answer =
                    self.editor.ask("textDocument/foldingRange", json!({ "textDocument": { "uri": uri(name) } }));
                for fold in answer["result"].as_array().unwrap() {
                    let kind = fold["kind"].as_str().unwrap_or_default();
                    self.say(&format!("{}-{} {kind}", fold["startLine"], fold["endLine"]));
                }
            }
            ["hints", name] => {
                let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
                let params = json!({ "textDocument": { "uri": uri(name) }, "range": range });
                for hint in self.editor.ask("textDocument/inlayHint", params)["result"].as_array().unwrap() {
                    let at = &hint["position"];
                    let name =
                        self.editor.words(name, &json!({ "start": { "line": at["line"], "character": 0 }, "end": at }));
                    self.say(&format!("{}{}", name.trim_start(), hint["label"].as_str().unwrap()));
                }
            }
            ["parameters", _] => {
                let Place { name, position } = place(1);
                let answer = self.editor.ask_at("textDocument/completion", &name, position, json!({}));
                let items = answer["result"]["items"].as_array().unwrap().iter().filter(|item| item["kind"] == 10);
                let labels: Vec<&str> = items.map(|item| item["label"].as_str().unwrap()).collect();
                self.say(&labels.join(" "));
            }
            ["signature", _] => {
                let Place { name, position } = place(1);
                let answer = self.editor.ask_at("textDocument/signatureHelp", &name, position, json!({}));
                self.signature(&answer["result"]);
            }
            ["type", place_name, text] => {
                let Place { name, position } = self.editor.place(place_name);
                self.editor.insert(&name, &position, text);
            }
            ["completion", _, prefix] => {
                let Place { name, position } = place(1);
                let answer = self.editor.ask_at("textDocument/completion", &name, position, json!({}));
                for item in answer["result"]["items"].as_array().into_iter().flatten() {
                    let label = item["label"].as_str().unwrap();
                    if label.starts_with(prefix) || prefix == "*" {
                        let (edit, kind) = (&item["textEdit"], &item["kind"]);
                        let detail = item["detail"].as_str().unwrap_or_default();
                        let replaced = range(&edit["range"]);
                        self.say(&format!("{label} {kind} {replaced} {} {detail}", edit["newText"]));
                    }
                }
            }
            [request @ ("hover" | "definition" | "prepareRename" | "documentHighlight"), _] => {
                let Place { name, position } = place(1);
                let answer = self.editor.ask_at(&format!("textDocument/{request}"), &name, position, json!({}));
                self.tell(&answer);
            }
            ["references", _] => {
                let Place { name, position } = place(1);
                let more = json!({ "context": { "includeDeclaration": true } });
                let answer = self.editor.ask_at("textDocument/references", &name, position, more);
                self.tell(&answer);
            }
            ["rename", _, to] => {
                let Place { name, position } = place(1);
                let answer = self.editor.ask_at("textDocument/rename", &name, position, json!({ "newName": to }));
                self.edited(&answer);
            }
            ["format", name] => {
                let answer =
                    self.editor.ask("textDocument/formatting", json!({ "textDocument": { "uri": uri(name) } }));
                self.edited(&answer);
            }
            ["actions", _] => {
                let answer = self.actions(place(1));
                self.tell(&answer);
            }
            ["expand" | "fix", _] => {
                let actions = self.actions(place(1));
                let kind = if line.starts_with("fix") { "quickfix" } else { "refactor.inline" };
                let mut of_kind = actions["result"].as_array().unwrap().iter().filter(|action| action["kind"] == kind);
                let mut action = of_kind.next().cloned().unwrap_or_default();
                if action.get("data").is_some() {
                    let resolved = self.editor.ask("codeAction/resolve", action);
                    if !resolved["error"].is_null() {
                        return self.tell(&resolved);
                    }
                    action = resolved["result"].clone();
                }
                let edit = if action["edit"].is_null() { action } else { action["edit"].clone() };
                self.edited(&json!({ "result": edit }));
            }
            ["ask", method, params] => {
                let answer = self.editor.ask(method, serde_json::from_str(params).unwrap());
                self.tell(&answer);
            }
            ["send", method, params] => self.editor.notify(method, serde_json::from_str(params).unwrap()),
            ["close", name] => {
                self.editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(name) } }));
                self.editor.forget(name);
            }
            ["log"] => {
                let told = self.editor.wait("window/logMessage");
                self.say(told["message"].as_str().unwrap());
            }
            _ => panic!("`{line}` is not a request"),
        }
    }

    fn actions(&mut self, Place { name, position }: Place) -> Value {
        let range = json!({ "start": position, "end": position });
        let params = json!({
            "textDocument": { "uri": uri(&name) }, "range": range, "context": { "diagnostics": [] },
        });
        self.editor.ask("textDocument/codeAction", params)
    }

    /// Writes an outline.
    fn items(&mut self, items: &Value, depth: usize) {
        for item in items.as_array().into_iter().flatten() {
            let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
            let (all, named) = (range(&item["range"]), range(&item["selectionRange"]));
            let line = format!("{} {} {all} ({named}) {}", text("name"), item["kind"], text("detail"));
            self.say(&format!("{}{line}", "    ".repeat(depth)));
            self.items(&item["children"], depth + 1);
        }
    }

    /// Writes a signature, with its active parameter by its part of the label.
    fn signature(&mut self, help: &Value) {
        let Some(signature) = help["signatures"].get(0) else { return self.say("nothing") };
        let label: Vec<u16> = signature["label"].as_str().unwrap().encode_utf16().collect();
        let active = &signature["parameters"][help["activeParameter"].as_u64().unwrap() as usize]["label"];
        let end = |i: usize| active[i].as_u64().unwrap_or_default() as usize;
        self.say(&format!("{:?} of {}", String::from_utf16(&label[end(0)..end(1)]).unwrap(), signature["label"]));
        if let Some(remark) = signature["documentation"].as_str() {
            self.say(&format!("    {remark}"));
        }
    }

    fn say(&mut self, text: &str) {
        self.told += format!("| {text}").trim_end();
        self.told.push('\n');
    }

    /// Writes the result or the error of an answer.
    fn tell(&mut self, answer: &Value) {
        let answer = if answer["error"].is_null() { &answer["result"] } else { &answer["error"] };
        let text = shown(answer);
        for line in text.lines() {
            self.say(line);
        }
    }

    /// Writes a text as it is after the edits of an answer; it stays as it is in the server.
    fn edited(&mut self, answer: &Value) {
        match self.editor.applied(answer) {
            Some(text) => text.lines().for_each(|line| self.say(line)),
            None => self.tell(answer),
        }
    }
}

fn uri(name: &str) -> String {
    format!("file:///work/{name}")
}

fn range(range: &Value) -> String {
    let place = |at: &Value| format!("{}:{}", at["line"], at["character"]);
    format!("{}-{}", place(&range["start"]), place(&range["end"]))
}

/// An answer as lines: locations and ranges are short, texts are written as they are.
fn shown(answer: &Value) -> String {
    match answer {
        Value::Object(fields) if fields.contains_key("uri") && fields.contains_key("range") => {
            let name = answer["uri"].as_str().unwrap();
            let name = name.rsplit('/').next().unwrap();
            format!("{name} {}", range(&answer["range"]))
        }
        Value::Object(fields) if fields.contains_key("start") && fields.contains_key("end") => range(answer),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let text = shown(value);
                let nested = value.is_object() && !value["start"].is_object() || text.contains('\n');
                if nested { format!("{key}:\n{}", indented(&text)) } else { format!("{key}: {text}") }
            };
            fields.iter().map(field).collect::<Vec<_>>().join("\n")
        }
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => answer.to_string(),
        Value::Array(items) => {
            items.iter().map(|item| format!("- {}", indented(&shown(item)).trim())).collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn dialogues_go_as_recorded() {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() >= 4);
    for path in files {
        let wanted = fs::read_to_string(&path).unwrap();
        let found = Dialogue::run(&wanted);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&path, &found).unwrap();
        } else {
            let differs = wanted.lines().zip(found.lines()).find(|(wanted, found)| wanted != found);
            assert_eq!(differs, None, "{}", path.display());
            assert_eq!(wanted, found, "{}", path.display());
        }
    }
}

#[test]
fn requests_before_and_after_a_session_are_refused() {
    let mut editor = Editor::start(&[]);
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    let early = editor.ask("textDocument/hover", json!({}));
    assert_eq!(code(&early), Some(-32002));
    editor.initialize(json!({}));
    let again = editor.ask("initialize", json!({}));
    assert_eq!(code(&again), Some(-32600));
    let unknown = editor.ask("textDocument/inlineValue", json!({}));
    assert_eq!(code(&unknown), Some(-32601));
    let wrong = editor.ask("textDocument/hover", json!({ "textDocument": 3 }));
    assert_eq!(code(&wrong), Some(-32602));
    assert_eq!(editor.ask("shutdown", Value::Null)["result"], Value::Null);
    let late = editor.ask("textDocument/hover", json!({}));
    assert_eq!(code(&late), Some(-32600));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.status(), (0, String::new()));
}

#[test]
fn sessions_that_break_off_have_their_status() {
    let mut editor = Editor::start(&[]);
    editor.initialize(json!({}));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.status(), (1, String::new()), "exit without shutdown");

    let mut editor = Editor::start(&[]);
    editor.initialize(json!({}));
    editor.close();
    let (status, told) = editor.status();
    assert!(status == 2 && told.contains("has ended without"), "{status}: {told}");
}

/// What is no message is answered, and the session goes on with the next one.
#[test]
fn sessions_go_on_after_what_is_no_message() {
    for (broken, code) in [
        ("Content-Length: 7\r\n\r\n{\"a\": 1", -32700),
        ("Content-Length: 8\r\n\r\n{\"a\": 1}", -32600),
        ("Content-Length: 2\r\n\r\n[]", -32600),
        ("Content-Length: x\r\n\r\n{}", -32700),
        ("hello\r\n\r\n", -32700),
        ("\r\n", -32700),
        ("Content-Length: 99999999999999999999\r\n\r\n", -32700),
        ("Content-Length: 999999999999999\r\n\r\n{}", -32700),
        (&"x".repeat(1 << 20), -32700),
    ] {
        let mut editor = Editor::start(&[]);
        editor.initialize(json!({}));
        editor.raw(broken);
        let refused = editor.refusal();
        assert_eq!((&refused["id"], refused["error"]["code"].as_i64()), (&Value::Null, Some(code)), "{broken:.60}");
        editor.set("a.nnef", "version 1.0;\n", true);
        assert!(!editor.findings("a.nnef").as_array().unwrap().is_empty(), "{broken:.60}");
        assert_eq!(editor.end(), 0);

        let mut editor = Editor::start(&[]);
        editor.raw(broken);
        editor.close();
        let (status, told) = editor.status();
        assert!(status == 2 && told.starts_with("nnef-flatten: "), "{broken:.60}: {status}: {told}");
    }
}

/// Editors of JavaScript send halves of characters while one is being typed.
#[test]
fn halves_of_characters_are_read() {
    let mut editor = Editor::start(&[]);
    editor.initialize(json!({}));
    let text = r"version 1.0;\n# \ud83d\ngraph G( x ) -> ( y ) { x = external(shape = [1]); y = rellu(x); }";
    let open = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"file:///work/a.nnef","languageId":"nnef","version":1,"text":"{text}"}}}}}}"#
    );
    editor.raw(&format!("Content-Length: {}\r\n\r\n{open}", open.len()));
    let told = editor.wait("textDocument/publishDiagnostics");
    assert_eq!(told["diagnostics"][0]["range"]["start"], json!({ "line": 2, "character": 55 }), "{told}");
    assert_eq!(editor.end(), 0);
}

#[test]
fn hostile_texts_are_answered_in_time() {
    let head = "version 1.0;\nextension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;\n";
    let graph = |value: &str| format!("graph G( x ) -> ( y ) {{ x = external(shape = [1]); y = {value}; }}\n");
    let recursion = "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(x + 1.0); }\n";
    let long = format!("x{}", " + x".repeat(100_000));
    // With the code of the first finding, if there is one.
    for (text, code) in [
        (format!("{head}{recursion}{}", graph("f(x)")), "E0801"),
        (format!("{head}{}", graph(&long)), ""),
        (format!("{head}{}", graph(&"(".repeat(100_000))), "E0206"),
        (format!("{head}{}", graph(&format!("{}x{}", "f(".repeat(50_000), ")".repeat(50_000)))), "E0401"),
        (format!("{head}{}", graph(&format!("add({}", "x, ".repeat(100_000)))), "E0206"),
        (format!("{head}{}", graph(&format!("conv({}", "a = [x, ".repeat(50_000)))), "E0217"),
        (format!("{head}graph G( x ) -> ( y ) {{ x = external(shape = [1]);{} }}", " y = [x".repeat(20_000)), "E0217"),
        (format!("{head}{}", "{[(".repeat(100_000)), "E0003"),
        ("#".repeat(1 << 20), "E0201"),
        ("# a\n".repeat(1 << 18), "E0201"),
        ("\u{FEFF}\0é😀".repeat(10_000), "E0108"),
    ] {
        let mut editor = Editor::start(&[]);
        editor.initialize(json!({}));
        editor.set("a.nnef", &text, true);
        let found = editor.findings("a.nnef");
        assert_eq!(found[0]["code"].as_str().unwrap_or_default(), code, "{text:.100}");
        let position = json!({ "line": 2, "character": text.lines().nth(2).map_or(0, str::len) / 2 });
        ask_all(&mut editor, "a.nnef", &position);
        assert_eq!(editor.end(), 0);
    }
}

/// Asks all that can be asked about a position and a text.
fn ask_all(editor: &mut Editor, name: &str, position: &Value) {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": u32::MAX, "character": 0 } });
    let more = json!({ "context": { "includeDeclaration": true, "diagnostics": [] }, "range": range });
    for method in [
        "hover",
        "completion",
        "references",
        "definition",
        "prepareRename",
        "documentHighlight",
        "signatureHelp",
        "documentSymbol",
        "foldingRange",
        "inlayHint",
        "codeAction",
        "formatting",
    ] {
        let start = std::time::Instant::now();
        let answer = editor.ask_at(&format!("textDocument/{method}"), name, position.clone(), more.clone());
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{method}: {:?}", start.elapsed());
        // A text with errors is not formatted.
        let is_refused = method == "formatting" && answer["error"]["code"] == -32803;
        assert!(is_refused || answer.get("result").is_some(), "{method}: {}", answer["error"]);
    }
}

#[test]
fn hostile_models_are_answered_in_time() {
    let head = "<ir_version: 10, opset_import: [\"\" : 21, \"l\" : 1]>\ng (float[2] x, bool c) => (float[2] y)\n";
    let nodes: String = (0..20_000).map(|i| format!("v{i} = Add (x, x)\n")).collect();
    let graphs = "y = If (c) <then_branch = g () => (y) {\n".repeat(20_000);
    let functions: String = (0..5000)
        .map(|i| format!("<domain: \"l\", opset_import: [\"\" : 21]> f{i} (a) => (b) {{ b = Neg (a) }}\n"))
        .collect();
    // With the code of the first finding, if there is one.
    for (text, code) in [
        (format!("{head}{{\n{nodes}y = Relu (x)\n}}\n"), ""),
        (format!("{head}{{\n{nodes}y = Relu (x"), "E2001"),
        (format!("{head}{{\n{graphs}"), "E0003"),
        (format!("{head}{{\ny = Relu (x)\n}}\n{functions}"), ""),
        (format!("{head}{{ y = Relu <{}", "a = [1, ".repeat(100_000)), "E2001"),
        (format!("{head}{{ y = Concat <axis = 0> ({}x) }}", "x, ".repeat(100_000)), "E2052"),
        (format!("{head}{{ y = Relu ({}", "\"".repeat(99_999)), "E2001"),
        (format!("{head}{{ y = l.{}", "a.".repeat(100_000)), "E2001"),
        (format!("{head}{}", "#\n".repeat(100_000)), "E2001"),
        ("<({[".repeat(100_000), "E2001"),
    ] {
        let mut editor = Editor::start(&[]);
        editor.initialize(json!({}));
        editor.set("a.onnxtxt", &text, true);
        let found = editor.findings("a.onnxtxt");
        assert_eq!(found[0]["code"].as_str().unwrap_or_default(), code, "{text:.100}");
        let long = text.lines().nth(2).map_or(0, str::len);
        for character in [long / 2, long] {
            ask_all(&mut editor, "a.onnxtxt", &json!({ "line": 2, "character": character }));
        }
        assert_eq!(editor.end(), 0);
    }
}

/// Prints the time from a change to its findings, and bounds it; run it with `--release --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn time_from_a_change_to_its_findings() {
    let mut text =
        String::from("version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [1, 16]);\n    t0 = copy(x);\n");
    for i in 1..10_000 {
        text += &format!("    t{i} = {}(t{}, t{});\n", ["add", "mul", "max"][i % 3], i - 1, i / 2);
    }
    text += "    y = relu(t9999);\n}\n";
    let mut editor = Editor::start(&[]);
    editor.initialize(json!({}));
    editor.set("a.nnef", &text, true);
    editor.findings("a.nnef");
    let mut times = Vec::new();
    for i in 0..40 {
        let start = std::time::Instant::now();
        let is_renamed = i % 2 == 0;
        editor.insert("a.nnef", &json!({ "line": 5000 + i, "character": 4 }), if is_renamed { "u" } else { " " });
        let findings = editor.findings("a.nnef");
        times.push(start.elapsed().as_micros());
        // A tensor with another name is missing where it was used.
        assert!(!is_renamed || findings.as_array().is_some_and(|findings| !findings.is_empty()), "{findings}");
    }
    times.sort_unstable();
    println!("findings after a change at 10,000 operations: {} us (median), {} us (slowest)", times[20], times[39]);
    assert!(times[20] < 500_000, "{} us", times[20]);
    assert_eq!(editor.end(), 0);
}
