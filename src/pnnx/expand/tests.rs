use super::*;
use crate::pnnx::evaluate::Value as Found;
use crate::tensor::Tensor;
use crate::tensor::usage::Usage;

fn number(expression: &Expression, operands: &[f64]) -> f64 {
    let operands: Vec<Arc<Tensor>> =
        operands.iter().map(|x| Arc::new(Tensor::scalars(&[1], vec![*x]).unwrap())).collect();
    match expression.evaluate(&operands, &Usage::new(1 << 20, 1 << 20)) {
        Ok(Found::Tensor(tensor)) => tensor.to_scalars()[0],
        other => panic!("{other:?}"),
    }
}

fn expression(text: &str) -> Expression {
    let reading = Reading { template: true, ..Reading::default() };
    parse(text, (FileId::default(), 0), reading).unwrap().0.expression
}

/// Every template computes what its operation does, also near 0 and for large operands.
#[test]
fn templates_mean_their_operations() {
    let samples = [1e-12, -1e-9, 0.0, 0.25, -0.5, 0.75, 1.0, -1.5, 2.0, -3.0, 7.5, 20.0, -20.0, 700.0, 1e6];
    for op in Op::all().filter(|op| matches!(op.row().nnef, Counterpart::Template(_))) {
        let name = op.row().name;
        let template = template(op).unwrap_or_else(|| panic!("{name} has a malformed template"));
        let two = op.row().arity.0 == 2;
        let own = expression(&format!("{name}({})", if two { "@0,@1" } else { "@0" }));
        for x in samples {
            for y in if two { &samples[..] } else { &samples[..1] } {
                let (wanted, found) = (number(&own, &[x, *y]), number(template, &[x, *y]));
                // Quotients that are too large for their fractions, and by nothing.
                if matches!(name, "fmod" | "remainder" | "floor_divide") && (x / y).abs() > 1e6 || wanted.is_nan() {
                    continue;
                }
                let close = (wanted - found).abs() <= 1e-9 * wanted.abs().max(1e-9) || wanted == found;
                assert!(close, "{name}({x}, {y}) = {wanted}, its template gives {found}");
            }
        }
    }
}
