//! Where translations between ONNX and NNEF give other numbers: tables for the pages about them, the help of `--verify`, and
//! the laws of translations.

/// Operands, or results, that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    NotFinite,
    Nan,
    SignsOfZeros,
    InfiniteOrZeros,
    NanOrZeros,
    WideIntegers,
    CodesByOne,
    Padding,
    LastDigits,
}

/// The forms of a translation that a difference belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    All,
    Registries,
    Strict,
}

/// Operators whose translation gives other numbers somewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Differing {
    /// Their names, between blanks; `*` at the end of one stands for the rest of a name.
    operators: &'static str,
    pub(crate) at: Edge,
    with: Forms,
    pub(crate) because: &'static str,
}

/// What a comparison has seen, which tells the differences that can be its cause.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) not_finite: bool,
    /// Integers of more than 24 bits.
    pub(crate) wide: bool,
    /// Floats of 64 bits.
    pub(crate) double: bool,
}

const fn row(operators: &'static str, at: Edge, with: Forms, because: &'static str) -> Differing {
    Differing { operators, at, with, because }
}

/// Operators of ONNX in NNEF.
pub(crate) const IN_NNEF: &[Differing] = &[
    row(
        "MatMul Einsum Pow ReduceProd ReduceSum ReduceSumSquare ReduceL1 ReduceMax ReduceMin CumSum CumProd OneHot Tile",
        Edge::WideIntegers,
        Forms::All,
        "products of matrices, powers, sums and chosen numbers are scalars",
    ),
    row(
        "QuantizeLinear DynamicQuantizeLinear QLinear*",
        Edge::CodesByOne,
        Forms::All,
        "a quotient at a tie is rounded to 32 bits before in ONNX, and not in NNEF",
    ),
    row("QuantizeLinear DynamicQuantizeLinear", Edge::Nan, Forms::All, "the code of NaN is open"),
    row(
        "Relu HardSigmoid HardSwish Clip Max Min Celu LSTM GRU RNN ThresholdedRelu Shrink",
        Edge::NotFinite,
        Forms::Registries,
        "`max` and `min` take the number before NaN, as in tract",
    ),
    row(
        "Clip LSTM GRU RNN",
        Edge::NotFinite,
        Forms::Strict,
        "`max` and `min` choose an operand beside NaN, as NNEF defines them",
    ),
    row("Relu Max Min Clip", Edge::SignsOfZeros, Forms::All, "a maximum of -0 and 0 is either one"),
    row("CumSum AveragePool", Edge::SignsOfZeros, Forms::All, "the zeros of padding are summands"),
    row(
        "ScatterElements ScatterND",
        Edge::Nan,
        Forms::Registries,
        "`tract_core_scatter_*` compares, so that NaN is not taken",
    ),
    row(
        "ArgMax ArgMin",
        Edge::Nan,
        Forms::Registries,
        "`tract_core_argmax_reduce_last` compares, so that NaN is not taken",
    ),
    row(
        "TopK",
        Edge::NanOrZeros,
        Forms::Registries,
        "`tract_core_topk` orders the bits of floats: -0 before 0, NaN by its sign",
    ),
    row("MaxPool", Edge::Padding, Forms::Registries, "a window without items gives the least float, as in tract"),
    row("Hardmax", Edge::Nan, Forms::All, "NaN is the greatest number of a reduction"),
    row("Resize Upsample", Edge::CodesByOne, Forms::All, "integers at a tie are rounded from sums of other weights"),
    row("Resize Upsample", Edge::LastDigits, Forms::All, "weights are stored with 32 bits"),
    row("Pad", Edge::SignsOfZeros, Forms::All, "a border of -0 is written as 0"),
    row(
        "Resize Upsample GridSample AffineGrid",
        Edge::NotFinite,
        Forms::All,
        "items with a weight of 0 are multiplied, or left out",
    ),
];

/// Operations of NNEF in ONNX.
pub(crate) const IN_ONNX: &[Differing] = &[
    row(
        "min max relu min_reduce max_reduce clamp",
        Edge::Nan,
        Forms::All,
        "a comparison with NaN chooses an operand in NNEF",
    ),
    row("min max relu clamp", Edge::SignsOfZeros, Forms::All, "a maximum of -0 and 0 is either one"),
    row(
        "sqrt rsqrt",
        Edge::InfiniteOrZeros,
        Forms::All,
        "the powers 0.5 and -0.5 of -0 are those of 0, and those of -∞ those of ∞",
    ),
    row(
        "multilinear_upsample area_downsample local_response_normalization local_mean_normalization \
         local_variance_normalization local_contrast_normalization l1_normalization l2_normalization moments conv deconv \
         debox box avg_pool rms_pool separable_conv separable_deconv",
        Edge::NotFinite,
        Forms::All,
        "items with a weight of 0 are multiplied, or left out",
    ),
    row("add_n", Edge::SignsOfZeros, Forms::All, "the specification adds 0 at the end"),
    row("debox desample", Edge::SignsOfZeros, Forms::All, "the zeros of padding are summands"),
];

impl Edge {
    /// The name of it, for pages and messages.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Edge::NotFinite => "infinite items and NaN",
            Edge::Nan => "NaN",
            Edge::SignsOfZeros => "signs of zeros",
            Edge::InfiniteOrZeros => "infinite items, or zeros",
            Edge::NanOrZeros => "NaN, or both zeros",
            Edge::WideIntegers => "integers of more than 24 bits",
            Edge::CodesByOne => "codes by 1",
            Edge::Padding => "windows in the padding",
            Edge::LastDigits => "the last digits of 64-bit floats",
        }
    }

    /// Whether it can be the cause of a difference. Signs of zeros are compared by no one, but decide quotients.
    fn is_possible(self, seen: Seen) -> bool {
        match self {
            Edge::NotFinite | Edge::Nan | Edge::SignsOfZeros => seen.not_finite,
            Edge::WideIntegers => seen.wide,
            Edge::LastDigits => seen.double,
            Edge::InfiniteOrZeros | Edge::NanOrZeros | Edge::CodesByOne | Edge::Padding => true,
        }
    }
}

impl Differing {
    /// The operators among the given ones that it names.
    pub(crate) fn among<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        names.find(|name| {
            self.operators.split(' ').any(|operator| match operator.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => operator == *name,
            })
        })
    }

    /// Whether a form of the translation has it, and it can be the cause of a difference.
    pub(crate) fn is_possible(&self, strict: bool, seen: Seen) -> bool {
        let has = match self.with {
            Forms::All => true,
            Forms::Registries => !strict,
            Forms::Strict => strict,
        };
        has && self.at.is_possible(seen)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::tests::is_table_of;

    #[test]
    fn pages_have_the_tables() {
        for (page, what, table) in
            [("onnx-to-nnef.md", "operators", IN_NNEF), ("nnef-to-onnx.md", "operations", IN_ONNX)]
        {
            let mut wanted = format!("| {what} | differ at | with | because |\n|---|---|---|---|\n");
            for row in table {
                let names: Vec<String> = row.operators.split(' ').map(|name| format!("`{name}`")).collect();
                let with = match row.with {
                    Forms::All => "all",
                    Forms::Registries => "registries",
                    Forms::Strict => "`--strict`",
                };
                writeln!(wanted, "| {} | {} | {with} | {} |", names.join(" "), row.at.text(), row.because).unwrap();
            }
            is_table_of(page, &wanted);
        }
    }

    #[test]
    fn causes_are_those_of_what_was_seen() {
        fn causes<'n>(names: &[&'n str], strict: bool, seen: Seen) -> Vec<(&'n str, Edge)> {
            let possible = IN_NNEF.iter().filter(|row| row.is_possible(strict, seen));
            possible.filter_map(|row| Some((row.among(names.iter().copied())?, row.at))).collect()
        }
        let finite = Seen::default();
        let names = ["QLinearAdd", "Clip"];
        assert_eq!(causes(&names, false, finite), [("QLinearAdd", Edge::CodesByOne)]);
        let nan = Seen { not_finite: true, ..finite };
        let signs = ("Clip", Edge::SignsOfZeros);
        for strict in [false, true] {
            assert_eq!(causes(&["Clip"], strict, nan), [("Clip", Edge::NotFinite), signs]);
        }
        assert_eq!(causes(&["MatMul"], false, finite), []);
        assert_eq!(causes(&["MatMul"], false, Seen { wide: true, ..finite }), [("MatMul", Edge::WideIntegers)]);
        assert_eq!(causes(&["Resize"], true, Seen { double: true, ..finite }).len(), 2);
    }
}
