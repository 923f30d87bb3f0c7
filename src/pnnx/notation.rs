//! Which notation a text is in that begins with the number of files of PNNX: ncnn has the same one.
//!
//! pnnx leaves operators that ncnn lacks in its texts of ncnn, so that kinds alone do not tell: layers have parameters
//! with numbers, and files of PNNX have inputs and outputs of their own.

use super::model::{INPUT, OUTPUT};

/// The layer of ncnn by which a text is one of ncnn, among its lines after the two numbers; none if it is one of PNNX, or
/// if nothing tells.
pub(crate) fn layer_of_ncnn<'t>(lines: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let mut layer = None;
    for line in lines {
        let kind = line.split_ascii_whitespace().next().unwrap_or_default();
        if [INPUT, OUTPUT].contains(&kind) {
            return None;
        }
        if layer.is_none() && is_layer(line) {
            layer = Some(line);
        }
    }
    layer
}

/// Whether the kind of an operator has a module, as those of PNNX have.
pub(crate) fn has_module(kind: &str) -> bool {
    kind.contains(['.', ':'])
}

/// A layer of ncnn: its kind has no module, and it is an input or has parameters with numbers.
fn is_layer(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let kind = words.next().unwrap_or_default();
    let numbered = |word: &str| {
        let key = word.split_once('=').map(|(key, _)| key.trim_start_matches('-'));
        key.is_some_and(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()))
    };
    !kind.is_empty() && !has_module(kind) && (kind == "Input" || words.any(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_inputs_tell() {
        let of_ncnn = |text: &str| layer_of_ncnn(text.lines()).is_some();
        for text in [
            "Input in0 0 1 in0",
            "Input in0 0 1 in0\npnnx.Expression e 0 1 1 expr=2",
            "prim::ListUnpack u 1 2 0 1 2\nBinaryOp b 2 1 1 2 3 0=2",
            "aten::relu r 1 1 a b\nReLU r 1 1 b c -23300=1,2",
        ] {
            assert!(of_ncnn(text), "{text}");
        }
        for text in [
            "",
            "pnnx.Input in0 0 1 in0 #in0=(2)f32",
            "pnnx.Input in0 0 1 in0\nInput in0 0 1 in1",
            "ReLU r 1 1 b c 0=0.1\npnnx.Output o 1 0 c",
            "aten::relu r 1 1 a b 0=1",
            "Foo f 1 1 a b axis=1",
        ] {
            assert!(!of_ncnn(text), "{text}");
        }
    }
}
