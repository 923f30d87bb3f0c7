//! What a model of ONNX tells about itself.

use super::Document;
use super::model::{FunctionProto, ModelNames, OperatorSet};
use super::text::ParsedText;
use crate::source::facts::Facts;

impl Document {
    /// What the model tells about itself, by what that is.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("notation", "ONNX");
        let ParsedText::Model(model) = &self.parsed else { return facts };
        let number = |number: Option<i64>| number.map_or_else(String::new, |number| number.to_string());
        facts.add("IR version", &number(model.ir_version));
        facts.add_list("operator sets", model.opsets.iter().map(|set| operator_set(&model.names, set)));
        let producer = [&model.producer_name, &model.producer_version].map(|text| text.as_deref().unwrap_or_default());
        facts.add("producer", producer.join(" ").trim());
        facts.add("domain", model.domain.as_deref().unwrap_or_default());
        facts.add("model version", &number(model.model_version));
        facts.add("description", model.doc_string.as_deref().unwrap_or_default());
        facts.add_list("functions", model.functions.iter().map(|function| named(&model.names, function)));
        let entry = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
        let metadata = model.metadata.iter().map(|of| format!("{}: {}", entry(&of.key), entry(&of.value)));
        facts.add_each("metadata", metadata);
        facts
    }
}

/// An operator set, such as `ai.onnx 17`.
fn operator_set(names: &ModelNames, set: &OperatorSet) -> String {
    let domain = set.domain.map_or("", |domain| names.texts.text(domain));
    let domain = if domain.is_empty() { "ai.onnx" } else { domain };
    format!("{domain} {}", set.version.unwrap_or_default())
}

/// The name of a function with its domain.
fn named(names: &ModelNames, function: &FunctionProto) -> String {
    let [domain, name] = [function.domain, function.name].map(|name| name.map_or("", |name| names.texts.text(name)));
    if domain.is_empty() { name.to_owned() } else { format!("{domain}.{name}") }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::onnx::Document;
    use crate::source::Sources;

    #[test]
    fn models_tell_about_themselves() {
        let text = r#"<ir_version: 10, opset_import: ["" : 21, "l" : 1], producer_name: "p", producer_version: "2",
                domain: "e.x", model_version: 3, doc_string: "d", metadata_props: ["k" : "v"]>
            G (float[2] x) => (float[2] y) { y = l.f (x) }
            <domain: "l", opset_import: ["" : 21]> f (a) => (b) { b = Exp (a) }"#;
        let (document, _) = Document::parse("test", text, &mut Sources::new(), &Options::default());
        let facts = document.unwrap().facts().0;
        let facts: Vec<String> = facts.into_iter().map(|(key, text)| format!("{key}: {text}")).collect();
        let wanted = [
            "notation: ONNX",
            "IR version: 10",
            "operator sets: ai.onnx 21, l 1",
            "producer: p 2",
            "domain: e.x",
            "model version: 3",
            "description: d",
            "functions: l.f",
            "metadata: k: v",
        ];
        assert_eq!(facts, wanted);
    }
}
