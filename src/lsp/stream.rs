//! Messages as bytes: a header with a length, and JSON. What cannot be read as a message is answered and passed over, up to
//! the next header, and no length becomes memory before the bytes are there.

use std::io::{self, BufRead, Cursor, Read, Write};
use std::sync::mpsc::{self, Receiver};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

use super::surrogates;

/// What a client sends.
pub(super) enum Incoming {
    Message(Message),
    Refused(UnreadMessage),
}

/// What is not a message, and why.
#[derive(Debug)]
pub(super) struct UnreadMessage {
    code: ErrorCode,
    /// The number of the request, if one was read.
    id: Value,
    reason: String,
}

impl UnreadMessage {
    /// What cannot be read.
    fn unread(reason: impl Into<String>) -> UnreadMessage {
        UnreadMessage { code: ErrorCode::ParseError, id: Value::Null, reason: reason.into() }
    }

    /// Answers.
    ///
    /// # Errors
    ///
    /// The stream fails.
    pub(super) fn send(&self, out: &mut dyn Write) -> io::Result<()> {
        let error = json!({ "code": self.code as i32, "message": self.reason });
        let text = json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string();
        write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        out.flush()
    }
}

/// The longest line of a header.
const LINE: u64 = 1 << 12;

/// The field of a header that matters.
const LENGTH: &str = "content-length";

/// The end of a line in which the field with the length is looked for.
const TAIL: usize = 64;

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
        let mut stream = MessageStream::new(io::stdin().lock(), longest);
        while let Some(message) = stream.next().transpose() {
            let is_last = message.is_err();
            if sender.send(message).is_err() || is_last {
                break;
            }
        }
    };
    std::thread::Builder::new().name("messages".to_owned()).spawn(read)?;
    Ok(receiver)
}

/// A stream of which some bytes are read once more.
struct Rewound<R> {
    again: Cursor<Vec<u8>>,
    input: R,
}

impl<R> Rewound<R> {
    fn has_again(&self) -> bool {
        self.again.position() < self.again.get_ref().len() as u64
    }

    /// Puts bytes before what comes next.
    fn rewind(&mut self, mut bytes: Vec<u8>) {
        let read = usize::try_from(self.again.position()).unwrap_or(usize::MAX);
        bytes.extend_from_slice(self.again.get_ref().get(read..).unwrap_or_default());
        self.again = Cursor::new(bytes);
    }
}

impl<R: BufRead> Read for Rewound<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.has_again() { self.again.read(into) } else { self.input.read(into) }
    }
}

impl<R: BufRead> BufRead for Rewound<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.has_again() { self.again.fill_buf() } else { self.input.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        if self.has_again() { self.again.consume(count) } else { self.input.consume(count) }
    }
}

/// The messages of a stream.
struct MessageStream<R> {
    input: Rewound<R>,
    longest: u64,
    /// Whether it is not known where the next message begins.
    is_lost: bool,
}

/// What a header says.
enum MessageHead {
    /// The length of the message.
    Length(u64),
    Broken(&'static str),
    /// The input ends.
    End,
}

impl<R: BufRead> MessageStream<R> {
    fn new(input: R, longest: u64) -> Self {
        MessageStream { input: Rewound { again: Cursor::default(), input }, longest, is_lost: false }
    }

    /// The next message; none at the end of the input.
    fn next(&mut self) -> io::Result<Option<Incoming>> {
        if self.is_lost && !self.seek()? {
            return Ok(None);
        }
        self.is_lost = false;
        match self.header()? {
            MessageHead::End => Ok(None),
            // The answer comes first: what follows may take long, or never come.
            MessageHead::Broken(reason) => Ok(Some(self.lost(reason))),
            MessageHead::Length(length) if length > self.longest => {
                let reason = format!("a message of {length} bytes is longer than {}", self.longest);
                Ok(Some(self.lost(reason)))
            }
            MessageHead::Length(length) => self.content(length).map(Some),
        }
    }

    fn lost(&mut self, reason: impl Into<String>) -> Incoming {
        self.is_lost = true;
        Incoming::Refused(UnreadMessage::unread(reason))
    }

    /// The next header. A line that is not one may end with one, so that it is looked at again.
    fn header(&mut self) -> io::Result<MessageHead> {
        let mut length = None;
        loop {
            let mut line = Vec::new();
            if (&mut self.input).take(LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(if length.is_none() {
                    MessageHead::End
                } else {
                    MessageHead::Broken("a header has no end")
                });
            }
            match field(&line) {
                Ok(None) => {
                    return Ok(
                        length.map_or(MessageHead::Broken("a header has no Content-Length"), MessageHead::Length)
                    );
                }
                Ok(Some(found)) => length = found.or(length),
                Err(reason) => {
                    self.input.rewind(line);
                    return Ok(MessageHead::Broken(reason));
                }
            }
        }
    }

    /// Passes everything up to the next header that has a length; false if there is none. No text of JSON has such a line:
    /// the end of a line in it is an escape.
    fn seek(&mut self) -> io::Result<bool> {
        let mut line = Vec::new();
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            line.extend_from_slice(bytes.get(..end).unwrap_or_default());
            self.input.consume(end);
            line.drain(..line.len().saturating_sub(TAIL));
            if line.ends_with(b"\n") {
                if let Some(header) = header_of(&line) {
                    self.input.rewind(header.to_vec());
                    return Ok(true);
                }
                line.clear();
            }
        }
    }

    /// The message of a length.
    fn content(&mut self, length: u64) -> io::Result<Incoming> {
        let again = self.input.has_again();
        let mut bytes = Vec::new();
        (&mut self.input).take(length).read_to_end(&mut bytes)?;
        let is_cut = (bytes.len() as u64) < length;
        let read = if is_cut { Err(UnreadMessage::unread("the input ends within a message")) } else { message(&bytes) };
        read.map(Incoming::Message).or_else(|refusal| {
            // The length may be that of more than the message. What was read twice is not read again, so that no input
            // takes more than linear time.
            if !again && let Some(rest) = next_header(&bytes) {
                self.input.rewind(rest.to_vec());
            }
            Ok(Incoming::Refused(refusal))
        })
    }
}

/// A field of a header, by its line: none at the end of the header, otherwise the length, if it is the field with it.
fn field(line: &[u8]) -> Result<Option<Option<u64>>, &'static str> {
    let line = String::from_utf8_lossy(line);
    let line = line.strip_suffix('\n').ok_or("a line of a header has no end")?.trim_end_matches('\r');
    if line.is_empty() {
        return Ok(None);
    }
    let (name, value) = line.split_once(':').ok_or("a line of a header has no colon")?;
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err("the name of a field of a header has other characters than letters, digits and `-`");
    }
    if !name.eq_ignore_ascii_case(LENGTH) {
        return Ok(Some(None));
    }
    value.trim().parse().map(|length| Some(Some(length))).map_err(|_| "Content-Length is not a number")
}

/// The header with a length that a line ends with.
fn header_of(line: &[u8]) -> Option<&[u8]> {
    let starts =
        |tail: &&[u8]| tail.get(..LENGTH.len()).is_some_and(|name| name.eq_ignore_ascii_case(LENGTH.as_bytes()));
    let tail = (0..line.len()).rev().filter_map(|at| line.get(at..)).find(starts)?;
    matches!(field(tail), Ok(Some(Some(_)))).then_some(tail)
}

/// What begins with the first header with a length in some bytes.
fn next_header(bytes: &[u8]) -> Option<&[u8]> {
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let tail = line.get(line.len().saturating_sub(TAIL)..).unwrap_or_default();
        if let Some(header) = header_of(tail) {
            return bytes.get(start + line.len() - header.len()..);
        }
        start += line.len();
    }
    None
}

/// The message of some bytes. Halves of characters, which editors send while one is typed, are replaced, as are bytes that
/// are not text.
fn message(bytes: &[u8]) -> Result<Message, UnreadMessage> {
    let text = String::from_utf8_lossy(bytes);
    let error = match serde_json::from_str(&text) {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    let text = surrogates::replaced(&text);
    if let Ok(message) = serde_json::from_str(&text) {
        return Ok(message);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => Err(UnreadMessage {
            code: ErrorCode::InvalidRequest,
            id: value.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default(),
            reason: "it is neither a request nor a notification".to_owned(),
        }),
        Err(_) => Err(UnreadMessage::unread(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXIT: &str = r#"{"method":"exit"}"#;

    fn framed(content: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{content}", content.len())
    }

    /// What each message of an input is.
    fn told(input: &str) -> Vec<String> {
        let mut stream = MessageStream::new(input.as_bytes(), 100);
        let mut found = Vec::new();
        while let Some(message) = stream.next().unwrap() {
            found.push(match message {
                Incoming::Message(Message::Notification(sent)) => sent.method,
                Incoming::Message(_) => "other".to_owned(),
                Incoming::Refused(refusal) => format!("{} {}", refusal.code as i32, refusal.id),
            });
        }
        found
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let last = framed(EXIT);
        for (unread, wanted) in [
            ("{", "-32700 null"),
            ("[1]", "-32600 null"),
            (r#"{"id": 7, "params": {}}"#, "-32600 7"),
            (r#"{"method":"a","params":{"text":"\ud83d"}}"#, "a"),
            (r#"{"method":"a","params":{"text":"\\ud83d \ude00\ud83d\ude00"}}"#, "a"),
            ("[1,1,1,1,1", "-32700 null"),
            (&"[".repeat(99), "-32700 null"),
        ] {
            assert_eq!(told(&(framed(unread) + &last)), [wanted, "exit"], "{unread}");
        }
        assert_eq!(told(&format!("content-length:17\r\nOther: x\r\n\r\n{EXIT}")), ["exit"]);
        assert_eq!(told(&format!("content-length:17\n\n{EXIT}")), ["exit"]);
        assert!(told("").is_empty());
    }

    #[test]
    fn what_is_no_header_is_passed_over() {
        let last = framed(EXIT);
        let long = framed(&format!("[{}1]", "1,".repeat(60)));
        for broken in [
            "a\r\n",
            "\r\n",
            "hello\r\n\r\n",
            "Content-Length: 99999999999999\r\n\r\n{}",
            "Content-Length: 99999999999999999999\r\n\r\n{}",
            "Content-Length: -1\r\n\r\n{}",
            "Content-Length: x\r\n\r\n{}",
            "Other: 3\r\n\r\n{}",
            &"x".repeat(10_000),
            &long,
        ] {
            assert_eq!(
                told(&format!("{last}{broken}{last}{last}")),
                ["exit", "-32700 null", "exit", "exit"],
                "{broken}"
            );
            assert_eq!(told(broken), ["-32700 null"], "{broken}");
        }
        // Lengths that are too short or too long by some bytes.
        assert_eq!(told(&format!("Content-Length: 5\r\n\r\n{EXIT}{last}")), ["-32700 null", "-32700 null", "exit"]);
        assert_eq!(told(&format!("Content-Length: 50\r\n\r\n{EXIT}{last}{last}")), ["-32700 null", "exit", "exit"]);
        assert_eq!(told(&format!("Content-Length: 90\r\n\r\n{EXIT}{last}")), ["-32700 null", "exit"]);
        assert_eq!(told("Content-Length: 9\r\n"), ["-32700 null"]);
    }
}
