//! What the page asks for: an object of JSON.
//!
//! | key | value |
//! |---|---|
//! | `name` | the name of the file, for messages and for its notation |
//! | `to` | `check`, `stats`, or the name of an output notation |
//! | `options` | `lower` (`custom` or `all`), `limits` (`small` or `large`), the flags `share`, `unroll` and `strict`, and the texts `set` and `input_shape`, which separate several values by `;` |

use nnef_flatten::{Lower, Options};
use serde_json::Value;

/// The bytes of a model, and the bytes that it may take, if the user asks for large limits.
const LARGE: (u64, u64) = (512 << 20, 1 << 30);

/// The operations of a model with large limits.
const LARGE_OPERATIONS: u64 = 2_000_000;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name of the file.
    pub name: String,
    /// What is asked for.
    pub to: String,
    /// The options.
    pub options: Options,
    /// Whether equal operations are merged.
    pub share: bool,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// It is not an object of JSON, or an option has a value of another form.
    pub fn read(bytes: &[u8]) -> Result<Request, String> {
        let request: Value = serde_json::from_slice(bytes).map_err(|error| format!("the request: {error}"))?;
        let given = &request["options"];
        let flag = |name: &str| given[name].as_bool().unwrap_or(false);
        let mut options = limited(text(given, "limits"))?;
        options.lower = match text(given, "lower") {
            "custom" | "" => Lower::Custom,
            "all" => Lower::All,
            other => return Err(format!("there is no level of expansion `{other}`")),
        };
        options.strict = flag("strict");
        options.unroll = flag("unroll");
        for value in several(text(given, "set")) {
            options.shapes.add_symbol(value).map_err(|error| format!("Symbols: {error}"))?;
        }
        for value in several(text(given, "input_shape")) {
            options.shapes.add_shape(value).map_err(|error| format!("Input shapes: {error}"))?;
        }
        let owned = |key: &str| text(&request, key).to_owned();
        Ok(Request { name: owned("name"), to: owned("to"), options, share: flag("share") })
    }
}

/// The options with limits. The page stands for a service: what it opens may come from anywhere.
fn limited(limits: &str) -> Result<Options, String> {
    match limits {
        "small" | "" => Ok(Options::untrusted()),
        "large" => Ok(Options::untrusted().with(|options| {
            (options.max_text, options.max_memory) = LARGE;
            options.max_ops = LARGE_OPERATIONS;
        })),
        other => Err(format!("there are no limits `{other}`")),
    }
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of[key].as_str().unwrap_or("")
}

/// The values of an option that may be given several times.
fn several(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n']).map(str::trim).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &str) -> Result<Request, String> {
        Request::read(format!("{{\"name\":\"x\",\"to\":\"nnef\",\"options\":{options}}}").as_bytes())
    }

    #[test]
    fn options_are_those_of_the_command() {
        let request = read(r#"{"lower":"all","set":"S=5; T=2*S","input_shape":"x=1,S","share":true,"limits":"small"}"#);
        let Request { options, share, name, to } = request.unwrap();
        assert_eq!((options.lower, share), (Lower::All, true));
        assert_eq!((options.shapes.symbols.len(), options.shapes.inputs.len()), (2, 1));
        assert_eq!((options.max_ops, name.as_str(), to.as_str()), (Options::untrusted().max_ops, "x", "nnef"));
        let mut wanted = Options::untrusted();
        ["S=5", "T=2*S"].iter().for_each(|text| wanted.shapes.add_symbol(text).unwrap());
        wanted.shapes.add_shape("x=1,S").unwrap();
        assert_eq!(format!("{:?}", options.shapes), format!("{:?}", wanted.shapes));
        let large = read(r#"{"limits":"large"}"#).unwrap().options;
        assert_eq!(((large.max_text, large.max_memory), large.max_ops), (LARGE, LARGE_OPERATIONS));
        let flags = |name: &str| {
            let Request { options, share, .. } = read(&format!("{{\"{name}\":true}}")).unwrap();
            [options.strict, options.unroll, share]
        };
        let alone = [[true, false, false], [false, true, false], [false, false, true]];
        assert_eq!(["strict", "unroll", "share"].map(flags), alone);
    }

    #[test]
    fn values_of_another_form_are_refused() {
        for (options, message) in [
            (r#"{"set":"S"}"#, "Symbols: expected SYMBOL=N, as in S=5 or T=2*S+1"),
            (r#"{"input_shape":"=1"}"#, "Input shapes: expected NAME=SHAPE, as in image=1,3,224,224"),
            (r#"{"lower":"some"}"#, "there is no level of expansion `some`"),
            (r#"{"limits":"none"}"#, "there are no limits `none`"),
        ] {
            assert_eq!(read(options).unwrap_err(), message);
        }
    }
}
