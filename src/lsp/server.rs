//! The loop of the server: one message after the other. Texts that changed are analyzed when no message is waiting.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use super::methods::{self, NOTIFICATIONS, PUBLISH, REQUESTS};
use super::params::{Params, RequestError};
use super::session::Session;
use super::stream::{self, Incoming};
use crate::Options;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By `exit` after `shutdown`, or the client has closed its end after it.
    Done,
    /// By `exit` without `shutdown`.
    Early,
    /// The client has closed its end without a word.
    Closed,
}

/// How long the server waits for further changes before it analyzes a text: editors send changes one by one.
const PAUSE: Duration = Duration::from_millis(3);

/// Serves one client on standard input and output until it ends the session.
///
/// # Errors
///
/// A stream fails.
pub(crate) fn serve(options: Options) -> io::Result<Ended> {
    let receiver = stream::messages(stream::longest(options.max_text))?;
    let mut server = Server { receiver, session: Session::new(options), phase: Phase::Start };
    server.run()
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    Start,
    Running,
    /// After `shutdown`.
    Over,
}

struct Server {
    receiver: Receiver<io::Result<Incoming>>,
    session: Session,
    phase: Phase,
}

impl Server {
    fn run(&mut self) -> io::Result<Ended> {
        loop {
            let is_idle = self.session.client.pulls || self.session.texts.values().all(|text| text.is_published);
            let message = if is_idle {
                self.receiver.recv().ok()
            } else {
                match self.receiver.recv_timeout(PAUSE) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => {
                        self.publish()?;
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => None,
                }
            };
            let message = match message.transpose()? {
                Some(Incoming::Message(message)) => Some(message),
                Some(Incoming::Refused(refusal)) => {
                    refusal.send(&mut io::stdout().lock())?;
                    continue;
                }
                None => None,
            };
            match message {
                None => return Ok(if self.phase == Phase::Over { Ended::Done } else { Ended::Closed }),
                Some(Message::Notification(sent)) if sent.method == "exit" => {
                    return Ok(if self.phase == Phase::Over { Ended::Done } else { Ended::Early });
                }
                Some(Message::Notification(sent)) => self.notified(&sent)?,
                Some(Message::Request(request)) => {
                    let response = self.answer(request);
                    self.send(response.into())?;
                }
                // The server asks nothing.
                Some(Message::Response(_)) => {}
            }
        }
    }

    /// Sends a message.
    fn send(&self, message: Message) -> io::Result<()> {
        let mut out = io::stdout().lock();
        message.write(&mut out)?;
        out.flush()
    }

    /// Sends the findings about a text that has changed.
    fn publish(&mut self) -> io::Result<()> {
        let Some(at) = self.session.texts.values().position(|text| !text.is_published) else { return Ok(()) };
        let published = self.session.texts.get_index(at).map(|(_, text)| self.session.published(text));
        if let Some((_, text)) = self.session.texts.get_index_mut(at) {
            text.is_published = true;
        }
        self.notify(PUBLISH, published.unwrap_or_default())
    }

    fn notify(&self, method: &str, params: Value) -> io::Result<()> {
        self.send(Notification::new(method.to_owned(), params).into())
    }

    fn notified(&mut self, sent: &Notification) -> io::Result<()> {
        let known = NOTIFICATIONS.iter().find(|(method, _)| *method == sent.method);
        let Some((method, effect)) = known.filter(|_| self.phase == Phase::Running) else { return Ok(()) };
        match effect(&mut self.session, Params(&sent.params)) {
            Ok(Some((method, params))) => self.notify(method, params),
            Ok(None) => Ok(()),
            // A notification has no answer, so that the error goes to the log.
            Err(error) => {
                let (_, message) = told(error);
                self.notify("window/logMessage", json!({ "type": 1, "message": format!("{method}: {message}") }))
            }
        }
    }

    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let refused = |id: RequestId, code: ErrorCode, message: String| Response::new_err(id, code as i32, message);
        match (self.phase, method.as_str()) {
            (Phase::Start, "initialize") => {
                self.phase = Phase::Running;
                Response::new_ok(id, methods::initialized(&mut self.session, Params(&params)))
            }
            (Phase::Start, _) => refused(id, ErrorCode::ServerNotInitialized, "`initialize` comes first".to_owned()),
            (Phase::Over, _) => refused(id, ErrorCode::InvalidRequest, "the server is shut down".to_owned()),
            (Phase::Running, "initialize") => {
                refused(id, ErrorCode::InvalidRequest, "`initialize` comes once".to_owned())
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::Over;
                Response::new_ok(id, Value::Null)
            }
            (Phase::Running, _) => {
                let Some((_, answer)) = REQUESTS.iter().find(|(known, _)| *known == method) else {
                    return refused(id, ErrorCode::MethodNotFound, format!("there is no method `{method}`"));
                };
                match answer(&mut self.session, Params(&params)) {
                    Ok(result) => Response::new_ok(id, result),
                    Err(error) => {
                        let (code, message) = told(error);
                        refused(id, code, message)
                    }
                }
            }
        }
    }
}

/// The code and the message of an error.
fn told(error: RequestError) -> (ErrorCode, String) {
    match error {
        RequestError::Params(message) => (ErrorCode::InvalidParams, message),
        RequestError::Failed(message) => (ErrorCode::RequestFailed, message),
        RequestError::Changed => (ErrorCode::ContentModified, "the text has changed".to_owned()),
    }
}
