//! Messages as bytes: a header with a length, and JSON. What cannot be read as a message is answered and passed over, and
//! no length becomes memory before the bytes are there.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

/// What a client sends.
pub(super) enum Incoming {
    Message(Message),
    /// The reason why it is not a message.
    Unread(String),
}

/// The longest line of a header.
const LINE: u64 = 1 << 12;

/// The longest message, for texts of a length: a character of a text may be an escape of six.
pub(super) fn longest(text: u64) -> u64 {
    text.saturating_mul(6).saturating_add(1 << 16)
}

/// Starts a thread that reads messages of standard input, up to a length. It ends with the input, or after an error.
///
/// # Errors
///
/// The thread cannot be started.
pub(super) fn messages(longest: u64) -> io::Result<Receiver<io::Result<Incoming>>> {
    let (sender, receiver) = mpsc::sync_channel(0);
    let read = move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input, longest).transpose() {
            let is_last = message.is_err();
            if sender.send(message).is_err() || is_last {
                break;
            }
        }
    };
    std::thread::Builder::new().name("messages".to_owned()).spawn(read)?;
    Ok(receiver)
}

fn unframed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// The length of the next message; none at the end of the input.
fn length(input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_suffix("\r\n").ok_or_else(|| unframed("a line of a header has no end"))?;
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| unframed("a header has no Content-Length"));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| unframed("a line of a header has no colon"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().map_err(|_| unframed("Content-Length is not a number"))?;
            length = Some(value);
        }
    }
}

/// The next message; none at the end of the input.
fn read(input: &mut dyn BufRead, longest: u64) -> io::Result<Option<Incoming>> {
    let Some(length) = length(input)? else { return Ok(None) };
    let mut content = input.take(length);
    if length > longest {
        let passed = io::copy(&mut content, &mut io::sink())?;
        let reason = format!("a message of {length} bytes is longer than {longest}");
        return if passed == length { Ok(Some(Incoming::Unread(reason))) } else { Err(unframed(&reason)) };
    }
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(unframed("the input ends within a message"));
    }
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Unread(error.to_string()),
    }))
}

/// Answers what is not a message. It has no number, as nothing was read.
///
/// # Errors
///
/// The stream fails.
pub(super) fn refuse(out: &mut dyn Write, reason: &str) -> io::Result<()> {
    let error = json!({ "code": ErrorCode::ParseError as i32, "message": reason });
    let text = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error }).to_string();
    write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(content: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{content}", content.len())
    }

    /// What each message of an input is.
    fn told(input: &str) -> Vec<String> {
        let mut input = input.as_bytes();
        let mut found = Vec::new();
        while let Some(message) = read(&mut input, 100).transpose() {
            found.push(match message {
                Ok(Incoming::Message(Message::Notification(sent))) => sent.method,
                Ok(Incoming::Message(_)) => "other".to_owned(),
                Ok(Incoming::Unread(_)) => "unread".to_owned(),
                Err(_) => "error".to_owned(),
            });
            if found.last().is_some_and(|last| last == "error") {
                break;
            }
        }
        found
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let last = framed(r#"{"method":"exit"}"#);
        for unread in ["{", "[1]", r#"{"method":"a","params":{"text":"\ud83d"}}"#, &format!("[{}1]", "1,".repeat(60))] {
            assert_eq!(told(&(framed(unread) + &last)), ["unread", "exit"], "{unread}");
        }
        let deep = "[".repeat(99);
        assert_eq!(told(&(framed(&deep) + &last)), ["unread", "exit"]);
        assert_eq!(told(&format!("content-length:17\r\nOther: x\r\n\r\n{}", r#"{"method":"exit"}"#)), ["exit"]);
        for broken in ["Content-Length: 99999999999999\r\n\r\n{}", "a\r\n", "Content-Length: -1\r\n\r\n", "\r\n"] {
            assert_eq!(told(broken), ["error"], "{broken}");
        }
        assert!(told("").is_empty());
    }
}
