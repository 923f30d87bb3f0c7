//! Element-wise operations (4.2 and 4.9.1 of NNEF), and those that NNEF computes by formulas.
//!
//! Operations that other notations name alike differ for halves, zeros, infinities or NaN: each is a row of its own.

use super::functions::{erf, half_up, logaddexp, shift_left, shift_right, sigmoid};
use super::kernel::{Arith, Kernel, Order};
use super::row::{Allowed, Category, Deviation, ElementRule, ItemRule, Operands, Row, ShapeRule, SignRule, ToOnnx};
use Arith::{FloorDiv, FloorDivide, Fmod, MaxNumber, MaxOrSecond, MinNumber, MinOrSecond, Mod, Remainder};
use Category::{Activation, Layout, Quantization, Selection};
use ElementRule::Widest;
use Kernel::{Arithmetic, Bits, Compare, Floats, Logic, Not};
use Operands::{Alike, Logicals, Numbers, Plain, Real};

macro_rules! float {
    ($function:ident) => {
        Kernel::Float(f32::$function, f64::$function)
    };
    (|$x:ident| $body:expr) => {
        Kernel::Float(|$x: f32| $body, |$x: f64| $body)
    };
}

/// A function that the dictionary has for 64 bits only; the result for 32 bits is rounded.
macro_rules! double {
    (|$x:ident| $body:expr) => {
        Kernel::Float(
            |x: f32| {
                let $x = f64::from(x);
                let result: f64 = $body;
                result as f32
            },
            |$x: f64| $body,
        )
    };
}

macro_rules! number {
    (|$x:ident| $float:expr, $whole:expr) => {
        Kernel::Number(|$x: f32| $float, |$x: f64| $float, $whole)
    };
}

/// A function of a scalar that ONNX has, too.
const fn real(name: &'static str, kernel: Kernel, formula: &'static str, onnx: &'static str) -> Row {
    Row::by_item(name).kernel(kernel).formula(Real, formula).in_onnx(onnx)
}

/// Arithmetic of two numbers that ONNX has, too.
const fn arithmetic(name: &'static str, op: Arith, formula: &'static str, onnx: &'static str) -> Row {
    Row::by_item(name).kernel(Arithmetic(op)).formula(Numbers, formula).in_onnx(onnx).elements(Widest)
}

const fn comparison(name: &'static str, order: Order, formula: &'static str) -> Row {
    Row::by_item(name).kernel(Compare(order)).formula(Numbers, formula).items(ItemRule::Comparison)
}

const fn activation(row: Row) -> Row {
    row.drawn(Activation)
}

/// An operation of a registry on bits.
const fn bits(name: &'static str, vendor: &'static str, f: fn(i64, i64) -> Option<i64>) -> Row {
    Row::new(name, Category::Elementwise)
        .shape(ShapeRule::Broadcast)
        .kernel(Bits(f))
        .in_vendors(vendor)
        .elements(Widest)
}

const BITS: &[(&str, Allowed)] = &[("bits", Allowed::Within(1, 64))];

const fn quantization(name: &'static str) -> Row {
    Row::by_item(name).drawn(Quantization).arguments(BITS)
}

/// The error function by the polynomial 7.1.26 of Abramowitz and Stegun, for notations that do not have it: the result
/// differs by at most 1.5e-7.
pub(crate) const ERF_POLYNOMIAL: &str = "mul(sign(@0),sub(1.0,mul(mul(add(mul(add(mul(add(mul(add(mul(rcp(add(mul(abs(@0),0.3275911),1.0)),\
    1.061405429),-1.453152027),rcp(add(mul(abs(@0),0.3275911),1.0))),1.421413741),rcp(add(mul(abs(@0),\
    0.3275911),1.0))),-0.284496736),rcp(add(mul(abs(@0),0.3275911),1.0))),0.254829592),rcp(add(mul(abs(@0),\
    0.3275911),1.0))),exp(neg(mul(@0,@0))))))";

rows! {
    COPY = Row::by_item("copy").names("copy idn").formula(Plain, "Identity(x)").items(ItemRule::Same).elements(Widest)
        .in_onnx("Identity").sign(SignRule::First);
    CAST = Row::by_item("cast").items(ItemRule::Cast).translated(ToOnnx::Nodes("`Cast`")).in_onnx("Cast");
    CAST_LIKE = Row::new("cast_like", Category::Elementwise).in_onnx("CastLike");
    SELECT = Row::by_item("select").kernel(Kernel::Select).items(ItemRule::Select).elements(Widest)
        .formula(Operands::Choice, "Where(condition, true_value, false_value)").drawn(Selection)
        .in_onnx("Where").in_torch("torch.where").sign(SignRule::Branches);

    // Functions of one number.
    NEG = Row::by_item("neg").kernel(number!(|x| -x, |x| -x)).formula(Numbers, "Neg(x)").items(ItemRule::Negated)
        .elements(Widest).in_onnx("Neg");
    RCP = real("rcp", float!(recip), "Reciprocal(x)", "Reciprocal").sign(SignRule::Operands);
    RECIP = Row::derived("recip", "").by_operation("rcp").kernel(float!(recip))
        .in_vendors("recip").formula(Real, "Reciprocal(x)");
    ABS = Row::by_item("abs").kernel(number!(|x| x.abs(), i128::abs)).formula(Numbers, "Abs(x)")
        .items(ItemRule::Magnitude).elements(Widest).in_onnx("Abs").sign(SignRule::Always);
    /// Zeros keep their sign, and NaN is kept.
    SIGN = Row::by_item("sign").kernel(number!(|x| if x == 0.0 || x.is_nan() { x } else { x.signum() }, i128::signum))
        .formula(Numbers, "Sign(x)").elements(Widest).in_onnx("Sign");
    /// As torch computes it: that of NaN is 0.
    SIGN_OF_NUMBER = Row::derived("sign_of_number", "select(ne(@0,@0),0.0,sign(@0))").kernel(number!(
        |x| if x.is_nan() { 0.0 } else if x == 0.0 { x } else { x.signum() },
        i128::signum
    ));
    EXP = real("exp", float!(exp), "Exp(x)", "Exp").sign(SignRule::Always);
    LOG = real("log", float!(ln), "Log(x)", "Log");
    LOG2 = Row::by_item("log2").kernel(double!(|x| x.ln() / 2f64.ln())).formula(Real, "Div(Log(x), 0.6931471805599453)");
    SIN = real("sin", float!(sin), "Sin(x)", "Sin");
    COS = real("cos", float!(cos), "Cos(x)", "Cos");
    TAN = real("tan", float!(tan), "Tan(x)", "Tan");
    ASIN = real("asin", float!(asin), "Asin(x)", "Asin");
    ACOS = real("acos", float!(acos), "Acos(x)", "Acos");
    ATAN = real("atan", float!(atan), "Atan(x)", "Atan");
    SINH = real("sinh", float!(sinh), "Sinh(x)", "Sinh");
    COSH = real("cosh", float!(cosh), "Cosh(x)", "Cosh");
    TANH = activation(real("tanh", float!(tanh), "Tanh(x)", "Tanh")).in_torch("nn.Tanh F.tanh torch.tanh");
    ASINH = real("asinh", float!(asinh), "Asinh(x)", "Asinh");
    ACOSH = real("acosh", float!(acosh), "Acosh(x)", "Acosh");
    ATANH = real("atanh", float!(atanh), "Atanh(x)", "Atanh");
    FLOOR = real("floor", float!(floor), "Floor(x)", "Floor").items(ItemRule::Rounded).elements(Widest);
    CEIL = real("ceil", float!(ceil), "Ceil(x)", "Ceil").items(ItemRule::Rounded).elements(Widest);
    /// Halves are rounded up.
    ROUND = Row::by_item("round").kernel(double!(|x| half_up(x))).items(ItemRule::Rounded).elements(Widest)
        .formula(Real, "Where(Less(Sub(x, Floor(x)), 0.5), Floor(x), Ceil(x))");
    /// Halves are rounded to even numbers: twice the rounded half for numbers in the middle between two integers, since
    /// halves of these are not in the middle.
    ROUND_EVEN = Row::derived(
        "round_even",
        "select(eq(sub(@0,floor(@0)),0.5),mul(round(mul(@0,0.5)),2.0),round(@0))",
    ).kernel(float!(round_ties_even)).items(ItemRule::Rounded).formula(Real, "Round(x)")
        .in_vendors("tract_core_round_even").in_onnx("Round");
    TRUNC = Row::derived("trunc", "select(lt(@0,0.0),ceil(@0),floor(@0))").kernel(float!(trunc));
    /// A power by its definition, as the following four.
    SQR = Row::by_item("sqr").kernel(double!(|x| x.powf(2.0))).formula(Real, "Mul(x, x)").items(ItemRule::Squared)
        .elements(Widest).sign(SignRule::Always);
    SQUARE = Row::derived("square", "").by_operation("sqr").kernel(number!(|x| x * x, |x| x * x)).in_vendors("square")
        .formula(Numbers, "Mul(x, x)");
    /// The power of IEEE 754, which is not a root for -∞.
    SQRT = Row::by_item("sqrt").kernel(double!(|x| x.powf(0.5))).formula(Real, "Sqrt(x)").items(ItemRule::Root)
        .onnx_differs(|x| x[0] == f64::NEG_INFINITY, "`x` is -∞").sign(SignRule::Operands);
    /// Zeros keep their sign, and the negative infinity becomes a finite number, whose root is NaN.
    ROOT = Row::derived("root", "select(eq(@0,0.0),@0,sqrt(max(-1.0,@0)))").kernel(float!(sqrt)).in_onnx("Sqrt")
        .formula(Real, "Sqrt(x)").items(ItemRule::Root).in_registries("sqrt").deviations(&[Deviation::SquareRoot])
        .near_if_negative("sqrt", |x| x[0] == f64::NEG_INFINITY || x[0] == 0.0, "`x` is -∞ or -0")
        .sign(SignRule::Operands);
    RSQR = Row::by_item("rsqr").kernel(double!(|x| x.powf(-2.0))).formula(Real, "Reciprocal(Mul(x, x))");
    RSQRT = Row::by_item("rsqrt").kernel(double!(|x| x.powf(-0.5))).formula(Real, "Reciprocal(Sqrt(x))")
        .onnx_differs(|x| x[0].is_sign_negative(), "`x` is -0 or -∞").sign(SignRule::Operands);
    /// Like [`ROOT`]; the result for a zero is the infinity of its sign.
    RECIPROCAL_ROOT = Row::derived("reciprocal_root", "select(eq(@0,0.0),rcp(@0),rsqrt(max(-1.0,@0)))")
        .kernel(float!(|x| 1.0 / x.sqrt())).formula(Real, "Reciprocal(Sqrt(x))").in_registries("rsqrt")
        .near_if_negative("rsqrt", |x| x[0].is_sign_negative(), "`x` is -∞ or -0")
        .deviations(&[Deviation::SquareRoot])
        .sign(SignRule::Operands);
    EXPM1 = Row::derived("expm1", "mul(tanh(mul(@0,0.5)),add(exp(@0),1.0))").kernel(float!(exp_m1));
    LOG10 = Row::derived("log10", "div(log(@0),2.302585092994046)").kernel(float!(log10));
    /// For small operands by the inverse hyperbolic tangent, which is precise near 0.
    LOG1P = Row::derived("log1p", "select(lt(abs(@0),0.5),mul(2.0,atanh(div(@0,add(@0,2.0)))),log(add(@0,1.0)))")
        .kernel(float!(ln_1p));
    ERF = activation(Row::new("erf", Category::Elementwise)).kernel(double!(|x| erf(x)))
        .shape(ShapeRule::LikeFirst).formula(Real, "Erf(x)").in_vendors("tract_core_erf").in_converters("erf").in_onnx("Erf");

    // Arithmetic.
    ADD = arithmetic("add", Arith::Add, "Add(x, y)", "Add").items(ItemRule::Sum).sign(SignRule::Operands);
    SUB = arithmetic("sub", Arith::Sub, "Sub(x, y)", "Sub").items(ItemRule::Difference);
    MUL = arithmetic("mul", Arith::Mul, "Mul(x, y)", "Mul").items(ItemRule::Product).sign(SignRule::Product);
    DIV = arithmetic("div", Arith::Div, "Div(x, y)", "Div").items(ItemRule::Quotient).sign(SignRule::Operands);
    POW = arithmetic("pow", Arith::Pow, "Pow(x, y)", "Pow").sign(SignRule::Power);
    MIN = arithmetic("min", MinOrSecond, "Min(x, y)", "").items(ItemRule::Least)
        .onnx_differs(|x| x[0].is_nan(), "`x` is NaN").sign(SignRule::Operands);
    MAX = arithmetic("max", MaxOrSecond, "Max(x, y)", "").items(ItemRule::Greatest)
        .onnx_differs(|x| x[0].is_nan(), "`x` is NaN").sign(SignRule::Larger);
    /// The second operand if it is NaN, which the smaller one of NNEF is only as the second.
    MINIMUM = Row::derived("minimum", "select(ne(@1,@1),@1,min(@1,@0))").kernel(Arithmetic(Arith::Min)).in_onnx("Min")
        .near("min", |x| x[0].is_nan(), "`x` is NaN")
        .formula(Numbers, "Min(x, y)");
    /// Like [`MINIMUM`].
    MAXIMUM = Row::derived("maximum", "select(ne(@1,@1),@1,max(@1,@0))").kernel(Arithmetic(Arith::Max)).in_onnx("Max")
        .near("max", |x| x[0].is_nan(), "`x` is NaN")
        .formula(Numbers, "Max(x, y)");
    /// The other operand if one is NaN.
    MIN_NUMBER = Row::derived("min_number", "select(ne(@1,@1),@0,min(@0,@1))").kernel(Arithmetic(MinNumber))
        .elements(Widest).items(ItemRule::Least).in_registries("min")
        .deviations(&[Deviation::NumberBeforeNan])
        .sign(SignRule::Operands);
    MAX_NUMBER = Row::derived("max_number", "select(ne(@1,@1),@0,max(@0,@1))").kernel(Arithmetic(MaxNumber))
        .elements(Widest).items(ItemRule::Greatest).in_registries("max")
        .deviations(&[Deviation::NumberBeforeNan])
        .sign(SignRule::Larger);
    MOD = Row::derived("mod", "sub(@0,mul(@1,floor(div(@0,@1))))").kernel(Arithmetic(Mod));
    FLOOR_DIV = Row::derived("floor_div", "floor(div(@0,@1))").kernel(Arithmetic(FloorDiv));
    /// The quotient is rounded before its fraction is removed. The reciprocal of infinite divisors is 0: the result for
    /// a finite dividend is 0 or, if the signs differ, -1. Products with 0 are NaN for infinite dividends.
    FLOOR_DIVIDE = Row::derived(
        "floor_divide",
        "select(eq(rcp(@1),0.0),\
         add(select(lt(mul(sign(@0),sign(@1)),0.0),-1.0,0.0),mul(@0,0.0)),\
         select(eq(@1,0.0),div(@0,@1),floor(add(div(@0,@1),mul(@0,0.0)))))",
    ).kernel(Arithmetic(FloorDivide));
    /// The dividend if the divisor is infinite, see [`FLOOR_DIVIDE`]. A remainder of 0 has the sign of the dividend.
    FMOD = Row::derived(
        "fmod",
        "select(eq(rcp(@1),0.0),add(@0,mul(@0,0.0)),\
         select(eq(sub(@0,mul(@1,trunc(div(@0,@1)))),0.0),mul(@0,0.0),sub(@0,mul(@1,trunc(div(@0,@1))))))",
    ).kernel(Arithmetic(Fmod));
    /// Like [`FMOD`], but a result other than 0 has the sign of the divisor.
    REMAINDER = Row::derived(
        "remainder",
        "select(eq(rcp(@1),0.0),\
         add(select(lt(mul(sign(@0),sign(@1)),0.0),add(@0,@1),@0),mul(@0,0.0)),\
         select(eq(sub(@0,mul(@1,floor(div(@0,@1)))),0.0),mul(@0,0.0),sub(@0,mul(@1,floor(div(@0,@1))))))",
    ).kernel(Arithmetic(Remainder)).in_onnx("Mod");
    /// The arc tangent of the quotient by the size of the divisor, which has the sign of the dividend. A quotient of two
    /// zeros or two infinities is replaced by that of their signs. If the divisor is negative, which includes -0, the
    /// result is π or -π minus that. The reciprocal of -0 is negative, the sum with the operand of every negative number
    /// is, too.
    ATAN2 = Row::derived(
        "atan2",
        "select(lt(add(rcp(@1),@1),0.0),\
         sub(select(lt(add(rcp(@0),@0),0.0),-3.141592653589793,3.141592653589793),\
         atan(select(eq(mul(@1,2.0),@1),select(ne(div(@0,abs(@1)),div(@0,abs(@1))),mul(sign(@0),abs(sign(@1))),\
         div(@0,abs(@1))),div(@0,abs(@1))))),\
         atan(select(eq(mul(@1,2.0),@1),select(ne(div(@0,abs(@1)),div(@0,abs(@1))),mul(sign(@0),abs(sign(@1))),\
         div(@0,abs(@1))),div(@0,abs(@1)))))",
    ).kernel(Floats(f64::atan2));
    /// The larger operand plus a correction, so that no exponential overflows; equal operands may be infinite.
    LOGADDEXP = Row::derived(
        "logaddexp",
        "select(eq(@0,@1),add(@0,0.6931471805599453),add(max(@0,@1),log1p(exp(neg(abs(sub(@0,@1)))))))",
    ).kernel(Floats(logaddexp));
    ADD_N = Row::standard("add_n", Category::Elementwise, ShapeRule::Sum).translated(ToOnnx::Nodes("`Sum`")).in_onnx("Sum");
    CLAMP = Row::by_item("clamp").formula(Real, "Max(Min(x, b), a)").elements(Widest).in_onnx("Clip")
        .in_torch("torch.clamp nn.Hardtanh F.hardtanh");

    /// The bounds are in order, and numbers.
    CLIP = Row::derived("clip", "min(@2,max(@1,@0))").near("clamp", |x| x[0].is_nan(), "`x` is NaN");

    // Comparisons and logic.
    LT = comparison("lt", Order::Less, "Less(x, y)").in_onnx("Less").in_torch("torch.lt");
    LE = comparison("le", Order::LessEqual, "LessOrEqual(x, y)").in_onnx("LessOrEqual").in_torch("torch.le");
    GT = comparison("gt", Order::Greater, "Greater(x, y)").in_onnx("Greater").in_torch("torch.gt");
    GE = comparison("ge", Order::GreaterEqual, "GreaterOrEqual(x, y)").in_onnx("GreaterOrEqual").in_torch("torch.ge");
    EQ = comparison("eq", Order::Equal, "Equal(x, y)").formula(Alike, "Equal(x, y)").in_onnx("Equal")
        .in_torch("torch.eq");
    NE = comparison("ne", Order::NotEqual, "Not(Equal(x, y))").formula(Alike, "Not(Equal(x, y))").in_torch("torch.ne");
    NOT = Row::by_item("not").kernel(Not).formula(Logicals, "Not(x)").in_onnx("Not").in_torch("torch.logical_not");
    AND = Row::by_item("and").kernel(Logic(|x, y| x & y)).formula(Logicals, "And(x, y)").in_onnx("And")
        .in_torch("torch.logical_and");
    OR = Row::by_item("or").kernel(Logic(|x, y| x | y)).formula(Logicals, "Or(x, y)").in_onnx("Or")
        .in_torch("torch.logical_or");
    /// Exactly one of the operands.
    XOR = Row::derived("xor", "and(or(@0,@1),not(and(@0,@1)))").kernel(Logic(|x, y| x ^ y))
        .in_vendors("tract_core_xor").formula(Logicals, "Xor(x, y)").elements(Widest).in_onnx("Xor").in_torch("torch.logical_xor");
    BIT_AND = bits("bit_and", "tract_core_bitand", |x, y| Some(x & y)).translated(ToOnnx::Nodes("`BitwiseAnd`; `And` of logicals"))
        .in_onnx("BitwiseAnd");
    BIT_OR = bits("bit_or", "tract_core_bitor", |x, y| Some(x | y)).translated(ToOnnx::Nodes("`BitwiseOr`; `Or` of logicals"))
        .in_onnx("BitwiseOr");
    BIT_XOR = bits("bit_xor", "tract_core_bitxor", |x, y| Some(x ^ y)).translated(ToOnnx::Nodes("`BitwiseXor`; `Xor` of logicals"))
        .in_onnx("BitwiseXor");
    /// A left shift of an integer; bits that leave the 64 bits are an error.
    SHIFT_LEFT = Row::new("shift_left", Category::Elementwise).shape(ShapeRule::Broadcast).kernel(Bits(shift_left));
    SHIFT_RIGHT = Row::new("shift_right", Category::Elementwise).shape(ShapeRule::Broadcast).kernel(Bits(shift_right));
    /// A left shift of an integer; bits that leave the 64 bits are dropped.
    SHIFT_LEFT_WRAPPED = bits("shift_left_wrapped", "tract_shl", |x, y| x.checked_shl(u32::try_from(y).ok()?))
        .translated(ToOnnx::Nodes("`BitShift` of unsigned integers"));
    SHIFT_RIGHT_WRAPPED = bits("shift_right_wrapped", "tract_shr", |x, y| x.checked_shr(u32::try_from(y).ok()?))
        .translated(ToOnnx::Nodes("`BitShift` of unsigned integers, inverted ones for negative operands"));
    BIT_NOT = Row::new("bit_not", Category::Elementwise).shape(ShapeRule::Broadcast).in_vendors("tract_core_bitnot")
        .translated(ToOnnx::Nodes("`BitwiseNot`; `Not` of logicals"))
        .in_onnx("BitwiseNot");
    IS_NAN = Row::new("is_nan", Category::Elementwise).shape(ShapeRule::Broadcast).in_vendors("tract_core_is_nan")
        .formula(Real, "IsNaN(x)")
        .in_onnx("IsNaN");
    IS_INF = Row::vendor("is_inf", "tract_core_is_inf", Category::Elementwise, ShapeRule::LikeFirst)
        .translated(ToOnnx::Nodes("`IsInf`")).in_onnx("IsInf");
    POW_CONST = Row::vendor("pow_const", "tract_core_pow_const", Category::Elementwise, ShapeRule::LikeFirst)
        .formula(Real, "Pow(input, exponent)");

    // Activations.
    RELU = activation(real("relu", double!(|x| if x > 0.0 { x } else { 0.0 }), "Relu(x)", ""))
        .onnx_differs(|x| x[0].is_nan(), "`x` is NaN").items(ItemRule::NeverNegative).elements(Widest).in_torch("nn.ReLU F.relu torch.relu").sign(SignRule::Always);
    /// As the second operand, NaN stays.
    RECTIFY = activation(Row::derived("rectify", "max(0.0,@0)"))
        .kernel(number!(|x| if x < 0.0 { 0.0 } else { x }, |x| if x < 0 { 0 } else { x })).in_onnx("Relu")
        .near("relu", |x| x[0].is_nan(), "`x` is NaN");
    SIGMOID = activation(real("sigmoid", float!(|x| 1.0 / (1.0 + (-x).exp())), "Sigmoid(x)", "Sigmoid"))
        .in_torch("nn.Sigmoid F.sigmoid torch.sigmoid").sign(SignRule::Always);
    SOFTPLUS = activation(real("softplus", double!(|x| (x.exp() + 1.0).ln()), "Softplus(x)", ""))
        .onnx_differs(|x| x[0].abs() > 20.0, "the exponential overflows, or its sum with 1 is rounded").sign(SignRule::Always);
    /// Softplus without overflow, where `log1p(t)` is `2 atanh(t / (t + 2))`.
    STABLE_SOFTPLUS = activation(Row::derived(
        "stable_softplus",
        "add(max(0.0,@0),mul(2.0,atanh(div(exp(neg(abs(@0))),add(exp(neg(abs(@0))),2.0)))))",
    )).kernel(float!(|x| x.max(0.0) + (-x.abs()).exp().ln_1p())).in_onnx("Softplus")
        .in_torch("nn.Softplus F.softplus");
    SOFTABS = activation(Row::by_item("softabs")).formula(Real, "Sqrt(Add(Mul(x, x), epsilon))");
    ELU = activation(Row::by_item("elu")).formula(Real, "Elu<alpha>(x)").in_onnx("Elu").in_torch("nn.ELU F.elu");
    SELU = activation(Row::by_item("selu")).formula(Real, "Selu<alpha, gamma = lambda>(x)").in_onnx("Selu");
    GELU = activation(Row::by_item("gelu")).kernel(double!(|x| x * sigmoid(1.702 * x)))
        .formula(Real, "Mul(x, Sigmoid(Mul(1.702, x)))");
    /// By the error function.
    GELU_BY_ERF = Row::new("gelu_by_erf", Activation).in_onnx("Gelu com.microsoft.Gelu")
        .in_torch("nn.GELU F.gelu");
    SILU = activation(Row::by_item("silu")).kernel(double!(|x| x * sigmoid(x))).formula(Real, "Mul(x, Sigmoid(x))")
        .in_onnx("Swish");
    /// The quotient, not the product with the logistic function, which is 0 where this one is NaN.
    SILU_QUOTIENT = activation(Row::derived("silu_quotient", "div(@0,add(exp(neg(@0)),1.0))"))
        .kernel(float!(|x| x / (1.0 + (-x).exp()))).in_vendors("tract_core_silu tract_transformers_silu")
        .formula(Real, "Div(x, Add(Exp(Neg(x)), 1.0))")
        .in_torch("nn.SiLU F.silu");
    LEAKY_RELU = activation(Row::by_item("leaky_relu")).formula(Real, "LeakyRelu<alpha>(x)").in_onnx("LeakyRelu")
        .in_torch("nn.LeakyReLU F.leaky_relu");
    PRELU = activation(Row::by_item("prelu")).translated(ToOnnx::Nodes("`PRelu`, or `Where` if `alpha` has more axes"))
        .in_onnx("PRelu").in_torch("nn.PReLU F.prelu");
    HARD_SWISH = activation(Row::new("hard_swish", Activation)).shape(ShapeRule::Broadcast)
        .kernel(float!(|x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0))).formula(Real, "HardSwish(x)")
        .in_vendors("tract_core_hard_swish").in_onnx("HardSwish");
    /// The product is formed before the quotient, which rounds otherwise than [`HARD_SWISH`].
    HARD_SWISH_OF_TORCH = activation(Row::derived(
        "hard_swish_of_torch",
        "div(mul(@0,minimum(maximum(add(@0,3.0),0.0),6.0)),6.0)",
    )).kernel(float!(|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0)).in_torch("nn.Hardswish F.hardswish");
    HARD_SIGMOID = Row::converter("hard_sigmoid", "HardSigmoid", Activation)
        .formula(Real, "HardSigmoid<alpha, beta>(x)").in_onnx("HardSigmoid");
    HARD_SIGMOID_OF_TORCH = activation(Row::derived(
        "hard_sigmoid_of_torch",
        "div(minimum(maximum(add(@0,3.0),0.0),6.0),6.0)",
    )).kernel(float!(|x| (x + 3.0).clamp(0.0, 6.0) / 6.0)).in_torch("nn.Hardsigmoid F.hardsigmoid");
    RELU6 = activation(Row::derived("relu6", "minimum(maximum(@0,0.0),6.0)"))
        .kernel(float!(|x| x.clamp(0.0, 6.0))).in_torch("nn.ReLU6 F.relu6");
    MISH = activation(Row::derived("mish", "mul(@0,tanh(logaddexp(@0,0.0)))"))
        .kernel(double!(|x| x * logaddexp(x, 0.0).tanh())).in_onnx("Mish").in_torch("nn.Mish F.mish");
    SOFTSIGN = activation(Row::derived("softsign", "div(@0,add(abs(@0),1.0))"))
        .kernel(float!(|x| x / (x.abs() + 1.0))).in_onnx("Softsign").in_torch("nn.Softsign F.softsign");
    LOG_SIGMOID = activation(Row::derived("log_sigmoid", "neg(logaddexp(neg(@0),0.0))"))
        .kernel(double!(|x| -logaddexp(-x, 0.0))).in_torch("nn.LogSigmoid F.logsigmoid");
    TANHSHRINK = activation(Row::derived("tanhshrink", "sub(@0,tanh(@0))")).kernel(float!(|x| x - x.tanh()))
        .in_torch("nn.Tanhshrink F.tanhshrink");
    /// With the factors of the paper.
    SELU_OF_TORCH = activation(Row::derived(
        "selu_of_torch",
        "mul(1.0507009873554805,add(maximum(@0,0.0),mul(1.6732632423543772,expm1(minimum(@0,0.0)))))",
    )).kernel(double!(|x| {
        let negative = if x > 0.0 { 0.0 } else { x.exp_m1() };
        1.0507009873554805 * (if x < 0.0 { 0.0 } else { x } + 1.6732632423543772 * negative)
    })).in_torch("nn.SELU F.selu");
    GELU_BY_TANH = Row::vendor(
        "gelu_by_tanh",
        "tract_core_gelu_approx tract_transformers_gelu_approx",
        Activation,
        ShapeRule::LikeFirst,
    ).translated(ToOnnx::Nodes("its formula"));

    // Quantization (4.9.5 and 5.1).
    LINEAR_QUANTIZE = quantization("linear_quantize");
    MIN_MAX_LINEAR_QUANTIZE = quantization("min_max_linear_quantize");
    ZERO_POINT_LINEAR_QUANTIZE = quantization("zero_point_linear_quantize");
    LOGARITHMIC_QUANTIZE = quantization("logarithmic_quantize");

    COPY_N = Row::standard("copy_n", Layout, ShapeRule::Copies).elements(ElementRule::First)
        .translated(ToOnnx::Nodes("`Identity` for each result"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that is only known for 64 bits is rounded once for 32 bits.
    #[test]
    fn results_of_64_bits_are_rounded() {
        let Kernel::Float(narrow, wide) = double!(|x| x.ln() / 2f64.ln()) else { panic!("not of a float") };
        for x in [0.1f32, 3.0, 1e-30, 1e30] {
            assert_eq!(narrow(x), wide(f64::from(x)) as f32);
        }
        assert_eq!((narrow(8.0), wide(0.25)), (3.0, -2.0));
    }
}
