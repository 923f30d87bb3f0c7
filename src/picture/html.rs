//! Self-contained HTML pages with style, data and script.
//!
//! The data are JSON in which the special characters of HTML are escaped. The content security policy allows only the
//! style and the script, by their digests, and no network access.

mod comparison;
mod data;
mod excerpt;
mod measures;

use std::io::{self, Write};

pub(super) use comparison::write as write_comparison;
pub(crate) use comparison::{Comparison, MarkKind, MarkedChange};
use sha2::{Digest, Sha256};

use super::layout::Arrangement;
use super::scene::Scene;
use super::sheet::escape;

const STYLE: &str = include_str!("page/page.css");
const BODY: &str = include_str!("page/body.html");
const KEYS: &str = include_str!("page/keys.html");
/// The parts of all scripts, each after the parts that it uses.
const PARTS: &[&str] = &[
    include_str!("page/columns.js"),
    include_str!("page/frame.js"),
    include_str!("page/draw.js"),
    include_str!("page/panel.js"),
    include_str!("page/model.js"),
    include_str!("page/search.js"),
    include_str!("page/main.js"),
    include_str!("page/input.js"),
    include_str!("page/link.js"),
    include_str!("page/save.js"),
];
const START: &str = include_str!("page/start.js");

/// A document with its style, its script, and the data that the script reads.
struct HtmlDocument<'t> {
    title: &'t str,
    style: &'t str,
    /// The elements before the data.
    body: &'t [&'t str],
    /// What starts the page, after the parts of the script.
    start: &'t str,
}

impl HtmlDocument<'_> {
    /// Writes it. `data` writes JSON.
    fn write(&self, out: &mut dyn Write, data: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let HtmlDocument { title, style, body, start } = *self;
        let script = PARTS.concat() + start;
        let (style_digest, script_digest) = (digest(style), digest(&script));
        write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             script-src 'sha256-{script_digest}'; style-src 'sha256-{style_digest}'; base-uri 'none'; \
             form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        )?;
        body.iter().try_for_each(|part| out.write_all(part.as_bytes()))?;
        out.write_all(b"<script type=\"application/json\" id=\"data\">")?;
        data(&mut Inert(out))?;
        write!(out, "</script>\n<script>{script}</script>\n</body>\n</html>\n")
    }
}

/// Writes an arranged scene.
pub(crate) fn write(
    scene: &Scene,
    arrangement: &Arrangement,
    told: data::PageTexts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = name_of(scene);
    let body = [&elements(&name, MAIN), KEYS];
    let document = HtmlDocument { title: &name, style: STYLE, body: &body, start: START };
    document.write(out, |out| data::write(scene, arrangement, told, out))
}

/// The name of the graph, escaped.
fn name_of(scene: &Scene) -> String {
    let mut name = String::new();
    escape(&mut name, scene.graph.text_of(scene.graph.name));
    name
}

/// The attribute of what is the main part of its document. There is one in each.
const MAIN: &str = " role=\"main\"";

/// The elements for a graph: its escaped name is their heading, `role` is the attribute of what is below that.
fn elements(name: &str, role: &str) -> String {
    BODY.replace("<!--name-->", name).replacen("<!--role-->", role, 1)
}

/// The digest of a text in the form of content security policies.
fn digest(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = Sha256::digest(text.as_bytes());
    let mut base64 = String::new();
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let used = digit <= three.len();
            base64.push(if used { char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]) } else { '=' });
        }
    }
    base64
}

/// Writes JSON with escapes for the special characters of HTML, which occur only in strings.
struct Inert<'w>(&'w mut dyn Write);

impl Write for Inert<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut from = 0;
        for (i, byte) in bytes.iter().enumerate() {
            if matches!(byte, b'<' | b'>' | b'&') {
                self.0.write_all(&bytes[from..i])?;
                write!(self.0, "\\u{byte:04x}")?;
                from = i + 1;
            }
        }
        self.0.write_all(&bytes[from..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::comparison::{COMPARISON_SCRIPT, COMPARISON_STYLE};
    use super::*;

    #[test]
    fn digests_are_those_of_policies() {
        assert_eq!(digest(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(digest("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    #[test]
    fn markup_in_data_is_inert() {
        let mut out = Vec::new();
        Inert(&mut out).write_all(b"\"</script><!--&\"").unwrap();
        assert_eq!(out, b"\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
    }

    #[test]
    fn style_and_script_do_not_end_themselves() {
        let script = [PARTS, &[START, COMPARISON_SCRIPT]].concat().concat();
        let style = [STYLE, COMPARISON_STYLE].concat();
        assert!(!style.contains("</") && !script.contains("</script") && !script.contains("<!--"));
        for forbidden in ["innerHTML", "eval(", "http:", "https:", "import(", "fetch("] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
