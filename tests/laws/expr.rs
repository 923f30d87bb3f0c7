//! Typed expressions on compile-time values: tree, generator, and a printer with as few or as many
//! parentheses as possible.

use crate::tape::Tape;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Int,
    Scalar,
    Logical,
    Text,
    Array(Box<Ty>),
    Tuple(Vec<Ty>),
}

impl Ty {
    pub fn array(item: Ty) -> Ty {
        Ty::Array(Box::new(item))
    }

    /// The specification in a declaration.
    pub fn text(&self) -> String {
        match self {
            Ty::Int => "integer".into(),
            Ty::Scalar => "scalar".into(),
            Ty::Logical => "logical".into(),
            Ty::Text => "string".into(),
            Ty::Array(item) => format!("{}[]", item.text()),
            Ty::Tuple(items) => format!("({})", items.iter().map(Ty::text).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Int(i64),
    Scalar(f64),
    Logical(bool),
    Text(String),
    Array(Vec<Expr>),
    Tuple(Vec<Expr>),
    Var(String),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// Value where the condition holds, condition, other value.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// Iterators, filter, item.
    Comprehension(Vec<(String, Expr)>, Option<Box<Expr>>, Box<Expr>),
    Builtin(&'static str, Box<Expr>),
}

/// Makes expressions of a type. `scope` holds the names that can be used.
pub struct Generator<'t> {
    pub tape: &'t mut Tape,
    pub scope: Vec<(String, Ty)>,
    iterators: usize,
}

const INTS: &[i64] = &[0, 1, 2, 3, 4, 7, 10, 63, 1000, 4_294_967_296, i64::MAX];
const SCALARS: &[f64] = &[0.0, 1.0, 0.5, 2.0, 3.25, 0.1, 1e-7, 1e20, 1e300, 9.3e18];
const TEXTS: &[&str] = &[
    "",
    "a",
    "abc",
    "12",
    "-3",
    "0.5",
    "-1e3",
    "1e+2",
    "nnef",
    "it's",
    "a\\b",
    "\"q\"",
    " 7",
    "inf",
    "0x10",
    "1.5.2",
    "99999999999999999999",
];

impl<'t> Generator<'t> {
    pub fn new(tape: &'t mut Tape, scope: Vec<(String, Ty)>) -> Self {
        Generator { tape, scope, iterators: 0 }
    }

    /// A type of a value.
    pub fn ty(&mut self, depth: usize) -> Ty {
        match self.tape.below(if depth == 0 { 4 } else { 7 }) {
            0 => Ty::Int,
            1 => Ty::Scalar,
            2 => Ty::Logical,
            3 => Ty::Text,
            4 | 5 => Ty::array(self.ty(depth - 1)),
            _ => Ty::Tuple((0..2 + self.tape.below(2)).map(|_| self.ty(depth - 1)).collect()),
        }
    }

    fn boxed(&mut self, ty: &Ty, depth: usize) -> Box<Expr> {
        Box::new(self.expr(ty, depth))
    }

    fn binary(&mut self, op: &'static str, left: &Ty, right: &Ty, depth: usize) -> Expr {
        Expr::Binary(op, self.boxed(left, depth), self.boxed(right, depth))
    }

    /// A literal; arrays and tuples of literals.
    pub fn literal(&mut self, ty: &Ty) -> Expr {
        match ty {
            Ty::Int => Expr::Int(*self.tape.pick(INTS)),
            Ty::Scalar => Expr::Scalar(*self.tape.pick(SCALARS)),
            Ty::Logical => Expr::Logical(self.tape.below(2) == 1),
            Ty::Text => Expr::Text((*self.tape.pick(TEXTS)).to_string()),
            Ty::Array(item) => Expr::Array((0..self.tape.below(4)).map(|_| self.literal(item)).collect()),
            Ty::Tuple(items) => Expr::Tuple(items.iter().map(|item| self.literal(item)).collect()),
        }
    }

    /// An expression of a type.
    pub fn expr(&mut self, ty: &Ty, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.tape.below(16) {
            0 => self.leaf(ty),
            1 => Expr::Select(self.boxed(ty, depth), self.boxed(&Ty::Logical, depth), self.boxed(ty, depth)),
            2 => {
                let items = Ty::array(ty.clone());
                Expr::Index(self.boxed(&items, depth), self.index(depth))
            }
            3 => self.tuple_item(ty, depth),
            _ => self.of_type(ty, depth),
        }
    }

    fn leaf(&mut self, ty: &Ty) -> Expr {
        let names: Vec<String> = self.scope.iter().filter(|(_, of)| of == ty).map(|(name, _)| name.clone()).collect();
        if !names.is_empty() && self.tape.chance(10) {
            return Expr::Var(self.tape.pick(&names).clone());
        }
        self.literal(ty)
    }

    /// An index: mostly a small one, so that it is often in range.
    fn index(&mut self, depth: usize) -> Box<Expr> {
        Box::new(if self.tape.below(4) < 3 { Expr::Int(self.tape.below(4) as i64) } else { self.expr(&Ty::Int, depth) })
    }

    fn bound(&mut self, depth: usize) -> Option<Box<Expr>> {
        (self.tape.below(3) > 0).then(|| self.index(depth))
    }

    fn slice(&mut self, ty: &Ty, depth: usize) -> Expr {
        Expr::Slice(self.boxed(ty, depth), self.bound(depth), self.bound(depth))
    }

    fn tuple_item(&mut self, ty: &Ty, depth: usize) -> Expr {
        let mut items: Vec<Ty> = (0..2).map(|_| self.ty(0)).collect();
        let place = self.tape.below(2);
        items[place] = ty.clone();
        Expr::Index(self.boxed(&Ty::Tuple(items), depth), Box::new(Expr::Int(place as i64)))
    }

    fn of_type(&mut self, ty: &Ty, depth: usize) -> Expr {
        match ty {
            Ty::Int => self.integer(depth),
            Ty::Scalar => self.scalar(depth),
            Ty::Logical => self.logical(depth),
            Ty::Text => self.text(depth),
            Ty::Array(item) => self.array(ty, item, depth),
            Ty::Tuple(items) => Expr::Tuple(items.iter().map(|item| self.expr(item, depth)).collect()),
        }
    }

    fn cast(&mut self, to: &'static str, depth: usize) -> Expr {
        let from = self.ty(0);
        Expr::Builtin(to, self.boxed(&from, depth))
    }

    fn sequence(&mut self) -> Ty {
        match self.tape.below(2) {
            0 => Ty::array(self.ty(1)),
            _ => Ty::Text,
        }
    }

    fn integer(&mut self, depth: usize) -> Expr {
        match self.tape.below(9) {
            choice @ 0..5 => self.binary(["+", "-", "*", "/", "^"][choice], &Ty::Int, &Ty::Int, depth),
            5 => Expr::Unary("-", self.boxed(&Ty::Int, depth)),
            6 => Expr::Unary("+", self.boxed(&Ty::Int, depth)),
            7 => {
                let ty = self.sequence();
                Expr::Builtin("length_of", self.boxed(&ty, depth))
            }
            _ => self.cast("integer", depth),
        }
    }

    fn scalar(&mut self, depth: usize) -> Expr {
        match self.tape.below(8) {
            choice @ 0..5 => self.binary(["+", "-", "*", "/", "^"][choice], &Ty::Scalar, &Ty::Scalar, depth),
            5 => Expr::Unary("-", self.boxed(&Ty::Scalar, depth)),
            6 => Expr::Unary("+", self.boxed(&Ty::Scalar, depth)),
            _ => self.cast("scalar", depth),
        }
    }

    fn logical(&mut self, depth: usize) -> Expr {
        match self.tape.below(8) {
            0 => Expr::Unary("!", self.boxed(&Ty::Logical, depth)),
            1 => self.binary("&&", &Ty::Logical, &Ty::Logical, depth),
            2 => self.binary("||", &Ty::Logical, &Ty::Logical, depth),
            3 | 4 => {
                let ty = [Ty::Int, Ty::Scalar][self.tape.below(2)].clone();
                let op = ["<", "<=", ">", ">="][self.tape.below(4)];
                self.binary(op, &ty, &ty, depth)
            }
            5 => {
                let (ty, op) = (self.ty(0), ["==", "!="][self.tape.below(2)]);
                self.binary(op, &ty, &ty, depth)
            }
            6 => {
                let ty = self.ty(0);
                self.binary("in", &ty, &Ty::array(ty.clone()), depth)
            }
            _ => self.cast("logical", depth),
        }
    }

    /// A count of repetitions, small in most cases.
    fn repeated(&mut self, ty: &Ty, depth: usize) -> Expr {
        let count = match self.tape.below(4) {
            0..3 => Expr::Int(self.tape.below(4) as i64),
            _ => self.expr(&Ty::Int, depth),
        };
        Expr::Binary("*", self.boxed(ty, depth), Box::new(count))
    }

    fn text(&mut self, depth: usize) -> Expr {
        match self.tape.below(5) {
            0 => self.binary("+", &Ty::Text, &Ty::Text, depth),
            1 => self.repeated(&Ty::Text, depth),
            2 => Expr::Index(self.boxed(&Ty::Text, depth), self.index(depth)),
            3 => self.slice(&Ty::Text, depth),
            _ => self.cast("string", depth),
        }
    }

    fn array(&mut self, ty: &Ty, item: &Ty, depth: usize) -> Expr {
        match self.tape.below(7) {
            0 => Expr::Array((0..self.tape.below(4)).map(|_| self.expr(item, depth)).collect()),
            1 => self.binary("+", ty, ty, depth),
            2 => self.repeated(ty, depth),
            3 => self.slice(ty, depth),
            4 if *item == Ty::Int => {
                let of = self.sequence();
                Expr::Builtin("range_of", self.boxed(&of, depth))
            }
            _ => self.comprehension(item, depth),
        }
    }

    fn comprehension(&mut self, item: &Ty, depth: usize) -> Expr {
        let mut iterators = Vec::new();
        for _ in 0..1 + self.tape.below(3) {
            let ty = self.ty(1);
            iterators.push((format!("i{}", self.iterators), ty.clone(), self.expr(&Ty::array(ty), depth)));
            self.iterators += 1;
        }
        let outside = self.scope.len();
        self.scope.extend(iterators.iter().map(|(name, ty, _)| (name.clone(), ty.clone())));
        let filter = (self.tape.below(2) == 1).then(|| self.boxed(&Ty::Logical, depth));
        let item = self.boxed(item, depth);
        self.scope.truncate(outside);
        Expr::Comprehension(iterators.into_iter().map(|(name, _, over)| (name, over)).collect(), filter, item)
    }
}

/// How many parentheses to print.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parentheses {
    /// Only those that the precedence of operators demands.
    Minimal,
    /// Around every expression.
    Full,
}

/// Binding strength, loosest first: select, `in`, logic, comparison, sum, product, power, sign,
/// subscript, and expressions that never need parentheses.
fn level(expr: &Expr) -> u8 {
    match expr {
        Expr::Select(..) => 0,
        Expr::Binary(op, ..) => operator_level(op),
        Expr::Unary(..) => 7,
        Expr::Index(..) | Expr::Slice(..) => 8,
        _ => 9,
    }
}

fn operator_level(op: &str) -> u8 {
    match op {
        "in" => 1,
        "&&" | "||" => 2,
        "<" | "<=" | ">" | ">=" | "==" | "!=" => 3,
        "+" | "-" => 4,
        "*" | "/" => 5,
        _ => 6,
    }
}

impl Expr {
    /// The expression as text.
    pub fn print(&self, parentheses: Parentheses) -> String {
        self.within(0, parentheses)
    }

    /// The expression where one of at least this level must stand.
    fn within(&self, at_least: u8, parentheses: Parentheses) -> String {
        let text = self.bare(parentheses);
        if parentheses == Parentheses::Full || level(self) < at_least { format!("({text})") } else { text }
    }

    fn bare(&self, p: Parentheses) -> String {
        let list = |items: &[Expr]| items.iter().map(|item| item.within(0, p)).collect::<Vec<_>>().join(", ");
        match self {
            Expr::Int(i) => i.to_string(),
            Expr::Scalar(s) => format!("{s:?}"),
            Expr::Logical(b) => b.to_string(),
            Expr::Text(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
            Expr::Array(items) => format!("[{}]", list(items)),
            Expr::Tuple(items) => format!("({})", list(items)),
            Expr::Var(name) => name.clone(),
            Expr::Unary(op, operand) => format!("{op}{}", operand.within(7, p)),
            Expr::Binary(op, a, b) => {
                let level = operator_level(op);
                format!("{} {op} {}", a.within(level, p), b.within(level + 1, p))
            }
            Expr::Select(yes, condition, no) => {
                format!("{} if {} else {}", yes.within(1, p), condition.within(0, p), no.within(0, p))
            }
            // The subscript of a tuple is a literal, without parentheses.
            Expr::Index(base, index) => match (&**base, &**index) {
                (_, Expr::Int(i)) => format!("{}[{i}]", base.within(8, p)),
                _ => format!("{}[{}]", base.within(8, p), index.within(0, p)),
            },
            Expr::Slice(base, begin, end) => {
                let bound =
                    |bound: &Option<Box<Expr>>| bound.as_ref().map_or(String::new(), |bound| bound.within(0, p));
                format!("{}[{}:{}]", base.within(8, p), bound(begin), bound(end))
            }
            Expr::Comprehension(iterators, filter, item) => {
                let over: Vec<String> =
                    iterators.iter().map(|(name, over)| format!("{name} in {}", over.within(1, p))).collect();
                let filter = filter.as_ref().map_or(String::new(), |filter| format!(" if {}", filter.within(0, p)));
                format!("[for {}{filter} yield {}]", over.join(", "), item.within(0, p))
            }
            Expr::Builtin(name, argument) => format!("{name}({})", argument.within(0, p)),
        }
    }
}
