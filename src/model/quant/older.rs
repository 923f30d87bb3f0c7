//! Entries of the first model zoo, whose converter wrote `tflite_quantize`: the standard has the same algorithm since 1.0.3.

use super::entries::{Literal, QuantArgument, QuantEntry};

/// The algorithm, as the zoo declares it: codes of 8 bits have no sign, others are those of 32 bits.
pub(super) const NAME: &str = "tflite_quantize";
/// The algorithm of the standard that computes the same.
const STANDARD: &str = "zero_point_linear_quantize";
/// Parameters of the former that its definition does not use.
const UNUSED: [&str; 2] = ["min", "max"];

/// Writes an entry of `text` with the algorithm of the standard, if it has the arguments that the zoo has. A scale and a
/// zero point of 0 say that a tensor is not quantized: nothing is written for such an entry.
pub(super) fn standardize(entry: &mut QuantEntry, text: &str) {
    if entry.algorithm != NAME {
        return;
    }
    let named = |name: &str| entry.arguments.iter().find(|argument| argument.name == name);
    let others = entry.arguments.iter().filter(|argument| !UNUSED.contains(&argument.name.as_str())).count();
    let (Some(zero), Some(scale), Some(bits), 3) = (named("zero_point"), named("scale"), named("bits"), others) else {
        return;
    };
    let Literal::Integer(count) = bits.value else { return };
    if is_zero(&zero.value) && is_zero(&scale.value) {
        entry.instead = Some(String::new());
        return;
    }
    let is_signed = count != 8;
    let count = if is_signed { 32 } else { 8 };
    let [zero_text, scale_text] = [zero, scale].map(|argument| &text[argument.value_at.range()]);
    let tensor = &text[entry.tensor_at.range()];
    let settings = format!("bits = {count}, signed = {is_signed}, symmetric = false");
    let written = format!("{tensor}: {STANDARD}(zero_point = {zero_text}, scale = {scale_text}, {settings});");
    let flag = |name: &str, value| QuantArgument { name: name.to_owned(), value, ..bits.clone() };
    entry.arguments = vec![
        zero.clone(),
        scale.clone(),
        flag("bits", Literal::Integer(count)),
        flag("signed", Literal::Logical(is_signed)),
        flag("symmetric", Literal::Logical(false)),
    ];
    entry.algorithm = STANDARD.to_owned();
    entry.instead = Some(written);
}

fn is_zero(value: &Literal) -> bool {
    match value {
        Literal::Integer(item) => *item == 0,
        Literal::Scalar(item) => *item == 0.0,
        Literal::Logical(_) | Literal::String(_) | Literal::Array(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostics;
    use crate::model::quant::parse::parse;
    use crate::source::FileId;

    #[test]
    fn entries_are_written_as_those_of_the_standard() {
        let rest = |count, signed| format!("bits = {count}, signed = {signed}, symmetric = false);");
        for (given, wanted) in [
            (
                "tflite_quantize(bits = 8, max = 1.5, min = -1.0, scale = 0.5, zero_point = 3);",
                format!("zero_point_linear_quantize(zero_point = 3, scale = 0.5, {}", rest(8, false)),
            ),
            (
                "tflite_quantize(min = 0.0, max = 0.0, scale = 1e-3, zero_point = -4, bits = 32);",
                format!("zero_point_linear_quantize(zero_point = -4, scale = 1e-3, {}", rest(32, true)),
            ),
            ("tflite_quantize(scale = 0.5, bits = 8);", "tflite_quantize(scale = 0.5, bits = 8);".to_owned()),
            (
                "linear_quantize(min = 0.0, max = 1.0, bits = 8);",
                "linear_quantize(min = 0.0, max = 1.0, bits = 8);".to_owned(),
            ),
        ] {
            let text = format!("# head\n'a': {given} # of a\n");
            let mut read = parse(&text, FileId::default(), &mut Diagnostics::new(true));
            read.entries.iter_mut().for_each(|entry| standardize(entry, &text));
            let written = read.text(&text, |_| true).unwrap();
            assert_eq!(written, format!("# head\n'a': {wanted} # of a\n"));
            let again = parse(&written, FileId::default(), &mut Diagnostics::new(true));
            assert_eq!(
                (&again.entries[0].algorithm, again.entries[0].arguments.len()),
                (&read.entries[0].algorithm, read.entries[0].arguments.len())
            );
        }
    }

    #[test]
    fn what_is_not_quantized_is_left_out() {
        let text = "'a': tflite_quantize(min = 0.0, max = 0.0, scale = 0.0, zero_point = 0, bits = 8);\n'b': f();\n";
        let mut read = parse(text, FileId::default(), &mut Diagnostics::new(true));
        read.entries.iter_mut().for_each(|entry| standardize(entry, text));
        assert_eq!(read.text(text, |_| true).as_deref(), Some("'b': f();\n"));
    }
}
