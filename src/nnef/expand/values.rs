//! Values that arguments of standard operations can have (H16): borders, interpolation methods, numbers of bits. The
//! dictionary has them.

use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Code, Diagnostic};
use crate::dictionary::{Allowed, Deviation};
use crate::graph::deviations::REPLICATED;
use crate::graph::{Graph, Kind, Operand, Operation, Value};

/// What the arguments for one parameter of a kind of operation can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    parameter: &'static str,
    /// The position of the parameter.
    position: u32,
    allowed: Allowed,
}

/// The limits for the arguments of a kind of operation.
pub(super) fn limits(graph: &Graph, kind: &Kind) -> Vec<Limit> {
    let row = graph.meaning(kind).filter(|_| kind.standard);
    let limit = |(parameter, allowed): &(&'static str, Allowed)| {
        let position = kind.params.iter().position(|param| graph.text_of(param.name) == *parameter)?;
        Some(Limit { parameter, position: position as u32, allowed: *allowed })
    };
    row.into_iter().flat_map(|row| row.arguments).filter_map(limit).collect()
}

/// H16: checks an argument. `draft` states whether the operation belongs to the draft, which names no words.
pub(super) fn check(graph: &Graph, operation: &Operation, limit: Limit, draft: bool) -> Option<Diagnostic> {
    let Limit { parameter, position, allowed } = limit;
    let Some(Operand::Value(value)) = graph.argument_of(operation, position) else { return None };
    let name = graph.operation_name(operation);
    match (allowed, value) {
        (Allowed::Words(standard, common), Value::String(word)) => {
            let of_registry = **word == *REPLICATED && graph.deviates(graph.kind(operation), Deviation::Replicated);
            if standard.contains(&&**word) || of_registry || draft && common.contains(&&**word) {
                return None;
            }
            let code = if common.contains(&&**word) { Code::CommonValue } else { Code::ArgumentValue };
            let words = standard.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
            let message = format!("`{parameter}` of `{name}` is '{word}'; it can be {words}");
            let meant = did_you_mean(word, standard.iter().copied());
            let label = format!("`{parameter}` is '{word}'");
            Some(Diagnostic::new(code, operation.at, message).label(label).help_if(meant))
        }
        (Allowed::Within(least, most), Value::Int(given)) if !(least..=most).contains(given) => {
            let message = format!("`{parameter}` of `{name}` is {given}; it can be {least} to {most}");
            let label = format!("`{parameter}` is {given}");
            Some(Diagnostic::new(Code::ArgumentValue, operation.at, message).label(label))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::Diagnostic;
    use crate::{Lower, Options, expand, parse};

    const FILTER: &str = "f = variable(shape = [6,3,2], label = 'f');";

    /// The codes of a body, in the default mode or under `--strict`, each with the outermost call that it was found in.
    fn codes_in_calls(body: &str, strict: bool, lower: Lower) -> Vec<(&'static str, Option<String>)> {
        let options = Options::default().with(|options| (options.strict, options.lower) = (strict, lower));
        let text = format!("version 1.0;\ngraph G( x ) -> ( y ) {{ x = external(shape = [2,3,4]); {body} }}");
        let parsed = parse("test", text, &options);
        assert!(!parsed.diagnostics.has_errors());
        let found = match expand(&parsed.document, &options) {
            Ok(expansion) => expansion.diagnostics,
            Err(errors) => errors,
        };
        let sources = parsed.document.sources();
        let call = |found: &Diagnostic| {
            found.expansion.last().map(|frame| format!("{} in {}", frame.fragment, sources.name(frame.at.file)))
        };
        found.into_sorted().iter().map(|found| (found.code.as_str(), call(found))).collect()
    }

    fn codes(body: &str, strict: bool, lower: Lower) -> Vec<&'static str> {
        codes_in_calls(body, strict, lower).into_iter().map(|(code, _)| code).collect()
    }

    #[test]
    fn values_of_the_text_are_accepted() {
        let bodies = [
            "y = box(x, size = [1,1,3], border = 'reflect-even');".to_owned(),
            "y = avg_pool(x, size = [1,1,3], border = 'ignore');".to_owned(),
            "y = max_pool(x, size = [1,1,3], border = 'ignore');".to_owned(),
            format!("{FILTER} y = conv(x, f, border = 'replicate');"),
            "y = multilinear_upsample(x, factor = [2], method = 'aligned', border = 'replicate');".to_owned(),
            "y = pad(x, padding = [(0,0),(0,0),(1,1)], border = 'reflect');".to_owned(),
            "y = linear_quantize(x, 0.0, 1.0, bits = 8);".to_owned(),
        ];
        for body in bodies {
            for lower in [Lower::Custom, Lower::All] {
                assert_eq!(codes(&body, true, lower), [""; 0], "{body}");
            }
        }
    }

    #[test]
    fn other_values_are_refused() {
        let bodies = [
            "y = box(x, size = [1,1,2], border = 'zero');".to_owned(),
            format!("{FILTER} y = conv(x, f, border = 'CONSTANT');"),
            "y = rms_pool(x, size = [1,1,2], border = '');".to_owned(),
            "y = multilinear_upsample(x, factor = [2], method = 'linear');".to_owned(),
            "y = multilinear_upsample(x, factor = [2], border = 'edge');".to_owned(),
            "y = linear_quantize(x, 0.0, 1.0, bits = 0);".to_owned(),
            "y = logarithmic_quantize(x, 1.0, bits = 65);".to_owned(),
        ];
        for body in bodies {
            for strict in [false, true] {
                assert_eq!(codes(&body, strict, Lower::Custom), ["E0908"], "{body}");
            }
        }
        // The parts of a compound give the code once, with the call.
        let pool = "y = max_pool(x, size = [1,1,2], border = 'zero');";
        assert_eq!(codes_in_calls(pool, false, Lower::All), [("E0908", Some("max_pool in test".to_owned()))]);
        assert_eq!(codes_in_calls(pool, false, Lower::Custom), [("E0908", None)]);
    }

    #[test]
    fn common_values_are_warnings() {
        for body in [
            format!("{FILTER} y = conv(x, f, border = 'ignore');"),
            "y = pad(x, padding = [(0,0),(0,0),(1,1)], border = 'replicated');".to_owned(),
        ] {
            for strict in [false, true] {
                assert_eq!(codes(&body, strict, Lower::Custom), ["E0909"], "{body}");
            }
        }
    }
}
