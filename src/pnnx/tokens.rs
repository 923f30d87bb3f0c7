//! The tokenizer of expressions.

use crate::source::Span;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// The name of an operation, which may have points: `torch.float`.
    Name,
    /// `@k`
    Argument,
    /// A literal; see [`literal`].
    Literal,
    /// `%name`.
    Pattern,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenList,
    /// `]`
    CloseList,
    /// `,`
    Comma,
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    /// An integer.
    Int(i64),
    /// A float, which may be infinite or NaN.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// `True` or `False`.
    Bool(bool),
    /// `None`.
    None,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: TokenKind,
    /// Its location.
    pub(crate) span: Span,
}

/// Characters that are not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    /// The location of the characters.
    pub(crate) span: Span,
    /// Whether they are an integer that does not fit into 64 bits.
    pub(crate) too_large: bool,
}

/// The tokens of a text, and the characters that are not tokens. If `careless` is set, `nan.0` is accepted as `nan`.
pub(crate) fn tokens(text: &str, careless: bool) -> (Vec<Token>, Vec<Misread>) {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(bytes.len() / 3);
    let mut misread: Vec<Misread> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = &bytes[at..];
        let (kind, len) = match token(rest, careless) {
            Ok(token) => token,
            Err(too_large) => {
                // The rest of the word is not tokenized separately.
                let word = rest.iter().skip(1).take_while(|byte| is_word(**byte) || !byte.is_ascii()).count();
                misread.push(Misread { span: Span::new(at as u32, (at + 1 + word) as u32), too_large });
                at += 1 + word;
                continue;
            }
        };
        found.push(Token { kind, span: Span::new(at as u32, (at + len) as u32) });
        at += len;
    }
    (found, misread)
}

/// The kind and length of the first token of a text. An error is whether it is an integer that is too large.
fn token(text: &[u8], careless: bool) -> Result<(TokenKind, usize), bool> {
    let single = |kind| Ok((kind, 1));
    let behind = |count: usize| if count > 0 { Ok(count + 1) } else { Err(false) };
    match text[0] {
        b'(' => single(TokenKind::Open),
        b')' => single(TokenKind::Close),
        b'[' => single(TokenKind::OpenList),
        b']' => single(TokenKind::CloseList),
        b',' => single(TokenKind::Comma),
        b'@' => Ok((TokenKind::Argument, behind(digits(&text[1..]))?)),
        b'%' => {
            let name = text[1..].iter().take_while(|byte| is_word(**byte)).count();
            Ok((TokenKind::Pattern, behind(name)?))
        }
        b'+' | b'-' | b'.' | b'0'..=b'9' => number(text, careless),
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let len = text.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
            let is_literal = word(&text[..len], careless).is_some();
            Ok((if is_literal { TokenKind::Literal } else { TokenKind::Name }, len))
        }
        _ => Err(false),
    }
}

/// The value of a literal that is a word.
fn word(text: &[u8], careless: bool) -> Option<Literal> {
    match text {
        b"None" => Some(Literal::None),
        b"True" => Some(Literal::Bool(true)),
        b"False" => Some(Literal::Bool(false)),
        b"inf" => Some(Literal::Float(f64::INFINITY)),
        b"nan" => Some(Literal::Float(f64::NAN)),
        b"nan.0" if careless => Some(Literal::Float(f64::NAN)),
        _ => None,
    }
}

/// The value and length of an infinity or NaN after its sign.
fn special(text: &[u8], careless: bool) -> Option<(f64, usize)> {
    let len = text.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
    match word(&text[..len], careless)? {
        Literal::Float(value) => Some((value, len)),
        _ => None,
    }
}

fn signed(text: &[u8]) -> usize {
    usize::from(matches!(text.first(), Some(b'+' | b'-')))
}

/// The parts of a number: the end of the first part, whether that is an integer, and the end of the whole number if it
/// has an imaginary part.
fn parts(text: &[u8]) -> Option<(usize, bool, Option<usize>)> {
    let (len, whole) = decimal(text)?;
    let imaginary = |from: usize| {
        let end = text.get(from..).filter(|rest| rest.first() == Some(&b'j') && ends(&rest[1..]));
        end.map(|_| from + 1)
    };
    let more = match text.get(len) {
        Some(b'+' | b'-') => decimal(&text[len..]).and_then(|(more, _)| imaginary(len + more)),
        _ => imaginary(len),
    };
    (more.is_some() || ends(&text[len..])).then_some((len, whole, more))
}

/// The kind and length of a number with its sign.
fn number(text: &[u8], careless: bool) -> Result<(TokenKind, usize), bool> {
    let sign = signed(text);
    if let Some((_, len)) = special(&text[sign..], careless) {
        return Ok((TokenKind::Literal, sign + len));
    }
    let (len, whole, more) = parts(text).ok_or(false)?;
    // Up to 18 digits fit.
    if whole && more.is_none() && len > 18 && parsed::<i64>(&text[..len]).is_none() {
        return Err(true);
    }
    Ok((TokenKind::Literal, more.unwrap_or(len)))
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The value of a literal token.
pub(crate) fn literal(text: &str) -> Option<Literal> {
    let text = text.as_bytes();
    if let Some(literal) = word(text, true) {
        return Some(literal);
    }
    let sign = signed(text);
    if let Some((value, _)) = special(&text[sign..], true) {
        return Some(Literal::Float(if text[0] == b'-' { -value } else { value }));
    }
    match parts(text)? {
        (len, true, None) => parsed(&text[..len]).map(Literal::Int),
        (len, false, None) => parsed(&text[..len]).map(Literal::Float),
        (len, _, Some(end)) if end == len + 1 => Some(Literal::Complex(0.0, parsed(&text[..len])?)),
        (len, _, Some(end)) => Some(Literal::Complex(parsed(&text[..len])?, parsed(&text[len..end - 1])?)),
    }
}

/// The number of an operand; none if it is too large.
pub(crate) fn argument(text: &str) -> Option<u64> {
    text.strip_prefix('@')?.parse().ok()
}

/// The length of a decimal number with its sign, and whether it is an integer.
fn decimal(text: &[u8]) -> Option<(usize, bool)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = digits(&text[sign..]);
    let mut len = sign + whole;
    let mut integer = true;
    if text.get(len) == Some(&b'.') {
        let fraction = digits(&text[len + 1..]);
        if whole + fraction == 0 {
            return None;
        }
        len += 1 + fraction;
        integer = false;
    }
    if len == sign {
        return None;
    }
    if matches!(text.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(&text[len + 1 + sign..]);
        if exponent > 0 {
            len += 1 + sign + exponent;
            integer = false;
        }
    }
    Some((len, integer))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a number may end before this text.
fn ends(text: &[u8]) -> bool {
    text.first().is_none_or(|byte| !is_word(*byte) && *byte != b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(text: &str) -> Vec<Option<Literal>> {
        let (found, misread) = tokens(text, false);
        assert!(misread.is_empty(), "{text}: {misread:?}");
        found.iter().map(|token| literal(&text[token.span.range()])).collect()
    }

    #[test]
    fn literals_have_their_signs() {
        use Literal::*;
        let cases = [
            ("-1", Int(-1)),
            ("+7", Int(7)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("-1.000000e-05", Float(-1e-5)),
            ("1E3", Float(1000.0)),
            ("inf", Float(f64::INFINITY)),
            ("-inf", Float(f64::NEG_INFINITY)),
            ("2.000000e+00+3.000000e+00j", Complex(2.0, 3.0)),
            ("1-2j", Complex(1.0, -2.0)),
            ("3j", Complex(0.0, 3.0)),
            ("-9223372036854775808", Int(i64::MIN)),
            ("True", Bool(true)),
        ];
        for (text, wanted) in cases {
            assert_eq!(literals(text), [Some(wanted)], "{text}");
        }
        assert_eq!(literals("1-2"), [Some(Int(1)), Some(Int(-2))]);
        assert!(tokens("torch.float nan.0", false).0.iter().all(|token| token.kind == TokenKind::Name));
        assert_eq!(tokens("nan.0", true).0[0].kind, TokenKind::Literal);
        assert_eq!((argument("@007"), argument("@99999999999999999999")), (Some(7), Option::None));
    }

    #[test]
    fn what_is_no_token_has_a_place() {
        for (text, start, end) in [
            ("@", 0, 1),
            ("@x", 0, 2),
            ("a $", 2, 3),
            ("1e", 0, 2),
            ("1x", 0, 2),
            ("1.2.3", 0, 1),
            ("-", 0, 1),
            ("-foo", 0, 4),
            ("%", 0, 1),
            ("é", 0, 2),
            ("1_0", 0, 3),
        ] {
            let (_, misread) = tokens(text, false);
            let first = misread.first().unwrap_or_else(|| panic!("{text}"));
            assert_eq!((first.span.start, first.span.end), (start, end), "{text}");
        }
        assert!(tokens("9223372036854775808", false).1[0].too_large);
    }
}
