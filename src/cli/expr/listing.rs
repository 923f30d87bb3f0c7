//! The description of an expression as lines of text.

use super::json;
use super::told::Told;

/// Longer texts are truncated because they are not readable.
const SHOWN: usize = 2_000;

fn shown(text: &str) -> String {
    match text.get(..SHOWN) {
        Some(start) => format!("{start}… ({} characters)", text.len()),
        None => text.to_owned(),
    }
}

impl Told {
    /// The description, one property on each line.
    pub(super) fn listing(&self) -> String {
        let expression = &self.parsed.expression;
        let (operations, distinct) = (expression.operations(), expression.classes().1);
        let numbers: Vec<String> = expression.argument_order().iter().map(|number| format!("@{number}")).collect();
        let operands = if numbers.is_empty() { "none".to_owned() } else { shown(&numbers.join(" ")) };
        let mut rows = vec![
            ("expression", shown(&expression.canonical())),
            ("infix", shown(&expression.infix())),
            ("operands", operands),
            ("operations", format!("{operations}, {distinct} of them distinct")),
        ];
        if let Some(folded) = &self.folded {
            rows.push(("folded", shown(&folded.canonical())));
        }
        for value in self.values.iter().flat_map(|(values, _)| values) {
            let mut text = String::new();
            json::value(&mut text, value);
            rows.push(("value", shown(&text)));
        }
        rows.into_iter().map(|(name, text)| format!("{name:<12}{text}\n")).collect()
    }
}
