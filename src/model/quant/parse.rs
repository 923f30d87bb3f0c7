//! The parser of `graph.quant`.

use logos::Logos;

use super::entries::{Literal, QuantArgument, QuantEntry, Quantization};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::nnef::lexer::{TokenKind, without_fraction};
use crate::source::{FileId, Location, Span};

/// The maximum nesting depth of arrays: no tensor has more axes.
const MAX_NESTING: usize = 32;
/// The maximum number of arguments: no algorithm has more parameters.
const MAX_ARGUMENTS: usize = 64;
/// The maximum number of entries.
const MAX_ENTRIES: usize = 1_000_000;

/// Parses a text. After an error, parsing continues after the next semicolon.
///
/// Names may be in single or double quotes, or `i"name"`, as tract writes names that are not
/// identifiers.
pub(crate) fn parse(text: &str, file: FileId, diagnostics: &mut Diagnostics) -> Quantization {
    let mut parser = QuantizationParser { text, at: 0, unusual: Vec::new() };
    let mut entries = Vec::new();
    loop {
        parser.skip();
        if parser.rest().is_empty() {
            return Quantization { entries };
        }
        if entries.len() == MAX_ENTRIES {
            let (at, message) = (parser.span(parser.at), format!("there are more than {MAX_ENTRIES} entries"));
            diagnostics.report(Diagnostic::new(Code::QuantSyntax, Location::new(file, at), message));
            return Quantization { entries };
        }
        let entry = parser.entry();
        for at in parser.unusual.drain(..) {
            if let Some(found) = without_fraction(&text[at.range()], Location::new(file, at)) {
                diagnostics.report(found);
            }
        }
        match entry {
            Ok(entry) => entries.push(entry),
            Err(Malformed { span, message }) => {
                diagnostics.report(Diagnostic::new(Code::QuantSyntax, Location::new(file, span), message));
                parser.recover();
            }
        }
    }
}

struct Malformed {
    span: Span,
    message: String,
}

type Result<T> = std::result::Result<T, Malformed>;

struct QuantizationParser<'t> {
    text: &'t str,
    at: usize,
    /// The numbers with an exponent or without digits after their points; the latter are allowed only as a
    /// deviation.
    unusual: Vec<Span>,
}

impl<'t> QuantizationParser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest().trim_start_matches([' ', '\t', '\n', '\r', '\x0B', '\x0C']);
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find(['\n', '\r', '\x0C']).unwrap_or(rest.len());
        }
    }

    /// Skips the rest of a malformed entry: to its semicolon, or to the end of a line with a quote that is not closed.
    fn recover(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            if !matches!(next, '"' | '\'') {
                self.at += next.len_utf8();
            } else if let Err(open) = self.quoted() {
                self.at = open.span.end as usize;
                return;
            }
            if next == ';' {
                return;
            }
        }
    }

    /// The error of an unexpected token.
    fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let rest = self.rest();
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        let found = match &rest[..length] {
            "" => "the end of the text".to_string(),
            found if found.contains(char::is_control) => format!("`{}`", found.escape_debug()),
            found => format!("`{found}`"),
        };
        let span = Span::new(self.at as u32, (self.at + length) as u32);
        Err(Malformed { span, message: format!("expected {wanted}, found {found}") })
    }

    fn expect(&mut self, mark: char) -> Result<()> {
        self.skip();
        if !self.rest().starts_with(mark) {
            return self.unexpected(&format!("`{mark}`"));
        }
        self.at += mark.len_utf8();
        Ok(())
    }

    fn accept(&mut self, mark: char) -> bool {
        self.skip();
        let there = self.rest().starts_with(mark);
        self.at += if there { mark.len_utf8() } else { 0 };
        there
    }

    /// `"tensor": algorithm(arg = value, …);`
    fn entry(&mut self) -> Result<QuantEntry> {
        let start = self.at;
        if self.rest().starts_with("i\"") || self.rest().starts_with("i'") {
            self.at += 1;
        }
        if !self.rest().starts_with(['"', '\'']) {
            return self.unexpected("the name of a tensor in quotes");
        }
        let tensor = self.quoted()?;
        let tensor_at = self.span(start);
        self.expect(':')?;
        let (algorithm, algorithm_at) = self.word("the name of an algorithm")?;
        self.expect('(')?;
        let mut arguments = Vec::new();
        if !self.accept(')') {
            loop {
                arguments.push(self.argument()?);
                if arguments.len() > MAX_ARGUMENTS {
                    return Err(Malformed { span: tensor_at, message: "there are too many arguments".into() });
                }
                if !self.accept(',') {
                    self.expect(')')?;
                    break;
                }
            }
        }
        self.expect(';')?;
        Ok(QuantEntry { tensor, tensor_at, algorithm, algorithm_at, arguments, span: self.span(start), instead: None })
    }

    fn argument(&mut self) -> Result<QuantArgument> {
        let (name, at) = self.word("the name of a parameter")?;
        self.expect('=')?;
        self.skip();
        let start = self.at;
        let value = self.value(0)?;
        Ok(QuantArgument { name, at, value, value_at: self.span(start) })
    }

    fn word(&mut self, wanted: &str) -> Result<(String, Span)> {
        self.skip();
        let rest = self.rest();
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.unexpected(wanted);
        }
        let start = self.at;
        self.at += length;
        Ok((rest[..length].to_string(), self.span(start)))
    }

    /// A text in quotes, in which quotes and backslashes are escaped by a backslash.
    fn quoted(&mut self) -> Result<String> {
        let start = self.at;
        let mut chars = self.rest().chars();
        let quote = chars.next();
        let mut text = String::new();
        loop {
            match chars.next() {
                Some('\\') => text.extend(chars.next()),
                Some(end) if Some(end) == quote => break,
                None | Some('\n' | '\r') => {
                    let end = self.text.len() - chars.as_str().len();
                    let span = Span::new(start as u32, end as u32);
                    return Err(Malformed { span, message: "the quote is not closed".into() });
                }
                Some(other) => text.push(other),
            }
        }
        self.at = self.text.len() - chars.as_str().len();
        Ok(text)
    }

    fn value(&mut self, depth: usize) -> Result<Literal> {
        self.skip();
        let start = self.at;
        match self.rest().chars().next() {
            Some('[') if depth == MAX_NESTING => {
                Err(Malformed { span: self.span(start), message: "arrays are nested too deep".into() })
            }
            Some('[') => self.array(depth),
            Some('"' | '\'') => self.quoted().map(Literal::String),
            Some(c) if c.is_ascii_digit() || c == '-' || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => {
                let (word, span) = self.word("a value")?;
                match word.as_str() {
                    "true" => Ok(Literal::Logical(true)),
                    "false" => Ok(Literal::Logical(false)),
                    _ => Err(Malformed { span, message: format!("expected a value, found `{word}`") }),
                }
            }
            _ => self.unexpected("a value"),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Literal> {
        self.expect('[')?;
        let mut items = Vec::new();
        if !self.accept(']') {
            loop {
                items.push(self.value(depth + 1)?);
                if !self.accept(',') {
                    self.expect(']')?;
                    break;
                }
            }
        }
        Ok(Literal::Array(items))
    }

    fn number(&mut self) -> Result<Literal> {
        let (start, rest) = (self.at, self.rest());
        let mut length = 0;
        for (i, c) in rest.char_indices() {
            let sign = matches!(c, '+' | '-') && (i == 0 || matches!(rest.as_bytes()[i - 1], b'e' | b'E'));
            if !(c.is_ascii_digit() || c == '.' || c == 'e' || c == 'E' || sign) {
                break;
            }
            length = i + 1;
        }
        self.at += length;
        let digits = &rest[..length];
        let kind = literal(digits.strip_prefix('-').unwrap_or(digits));
        let number = match kind {
            Some(TokenKind::Int) => digits.parse().map(Literal::Integer).ok(),
            Some(TokenKind::Real | TokenKind::OtherReal) => {
                digits.parse().ok().filter(|scalar: &f64| scalar.is_finite()).map(Literal::Scalar)
            }
            _ => None,
        };
        if kind == Some(TokenKind::OtherReal) && number.is_some() {
            self.unusual.push(self.span(start));
        }
        let message = || format!("`{digits}` is not a number that can be represented");
        number.ok_or_else(|| Malformed { span: self.span(start), message: message() })
    }
}

/// The kind of the only token of a text in the language: numbers are evaluated as those of its texts.
fn literal(text: &str) -> Option<TokenKind> {
    let mut tokens = TokenKind::lexer(text);
    tokens.next()?.ok().filter(|_| tokens.remainder().is_empty())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    fn read(text: &str) -> (Quantization, Vec<(String, String)>) {
        let mut sources = Sources::new();
        let file = sources.add("graph.quant", text.to_string());
        let mut diagnostics = Diagnostics::new(false);
        let read = parse(text, file, &mut diagnostics);
        let told = |found: &Diagnostic| (found.message.clone(), sources.text(found.at).to_string());
        (read, diagnostics.iter().map(told).collect())
    }

    #[test]
    fn entries_are_read_with_their_places() {
        let text = "# made by hand\n\"x\": f(bits = 8, scale = [0.5, -1e-3],\n  signed = true); # one\n'y_1':g(a=\"s\");i\"z.w\": g();";
        let (read, found) = read(text);
        assert_eq!(found, []);
        let tensors: Vec<&str> = read.entries.iter().map(|entry| entry.tensor.as_str()).collect();
        assert_eq!(tensors, ["x", "y_1", "z.w"]);
        let first = &read.entries[0];
        assert_eq!(&text[first.tensor_at.range()], "\"x\"");
        assert_eq!(&text[first.algorithm_at.range()], "f");
        assert!(text[first.span.range()].ends_with("true);"));
        assert_eq!(first.arguments[0].value, Literal::Integer(8));
        assert_eq!(first.arguments[1].value, Literal::Array(vec![Literal::Scalar(0.5), Literal::Scalar(-1e-3)]));
        assert_eq!(&text[first.arguments[1].value_at.range()], "[0.5, -1e-3]");
        assert_eq!(first.arguments[2].value, Literal::Logical(true));
        assert_eq!(read.entries[1].arguments[0].value, Literal::String("s".into()));
    }

    #[test]
    fn mistakes_have_places_and_leave_the_rest() {
        for (text, message, place) in [
            ("x: f();", "expected the name of a tensor in quotes, found `x`", "x"),
            ("\"x: f();\n", "the quote is not closed", "\"x: f();\n"),
            ("\"x\" f();", "expected `:`, found `f`", "f"),
            ("\"x\": 3();", "expected the name of an algorithm, found `3`", "3"),
            ("\"x\": f(8);", "expected the name of a parameter, found `8`", "8"),
            ("\"x\": f(a = 4 + 4);", "expected `)`, found `+`", "+"),
            ("\"x\": f(a = b);", "expected a value, found `b`", "b"),
            ("\"x\": f(a = 1.2.3);", "`1.2.3` is not a number that can be represented", "1.2.3"),
            (
                "\"x\": f(a = 99999999999999999999);",
                "`99999999999999999999` is not a number that can be represented",
                "99999999999999999999",
            ),
            ("\"x\": f(a = 1e999);", "`1e999` is not a number that can be represented", "1e999"),
            ("\"x\": f(a = [1, );", "expected a value, found `)`", ")"),
            ("\"x\": f() \"y\": g();", "expected `;`, found `\"`", "\""),
            ("\"x\": f(é = 1);", "expected the name of a parameter, found `é`", "é"),
            ("\"x\": f()", "expected `;`, found the end of the text", ""),
        ] {
            let (_, found) = read(text);
            assert_eq!(found, [(message.to_string(), place.to_string())], "{text}");
        }
        let (read, found) = read("\"a\": f(x = ';\n\"b\": g(y = 1);\n\"c\": h(z = 2);");
        assert_eq!((read.entries.len(), found.len()), (2, 1));
        assert_eq!(self::read("'a':\u{a0}f();").1.len(), 1);
    }

    #[test]
    fn numbers_are_those_of_the_language() {
        for number in [".5", "-.5", ".", "-", "--1", "1e", "1e5.0", ".e5", "1e+", "1..2", "-9223372036854775809"] {
            let message = format!("`{number}` is not a number that can be represented");
            let message = if number == "--1" { message.replace("--1", "-") } else { message };
            assert_eq!(read(&format!("'x': f(a = {number});")).1[0].0, message);
        }
        for (number, wanted) in [
            ("-9223372036854775808", Literal::Integer(i64::MIN)),
            ("007", Literal::Integer(7)),
            ("1.", Literal::Scalar(1.0)),
            ("-1.e5", Literal::Scalar(-1e5)),
            ("-1E+5", Literal::Scalar(-1e5)),
        ] {
            let (read, found) = read(&format!("'x': f(a = {number});"));
            assert_eq!(read.entries[0].arguments[0].value, wanted, "{number}");
            let told = (format!("the number `{number}` has no digits after the decimal point"), number.to_owned());
            assert_eq!(found, Vec::from_iter(Some(told).filter(|_| number.contains('.'))));
        }
    }

    #[test]
    fn quotes_that_are_not_closed_are_passed_over_once() {
        let text = format!("x {}\n'b': g();", "\\'".repeat(1 << 20));
        let (read, found) = read(&text);
        assert_eq!((read.entries.len(), found.len()), (1, 1));
    }

    #[test]
    fn nesting_is_bounded() {
        let text = format!("\"x\": f(a = {});", "[".repeat(1_000_000));
        assert_eq!(read(&text).1[0].0, "arrays are nested too deep");
    }

    #[test]
    fn dropped_entries_leave_no_trace() {
        let text = "# head\n'a': f();\n'b': f(); # of b\n'c': f(); 'd': f();\n";
        let (read, _) = read(text);
        assert_eq!(read.text(text, |_| true).as_deref(), Some(text));
        assert_eq!(read.text(text, |i| i != 0).as_deref(), Some("# head\n'b': f(); # of b\n'c': f(); 'd': f();\n"));
        assert_eq!(read.text(text, |i| i == 3).as_deref(), Some("# head\n # of b\n 'd': f();\n"));
        assert_eq!(read.text(text, |_| false), None);
    }
}
