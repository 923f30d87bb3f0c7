//! Texts, and generated documents: every graph can be drawn, in every notation.

use crate::mutants::mutated;
use crate::shared::{choices, chosen};
use nnef_flatten::picture::Picture;
use nnef_flatten::{expand, parse};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (options, rest) = chosen(bytes);
    let options = options.with(|o| o.max_ops = 3_000);
    let text = match bytes.first() {
        Some(first) if *first >= 128 => String::from_utf8_lossy(rest).into_owned(),
        _ => mutated(&mut choices(rest)),
    };
    let parsed = parse("fuzz", text, &options);
    let Ok(expansion) = expand(&parsed.document, &options) else { return };
    let Some(picture) = Picture::new(&expansion.graph, parsed.document.sources()) else { return };
    let mut drawn = [const { Vec::new() }; 3];
    let [svg, html, dot] = &mut drawn;
    picture.write_svg(svg).expect("writing into memory");
    picture.write_html(html).expect("writing into memory");
    picture.write_dot(dot).expect("writing into memory");
    for drawing in drawn {
        let drawing = String::from_utf8(drawing).expect("pictures are UTF-8");
        assert!(!drawing.contains("NaN"), "{drawing}");
    }
}
