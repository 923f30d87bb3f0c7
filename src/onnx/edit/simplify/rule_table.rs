//! The rows.

use super::row::Applies::{Apart, Control, Node};
use super::row::{Applies, RuleChange, SimplifyRule};
use super::step::SimplifyStep;
use super::uniform::Uniform;
use super::{items, merge, moves, targets, unchanged};

/// The rules that the pass applies itself.
pub(super) const FOLD: &str = "fold";
pub(super) const SHARE: &str = "share";
pub(super) const CONSTANTS: &str = "constant";
pub(super) const EXTENTS: &str = "equal-extents";
pub(super) const EQUAL_BRANCHES: &str = "if-equal";
pub(super) const INVARIANT: &str = "loop-invariant";
pub(super) const UNUSED_RESULTS: &str = "unused-results";
pub(super) const UNUSED: &str = "unused";

/// The operators whose operands are broadcast, item by item.
const BROADCAST: &[&str] = &[
    "Add",
    "And",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "Pow",
    "Sub",
    "Sum",
    "Where",
    "Xor",
];

const X: &str = "x";

const fn rule(
    name: &'static str,
    operators: &'static [&'static str],
    [pattern, condition, left, exact]: [&'static str; 4],
    applies: Applies,
) -> SimplifyRule {
    SimplifyRule { name, operators, pattern, condition, left, exact, merges: false, applies }
}

/// A rule that changes rounding.
const fn merging(
    name: &'static str,
    operators: &'static [&'static str],
    [pattern, condition, left, rounded]: [&'static str; 4],
    applies: fn(&SimplifyStep) -> Option<RuleChange>,
) -> SimplifyRule {
    SimplifyRule { merges: true, ..rule(name, operators, [pattern, condition, left, rounded], Node(applies)) }
}

/// All rules. Of those for one operator, the first one that fits is applied.
pub(crate) static RULES: &[SimplifyRule] = &[
    rule(
        FOLD,
        &[],
        [
            "a node whose results are known",
            "operands are constants, or extents that are known",
            "constants",
            "they are what the node computes; quantized weights stay quantized",
        ],
        Apart,
    ),
    rule(
        SHARE,
        &[],
        [
            "two equal nodes or constants",
            "the same operands and attributes; known operators without graphs and random numbers; not an output",
            "the first one",
            "an operator computes the same of the same operands",
        ],
        Apart,
    ),
    rule(
        CONSTANTS,
        &[],
        ["`Constant`", "in a graph, and no output of it", "an initializer", "an initializer is a constant, too"],
        Apart,
    ),
    rule("identity", &["Identity"], ["`Identity(x)`", "", X, "it is the same value"], Node(unchanged::first)),
    rule(
        "dropout",
        &["Dropout"],
        ["`Dropout(x)`", "outside training, and the mask is not used", X, "it drops nothing"],
        Node(unchanged::dropout),
    ),
    rule("cast", &["Cast", "CastLike"], ["`Cast(x)`", "to the type of x", X, "no item changes"], Node(unchanged::cast)),
    rule(
        "casts",
        &["Cast", "CastLike"],
        [
            "`Cast(Cast(x))`",
            "the inner cast has each number of its operand, and the outer result is defined for all",
            "`Cast(x)`",
            "the same number is cast",
        ],
        Node(unchanged::casts),
    ),
    rule(
        "mul-1",
        &["Mul"],
        ["`Mul(x, 1)`, `Mul(1, x)`", "x has the shape of the result", X, "also of -0, infinities and NaN"],
        Node(|step| items::without_either(step, Uniform::is_one)),
    ),
    rule(
        "div-1",
        &["Div"],
        ["`Div(x, 1)`", "x has the shape of the result", X, "also of -0, infinities and NaN"],
        Node(items::by_one),
    ),
    rule(
        "pow-1",
        &["Pow"],
        ["`Pow(x, 1)`", "floats; x has the shape of the result", X, "also of -0, infinities and NaN"],
        Node(items::pow),
    ),
    rule(
        "sub-0",
        &["Sub"],
        ["`Sub(x, 0)`", "x has the shape of the result; the zero is not -0", X, "-0 - 0 is -0"],
        Node(|step| items::without(step, 0, 1, Uniform::is_zero)),
    ),
    rule(
        "add-0",
        &["Add"],
        [
            "`Add(x, 0)`, `Add(0, x)`",
            "x has the shape of the result; integers, or the zero is -0, or x is what is never -0, such as a sum with a bias",
            X,
            "only -0 + 0 is another zero",
        ],
        Node(items::add),
    ),
    rule(
        "and-true",
        &["And"],
        ["`And(x, true)`", "x has the shape of the result", X, "truth has two values"],
        Node(|step| items::without_either(step, |truth| truth.truth() == Some(true))),
    ),
    rule(
        "or-false",
        &["Or", "Xor"],
        ["`Or(x, false)`, `Xor(x, false)`", "x has the shape of the result", X, "truth has two values"],
        Node(|step| items::without_either(step, |truth| truth.truth() == Some(false))),
    ),
    rule(
        "same-operands",
        &["And", "Max", "Min", "Or", "BitwiseAnd", "BitwiseOr"],
        ["`Max(x, x)`, `And(x, x)` and others", "", X, "one of two equal values is chosen"],
        Node(items::twice),
    ),
    rule(
        "undone",
        &["BitwiseNot", "Neg", "Not"],
        ["`Neg(Neg(x))`, `Not(Not(x))`", "", X, "the second one changes the same bits back"],
        Node(items::undone),
    ),
    rule(
        "repeated",
        &["Abs", "Ceil", "Floor", "Relu", "Round", "Sign"],
        ["`Relu(Relu(x))` and others", "", "`Relu(x)`", "the second one changes nothing of such a result"],
        Node(items::repeated),
    ),
    rule(
        "single-operand",
        &["Concat", "Max", "Mean", "Min", "Sum"],
        ["`Concat(x)`, `Sum(x)` and others", "there is one operand", X, "nothing is added to it"],
        Node(unchanged::single),
    ),
    rule("clip", &["Clip"], ["`Clip(x)`", "without bounds", X, "no item is beyond a bound"], Node(unchanged::clip)),
    rule(
        "blocks-of-1",
        &["DepthToSpace", "SpaceToDepth"],
        ["`DepthToSpace(x)`", "blocks of one place", X, "no item moves"],
        Node(unchanged::blocks),
    ),
    rule(
        "reduce-nothing",
        &["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"],
        ["`ReduceSum(x)` and others", "no axes, and `noop_with_empty_axes`", X, "the standard says so"],
        Node(unchanged::reduce),
    ),
    rule(
        "where-known",
        &["Where"],
        [
            "`Where(c, x, y)`",
            "c is constant; what it chooses has the shape of the result",
            "x or y",
            "each item is chosen",
        ],
        Node(items::known_where),
    ),
    rule(
        "where-equal",
        &["Where"],
        ["`Where(c, x, x)`", "x has the shape of the result", X, "either item is the same"],
        Node(items::equal_where),
    ),
    rule(
        "slice-all",
        &["Slice"],
        [
            "`Slice(x)`",
            "steps of 1; the result has the shape of x",
            X,
            "a part that is as long as the whole is the whole",
        ],
        Node(unchanged::slice),
    ),
    rule(
        "slice-end",
        &["Slice"],
        [
            "`Slice(x, a, end)`",
            "end is computed, and at least the extent of its axis",
            "`Slice` to the end",
            "an end beyond the last place is the last place",
        ],
        Node(targets::slice),
    ),
    rule("pad-nothing", &["Pad"], ["`Pad(x)`", "all pads are 0", X, "nothing is added"], Node(unchanged::pad)),
    rule(
        "reshape",
        &["Reshape"],
        ["`Reshape(x, shape)`", "the result has the shape of x", X, "items keep their order"],
        Node(unchanged::same_shape),
    ),
    rule(
        "squeezes",
        &["Squeeze", "Unsqueeze"],
        [
            "`Squeeze` and `Unsqueeze` in a row",
            "the axes are known, and one node says both, or none is needed",
            "one `Squeeze` or `Unsqueeze`, or x",
            "items keep their order",
        ],
        Node(moves::squeezes),
    ),
    rule(
        "reshapes",
        &["Flatten", "Reshape", "Squeeze", "Unsqueeze"],
        [
            "`Reshape(Reshape(x))`, also of `Flatten`, `Squeeze`, `Unsqueeze`",
            "the shape can be said with extents, 0 and one -1",
            "`Reshape(x, constant)`, or x",
            "items keep their order",
        ],
        Node(moves::reshapes),
    ),
    rule(
        "reshape-shape",
        &["Reshape"],
        [
            "`Reshape(x, shape)`",
            "shape is computed from extents, and can be said with extents, 0 and one -1",
            "`Reshape(x, constant)`",
            "a -1 only where no other extent can be 0, or where the model has one",
        ],
        Node(targets::reshape),
    ),
    rule(
        "expand",
        &["Expand"],
        ["`Expand(x, shape)`", "the result has the shape of x", X, "nothing is repeated"],
        Node(unchanged::same_shape),
    ),
    rule(
        "expand-shape",
        &["Expand"],
        [
            "`Expand(x, shape)`",
            "shape is computed from extents, and each new one is known",
            "`Expand(x, constant)`",
            "an extent of x is kept by 1",
        ],
        Node(targets::expand),
    ),
    rule(
        "expand-operand",
        BROADCAST,
        [
            "`Add(Expand(x), y)` and others",
            "the result has the same shape without it",
            "`Add(x, y)`",
            "operands are broadcast in the same way",
        ],
        Node(items::broadcast),
    ),
    rule(
        "tile",
        &["Tile"],
        ["`Tile(x, repeats)`", "the result has the shape of x", X, "nothing is repeated"],
        Node(unchanged::same_shape),
    ),
    rule(
        "concat-empty",
        &["Concat"],
        ["`Concat(x, y)`", "y has nothing along the axis", "`Concat(x)`", "nothing of it is in the result"],
        Node(unchanged::concat),
    ),
    rule(
        "concats",
        &["Concat"],
        [
            "`Concat(Concat(x, y), z)`",
            "along one axis; nothing else uses the inner one",
            "`Concat(x, y, z)`",
            "the items follow in the same order",
        ],
        Node(moves::concats),
    ),
    rule(
        "split",
        &["Split"],
        ["`Split(x)`", "into one part with the shape of x", X, "the part is the whole"],
        Node(unchanged::split),
    ),
    rule(
        "squeeze",
        &["Squeeze"],
        ["`Squeeze(x)`", "the result has the shape of x", X, "items keep their order"],
        Node(unchanged::same_shape),
    ),
    rule(
        "unsqueeze",
        &["Unsqueeze"],
        ["`Unsqueeze(x)`", "the result has the shape of x", X, "items keep their order"],
        Node(unchanged::same_shape),
    ),
    rule(
        "flatten",
        &["Flatten"],
        ["`Flatten(x)`", "the result has the shape of x", X, "items keep their order"],
        Node(unchanged::same_shape),
    ),
    rule(
        "transpose",
        &["Transpose"],
        [
            "`Transpose(x)`",
            "the axes keep their order, but for axes with one place of a result with the shape of x",
            X,
            "no item moves",
        ],
        Node(unchanged::transpose),
    ),
    rule(
        "transposes",
        &["Transpose"],
        ["`Transpose(Transpose(x))`", "", "one `Transpose`, or x", "axes are exchanged one after the other"],
        Node(moves::transposes),
    ),
    rule(
        "shape-operand",
        &["Shape", "Size"],
        [
            "`Shape(Cast(x))`, and behind other operators item by item",
            "x has the same shape",
            "`Shape(x)`",
            "only the shape counts",
        ],
        Node(targets::shape),
    ),
    rule(
        EXTENTS,
        &[],
        [
            "two values that are computed from extents",
            "their items are the same expressions of the inputs' extents",
            "the first one",
            "they are equal for all inputs",
        ],
        Apart,
    ),
    rule(
        "sequence-item",
        &["SequenceAt"],
        ["`SequenceAt(SequenceConstruct(x, y), i)`", "i is constant", "x or y", "the sequence has these items"],
        Node(moves::item),
    ),
    rule(
        EQUAL_BRANCHES,
        &["If"],
        ["`If`", "both branches compute the same", "the nodes of one branch", "either branch has these results"],
        Control,
    ),
    rule(
        INVARIANT,
        &["Loop", "Scan"],
        [
            "a state of a loop",
            "each trip hands it on as it is",
            "the value around the loop",
            "it has its first value in all trips",
        ],
        Control,
    ),
    rule(
        UNUSED_RESULTS,
        &["If", "Loop", "Scan"],
        ["a result of a branch or a loop, and a state", "nothing uses it", "nothing", "no output depends on it"],
        Control,
    ),
    rule(
        UNUSED,
        &[],
        [
            "nodes, initializers, functions, imports of operator sets, and types of values",
            "nothing uses them; inputs of the model and operators that are not known stay",
            "nothing",
            "no output depends on them",
        ],
        Apart,
    ),
    merging(
        "zero",
        &["Add", "Sub"],
        [
            "`Add(x, 0)`, `Add(0, x)`, `Sub(x, 0)`",
            "x has the shape of the result",
            X,
            "nothing; a zero may have another sign",
        ],
        items::zero,
    ),
    merging(
        "batch-norm",
        &["BatchNormalization"],
        [
            "`BatchNormalization(Conv(x, w, b))`, also of `ConvTranspose`, `Gemm`, `MatMul`",
            "weights and statistics are constants; nothing else uses the product; outside training",
            "`Conv(x, w', b')`",
            "the weights and the bias, instead of each step of the normalization",
        ],
        merge::batch_norm,
    ),
    merging(
        "scale",
        &["Div", "Mul"],
        [
            "`Mul(Conv(x, w, b), c)`, `Div`, also of the other products",
            "c is constant, one number or one for each channel; nothing else uses the product",
            "`Conv(x, w', b')`",
            "the weights and the bias, instead of the product with c",
        ],
        merge::scale,
    ),
    merging(
        "bias",
        &["Add", "Sub"],
        [
            "`Add(Conv(x, w, b), c)`, `Sub`, also of the other products",
            "c is constant, one number or one for each channel; nothing else uses the product",
            "`Conv(x, w, b')`",
            "the sum of b and c; a program may round the sum with it once instead of twice",
        ],
        merge::bias,
    ),
    merging(
        "gemm",
        &["Add"],
        [
            "`Add(MatMul(x, w), c)`",
            "x and w are matrices, and the result has the shape of their product",
            "`Gemm(x, w, c)`",
            "a program may round once instead of twice",
        ],
        merge::gemm,
    ),
    merging(
        "scale-operand",
        &["Conv", "ConvTranspose", "Gemm", "MatMul"],
        [
            "`Conv(Mul(x, c), w, b)`, `Div`, also of the other products",
            "c is constant, one number or one for each channel of x; x has the shape of the product with c, which nothing else uses",
            "`Conv(x, w', b)`",
            "the weights, instead of the product with c",
        ],
        merge::operand,
    ),
    merging(
        "constants",
        &["Add", "Mul"],
        [
            "`Mul(Mul(x, c), d)`, `Add(Add(x, c), d)`",
            "c and d are constants of one shape, or one of them is one number",
            "`Mul(x, c * d)`, `Add(x, c + d)`",
            "the product or the sum of c and d",
        ],
        merge::joined,
    ),
];
