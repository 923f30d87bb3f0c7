//! Texts of expressions as tokens.

use crate::source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A name of an operation, perhaps with points: `torch.float`.
    Name,
    /// `@k`, with its number; none for one that is too large to count.
    Argument(Option<u64>),
    /// A literal.
    Literal(Literal),
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
    /// A float, which may be infinite or no number.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// `True` or `False`.
    Bool(bool),
    /// `None`.
    None,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Its place.
    pub(crate) span: Span,
}

/// A place where no token can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    /// The characters that belong together.
    pub(crate) span: Span,
    /// Whether they are an integer that has more than 64 bits.
    pub(crate) too_large: bool,
}

/// The tokens of a text, and what is none. In texts that programs wrote carelessly, `nan.0` is `nan`.
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
                // The rest of the word means nothing by itself.
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

/// The first token of a text and its length. An error says whether it is an integer that is too large.
fn token(text: &[u8], careless: bool) -> Result<(TokenKind, usize), bool> {
    let single = |kind| Ok((kind, 1));
    let behind = |count: usize| if count > 0 { Ok(count + 1) } else { Err(false) };
    match text[0] {
        b'(' => single(TokenKind::Open),
        b')' => single(TokenKind::Close),
        b'[' => single(TokenKind::OpenList),
        b']' => single(TokenKind::CloseList),
        b',' => single(TokenKind::Comma),
        b'@' => {
            let len = behind(digits(&text[1..]))?;
            let number = text[1..len]
                .iter()
                .try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
            Ok((TokenKind::Argument(number), len))
        }
        b'%' => {
            let name = text[1..].iter().take_while(|byte| is_word(**byte)).count();
            Ok((TokenKind::Pattern, behind(name)?))
        }
        b'+' | b'-' | b'.' | b'0'..=b'9' => number(text, careless),
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let len = text.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
            let kind = match &text[..len] {
                b"None" => TokenKind::Literal(Literal::None),
                b"True" => TokenKind::Literal(Literal::Bool(true)),
                b"False" => TokenKind::Literal(Literal::Bool(false)),
                word => special(word, careless).map_or(TokenKind::Name, float),
            };
            Ok((kind, len))
        }
        _ => Err(false),
    }
}

fn float(value: f64) -> TokenKind {
    TokenKind::Literal(Literal::Float(value))
}

/// A float that is not finite, without a sign.
fn special(word: &[u8], careless: bool) -> Option<f64> {
    match word {
        b"inf" => Some(f64::INFINITY),
        b"nan" => Some(f64::NAN),
        b"nan.0" if careless => Some(f64::NAN),
        _ => None,
    }
}

/// A number with its sign.
fn number(text: &[u8], careless: bool) -> Result<(TokenKind, usize), bool> {
    let sign = usize::from(matches!(text[0], b'+' | b'-'));
    let word = text[sign..].iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
    if let Some(value) = special(&text[sign..sign + word], careless) {
        return Ok((float(if text[0] == b'-' { -value } else { value }), sign + word));
    }
    let (len, whole) = decimal(text).ok_or(false)?;
    let value = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    // An imaginary part, by itself or behind a real one.
    if text.get(len) == Some(&b'j') && ends(&text[len + 1..]) {
        let imaginary = value(&text[..len]).ok_or(false)?;
        return Ok((TokenKind::Literal(Literal::Complex(0.0, imaginary)), len + 1));
    }
    if matches!(text.get(len), Some(b'+' | b'-'))
        && let Some((more, _)) = decimal(&text[len..])
        && text.get(len + more) == Some(&b'j')
        && ends(&text[len + more + 1..])
    {
        let (real, imaginary) = (value(&text[..len]), value(&text[len..len + more]));
        let (real, imaginary) = real.zip(imaginary).ok_or(false)?;
        return Ok((TokenKind::Literal(Literal::Complex(real, imaginary)), len + more + 1));
    }
    if !ends(&text[len..]) {
        return Err(false);
    }
    if !whole {
        return value(&text[..len]).map(|value| (float(value), len)).ok_or(false);
    }
    let digits = std::str::from_utf8(&text[..len]).map_err(|_| false)?;
    let value = digits.parse::<i64>().map_err(|_| true)?;
    Ok((TokenKind::Literal(Literal::Int(value)), len))
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

    fn kinds(text: &str) -> Vec<TokenKind> {
        let (found, misread) = tokens(text, false);
        assert!(misread.is_empty(), "{text}: {misread:?}");
        found.into_iter().map(|token| token.kind).collect()
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
            ("None", None),
            ("True", Bool(true)),
        ];
        for (text, wanted) in cases {
            assert_eq!(kinds(text), [TokenKind::Literal(wanted)], "{text}");
        }
        assert_eq!(kinds("1-2"), [TokenKind::Literal(Int(1)), TokenKind::Literal(Int(-2))]);
        assert_eq!(kinds("torch.float nan.0"), [TokenKind::Name, TokenKind::Name]);
        let [small, large] = [Some(7), Option::None].map(TokenKind::Argument);
        assert_eq!(kinds("@007 @99999999999999999999"), [small, large]);
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
