//! Texts of small models of ONNX.

/// The text of a model from a version of the standard operators, or `ml` and that of `ai.onnx.ml`, and its graph.
pub fn text_of(sets: &str, graph: &str) -> String {
    let sets = match sets.strip_prefix("ml") {
        Some("") => r#""" : 17, "ai.onnx.ml" : 3"#.to_owned(),
        Some(version) => format!(r#""" : 21, "ai.onnx.ml" : {version}"#),
        None => format!(r#""" : {sets}"#),
    };
    format!("<ir_version: 10, opset_import: [{sets}]>\ng {graph}")
}
