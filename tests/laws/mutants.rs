//! Documents that nobody would write, and the law that what is accepted and flattened is accepted again.
//! The fuzz targets use them, too.

use crate::common::{error_codes, flat_text, json_text, run};
use crate::documents::document;
use crate::tape::Tape;
use nnef_flatten::{Lower, Options};

/// The words of a text and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    text.as_bytes()
        .chunk_by(|a, b| is_word(*a) && is_word(*b))
        .scan(0, |at, piece| {
            *at += piece.len();
            text.get(*at - piece.len()..*at)
        })
        .collect()
}

/// A generated document with some lines taken out or written twice, and some words replaced by
/// others of its words.
pub fn mutated(tape: &mut Tape) -> String {
    let (edits, renames) = (tape.below(4), tape.below(4));
    let choices: Vec<u16> = (0..2 * (edits + renames)).map(|_| tape.below(1 << 15) as u16).collect();
    let mut text = document(tape).text;
    for edit in choices[..2 * edits].chunks_exact(2) {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = usize::from(edit[0]) % lines.len();
        match edit[1] % 3 {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at]),
            _ => {
                let other = usize::from(edit[1]) % lines.len();
                lines.swap(at, other);
            }
        }
        text = lines.join("\n");
    }
    for rename in choices[2 * edits..].chunks_exact(2) {
        let mut pieces = pieces(&text);
        let is_name = |piece: &str| piece.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        let words: Vec<usize> = (0..pieces.len()).filter(|at| is_name(pieces[*at])).collect();
        let [to, from] = [0, 1].map(|i| words[usize::from(rename[i]) % words.len()]);
        pieces[to] = pieces[from];
        text = pieces.concat();
    }
    text
}

/// All combinations of the options that decide what a flat graph has.
pub fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        for bits in 0..8 {
            all.push(Options::default().with(|o| {
                o.lower = lower.clone();
                (o.keep_unused, o.strict, o.unroll) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
            }));
        }
    }
    all
}

/// Checks that the flat text is accepted with the same options and does not change, and that the graph is
/// the same as JSON: there names, types, shapes and defaults are written out.
pub fn again(text: &str, options: &Options) -> Result<(), String> {
    let Ok(first) = run(text, options) else { return Ok(()) };
    let (first, json) = (flat_text(&first.graph), json_text(&first.graph));
    match run(&first, options) {
        Ok(second) if flat_text(&second.graph) == first => {
            let again = json_text(&second.graph);
            // Calls that no declaration describes have types only where a fragment states them.
            if again == json || json.contains("\"dtype\": null") {
                Ok(())
            } else {
                Err(format!("once\n{json}\ntwice\n{again}\nof\n{text}"))
            }
        }
        Ok(second) => Err(format!("once\n{first}\ntwice\n{}\nof\n{text}", flat_text(&second.graph))),
        Err(found) => Err(format!("{:?} in\n{first}\nof\n{text}", error_codes(&found))),
    }
}
