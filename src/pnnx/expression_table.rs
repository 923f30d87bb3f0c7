//! The operations of expressions: one table for parsing, folding, evaluation, expansion, fusion, printing and
//! documentation.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::number::Meaning;
use crate::dictionary::{self, InNnef, Kernel, Row, elementwise};

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Its name.
    pub(crate) name: &'static str,
    /// The minimum and maximum number of operands.
    pub(crate) arity: (usize, usize),
    /// Its semantics on numbers.
    pub(crate) meaning: Meaning,
    /// What it means; none if it needs a number that is known while expanding.
    pub(crate) row: Option<&'static Row>,
    /// Its counterpart in NNEF.
    pub(crate) nnef: Counterpart,
    /// The symbol and precedence in infix notation; other operations are written as calls.
    pub(crate) infix: Option<(&'static str, u8)>,
    /// Whether only formulas may use it.
    pub(crate) inner: bool,
}

/// The counterpart of an operation in NNEF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counterpart {
    /// An operation of this name.
    Same(&'static str),
    /// A formula of the dictionary.
    Template(&'static str),
    /// That of another meaning, for operands that are truth values; others have no counterpart.
    Logical(&'static Row),
    /// A number that must be known during expansion.
    CompileTime,
    /// No counterpart.
    Missing,
}

/// The number of an operation in [`OPERATIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Op(u8);

impl Op {
    /// The operation with a name that texts may use.
    pub(crate) fn named(name: &str) -> Option<Op> {
        static KNOWN: LazyLock<FxHashMap<&'static str, Op>> =
            LazyLock::new(|| Op::all().map(|op| (op.row().name, op)).collect());
        KNOWN.get(name).copied()
    }

    /// The operation of a formula with a name of the dictionary.
    pub(crate) fn of_formula(name: &str) -> Option<Op> {
        static KNOWN: LazyLock<FxHashMap<&'static str, Op>> =
            LazyLock::new(|| Op::with_formulas().filter(|op| op.row().inner).map(|op| (op.row().name, op)).collect());
        KNOWN.get(name).copied()
    }

    /// All operations, also those that only formulas may use.
    pub(crate) fn with_formulas() -> impl Iterator<Item = Op> {
        (0..OPERATIONS.len()).map(|at| Op(at as u8))
    }

    /// All operations that texts may use.
    pub(crate) fn all() -> impl Iterator<Item = Op> {
        (0..NAMED.len()).map(|at| Op(at as u8))
    }

    /// Its row.
    pub(crate) fn row(self) -> &'static Operation {
        &OPERATIONS[usize::from(self.0)]
    }

    /// Its semantics.
    pub(crate) fn meaning(self) -> Meaning {
        self.row().meaning
    }
}

#[cfg(test)]
impl Op {
    /// The bound of the error of its counterpart: 0 if that is what it means, up to rounding.
    pub(crate) fn bound(self) -> f64 {
        if self.row().name == "erf" { 1.5e-7 } else { 0.0 }
    }
}

const fn row(name: &'static str, arity: usize, meaning: Meaning, nnef: Counterpart) -> Operation {
    Operation { name, arity: (arity, arity), meaning, row: None, nnef, infix: None, inner: false }
}

/// What the kernel of a meaning computes on numbers with the types of torch.
const fn meaning(row: &'static Row) -> Meaning {
    match row.kernel {
        Some(Kernel::Float(_, f)) => Meaning::Float(f),
        Some(Kernel::Number(_, f, whole)) => Meaning::Signed(f, whole),
        Some(Kernel::Floats(f)) => Meaning::Floats(f),
        Some(Kernel::Arithmetic(op)) => Meaning::Arithmetic(op),
        Some(Kernel::Compare(order)) => Meaning::Compare(order),
        Some(Kernel::Logic(f)) => Meaning::Logic(f),
        Some(Kernel::Bits(f)) => Meaning::Bits(f),
        Some(Kernel::Not) => Meaning::Not,
        Some(Kernel::Select) => Meaning::Select,
        // A test checks all rows.
        None => Meaning::Size,
    }
}

const fn arity(meaning: Meaning) -> usize {
    match meaning {
        Meaning::Select => 3,
        Meaning::Floats(_) | Meaning::Arithmetic(_) | Meaning::Power | Meaning::Bits(_) => 2,
        Meaning::Logic(_) | Meaning::Compare(_) => 2,
        _ => 1,
    }
}

/// An operation with a meaning of the dictionary.
const fn of(name: &'static str, row: &'static Row) -> Operation {
    let nnef = match row.nnef {
        InNnef::Operation(name) => Same(name),
        InNnef::Formula(text) => Template(text),
        InNnef::Missing => Missing,
    };
    let meaning = meaning(row);
    Operation { row: Some(row), ..self::row(name, arity(meaning), meaning, nnef) }
}

/// An operation that only formulas may use, with the semantics of the dictionary.
fn inner(row: &'static Row) -> Operation {
    Operation { inner: true, ..of(row.name, row) }
}

impl Operation {
    /// On single numbers, the result is an integer.
    const fn rounded(self) -> Operation {
        match self.meaning {
            Meaning::Float(f) => Operation { meaning: Meaning::Rounded(f), ..self },
            _ => self,
        }
    }

    /// With other semantics on integers.
    const fn on_integers(self, meaning: Meaning) -> Operation {
        Operation { meaning, ..self }
    }

    /// Of truth values it means this; other operands have no counterpart.
    const fn logical(self, row: &'static Row) -> Operation {
        Operation { nnef: Logical(row), ..self }
    }

    /// NNEF computes it only approximately, by a formula.
    const fn approximated(self, text: &'static str) -> Operation {
        Operation { nnef: Template(text), ..self }
    }

    /// The operation of a registry for what NNEF computes only approximately.
    pub(crate) fn exact(&self) -> Option<&'static str> {
        let row = self.row.filter(|row| row.nnef == InNnef::Missing && matches!(self.nnef, Template(_)))?;
        row.vendor.split_ascii_whitespace().next()
    }

    const fn infix(self, symbol: &'static str, precedence: u8) -> Operation {
        Operation { infix: Some((symbol, precedence)), ..self }
    }

    const fn arity(self, least: usize, most: usize) -> Operation {
        Operation { arity: (least, most), ..self }
    }
}

/// The precedence of a sign in infix notation.
pub(crate) const SIGN: u8 = 7;

use Counterpart::{CompileTime, Logical, Missing, Same, Template};

/// The operations that texts may use, sorted by name.
static NAMED: &[Operation] = &[
    of("abs", &elementwise::ABS),
    of("acos", &elementwise::ACOS),
    of("acosh", &elementwise::ACOSH),
    of("add", &elementwise::ADD).infix("+", 5),
    of("and", &elementwise::BIT_AND).logical(&elementwise::AND).infix("&", 3),
    of("asin", &elementwise::ASIN),
    of("asinh", &elementwise::ASINH),
    of("atan", &elementwise::ATAN),
    of("atan2", &elementwise::ATAN2),
    of("atanh", &elementwise::ATANH),
    of("ceil", &elementwise::CEIL).rounded(),
    of("cos", &elementwise::COS),
    of("cosh", &elementwise::COSH),
    of("div", &elementwise::DIV).on_integers(Meaning::Floats(|x, y| x / y)).infix("/", 6),
    of("erf", &elementwise::ERF).approximated(elementwise::ERF_POLYNOMIAL),
    of("exp", &elementwise::EXP),
    of("expm1", &elementwise::EXPM1),
    of("floor", &elementwise::FLOOR).rounded(),
    of("floor_divide", &elementwise::FLOOR_DIVIDE).infix("//", 6),
    of("fmod", &elementwise::FMOD),
    row("int", 1, Meaning::Whole, CompileTime),
    of("log", &elementwise::LOG),
    of("log10", &elementwise::LOG10),
    of("log1p", &elementwise::LOG1P),
    of("logaddexp", &elementwise::LOGADDEXP),
    of("lshift", &elementwise::SHIFT_LEFT).infix("<<", 4),
    of("max", &elementwise::MAXIMUM),
    of("maximum", &elementwise::MAXIMUM),
    of("min", &elementwise::MINIMUM),
    of("minimum", &elementwise::MINIMUM),
    of("mul", &elementwise::MUL).infix("*", 6),
    of("neg", &elementwise::NEG).infix("-", SIGN),
    of("or", &elementwise::BIT_OR).logical(&elementwise::OR).infix("|", 1),
    of("pow", &elementwise::POW).on_integers(Meaning::Power).infix("**", 8),
    of("reciprocal", &elementwise::RCP),
    of("remainder", &elementwise::REMAINDER).infix("%", 6),
    of("round", &elementwise::ROUND_EVEN).rounded(),
    of("rshift", &elementwise::SHIFT_RIGHT).infix(">>", 4),
    of("rsqrt", &elementwise::RECIPROCAL_ROOT),
    of("sign", &elementwise::SIGN_OF_NUMBER),
    of("sin", &elementwise::SIN),
    of("sinh", &elementwise::SINH),
    row("size", 2, Meaning::Size, CompileTime).arity(1, 2),
    of("sqrt", &elementwise::ROOT),
    of("square", &elementwise::SQUARE),
    of("sub", &elementwise::SUB).infix("-", 5),
    of("tan", &elementwise::TAN),
    of("tanh", &elementwise::TANH),
    row("torch.bool", 1, Meaning::Truth, CompileTime),
    row("torch.float", 1, Meaning::ToFloat, CompileTime),
    row("torch.long", 1, Meaning::Whole, CompileTime),
    of("trunc", &elementwise::TRUNC).rounded(),
    of("xor", &elementwise::BIT_XOR).logical(&elementwise::XOR).infix("^", 2),
];

/// All operations: those with names, then those that only formulas may use.
static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let computed = dictionary::all().filter(|row| row.kernel.is_some() && row.nnef != InNnef::Missing);
    NAMED.iter().cloned().chain(computed.map(inner)).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_found_by_name() {
        assert!(NAMED.is_sorted_by_key(|row| row.name) && OPERATIONS.len() < 256);
        for row in NAMED {
            assert_eq!(Op::named(row.name).unwrap().row().name, row.name);
            assert!(row.row.is_none_or(|row| row.kernel.is_some()), "{}", row.name);
        }
        let count = |arity: usize| Op::all().filter(|op| op.row().arity == (arity, arity)).count();
        // 29 functions, `int` and three of torch; 14 functions of two operands, five on bits.
        assert_eq!((count(1), count(2)), (29 + 4, 14 + 5));
        assert_eq!(Op::named("Add"), None);
    }

    /// The rows of the tables of `docs/pnnx.md`.
    #[test]
    fn the_documentation_has_all_operations() {
        let page = include_str!("../../docs/pnnx.md");
        let mut operations = "| operation | operands | in NNEF |\n|---|---|---|\n".to_owned();
        let mut formulas =
            "| operation | formula | written without `--strict`; it differs where |\n|---|---|---|\n".to_owned();
        for op in Op::all() {
            let row = op.row();
            let operands = match row.arity {
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} or {most}"),
            };
            let nnef = match row.nnef {
                Counterpart::Same(name) => format!("`{name}`"),
                Counterpart::Template(_) => match row.row.and_then(|row| row.near) {
                    Some(near) => format!("`{}`", near.name),
                    None => "formula".to_owned(),
                },
                Counterpart::Logical(_) => "of truth values".to_owned(),
                Counterpart::CompileTime => "while expanding".to_owned(),
                Counterpart::Missing => "none".to_owned(),
            };
            operations += &format!("| `{}` | {operands} | {nnef} |\n", row.name);
            let formula = match row.nnef {
                Counterpart::Template(text) => Some(text),
                Counterpart::Logical(Row { nnef: InNnef::Formula(text), .. }) => Some(*text),
                _ => None,
            };
            if let Some(text) = formula {
                let near = row.row.and_then(|row| row.near);
                let near = near.map_or(String::new(), |near| format!("`{}`; {}", near.name, near.differs.text));
                formulas += &format!("| `{}` | `{text}` | {near} |\n", row.name);
            }
        }
        // Nothing else stands in them.
        for table in [operations, formulas] {
            assert!(page.contains(&format!("{table}\n")), "docs/pnnx.md lacks the table:\n{table}");
        }
    }
}
