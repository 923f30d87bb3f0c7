//! The parameters of requests and notifications: the few fields that the server reads.

use serde_json::Value;

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestError {
    /// Parameters are missing, or of another type.
    Params(String),
    /// The request does not fit the text.
    Failed(String),
    /// The text has changed since the answer that the request is about.
    Changed,
}

/// An answer: the result, or an error.
pub(super) type Answer = Result<Value, RequestError>;

/// The parameters of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params<'m>(pub(super) &'m Value);

impl<'m> Params<'m> {
    fn missing(path: &str) -> RequestError {
        RequestError::Params(format!(
            "`{}` is missing or of another type",
            path.trim_start_matches('/').replace('/', ".")
        ))
    }

    /// The value at a path of fields, such as `/textDocument/uri`, by a function of its type.
    pub(super) fn get<T>(self, path: &str, of: impl Fn(&'m Value) -> Option<T>) -> Result<T, RequestError> {
        self.0.pointer(path).and_then(of).ok_or_else(|| Params::missing(path))
    }

    /// A text.
    pub(super) fn text(self, path: &str) -> Result<&'m str, RequestError> {
        self.get(path, Value::as_str)
    }

    /// The address of the document that the message is about.
    pub(super) fn uri(self) -> Result<&'m str, RequestError> {
        self.text("/textDocument/uri")
    }

    /// A position: a line and a character.
    pub(super) fn position(self, path: &str) -> Result<(u64, u64), RequestError> {
        self.get(path, |value| Some((value.get("line")?.as_u64()?, value.get("character")?.as_u64()?)))
    }

    /// A range: two positions.
    pub(super) fn range(self, path: &str) -> Result<[(u64, u64); 2], RequestError> {
        Ok([self.position(&format!("{path}/start"))?, self.position(&format!("{path}/end"))?])
    }

    /// The items of an array; none if there is no such field.
    pub(super) fn items(self, path: &str) -> impl Iterator<Item = &'m Value> {
        self.0.pointer(path).and_then(Value::as_array).into_iter().flatten()
    }

    /// Whether a field is true.
    pub(super) fn is_set(self, path: &str) -> bool {
        self.0.pointer(path).and_then(Value::as_bool).unwrap_or_default()
    }
}
