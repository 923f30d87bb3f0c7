//! Where translations give other numbers, as their pages say.

use super::draw::{F64, is_float, limits};
use nnef_flatten::tensor::Tensor;

/// A row of a table: operators that differ at certain operands in some forms of the translation.
pub struct Row {
    operators: Vec<String>,
    at: Edge,
    forms: &'static [&'static str],
    /// How many calls differed.
    pub seen: usize,
    pub text: String,
}

/// Operands, or results, that differ.
#[derive(Clone, Copy)]
enum Edge {
    Infinite,
    Nan,
    Zeros,
    InfiniteOrZeros,
    NanOrZeros,
    Wide,
    Ones,
    Padding,
    Double,
}

const EDGES: &[(&str, Edge)] = &[
    ("infinite items and NaN", Edge::Infinite),
    ("NaN", Edge::Nan),
    ("signs of zeros", Edge::Zeros),
    ("infinite items, or zeros", Edge::InfiniteOrZeros),
    ("NaN, or both zeros", Edge::NanOrZeros),
    ("integers of more than 24 bits", Edge::Wide),
    ("codes by 1", Edge::Ones),
    ("windows in the padding", Edge::Padding),
    ("the last digits of 64-bit floats", Edge::Double),
];

const FORMS: &[(&str, &[&str])] =
    &[("all", &["nnef", "strict", "back", "onnx"]), ("registries", &["nnef", "back"]), ("`--strict`", &["strict"])];

/// The rows below the heading of a page.
pub fn rows(page: &str) -> Vec<Row> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page);
    let text = std::fs::read_to_string(path).expect("the page");
    let (_, table) = text.split_once("## Where numbers differ").expect("the heading");
    let named = |text: &str| text.split_whitespace().map(|name| name.trim_matches('`').to_owned()).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[_, operators, at, forms, _, _] = &cells[..] else { panic!("{line}") };
        let at = EDGES.iter().find(|(name, _)| *name == at).unwrap_or_else(|| panic!("{line}")).1;
        let forms = FORMS.iter().find(|(name, _)| *name == forms).unwrap_or_else(|| panic!("{line}")).1;
        Row { operators: named(operators), at, forms, seen: 0, text: line.to_owned() }
    };
    table.lines().filter(|line| line.starts_with("| `")).map(row).collect()
}

/// A call that differs, and how.
pub struct Differing<'d> {
    pub operator: &'d str,
    pub engine: &'d str,
    pub operands: &'d [Tensor],
    pub why: &'d str,
}

impl Row {
    /// Whether it tells that a call differs.
    pub fn covers(&self, of: &Differing) -> bool {
        let is = |name: &String| match name.strip_suffix('*') {
            Some(start) => of.operator.starts_with(start),
            None => name == of.operator,
        };
        let named = self.operators.iter().any(is) && self.forms.contains(&of.engine);
        named && self.at.has(of)
    }
}

impl Edge {
    fn has(self, of: &Differing) -> bool {
        let floats = || of.operands.iter().filter(|x| is_float(x.dtype())).flat_map(Tensor::to_scalars);
        let sign = of.why.ends_with("sign of zero");
        match self {
            Edge::Infinite => floats().any(|x| !x.is_finite()),
            Edge::Nan => floats().any(f64::is_nan),
            Edge::Zeros => sign,
            Edge::InfiniteOrZeros => floats().any(|x| x == 0.0 || x.is_infinite()),
            Edge::NanOrZeros => {
                let zero = |negative: bool| floats().any(|x| x == 0.0 && x.is_sign_negative() == negative);
                floats().any(f64::is_nan) || zero(true) && zero(false)
            }
            Edge::Wide => of.operands.iter().any(|x| is_wide(x, 24)),
            Edge::Ones => of.why.ends_with("by 1"),
            Edge::Double => of.operands.iter().any(|x| x.dtype() == F64) && floats().all(f64::is_finite),
            Edge::Padding => of.why.contains("inf") || of.why.contains("e38"),
        }
    }
}

/// Whether a tensor has integers of more bits.
pub fn is_wide(x: &Tensor, bits: i32) -> bool {
    !is_float(x.dtype()) && limits(x.dtype()).1 > 1 && x.to_scalars().iter().any(|item| item.abs() >= 2f64.powi(bits))
}
