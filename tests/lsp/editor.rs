//! An editor that speaks with the language server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::command::call;
use serde_json::{Value, json};

/// How long an answer may take, on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place in a text.
pub struct Place {
    pub name: String,
    pub position: Value,
}

/// A text in the editor, with its marked places.
struct Text {
    text: String,
    version: i64,
    places: BTreeMap<String, Value>,
}

/// An editor with its texts.
pub struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications of the server that nobody waited for yet.
    waiting: Vec<Value>,
    texts: BTreeMap<String, Text>,
    last: i64,
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", count)) => length = count.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// The position of a byte, in units of UTF-16.
fn position(text: &str, byte: usize) -> Value {
    let before = &text[..byte];
    let line = before.rsplit('\n').next().unwrap();
    json!({ "line": before.matches('\n').count(), "character": line.encode_utf16().count() })
}

/// The byte of a position in units of UTF-16.
fn byte(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap() as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut left = position["character"].as_u64().unwrap() as usize;
    let mut at = start;
    for c in text[start..].chars().take_while(|c| *c != '\n') {
        if left == 0 {
            break;
        }
        left -= c.len_utf16();
        at += c.len_utf8();
    }
    at
}

impl Editor {
    /// Starts a server.
    pub fn start(args: &[&str]) -> Editor {
        let mut command = call(["lsp"]).args(args).command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Editor { child, stdin, messages, waiting: Vec::new(), texts: BTreeMap::new(), last: 0 }
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, text: &str) {
        // A server that has refused what came before does not read.
        let _ = self.stdin.as_mut().unwrap().write_all(text.as_bytes());
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn receive(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("an answer in time")
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// Sends a request about a position.
    pub fn ask_at(&mut self, method: &str, name: &str, position: Value, more: Value) -> Value {
        let mut params = json!({ "textDocument": { "uri": super::uri(name) }, "position": position });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.ask(method, params)
    }

    /// Waits for a notification of the server, and returns its parameters.
    pub fn wait(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.waiting.iter().position(|message| message["method"] == method) {
                return self.waiting.remove(at)["params"].clone();
            }
            let message = self.receive();
            self.waiting.push(message);
        }
    }

    /// The findings about the current version of a text.
    pub fn findings(&mut self, name: &str) -> Value {
        let version = self.texts.get(name).map(|text| text.version);
        loop {
            let told = self.wait("textDocument/publishDiagnostics");
            if told["uri"] == super::uri(name) && told["version"].as_i64() == version {
                return told["diagnostics"].clone();
            }
        }
    }

    /// Begins the session.
    pub fn initialize(&mut self, capabilities: Value) -> Value {
        let answer = self.ask("initialize", json!({ "processId": null, "capabilities": capabilities }));
        self.notify("initialized", json!({}));
        answer
    }

    /// Opens a text, or replaces one.
    pub fn set(&mut self, name: &str, marked: &str, is_new: bool) {
        let mut text = String::new();
        let mut marks = Vec::new();
        let mut parts = marked.split('§');
        text += parts.next().unwrap();
        for part in parts {
            let digits = part.chars().take_while(char::is_ascii_digit).count();
            marks.push((format!("§{}", &part[..digits]), text.len()));
            text += &part[digits..];
        }
        let places = marks.into_iter().map(|(mark, at)| (mark, position(&text, at))).collect();
        let version = self.texts.get(name).map_or(1, |text| text.version + 1);
        let uri = super::uri(name);
        if is_new {
            let document = json!({ "uri": uri, "languageId": "", "version": version, "text": text });
            self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        } else {
            let document = json!({ "uri": uri, "version": version });
            let changes = json!([{ "text": text }]);
            self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        }
        self.texts.insert(name.to_owned(), Text { text, version, places });
    }

    /// Forgets a text that is closed.
    pub fn forget(&mut self, name: &str) {
        self.texts.remove(name);
    }

    /// Inserts words at a position.
    pub fn insert(&mut self, name: &str, position: &Value, words: &str) {
        let text = self.texts.get_mut(name).unwrap();
        let at = byte(&text.text, position);
        text.text.insert_str(at, words);
        text.version += 1;
        let change = json!({ "range": { "start": position, "end": position }, "text": words });
        let document = json!({ "uri": super::uri(name), "version": text.version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// The words of a text in a range.
    pub fn words(&self, name: &str, range: &Value) -> String {
        let text = &self.texts[name].text;
        text[byte(text, &range["start"])..byte(text, &range["end"])].to_owned()
    }

    /// Waits for an answer to what is no request.
    pub fn refusal(&mut self) -> Value {
        loop {
            let message = self.receive();
            if message["id"].is_null() && message.get("error").is_some() {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// A marked place.
    pub fn place(&self, mark: &str) -> Place {
        let found = self.texts.iter().find_map(|(name, text)| Some((name, text.places.get(mark)?)));
        let (name, position) = found.unwrap_or_else(|| panic!("there is no {mark}"));
        Place { name: name.clone(), position: position.clone() }
    }

    /// A text after the edits of an answer; none if it has none.
    pub fn applied(&self, answer: &Value) -> Option<String> {
        let result = &answer["result"];
        let (name, edits) = if let Some(changes) = result["changes"].as_object() {
            let (uri, edits) = changes.iter().next().unwrap();
            (uri.rsplit('/').next().unwrap(), edits)
        } else if let Some(change) = result["documentChanges"].get(0) {
            assert!(change["textDocument"]["version"].is_i64());
            (change["textDocument"]["uri"].as_str().unwrap().rsplit('/').next().unwrap(), &change["edits"])
        } else if result[0]["newText"].is_string() {
            (self.texts.keys().next_back().unwrap().as_str(), result)
        } else {
            return None;
        };
        let mut text = self.texts[name].text.clone();
        for edit in edits.as_array().unwrap().iter().rev() {
            let [start, end] = ["start", "end"].map(|end| byte(&text, &edit["range"][end]));
            text.replace_range(start..end, edit["newText"].as_str().unwrap());
        }
        Some(text)
    }

    /// Closes the pipe to the server.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the server. Returns its status, and its messages.
    pub fn status(&mut self) -> (i32, String) {
        let mut told = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), told)
    }

    /// Ends the session, and returns the status of the server.
    pub fn end(&mut self) -> i32 {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let (status, told) = self.status();
        assert_eq!(told, "");
        status
    }
}
