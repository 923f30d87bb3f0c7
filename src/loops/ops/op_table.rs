//! The table of operations, and the functions that make its rows.

use super::attributes::*;
use super::compute::Operands;
use super::spec::Lowering::{Alias, ByItem, Own, Reduce};
use super::spec::{Compute, Infer, Lowering, OpResult, Spec, Takes};
use super::types::{ANY, Elements, FLOATS, LOGICALS, NUMBERS};
use super::{compute, types};
use crate::dictionary::{Arith, Row, elementwise};
use crate::tensor::Data;

const UNARY: (usize, usize) = (1, 1);
const BINARY: (usize, usize) = (2, 2);
const MANY: (usize, usize) = (1, usize::MAX);

type Names = &'static [&'static str];

const REDUCE: Takes = &[AXIS, AXES, KEEP_DIMS];
const TRANSPOSES: Takes = &[TRANSPOSE_A, TRANSPOSE_B];
const SLICE: Takes = &[AXIS, AXES, BEGIN, END, SIZE, STRIDE];

/// The type rule: the element types that the first operand may have, and the type of the result.
type Rule = (Elements, Infer);

const FLOAT: Rule = (FLOATS, types::same);
const NUMBER: Rule = (NUMBERS, types::same);
const LOGICAL: Rule = (LOGICALS, types::same);
const ARITHMETIC: Rule = (NUMBERS, types::alike);
const COMPARISON: Rule = (NUMBERS, types::comparison);
const EQUALITY: Rule = (ANY, types::comparison);
const LOGIC: Rule = (LOGICALS, types::alike);
const NUMBER_REDUCE: Rule = (NUMBERS, types::reduce);
const FLOAT_REDUCE: Rule = (FLOATS, types::reduce);
const LOGIC_REDUCE: Rule = (LOGICALS, types::reduce);
const ARG_REDUCE: Rule = (NUMBERS, types::arg);
const MATMUL: Rule = (NUMBERS, types::matmul);
const UNSQUEEZE: Rule = (ANY, types::unsqueeze);

/// An element-wise operation.
const fn by_item(names: Names, arity: (usize, usize), rule: Rule, row: &'static Row) -> Spec {
    let (compute, lowering) = (Compute::Kernel(row), ByItem(row));
    Spec { names, arity, attributes: &[], elements: rule.0, infer: rule.1, compute, lowering }
}

const fn unary(names: Names, rule: Rule, row: &'static Row) -> Spec {
    by_item(names, UNARY, rule, row)
}

const fn binary(names: Names, rule: Rule, row: &'static Row) -> Spec {
    by_item(names, BINARY, rule, row)
}

const fn reduction(names: Names, rule: Rule, compute: fn(&Operands) -> OpResult<Data>, lowering: Lowering) -> Spec {
    let compute = Compute::With(compute);
    Spec { names, arity: UNARY, attributes: REDUCE, elements: rule.0, infer: rule.1, compute, lowering }
}

/// An operation with its own functions.
const fn special(
    names: Names,
    (arity, attributes): ((usize, usize), Takes),
    (elements, infer): Rule,
    compute: fn(&Operands) -> OpResult<Data>,
) -> Spec {
    Spec { names, arity, attributes, elements, infer, compute: Compute::With(compute), lowering: Own }
}

pub(super) static TABLE: &[Spec] = &[
    Spec {
        names: &["identity", "copy"],
        arity: UNARY,
        attributes: &[],
        elements: ANY,
        infer: types::same,
        compute: Compute::With(compute::identity),
        lowering: Alias,
    },
    unary(&["sqrt"], FLOAT, &elementwise::ROOT),
    unary(&["rsqrt"], FLOAT, &elementwise::RECIPROCAL_ROOT),
    unary(&["exp"], FLOAT, &elementwise::EXP),
    unary(&["log", "ln"], FLOAT, &elementwise::LOG),
    unary(&["log2"], FLOAT, &elementwise::LOG2),
    unary(&["sin"], FLOAT, &elementwise::SIN),
    unary(&["cos"], FLOAT, &elementwise::COS),
    unary(&["tan"], FLOAT, &elementwise::TAN),
    unary(&["asin"], FLOAT, &elementwise::ASIN),
    unary(&["acos"], FLOAT, &elementwise::ACOS),
    unary(&["atan"], FLOAT, &elementwise::ATAN),
    unary(&["sinh"], FLOAT, &elementwise::SINH),
    unary(&["cosh"], FLOAT, &elementwise::COSH),
    unary(&["asinh"], FLOAT, &elementwise::ASINH),
    unary(&["acosh"], FLOAT, &elementwise::ACOSH),
    unary(&["atanh"], FLOAT, &elementwise::ATANH),
    unary(&["tanh"], FLOAT, &elementwise::TANH),
    unary(&["sigmoid"], FLOAT, &elementwise::SIGMOID),
    unary(&["softplus"], FLOAT, &elementwise::STABLE_SOFTPLUS),
    unary(&["floor"], FLOAT, &elementwise::FLOOR),
    unary(&["ceil"], FLOAT, &elementwise::CEIL),
    unary(&["round"], FLOAT, &elementwise::ROUND_EVEN),
    unary(&["reciprocal", "recip", "rcp"], FLOAT, &elementwise::RCP),
    special(&["leaky_relu"], (UNARY, &[ALPHA]), FLOAT, compute::leaky_relu),
    unary(&["neg", "negate"], NUMBER, &elementwise::NEG),
    unary(&["abs"], NUMBER, &elementwise::ABS),
    unary(&["sign"], NUMBER, &elementwise::SIGN),
    unary(&["square", "sqr"], NUMBER, &elementwise::SQUARE),
    unary(&["relu"], NUMBER, &elementwise::RECTIFY),
    special(&["clamp", "clip"], (UNARY, &[LOW, HIGH]), NUMBER, compute::clamp),
    unary(&["not", "logical_not"], LOGICAL, &elementwise::NOT),
    binary(&["add", "sum"], ARITHMETIC, &elementwise::ADD),
    binary(&["sub", "subtract"], ARITHMETIC, &elementwise::SUB),
    binary(&["mul", "prod", "multiply"], ARITHMETIC, &elementwise::MUL),
    binary(&["div", "divide"], ARITHMETIC, &elementwise::DIV),
    binary(&["mod"], ARITHMETIC, &elementwise::MOD),
    binary(&["floor_div", "floordiv"], ARITHMETIC, &elementwise::FLOOR_DIV),
    binary(&["pow", "power"], ARITHMETIC, &elementwise::POW),
    binary(&["min", "minimum"], ARITHMETIC, &elementwise::MINIMUM),
    binary(&["max", "maximum"], ARITHMETIC, &elementwise::MAXIMUM),
    binary(&["less", "lt"], COMPARISON, &elementwise::LT),
    binary(&["less_equal", "less_or_equal", "le"], COMPARISON, &elementwise::LE),
    binary(&["greater", "gt"], COMPARISON, &elementwise::GT),
    binary(&["greater_equal", "greater_or_equal", "ge"], COMPARISON, &elementwise::GE),
    binary(&["equal", "eq"], EQUALITY, &elementwise::EQ),
    binary(&["not_equal", "ne"], EQUALITY, &elementwise::NE),
    binary(&["and", "logical_and"], LOGIC, &elementwise::AND),
    binary(&["or", "logical_or"], LOGIC, &elementwise::OR),
    binary(&["xor", "logical_xor"], LOGIC, &elementwise::XOR),
    special(&["select", "where"], ((3, 3), &[]), (LOGICALS, types::select), compute::select),
    special(&["matmul", "matrix_multiply"], (BINARY, TRANSPOSES), MATMUL, compute::matmul),
    reduction(&["reduce_sum"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Add), Reduce("sum_reduce")),
    reduction(&["reduce_mean"], FLOAT_REDUCE, compute::mean, Reduce("mean_reduce")),
    reduction(&["reduce_max"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Max), Reduce("max_reduce")),
    reduction(&["reduce_min"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Min), Reduce("min_reduce")),
    reduction(&["reduce_prod"], NUMBER_REDUCE, |call| compute::reduce(call, Arith::Mul), Own),
    reduction(&["reduce_any", "any"], LOGIC_REDUCE, |call| compute::logical(call, true), Reduce("any_reduce")),
    reduction(&["reduce_all", "all"], LOGIC_REDUCE, |call| compute::logical(call, false), Reduce("all_reduce")),
    reduction(&["argmax"], ARG_REDUCE, |call| compute::extreme(call, true), Reduce("argmax_reduce")),
    reduction(&["argmin"], ARG_REDUCE, |call| compute::extreme(call, false), Reduce("argmin_reduce")),
    special(&["softmax"], (UNARY, &[AXIS, AXES]), (ANY, types::softmax), compute::softmax),
    special(&["gather"], (BINARY, &[AXIS]), (ANY, types::gather), compute::gather),
    special(&["reshape", "shuffle"], (UNARY, &[SHAPE]), (ANY, types::reshape), compute::identity),
    special(&["transpose"], (UNARY, &[AXES]), (ANY, types::transpose), compute::transpose),
    special(&["squeeze"], (UNARY, &[AXIS, AXES]), (ANY, types::squeeze), compute::identity),
    special(&["unsqueeze", "expand_dims"], (UNARY, &[AXIS, AXES]), UNSQUEEZE, compute::identity),
    special(&["slice"], (UNARY, SLICE), (ANY, types::slice), compute::slice),
    special(&["concat", "concatenation"], (MANY, &[AXIS]), (ANY, types::concat), compute::join),
    special(&["stack"], (MANY, &[AXIS]), (ANY, types::stack), compute::join),
    special(&["cast"], (UNARY, &[TO]), (ANY, types::cast), compute::cast),
];
