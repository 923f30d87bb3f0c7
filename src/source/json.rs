//! A parser of JSON that records the span of each value.
//!
//! Accepts the output of Python: `NaN`, `Infinity` and `-Infinity` are numbers. Members of an object keep their
//! order, and duplicate keys are kept so that callers can report them.

use super::Span;

/// The maximum nesting, which prevents stack overflow.
const MAX_DEPTH: usize = 64;

/// A value and its span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Json {
    /// Its span in the text.
    pub(crate) at: Span,
    /// The value.
    pub(crate) value: JsonValue,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without point or exponent that fits into 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// Its key.
    pub(crate) key: String,
    /// The span of the key.
    pub(crate) at: Span,
    /// Its value.
    pub(crate) value: Json,
}

impl Json {
    /// The kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            JsonValue::Null => "null",
            JsonValue::Bool(_) => "a logical",
            JsonValue::Int(_) => "an integer",
            JsonValue::Float(_) => "a number",
            JsonValue::String(_) => "a string",
            JsonValue::Array(_) => "an array",
            JsonValue::Object(_) => "an object",
        }
    }

    /// The text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            JsonValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items of an array.
    pub(crate) fn as_array(&self) -> Option<&[Json]> {
        match &self.value {
            JsonValue::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object.
    pub(crate) fn as_object(&self) -> Option<&[Member]> {
        match &self.value {
            JsonValue::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.iter().find(|member| member.key == key).map(|member| &member.value)
    }
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Its span.
    pub(crate) at: Span,
    /// The message.
    pub(crate) message: String,
    /// Whether the error is the nesting, not the syntax.
    pub(crate) depth: bool,
}

/// Parses a text that contains one value.
///
/// # Errors
///
/// The first syntax error.
pub(crate) fn parse(text: &str) -> Result<Json, SyntaxError> {
    let mut parser = JsonParser { text, at: 0, depth: 0 };
    let value = parser.value()?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.wrong("text after the end of the value"));
    }
    Ok(value)
}

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

/// Keywords and their values.
const WORDS: &[(&str, JsonValue)] = &[
    ("null", JsonValue::Null),
    ("true", JsonValue::Bool(true)),
    ("false", JsonValue::Bool(false)),
    ("NaN", JsonValue::Float(f64::NAN)),
    ("Infinity", JsonValue::Float(f64::INFINITY)),
    ("-Infinity", JsonValue::Float(f64::NEG_INFINITY)),
];

type ParseResult<T> = Result<T, SyntaxError>;

impl JsonParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn since(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    fn wrong(&self, message: &str) -> SyntaxError {
        let end = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        let at = Span::new(self.at as u32, (self.at + end) as u32);
        SyntaxError { at, message: message.to_owned(), depth: false }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> ParseResult<Json> {
        self.blanks();
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => JsonValue::String(self.string()?),
            Some(_) => self.word_or_number()?,
            None => return Err(self.wrong("a value is missing at the end of the text")),
        };
        Ok(Json { at: self.since(start), value })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> ParseResult<JsonValue>) -> ParseResult<JsonValue> {
        if self.depth == MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} arrays and objects in each other");
            return Err(SyntaxError { depth: true, message, ..self.wrong("") });
        }
        self.depth += 1;
        self.at += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> ParseResult<JsonValue> {
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(JsonValue::Array(items));
        }
        loop {
            items.push(self.value()?);
            if !self.more(b']')? {
                return Ok(JsonValue::Array(items));
            }
        }
    }

    fn object(&mut self) -> ParseResult<JsonValue> {
        let mut members = Vec::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(JsonValue::Object(members));
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("expected a key in quotes"));
            }
            let key = self.string()?;
            let at = self.since(start);
            self.blanks();
            if !self.take(b':') {
                return Err(self.wrong("expected `:` after the key"));
            }
            members.push(Member { key, at, value: self.value()? });
            if !self.more(b'}')? {
                return Ok(JsonValue::Object(members));
            }
        }
    }

    /// Consumes `,` or the closing bracket, and returns whether another item follows.
    fn more(&mut self, close: u8) -> ParseResult<bool> {
        self.blanks();
        if self.take(b',') {
            return Ok(true);
        }
        if self.take(close) {
            return Ok(false);
        }
        Err(self.wrong(&format!("expected `,` or `{}`", char::from(close))))
    }

    fn word_or_number(&mut self) -> ParseResult<JsonValue> {
        for (word, value) in WORDS {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value.clone());
            }
        }
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let malformed = |this: &Self| SyntaxError { at: this.since(start), ..this.wrong("malformed number") };
        if text.is_empty() {
            return Err(self.wrong("expected a value"));
        }
        if !is_number(text) {
            return Err(malformed(self));
        }
        if let Ok(int) = text.parse() {
            return Ok(JsonValue::Int(int));
        }
        match text.parse() {
            Ok(float) if f64::is_finite(float) => Ok(JsonValue::Float(float)),
            _ => Err(SyntaxError { message: "number out of range".to_owned(), ..malformed(self) }),
        }
    }

    fn string(&mut self) -> ParseResult<String> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(['"', '\\']) else { return Err(self.wrong("the string does not end")) };
            if let Some(control) = rest[..end].find(|c: char| c < ' ') {
                self.at += control;
                return Err(self.wrong("control character in a string"));
            }
            out.push_str(&rest[..end]);
            self.at += end;
            if self.take(b'"') {
                return Ok(out);
            }
            self.at += 1;
            self.escape(&mut out)?;
        }
    }

    fn escape(&mut self, out: &mut String) -> ParseResult<()> {
        let Some(byte) = self.peek() else { return Err(self.wrong("the string does not end")) };
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(out),
            _ => return Err(self.wrong("unknown escape")),
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// `uXXXX`, or a surrogate pair of two escapes.
    fn unicode(&mut self, out: &mut String) -> ParseResult<()> {
        self.at += 1;
        let mut units = vec![self.hex()?];
        if (0xD800..0xDC00).contains(&units[0]) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            units.push(self.hex()?);
        }
        let text = String::from_utf16(&units).map_err(|_| self.wrong("half of a surrogate pair"))?;
        out.push_str(&text);
        Ok(())
    }

    fn hex(&mut self) -> ParseResult<u16> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let Some(code) = code else { return Err(self.wrong("expected four hexadecimal digits")) };
        self.at += 4;
        Ok(code)
    }
}

/// `-?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?`
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_places() {
        let text = "{\"é\": [1, -2.5e1, \"a\\u00e9\\ud83d\\ude00\\n\"], \"b\": -Infinity}";
        let json = parse(text).unwrap();
        let items = json.get("é").unwrap().as_array().unwrap();
        assert_eq!(items[0].value, JsonValue::Int(1));
        assert_eq!(items[1].value, JsonValue::Float(-25.0));
        assert_eq!(items[2].as_str(), Some("aé😀\n"));
        assert_eq!(&text[items[1].at.range()], "-2.5e1");
        assert_eq!(json.get("b").unwrap().value, JsonValue::Float(f64::NEG_INFINITY));
        assert_eq!(json.at.range(), 0..text.len());
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_is_wrong() {
        for (text, at) in [
            ("", 0),
            ("[1,]", 3),
            ("{\"a\" 1}", 5),
            ("{a: 1}", 1),
            ("[1 2]", 3),
            ("[01]", 1),
            ("[1.]", 1),
            ("[--1]", 1),
            ("\"abc", 1),
            ("\"\\x\"", 2),
            ("\"\\u12g4\"", 3),
            ("\"\\ud83dx\"", 7),
            ("\"\\ud83d\\u0041\"", 13),
            ("\"\\udc00\"", 7),
            ("[1e400]", 1),
            ("\"a\nb\"", 2),
            ("1 é", 2),
            ("\\", 0),
            ("+1", 0),
        ] {
            assert_eq!(parse(text).unwrap_err().at.start, at, "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().depth);
    }

    #[test]
    fn integers_beyond_64_bits_are_floats() {
        assert_eq!(parse("9223372036854775808").unwrap().value, JsonValue::Float(9_223_372_036_854_775_808.0));
        assert_eq!(parse("-9223372036854775808").unwrap().value, JsonValue::Int(i64::MIN));
    }
}
