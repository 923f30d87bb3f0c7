//! The texts of options that give shapes and symbols: `image=1,3,224,224`, and the forms of other programs,
//! `image:1,3,224,224`, `[1,3,224,224]`, `1x3x224x224`.

use crate::graph::Extent;

/// The name of an input. Those of ONNX and PNNX have any characters.
pub(crate) fn input_name(text: &str) -> Option<String> {
    let name = text.trim();
    (!name.is_empty() && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// A symbol with its value.
pub(crate) fn symbol(text: &str) -> Result<(String, Extent), String> {
    let form = "expected SYMBOL=N, as in S=5 or T=2*S+1";
    if text.split_once(',').is_some_and(|(first, _)| symbol(first).is_ok()) {
        return Err(format!("`{text}` gives values to several symbols: repeat the option for each"));
    }
    let (symbol, value) = text.rsplit_once('=').ok_or(form)?;
    let value = value.trim().parse::<Extent>().map_err(|_| form)?;
    Ok((input_name(symbol).ok_or(form)?, value))
}

/// What is expected of the shape of an input.
const FORM: &str = "expected NAME=SHAPE, as in image=1,3,224,224";

/// Element types, which other programs write behind extents.
const TYPES: &[&str] = &[
    "f16", "f32", "f64", "fp16", "fp32", "bf16", "float", "float16", "float32", "float64", "double", "i8", "i16",
    "i32", "i64", "int8", "int16", "int32", "int64", "u8", "u16", "u32", "u64", "uint8", "uint16", "uint32", "uint64",
    "bool",
];

/// An input with its shape; the name is empty in a shape without one, which is that of the only input.
///
/// The last `=` ends the name, else the last `:`, which no shape has: whether there is such an input is up to the
/// model.
///
/// # Errors
///
/// The text has another form, or several meanings, which the message tells.
pub(crate) fn input_shape(text: &str) -> Result<(String, Vec<Extent>), String> {
    if let Some((input, shape)) = text.rsplit_once('=') {
        return Ok((input_name(input).ok_or(FORM)?, extents(shape)?));
    }
    if let Some((input, shape)) = text.rsplit_once(':') {
        let name = input_name(input).ok_or(FORM)?;
        if shape.trim().is_empty() {
            return Err(FORM.to_owned());
        }
        if input.match_indices(',').any(|(at, _)| names_a_shape(&input[..at])) {
            return Err(format!(
                "`{text}` gives shapes to several inputs, or one to an input named `{name}`: repeat the option for each \
                 input, or write {name}={shape}"
            ));
        }
        return Ok((name, untyped(text, shape)?));
    }
    let word = text.trim();
    if is_word(word) {
        return Err(format!(
            "`{word}` is the name of an input without its shape, or the only extent of a shape without a name: {FORM}, or \
             [{word}]"
        ));
    }
    if word.is_empty() {
        return Err(FORM.to_owned());
    }
    Ok((String::new(), untyped(text, word)?))
}

/// Whether a text is a name and a shape with `:` between them.
fn names_a_shape(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(name, shape)| !name.trim().is_empty() && extents(shape).is_ok())
}

/// Whether a text may be a symbol.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The extents of a shape without an element type as its last item, which is read as no symbol.
fn untyped(text: &str, shape: &str) -> Result<Vec<Extent>, String> {
    let last = shape.trim().rsplit(',').next().unwrap_or_default().trim();
    if TYPES.contains(&last) {
        return Err(format!(
            "`{last}` in `{text}` is an element type or a symbol: leave the type out, which stays, or write \
             NAME=SHAPE for a symbol"
        ));
    }
    extents(shape)
}

/// What other programs write for an extent that stays open; here a symbol does.
const OPEN: &[&str] = &["-1", "None", "?", "*"];

/// An extent of a list.
fn extent(text: &str) -> Result<Extent, String> {
    let text = text.trim();
    let read = text.parse::<Extent>().ok().filter(|_| !OPEN.contains(&text));
    read.ok_or_else(|| {
        let why = match text {
            "" => "an extent is missing: a blank or a second comma follows a comma, or a comma is the last character"
                .into(),
            text if OPEN.contains(&text) => {
                format!("`{text}` stands for an extent that stays open: write a symbol for it, as in tokens=N,3")
            }
            text if text.contains(char::is_whitespace) => {
                format!("`{text}` is not an extent: commas separate them, without blanks, or in quotes")
            }
            text => format!("`{text}` is not an extent"),
        };
        format!("{why}; {FORM}")
    })
}

/// The extents of a shape: `1,3,S`, `[1,3,S]`, `(1,3,S)`, `1x3x8`.
fn extents(shape: &str) -> Result<Vec<Extent>, String> {
    let shape = shape.trim();
    let listed = |items: &str| match items.trim() {
        "" => Ok(Vec::new()),
        items => items.split(',').map(extent).collect(),
    };
    if let Some(inner) = shape.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        return listed(inner);
    }
    if let Some(inner) = in_parentheses(shape) {
        return listed(inner.strip_suffix(',').unwrap_or(inner));
    }
    if has_x_between_digits(shape) && is_word_or_number(shape) {
        let items = split_at_x(shape);
        if is_word(shape) {
            let items = items.join(",");
            return Err(format!(
                "`{shape}` is a symbol, or the extents {items}: write [{shape}] for the symbol, or {items}"
            ));
        }
        return items.into_iter().map(extent).collect();
    }
    listed(shape)
}

/// The items of a tuple of Python: what is between parentheses around the whole text, with a comma.
fn in_parentheses(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    (inner.contains(',') && !inner.contains(['(', ')'])).then_some(inner)
}

fn is_word_or_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether `x` stands between digits somewhere.
fn has_x_between_digits(text: &str) -> bool {
    text.as_bytes()
        .windows(3)
        .any(|around| matches!(around, [before, b'x', behind] if before.is_ascii_digit() && behind.is_ascii_digit()))
}

/// The parts of a text between letters `x`, each beside a digit.
fn split_at_x(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in text.match_indices('x') {
        if at > start && (is_digit(at.checked_sub(1)) || is_digit(Some(at + 1))) {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name and the extents of a text, or what is wrong with it.
    fn read(text: &str) -> Result<(String, String), String> {
        let joined = |shape: Vec<Extent>| shape.iter().map(Extent::to_string).collect::<Vec<_>>().join(",");
        input_shape(text).map(|(name, shape)| (name, joined(shape)))
    }

    #[test]
    fn forms_of_other_programs_are_read() {
        for (text, name, shape) in [
            ("x=1,3,S", "x", "1,3,S"),
            ("x=", "x", ""),
            ("x=[]", "x", ""),
            ("x=[1, 3]", "x", "1,3"),
            ("x=1x3x32x32", "x", "1,3,32,32"),
            ("a:b=2", "a:b", "2"),
            ("a=b=2", "a=b", "2"),
            ("x:1,3,32,32", "x", "1,3,32,32"),
            ("x:[1,N]", "x", "1,N"),
            ("input:0:1x2", "input:0", "1,2"),
            ("1,3,H,W", "", "1,3,H,W"),
            ("[1,3]", "", "1,3"),
            ("1x3", "", "1,3"),
            ("[x]", "", "x"),
            ("7", "", "7"),
            ("x=[max3x4]", "x", "max3x4"),
            ("x=max4", "x", "max4"),
            ("x=f32", "x", "f32"),
            ("x=(1, 3)", "x", "1,3"),
            ("(3,)", "", "3"),
            ("x=(N+1)", "x", "N+1"),
            (" x = 1, 3 ", "x", "1,3"),
        ] {
            assert_eq!(read(text), Ok((name.to_owned(), shape.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_symbol_has_one_value() {
        assert_eq!(symbol("T=2*S+1"), Ok(("T".to_owned(), "2*S+1".parse().unwrap())));
        assert_eq!(symbol("a=b=2").unwrap().0, "a=b");
        assert!(symbol("N=1,H=15").unwrap_err().contains("repeat the option for each"));
        assert!(symbol("N=1,2").is_err() && symbol("N").is_err());
    }

    #[test]
    fn several_meanings_are_told() {
        for (text, meanings) in [
            ("x", ["name of an input", "only extent"]),
            ("x=Nx3x32", ["symbol", "N,3,32"]),
            ("a:1x3,b:2x3", ["several inputs", "named `a:1x3,b`"]),
            ("1,3,f32", ["element type", "symbol"]),
            ("x:1,3,float32", ["element type", "symbol"]),
        ] {
            let message = read(text).unwrap_err();
            assert!(meanings.iter().all(|meaning| message.contains(meaning)), "{text}: {message}");
        }
    }

    #[test]
    fn what_other_programs_write_is_told() {
        for (text, why) in [
            ("x:-1,3", "write a symbol"),
            ("x=None,3", "write a symbol"),
            ("[?,3]", "write a symbol"),
            ("x=1,3,", "missing"),
            ("x=1,,3", "missing"),
            ("x=[1,]", "missing"),
            ("x=1 3", "commas"),
            ("x:1,3 4", "commas"),
            ("x=1,-2", "`-2` is not an extent"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(why) && message.contains(FORM), "{text}: {message}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "=1", ":1", "x:", "x=1,-2", "x=1,,2", "x=2xN", "[1,2],[3]", "x=[1", "x=1x", "x:y z"] {
            let message = read(text).unwrap_err();
            assert!(message.contains(FORM), "{text}: {message}");
        }
    }
}
