//! The rules: the translation of each NNEF operation to ONNX. `docs/onnx.md` has the same table.

use super::call::{Call, Made};
use super::emit::Value;
use super::formula::Operands::{self, Alike, Logicals, Numbers, Plain, Real};
use super::{arrange, convolution, normalize, padding, places, pool, resample};
use crate::graph::shapes::without_variant;

/// Adds the nodes of an operation and returns its results.
type Function = fn(&mut Call) -> Made<Vec<Value>>;

/// The translation of an operation.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "the test of the documentation reads what functions give"))]
pub(super) enum Meaning {
    /// A formula, see [`super::formula`].
    Formula(Operands, &'static str),
    /// The first formula if a logical attribute is true, else the second.
    Choice(&'static str, &'static str, &'static str),
    /// A function, and a description of the operators that it adds.
    Function(Function, &'static str),
    /// An input of the graph or a constant tensor.
    Source(&'static str),
    /// The reason why ONNX cannot express it.
    Refused(&'static str),
}

use Meaning::{Choice, Formula, Function as By, Refused, Source};

/// The standard operations. Compounds that are not in this table are expanded.
pub(super) const STANDARD: &[(&str, Meaning)] = &[
    ("external", Source("an input of the graph")),
    ("constant", Source("a constant tensor; `ConstantOfShape` where one number is repeated often")),
    ("variable", Source("a constant tensor with the label as its name")),
    ("update", Refused("a model of ONNX has no state")),
    // Element-wise operations.
    ("copy", Formula(Plain, "Identity(x)")),
    ("neg", Formula(Numbers, "Neg(x)")),
    ("rcp", Formula(Real, "Reciprocal(x)")),
    ("abs", Formula(Numbers, "Abs(x)")),
    ("sign", Formula(Numbers, "Sign(x)")),
    ("exp", Formula(Real, "Exp(x)")),
    ("log", Formula(Real, "Log(x)")),
    ("sin", Formula(Real, "Sin(x)")),
    ("cos", Formula(Real, "Cos(x)")),
    ("tan", Formula(Real, "Tan(x)")),
    ("asin", Formula(Real, "Asin(x)")),
    ("acos", Formula(Real, "Acos(x)")),
    ("atan", Formula(Real, "Atan(x)")),
    ("sinh", Formula(Real, "Sinh(x)")),
    ("cosh", Formula(Real, "Cosh(x)")),
    ("tanh", Formula(Real, "Tanh(x)")),
    ("asinh", Formula(Real, "Asinh(x)")),
    ("acosh", Formula(Real, "Acosh(x)")),
    ("atanh", Formula(Real, "Atanh(x)")),
    ("floor", Formula(Real, "Floor(x)")),
    ("ceil", Formula(Real, "Ceil(x)")),
    ("round", Formula(Real, "Where(Less(Sub(x, Floor(x)), 0.5), Floor(x), Ceil(x))")),
    ("sqr", Formula(Real, "Mul(x, x)")),
    ("sqrt", Formula(Real, "Sqrt(x)")),
    ("rsqr", Formula(Real, "Reciprocal(Mul(x, x))")),
    ("rsqrt", Formula(Real, "Reciprocal(Sqrt(x))")),
    ("log2", Formula(Real, "Div(Log(x), 0.6931471805599453)")),
    ("not", Formula(Logicals, "Not(x)")),
    ("add", Formula(Numbers, "Add(x, y)")),
    ("sub", Formula(Numbers, "Sub(x, y)")),
    ("mul", Formula(Numbers, "Mul(x, y)")),
    ("div", Formula(Numbers, "Div(x, y)")),
    ("pow", Formula(Numbers, "Pow(x, y)")),
    ("min", Formula(Numbers, "Min(x, y)")),
    ("max", Formula(Numbers, "Max(x, y)")),
    ("lt", Formula(Numbers, "Less(x, y)")),
    ("le", Formula(Numbers, "LessOrEqual(x, y)")),
    ("gt", Formula(Numbers, "Greater(x, y)")),
    ("ge", Formula(Numbers, "GreaterOrEqual(x, y)")),
    ("eq", Formula(Alike, "Equal(x, y)")),
    ("ne", Formula(Alike, "Not(Equal(x, y))")),
    ("and", Formula(Logicals, "And(x, y)")),
    ("or", Formula(Logicals, "Or(x, y)")),
    ("select", Formula(Operands::Choice, "Where(condition, true_value, false_value)")),
    ("clamp", Formula(Real, "Max(Min(x, b), a)")),
    ("add_n", By(arrange::add_n, "`Sum`")),
    ("copy_n", By(arrange::copy_n, "`Identity` for each result")),
    // Activations.
    ("relu", Formula(Real, "Relu(x)")),
    ("sigmoid", Formula(Real, "Sigmoid(x)")),
    ("softplus", Formula(Real, "Softplus(x)")),
    ("softabs", Formula(Real, "Sqrt(Add(Mul(x, x), epsilon))")),
    ("elu", Formula(Real, "Elu<alpha>(x)")),
    ("selu", Formula(Real, "Selu<alpha, gamma = lambda>(x)")),
    ("gelu", Formula(Real, "Mul(x, Sigmoid(Mul(1.702, x)))")),
    ("silu", Formula(Real, "Mul(x, Sigmoid(x))")),
    ("leaky_relu", Formula(Real, "LeakyRelu<alpha>(x)")),
    ("prelu", By(normalize::prelu, "`PRelu`, or `Where` if `alpha` has more axes")),
    ("softmax", By(normalize::softmax, "`Softmax`; `Exp`, `ReduceSum`, `Div` along several axes")),
    // Matrices.
    ("matmul", By(convolution::matmul, "`MatMul`; `Gemm` where matrices are transposed")),
    ("linear", By(convolution::linear, "`Gemm`, or `MatMul` and `Add`")),
    // Windows.
    ("conv", By(convolution::conv, "`Conv`, with `Pad` in front for borders that repeat items")),
    ("deconv", By(convolution::deconv, "`ConvTranspose`")),
    ("box", By(pool::box_filter, "`AveragePool`, and `Mul` for sums")),
    ("avg_pool", By(pool::avg_pool, "`AveragePool`")),
    ("area_downsample", By(pool::area_downsample, "`AveragePool`")),
    ("debox", By(pool::debox, "`ConvTranspose` with a filter of ones")),
    ("max_pool", By(pool::max_pool, "`MaxPool`, with `Pad` in front unless the border is ignored")),
    ("max_pool_with_index", By(places::max_pool_with_index, "`MaxPool`, and integers for places within windows")),
    ("argmax_pool", By(places::argmax_pool, "`MaxPool`, and integers for places within windows")),
    ("sample", By(places::sample, "`GatherElements`")),
    ("desample", By(places::desample, "`ScatterElements<reduction = \"add\">`")),
    ("nearest_downsample", By(resample::nearest_downsample, "`Slice`")),
    ("nearest_upsample", By(resample::nearest_upsample, "`Resize<mode = \"nearest\">`")),
    (
        "multilinear_upsample",
        By(resample::multilinear_upsample, "`Resize<mode = \"linear\">`; `MatMul` for other borders"),
    ),
    // Normalizations.
    ("batch_normalization", By(normalize::batch_normalization, "`BatchNormalization`, or its formula")),
    ("local_response_normalization", By(normalize::local_response, "`LRN` over channels, else its formula")),
    // Reductions.
    ("sum_reduce", Choice("normalize", "ReduceMean(input, axes)", "ReduceSum(input, axes)")),
    ("mean_reduce", Formula(Real, "ReduceMean(input, axes)")),
    ("max_reduce", Formula(Numbers, "ReduceMax(input, axes)")),
    ("min_reduce", Formula(Numbers, "ReduceMin(input, axes)")),
    ("any_reduce", Formula(Logicals, "ReduceMax(input, axes)")),
    ("all_reduce", Formula(Logicals, "ReduceMin(input, axes)")),
    ("argmax_reduce", By(arrange::argmax, "`ArgMax`, of one axis that is made of several")),
    ("argmin_reduce", By(arrange::argmin, "`ArgMin`, of one axis that is made of several")),
    // Shapes.
    ("reshape", By(arrange::reshape, "`Reshape`")),
    ("squeeze", By(arrange::squeeze, "`Squeeze`")),
    ("unsqueeze", By(arrange::unsqueeze, "`Unsqueeze`")),
    ("transpose", By(arrange::transpose, "`Transpose`")),
    ("split", By(arrange::split, "`Split`")),
    ("concat", By(arrange::concat, "`Concat`")),
    ("stack", By(arrange::stack, "`Unsqueeze` and `Concat`")),
    ("unstack", By(arrange::unstack, "`Split` and `Squeeze`")),
    ("slice", By(arrange::slice, "`Slice`")),
    ("pad", By(padding::pad_operation, "`Pad`; `Gather` for `reflect-even`")),
    ("tile", Formula(Plain, "Tile(input, repeats)")),
    ("gather", By(arrange::gather, "`Gather`")),
    ("cast", By(arrange::cast, "`Cast`")),
    // Regions.
    ("avg_roi_pool", Refused("no operator computes means over regions that data decide")),
    ("max_roi_pool", Refused("`MaxRoiPool` rounds regions differently")),
    ("roi_resample", Refused("`RoiAlign` places its samples differently")),
    ("avg_roi_align", Refused("`RoiAlign` places its samples differently")),
    ("max_roi_align", Refused("`RoiAlign` places its samples differently")),
];

/// Vendor operations: those of tract that the evaluator supports, and those of Khronos' converters.
pub(super) const VENDOR: &[(&str, Meaning)] = &[
    ("tract_core_external", Source("an input of the graph")),
    ("tract_core_erf", Formula(Real, "Erf(x)")),
    ("tract_core_hard_swish", Formula(Real, "HardSwish(x)")),
    ("tract_core_softmax", By(normalize::softmax_of_tract, "`Softmax`")),
    ("tract_core_log_softmax", By(normalize::log_softmax_of_tract, "`LogSoftmax`")),
    ("erf", Formula(Real, "Erf(x)")),
    ("HardSigmoid", Formula(Real, "HardSigmoid<alpha, beta>(x)")),
    ("mean_variance_normalization", By(normalize::mean_variance, "`ReduceMean` and its formula")),
];

/// The rule of an operation.
pub(super) fn find(name: &str, standard: bool) -> Option<Meaning> {
    let of = |table: &'static [(&str, Meaning)], name: &str| table.iter().find(|row| row.0 == name).map(|row| row.1);
    if standard {
        return of(STANDARD, name);
    }
    of(VENDOR, without_variant(name))
}

/// The names of the standard operations with a rule, which must not be expanded.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    STANDARD.iter().map(|(name, _)| *name)
}

/// The rule as it is written in the documentation.
#[cfg(test)]
fn described(meaning: Meaning) -> String {
    match meaning {
        Formula(_, formula) => format!("`{formula}`"),
        Choice(flag, set, unset) => format!("`{unset}`; `{set}` if `{flag}`"),
        By(_, what) | Source(what) => what.to_owned(),
        Refused(why) => format!("refused: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the documentation.
    fn table() -> String {
        let row = |(name, meaning): &(&str, Meaning)| format!("| `{name}` | {} |\n", described(*meaning));
        let rows: String = STANDARD.iter().chain(VENDOR).map(row).collect();
        format!("| NNEF | ONNX |\n|---|---|\n{rows}")
    }

    #[test]
    fn the_documentation_has_the_rules() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/onnx.md");
        let text = std::fs::read_to_string(path).unwrap();
        let start = text.find("| NNEF | ONNX |").unwrap_or(text.len());
        let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
        if std::env::var_os("UPDATE_RULES").is_some() {
            std::fs::write(path, format!("{}{}{}", &text[..start], table(), &text[end..])).unwrap();
        } else {
            assert_eq!(&text[start..end], table(), "UPDATE_RULES=1 writes the table of the documentation anew");
        }
    }

    #[test]
    fn every_primitive_has_a_rule() {
        let text = include_str!("../../nnef/std/nnef-1.0.nnef");
        let mut known = 0;
        for (at, _) in text.match_indices("\nfragment ") {
            let rest = &text[at + "\nfragment ".len()..];
            let name = &rest[..rest.find(['<', '(']).unwrap()];
            let end = rest.find([';', '{']).unwrap();
            let primitive = rest[end..].starts_with(';');
            assert!(find(name, true).is_some() || !primitive, "{name}");
            known += 1;
        }
        assert_eq!(known, 119);
        assert!(STANDARD.iter().all(|(name, _)| text.contains(&format!("\nfragment {name}"))));
    }

    #[test]
    fn variants_of_converters_have_numbers() {
        assert!(find("erf_v12", false).is_some() && find("tract_core_erf", false).is_some());
        assert!(find("erf_v", false).is_none() && find("erf", true).is_none() && find("relu", false).is_none());
    }
}
