//! The values that completion proposes are those that can be used at a place: no others, and all of them.

use serde_json::{Value, json};

use crate::editor::Editor;

/// A text in which places are marked before a name of a value, all names, and the codes of findings about values that are
/// not there.
struct Text {
    name: &'static str,
    text: &'static str,
    values: &'static [&'static str],
    codes: &'static [&'static str],
}

const TEXTS: &[Text] = &[
    Text {
        name: "a.onnxtxt",
        text: r#"<ir_version: 10, opset_import: ["" : 21, "l" : 1]>
g (float[2] x, bool c, float[2] "in/put") => (float[2] y, float[2] r, float[2] "a.b/c") <float[2] w = {1.0, 2.0}>
{
    t = Relu (§0x)
    "a.b/c" = Add (t, §1x)
    y = l.f (§2t)
    r = If (c) <
        then_branch = p () => (float[2] u) { v = Neg (§3x) u = Relu (§4v) },
        else_branch = q () => (float[2] k) { k = Relu (§5"in/put") }
    >
}
<domain: "l", opset_import: ["" : 21]>
f (m) => (n) { o = Relu (§6m) n = Neg (§7o) }
"#,
        values: &["x", "c", "in/put", "w", "t", "a.b/c", "y", "r", "v", "u", "k", "m", "n", "o"],
        codes: &["E2031", "E2032", "E2033"],
    },
    Text {
        name: "a.nnef",
        text: "version 1.0;
extension KHR_enable_fragment_definitions;
fragment f( a: tensor<scalar> ) -> ( b: tensor<scalar> )
{
    d = relu(§0a);
    b = tanh(§1d);
}
graph G( x ) -> ( y )
{
    x = external<scalar>(shape = [2]);
    w = variable<scalar>(shape = [2], label = 'w');
    t = relu(§2x);
    (u, v) = (f(§3t), w);
    y = max(u, §4v);
}
",
        values: &["a", "b", "d", "x", "w", "t", "u", "v", "y"],
        codes: &["E0606", "E0616"],
    },
];

/// A text without marks, with the places of the marks.
fn unmarked(marked: &str) -> (String, Vec<usize>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for (i, part) in marked.split('§').enumerate() {
        if i > 0 {
            places.push(text.len());
        }
        text += if i > 0 { &part[1..] } else { part };
    }
    (text, places)
}

/// A text with another name at a place.
fn with(text: &str, at: usize, name: &str) -> String {
    let rest = &text[at..];
    let end = match rest.strip_prefix('"') {
        Some(quoted) => quoted.find('"').unwrap() + 2,
        None => rest.find(|c: char| !c.is_alphanumeric()).unwrap(),
    };
    format!("{}{name}{}", &text[..at], &rest[end..])
}

fn errors(editor: &mut Editor, name: &str) -> Vec<String> {
    let found = editor.findings(name);
    let errors = found.as_array().unwrap().iter().filter(|found| found["severity"] == 1);
    errors.map(|found| found["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn values_are_proposed_where_they_can_be_used() {
    for Text { name, text: marked, values, codes } in TEXTS {
        let mut editor = Editor::start(&[]);
        editor.initialize(json!({}));
        editor.set(name, marked, true);
        assert_eq!(errors(&mut editor, name), [""; 0], "{name}");
        let (text, places) = unmarked(marked);
        for (i, at) in places.into_iter().enumerate() {
            editor.set(name, marked, false);
            let place = editor.place(&format!("§{i}"));
            let answer = editor.ask_at("textDocument/completion", name, place.position, json!({}));
            let items = answer["result"]["items"].as_array().unwrap().iter().filter(|item| item["kind"] == 6);
            let proposed: Vec<String> =
                items.map(|item| item["textEdit"]["newText"].as_str().unwrap().to_owned()).collect();
            for value in *values {
                let is_name = value.chars().all(char::is_alphanumeric);
                let spelled = if is_name { (*value).to_owned() } else { Value::from(*value).to_string() };
                editor.set(name, &with(&text, at, &spelled), false);
                let found = errors(&mut editor, name);
                let is_there = !found.iter().any(|code| codes.contains(&code.as_str()));
                let is_proposed = proposed.contains(&spelled);
                assert_eq!(is_proposed, is_there, "{name}, place {i}: {spelled}: {found:?}, of {proposed:?}");
            }
            assert!(proposed.iter().all(|new| values.iter().any(|value| new.trim_matches('"') == *value)));
        }
        assert_eq!(editor.end(), 0);
    }
}

/// Every position of a text has an answer to every request, also in strings, comments, and texts that end anywhere.
#[test]
fn every_position_has_an_answer() {
    const REQUESTS: &[&str] =
        &["completion", "hover", "definition", "prepareRename", "signatureHelp", "documentHighlight"];
    for Text { name, text: marked, .. } in TEXTS {
        let (text, _) = unmarked(marked);
        let commented = text.replacen('\n', " # \"a comment\n", 1);
        let mut editor = Editor::start(&[]);
        editor.initialize(json!({}));
        editor.set(name, &commented, true);
        for end in (0..=text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
            editor.set(name, &text[..end], false);
            let last = text[..end].rsplit('\n').next().unwrap().chars().count();
            let end = json!({ "line": text[..end].matches('\n').count(), "character": last });
            for request in REQUESTS {
                let answer = editor.ask_at(&format!("textDocument/{request}"), name, end.clone(), json!({}));
                let refused = answer["error"]["code"].as_i64();
                // A name of a library cannot be renamed.
                assert!(refused.is_none() || *request == "prepareRename" && refused == Some(-32803), "{answer}");
            }
        }
        editor.set(name, &commented, false);
        for (line, words) in commented.lines().enumerate() {
            for character in (0..=words.chars().count()).step_by(3) {
                for request in REQUESTS {
                    let at = json!({ "line": line, "character": character });
                    let answer = editor.ask_at(&format!("textDocument/{request}"), name, at, json!({}));
                    let refused = answer["error"]["code"].as_i64();
                    assert!(refused.is_none() || *request == "prepareRename" && refused == Some(-32803), "{answer}");
                    let in_comment = words.find('#').is_some_and(|start| start < character);
                    assert!(!in_comment || answer["result"].is_null() || answer["result"] == json!([]), "{answer}");
                }
            }
        }
        assert_eq!(editor.end(), 0);
    }
}
