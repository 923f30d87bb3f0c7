//! What the page gets: an object of JSON, and what was written.
//!
//! | key | value |
//! |---|---|
//! | `notation` | the notation of the input; null if it was not recognized |
//! | `done` | whether there is an output |
//! | `findings` | the diagnostics, as `--message-format json` writes them |
//! | `hidden` | the number of findings that are left out |
//! | `message` | a failure without a place; null if there is none |

use nnef_flatten::input::{Findings, Refusal};
use nnef_flatten::open;
use serde_json::Value;

use crate::request::Request;

/// The maximum number of findings in an answer.
const SHOWN: usize = 200;

/// Answers a request about the bytes of a model.
pub fn answer(request: &[u8], input: Vec<u8>) -> (String, Vec<u8>) {
    let mut output = Vec::new();
    let (notation, findings) = match Request::read(request) {
        Ok(request) => flattened(&request, input, &mut output),
        Err(message) => (None, Err(Refusal::Unfit(message))),
    };
    let text = object(notation, &findings);
    if findings.is_err() {
        output.clear();
    }
    (text, output)
}

/// Flattens a model into the output, and returns its notation and the findings.
fn flattened(
    request: &Request,
    bytes: Vec<u8>,
    output: &mut Vec<u8>,
) -> (Option<&'static str>, Result<Findings, Refusal>) {
    let input = match open((request.name.as_str(), bytes), &request.options) {
        Ok(input) => input.share(request.share),
        Err(refusal) => return (None, Err(refusal)),
    };
    let notation = input.notation();
    let findings = match request.to.as_str() {
        "check" => input.check(),
        "stats" => input.statistics(output),
        to => input.print(to, output),
    };
    (Some(notation), findings)
}

/// The object for the page.
fn object(notation: Option<&str>, result: &Result<Findings, Refusal>) -> String {
    let (findings, message) = match result {
        Ok(findings) => (Some(findings), None),
        Err(Refusal::Found(findings)) => (Some(&**findings), None),
        Err(refusal) => (None, Some(refusal.to_string())),
    };
    let (shown, hidden) = findings.map(shown).unwrap_or_default();
    serde_json::json!({
        "notation": notation,
        "done": result.as_ref().is_ok_and(|findings| !findings.has_errors()),
        "findings": shown,
        "hidden": hidden,
        "message": message,
    })
    .to_string()
}

/// The first findings, errors before warnings, and how many others there are.
fn shown(findings: &Findings) -> (Vec<Value>, usize) {
    let mut sorted = findings.diagnostics.clone().into_sorted();
    sorted.sort_by_key(|found| !found.is_error());
    let hidden = sorted.len().saturating_sub(SHOWN) + findings.diagnostics.suppressed();
    let object = |found: &nnef_flatten::Diagnostic| {
        let mut line = Vec::new();
        found.write_json(&mut line, &findings.sources).ok()?;
        serde_json::from_slice(&line).ok()
    };
    (sorted.iter().take(SHOWN).filter_map(object).collect(), hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }";

    /// The answer, and the output as a text.
    fn asked(to: &str, name: &str, model: &str) -> (Value, String) {
        let request = format!("{{\"name\":\"{name}\",\"to\":\"{to}\",\"options\":{{}}}}");
        let (answer, output) = answer(request.as_bytes(), model.into());
        (serde_json::from_str(&answer).unwrap(), String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_model_is_written() {
        let (answer, output) = asked("nnef", "m.nnef", MODEL);
        assert_eq!(answer.to_string(), r#"{"done":true,"findings":[],"hidden":0,"message":null,"notation":"nnef"}"#);
        assert!(output.contains("y = relu(x);"), "{output}");
        let (_, page) = asked("html", "m.nnef", MODEL);
        assert!(page.contains("<canvas"), "{page}");
        let (_, stats) = asked("stats", "m.nnef", MODEL);
        assert!(stats.contains("\"relu\":1"), "{stats}");
    }

    #[test]
    fn findings_have_their_places() {
        let (answer, output) = asked("nnef", "m.nnef", &MODEL.replace("relu(x)", "relu(z)"));
        assert_eq!((&answer["done"], output.as_str()), (&Value::Bool(false), ""));
        let finding = &answer["findings"][0];
        assert_eq!((&finding["message"], &finding["column"]), (&"`z` is not defined".into(), &74.into()));
    }

    #[test]
    fn failures_without_a_place_are_messages() {
        let (answer, _) = asked("nothing", "m.nnef", MODEL);
        assert_eq!(answer["message"], "there is no output notation `nothing`");
        let (answer, _) = asked("nnef", "weights.npy", "\u{93}NUMPY");
        assert_eq!(answer["done"], false);
    }

    #[test]
    fn what_the_build_leaves_out_is_refused() {
        const PNNX: &str = "7767517\n3 2\npnnx.Input in 0 1 x #x=(2)f32\nF.relu r 1 1 x y\npnnx.Output out 1 0 y\n";
        let of = |answer: &Value| (answer["done"].clone(), answer["findings"][0]["code"].clone());
        let refused = (Value::Bool(false), Value::from("E0005"));
        let (answer, output) = asked("onnx", "m.nnef", MODEL);
        assert_eq!((of(&answer), output.as_str()), (refused.clone(), ""));
        assert_eq!(
            answer["findings"][0]["message"],
            "this build does not translate between notations: it is made without the feature `translate`"
        );
        let onnx = "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2] x) => (float[2] y) { y = Relu (x) }";
        assert_eq!(of(&asked("nnef", "m.onnxtxt", onnx).0), refused);
        assert_eq!(asked("onnxtxt", "m.onnxtxt", onnx).0["done"], true);
        let request =
            |lower: &str| format!("{{\"name\":\"m.param\",\"to\":\"nnef\",\"options\":{{\"lower\":\"{lower}\"}}}}");
        let lowered = |lower| answer_of(&request(lower), PNNX);
        assert_eq!(of(&lowered("all")), refused);
        assert_eq!(lowered("custom")["done"], true);
    }

    /// The answer to a request.
    fn answer_of(request: &str, model: &str) -> Value {
        serde_json::from_str(&answer(request.as_bytes(), model.into()).0).unwrap()
    }

    #[test]
    fn a_build_without_kernels_does_not_fold() {
        let options = nnef_flatten::Options::default();
        let input = open(("m.nnef", MODEL), &options).unwrap().fold(true);
        let refused = input.print("nnef", &mut Vec::new()).err().map(|refused| refused.to_string());
        let reason = "this build neither evaluates nor folds: it is made without the feature `kernels`";
        assert_eq!(refused.as_deref(), Some(reason));
    }
}
