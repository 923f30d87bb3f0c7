//! Laws of the dictionary: every claim of a row is evaluated on edge values.

use std::collections::BTreeSet;

use super::formula::{self, Formula, Part};
use super::row::Words;
use super::*;
use crate::tensor::kernels::EDGES;
use crate::tests::near;

/// The number of operands of a kernel.
fn arity(kernel: Kernel) -> usize {
    match kernel {
        Kernel::Float(..) | Kernel::Number(..) | Kernel::Not => 1,
        Kernel::Select => 3,
        _ => 2,
    }
}

/// The result of a formula on floats, by the kernels of the meanings in it.
fn evaluated(formula: &Formula, operands: &[f64]) -> Option<f64> {
    let mut values: Vec<f64> = Vec::new();
    for part in formula {
        values.push(match part {
            Part::Operand(place) => *operands.get(*place)?,
            Part::Number(number) => *number,
            Part::Apply(row, of) => {
                let of: Vec<f64> = of.iter().map(|at| values[*at]).collect();
                in_nnef(row, &of)?
            }
        });
    }
    values.pop()
}

/// What NNEF computes for a meaning.
fn in_nnef(row: &Row, operands: &[f64]) -> Option<f64> {
    match row.nnef {
        InNnef::Operation(name) => find(Vocabulary::Standard, name)?.kernel?.of_floats(operands),
        InNnef::Formula(_) => evaluated(formula::of(row)?, operands),
        InNnef::Missing => None,
    }
}

/// All pairs of edge values; for logicals 0 and 1.
fn pairs(kernel: Kernel) -> Vec<[f64; 2]> {
    let values = match kernel {
        Kernel::Logic(_) | Kernel::Not => &[0.0, 1.0],
        _ => EDGES,
    };
    values.iter().flat_map(|x| values.iter().map(|y| [*x, *y])).collect()
}

/// Whether numbers are equal, up to the rounding of some operations.
fn same(wanted: f64, found: f64) -> bool {
    near(found, wanted, 1e-12 * wanted.abs())
}

/// Whether a quotient rounded down or a remainder is the same. Where the rounded quotient has another integer part than
/// the exact one, remainders differ by one divisor and quotients by one; where it overflows, the result is not finite.
fn same_quotient(wanted: f64, found: f64, [x, y]: [f64; 2]) -> bool {
    if same(wanted, found) || !x.is_finite() || !y.is_finite() || y == 0.0 {
        return same(wanted, found);
    }
    let quotient = x / y;
    if quotient.is_infinite() || !found.is_finite() {
        return !found.is_finite() && (quotient.floor() * y).is_infinite();
    }
    let (rest, whole) = (x % y, quotient.trunc());
    let exact = quotient.abs() < 9_007_199_254_740_992.0
        && whole == ((x - rest) / y).round()
        && (rest == 0.0) == (quotient == whole);
    let step = if exact { 0.0 } else { y.abs().max(1.0).max(wanted.abs() * f64::EPSILON) };
    near(found, wanted, x.abs() * f64::EPSILON + step)
}

#[test]
fn every_meaning_is_in_nnef_what_its_kernel_computes() {
    let mut count = 0;
    for row in all().filter(|row| row.nnef != InNnef::Missing) {
        let Some(kernel) = row.kernel.filter(|kernel| arity(*kernel) < 3) else { continue };
        count += 1;
        for operands in pairs(kernel) {
            let operands = &operands[..arity(kernel)];
            let wanted = kernel.of_floats(operands).unwrap_or_else(|| panic!("{} has no result", row.name));
            let found = in_nnef(row, operands).unwrap_or_else(|| panic!("{} has no formula", row.name));
            let is_same = match (kernel, operands) {
                (Kernel::Arithmetic(op), [x, y]) if op.divides() => same_quotient(wanted, found, [*x, *y]),
                _ => same(wanted, found),
            };
            assert!(is_same, "{} at {operands:?} is {wanted}, not {found}", row.name);
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn operations_for_positive_operands_are_equal() {
    let mut count = 0;
    for row in all() {
        let (Some(name), Some(kernel)) = (row.if_positive(), row.kernel) else { continue };
        count += 1;
        let standard = find(Vocabulary::Standard, name).and_then(|row| row.kernel).unwrap();
        for x in EDGES.iter().filter(|x| !x.is_sign_negative()) {
            let (wanted, found) = (kernel.of_floats(&[*x]).unwrap(), standard.of_floats(&[*x]).unwrap());
            assert!(same(wanted, found), "{} at {x}", row.name);
        }
    }
    assert!(count > 1, "{count}");
}

/// What is written for a meaning differs from it where its row says, and only there.
#[test]
fn operations_near_a_meaning_differ_where_rows_say() {
    let mut count = 0;
    for row in all() {
        let Some(near) = row.near else { continue };
        count += 1;
        let places = row.kernel.map_or(1, arity);
        let standard = |operands: &[f64]| match find(Vocabulary::Standard, near.name).unwrap().kernel {
            Some(kernel) => kernel.of_floats(operands).unwrap(),
            // By its definition in the standard library.
            None => evaluated(&formula::read("max(min(@0,@2),@1)").unwrap(), operands).unwrap(),
        };
        let mut needed = false;
        for pair in EDGES.iter().flat_map(|x| EDGES.iter().map(move |y| [*x, *y])) {
            let operands = if row.kernel.is_some() { pair[..places].to_vec() } else { vec![pair[0], -1.0, 2.5] };
            let (wanted, found) = (in_nnef(row, &operands).unwrap(), standard(&operands));
            let is_same = same(wanted, found);
            let differs = (near.differs.at)(&operands);
            needed |= differs && !is_same;
            assert!(is_same || differs, "{} at {operands:?} is {wanted}, {} {found}", row.name, near.name);
        }
        assert!(needed, "{} never differs from {}", row.name, near.name);
        assert!(!(near.differs.at)(&[1.0; 3]), "{} is {} at 1", row.name, near.name);
        if near.differs.text.contains("-0") {
            let (wanted, found) = (in_nnef(row, &[-0.0]).unwrap(), standard(&[-0.0]));
            assert!((near.differs.at)(&[-0.0]) && wanted.to_bits() != found.to_bits(), "{} at -0", row.name);
        }
    }
    assert_eq!(count, 6);
}

/// Evaluates a formula of ONNX on operands named `x` and `y`; none if it has attributes or other operands.
fn in_onnx(rest: &mut &str, operands: &[f64]) -> Option<f64> {
    let end = rest.find(['(', ')', ',', '<']).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    match word {
        "x" => return operands.first().copied(),
        "y" => return operands.get(1).copied(),
        word if word.starts_with(|c: char| c.is_ascii_digit()) => return word.parse().ok(),
        _ => {}
    }
    *rest = rest.strip_prefix('(')?;
    let mut given = Vec::new();
    loop {
        given.push(in_onnx(rest, operands)?);
        match rest.strip_prefix(", ") {
            Some(more) => *rest = more,
            None => break,
        }
    }
    *rest = rest.strip_prefix(')')?;
    let row = find(Vocabulary::Foreign, word).unwrap_or_else(|| panic!("no row has the operator {word}"));
    row.kernel.unwrap_or_else(|| panic!("{word} has no kernel")).of_floats(&given)
}

#[test]
fn every_meaning_is_in_onnx_what_its_kernel_computes() {
    let mut count = 0;
    for row in all() {
        let (Some(ToOnnx::Formula(_, formula)), Some(kernel)) = (row.to_onnx, row.kernel) else { continue };
        if arity(kernel) > 2 {
            continue;
        }
        count += 1;
        let mut needed = row.onnx_differs.is_none();
        for operands in pairs(kernel) {
            let operands = &operands[..arity(kernel)];
            let wanted = kernel.of_floats(operands).unwrap();
            let found = in_onnx(&mut &*formula, operands).unwrap_or_else(|| panic!("{} is not read", row.name));
            // Zeros of both signs are equal, since ONNX has no rule for the sign.
            let is_same = same(wanted, found);
            let differs = row.onnx_differs.is_some_and(|differs| (differs.at)(operands));
            needed |= differs && !is_same;
            assert!(is_same || differs, "{} at {operands:?} is {wanted}, in ONNX {found}", row.name);
        }
        assert!(needed, "{} never differs from ONNX", row.name);
    }
    assert!(count > 45, "{count}");
}

#[test]
fn integers_have_the_results_of_floats() {
    let integers = [-7i64, -3, -2, -1, 0, 1, 2, 3, 7];
    let mut rows = BTreeSet::new();
    for row in all() {
        for (x, y) in integers.iter().flat_map(|x| integers.iter().map(move |y| (*x, *y))) {
            let (whole, float) = match row.kernel {
                Some(Kernel::Number(_, f, whole)) => (Some(whole(x.into())), f(x as f64)),
                // A quotient of integers has no fraction, and is not defined for 0.
                Some(Kernel::Arithmetic(op)) if op != Arith::Div => {
                    (op.whole(x.into(), y.into()), op.float(x as f64, y as f64))
                }
                _ => continue,
            };
            rows.extend(whole.map(|_| row.name));
            assert!(whole.is_none_or(|whole| whole as f64 == float), "{} of {x} and {y}", row.name);
        }
    }
    assert!(rows.len() > 8, "{rows:?}");
}

#[test]
fn names_belong_to_one_row() {
    type Column = fn(&Row) -> Words;
    let columns: [(&str, Column); 6] = [
        ("name", |row| row.name),
        ("standard", |row| row.standard),
        ("vendor", |row| row.vendor),
        ("registry", |row| row.registry),
        ("onnx", |row| row.onnx),
        ("torch", |row| row.torch),
    ];
    for (column, words) in columns {
        let mut known = BTreeSet::new();
        for word in all().flat_map(|row| words(row).split_ascii_whitespace()) {
            assert!(known.insert(word), "`{word}` is in the column {column} twice");
        }
    }
    for row in all().filter(|row| !row.standard.is_empty()) {
        assert_eq!(row.nnef, InNnef::Operation(row.name));
        assert!(row.standard.split(' ').any(|name| name == row.name), "{}", row.name);
    }
}

#[test]
fn formulas_are_read_and_use_what_nnef_computes() {
    let mut count = 0;
    for row in all() {
        let InNnef::Formula(text) = row.nnef else { continue };
        count += 1;
        let formula = formula::read(text).unwrap_or_else(|| panic!("{}: {text}", row.name));
        for part in formula {
            if let Part::Apply(of, _) = part {
                assert!(of.nnef != InNnef::Missing && of.kernel.is_some(), "{} uses {}", row.name, of.name);
            }
        }
    }
    assert!(count > 15, "{count}");
    for text in ["", "add(", "add(@0", "unknown(@0)", "add(@0,@1))", "add(@x)"] {
        assert_eq!(formula::read(text), None, "{text}");
    }
}

#[test]
fn variants_of_converters_have_numbers() {
    let is_known = |name| find(Vocabulary::Vendor, name).is_some();
    assert!(is_known("erf_v12") && is_known("erf") && is_known("tract_core_erf"));
    assert!(!is_known("erf_v") && !is_known("erf_v1x") && !is_known("x_v1") && !is_known("relu"));
    assert!(is_of_converter("erf_v1") && !is_of_converter("tract_core_erf") && !is_of_converter("square"));
}

#[test]
fn categories_are_those_of_all_notations() {
    let wanted = [
        ("conv", Category::Product),
        ("Conv", Category::Product),
        ("nn_Conv2d", Category::Product),
        ("nn.Conv2d", Category::Product),
        ("tract_core_topk", Category::Reduction),
        ("MaxPool", Category::Reduction),
        ("com.microsoft.MatMul", Category::Product),
        ("GlobalAveragePool", Category::Reduction),
        ("BatchNormalization", Category::Normalization),
        ("F_relu", Category::Activation),
        ("QuantizeLinear", Category::Quantization),
        ("unheard_of", Category::Other),
    ];
    for (name, category) in wanted {
        assert_eq!(super::category(name), category, "{name}");
    }
}

#[test]
fn kernels_are_told_apart() {
    let kernels = all().filter_map(|row| row.kernel.map(|kernel| (row.name, format!("{kernel:?}"))));
    let shown: std::collections::BTreeMap<&str, String> = kernels.collect();
    let kind = |name: &str| shown.get(name).map_or("", String::as_str);
    assert_eq!([kind("add"), kind("lt"), kind("and")], ["Arithmetic(Add)", "Compare(Less)", "Logic"]);
    assert_eq!([kind("exp"), kind("neg"), kind("select"), kind("not")], ["Float", "Number", "Select", "Not"]);
}
