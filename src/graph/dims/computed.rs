//! What operations on items compute from integers that depend on symbols.

use std::cmp::Ordering;

use super::Dim;
use crate::dictionary::{Arith, ItemRule, Kernel, Order, Row};

/// The item that an operation computes from integers, or from truth values as 0 and 1. Arithmetic is that of all
/// operands, the first two first. Unknown if it is not an integer, or depends on what is not known.
pub(crate) fn computed(row: &Row, operands: &[Dim]) -> Dim {
    match (row.kernel, operands) {
        (Some(Kernel::Arithmetic(op)), [first, rest @ ..]) => {
            rest.iter().fold(first.clone(), |all, operand| arithmetic(op, all, operand.clone()))
        }
        (Some(Kernel::Number(_, _, f)), [of]) => number(row.items, f, of),
        (Some(Kernel::Compare(order)), [a, b]) => truth(compared(order, a, b)),
        (Some(Kernel::Not), [of]) => truth(of.known().map(|value| value == 0)),
        (Some(Kernel::Logic(f)), [a, b]) => truth(logic(f, a, b)),
        (Some(Kernel::Select), [_, a, b]) if a == b => a.clone(),
        (Some(Kernel::Select), [Dim::Int(condition), a, b]) => if *condition != 0 { a } else { b }.clone(),
        _ => Dim::Unknown,
    }
}

fn truth(value: Option<bool>) -> Dim {
    value.map(i64::from).into()
}

fn arithmetic(op: Arith, a: Dim, b: Dim) -> Dim {
    match op {
        Arith::Add => a.plus(b),
        Arith::Sub => a.minus(b),
        Arith::Mul => a.times(b),
        Arith::Div => a.divided_by(b),
        Arith::Min | Arith::MinOrSecond | Arith::MinNumber => a.min(b),
        Arith::Max | Arith::MaxOrSecond | Arith::MaxNumber => a.max(b),
        _ => {
            let known = a.known().zip(b.known());
            known.and_then(|(a, b)| i64::try_from(op.whole(a.into(), b.into())?).ok()).into()
        }
    }
}

fn number(rule: Option<ItemRule>, f: fn(i128) -> i128, of: &Dim) -> Dim {
    match (rule, of) {
        (_, Dim::Int(value)) => i64::try_from(f((*value).into())).ok().into(),
        (Some(ItemRule::Negated), of) => of.clone().negated(),
        (Some(ItemRule::Magnitude | ItemRule::NeverNegative), of) if of.is_at_least(0) => of.clone(),
        (Some(ItemRule::Magnitude), of) => of.clone().max(of.clone().negated()),
        _ => Dim::Unknown,
    }
}

/// Symbols may have any value: an order that depends on them is unknown.
fn compared(order: Order, a: &Dim, b: &Dim) -> Option<bool> {
    let least = |high: &Dim, low: &Dim, least| high.clone().minus(low.clone()).is_at_least(least);
    let decided = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match order {
        Order::Less => decided(least(b, a, 1), least(a, b, 0)),
        Order::LessEqual => decided(least(b, a, 0), least(a, b, 1)),
        Order::Greater => decided(least(a, b, 1), least(b, a, 0)),
        Order::GreaterEqual => decided(least(a, b, 0), least(b, a, 1)),
        Order::Equal => a.compare(b).map(Ordering::is_eq),
        Order::NotEqual => a.compare(b).map(Ordering::is_ne),
    }
}

/// What a function of two truth values gives whatever the unknown ones are.
fn logic(f: fn(bool, bool) -> bool, a: &Dim, b: &Dim) -> Option<bool> {
    let values = |of: &Dim| of.known().map_or([false, true], |value| [value != 0; 2]);
    let mut found = values(a).into_iter().flat_map(|a| values(b).map(|b| f(a, b)));
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::elementwise as m;

    #[test]
    fn what_does_not_depend_on_symbols_is_known() {
        let (s, t) = (Dim::symbol("S"), Dim::symbol("T"));
        let told = |row: &Row, operands: &[&Dim]| {
            computed(row, &operands.iter().map(|of| (*of).clone()).collect::<Vec<_>>()).text()
        };
        let [zero, one, minus] = [0, 1, -1].map(Dim::Int);
        assert_eq!(told(&m::ADD, &[&s, &one, &one]), "S+2");
        assert_eq!(told(&m::ABS, &[&minus]), "1");
        assert_eq!(told(&m::ABS, &[&s]), "S");
        assert_eq!(told(&m::NEG, &[&s]), "-S");
        assert_eq!(told(&m::SIGN, &[&minus]), "-1");
        assert_eq!(told(&m::SIGN, &[&s]), "?");
        assert_eq!(told(&m::GE, &[&s, &zero]), "1");
        assert_eq!(told(&m::LT, &[&s, &zero]), "0");
        assert_eq!(told(&m::LT, &[&s, &t]), "?");
        assert_eq!(told(&m::AND, &[&zero, &Dim::Unknown]), "0");
        assert_eq!(told(&m::OR, &[&one, &Dim::Unknown]), "1");
        assert_eq!(told(&m::XOR, &[&one, &Dim::Unknown]), "?");
        assert_eq!(told(&m::NOT, &[&zero]), "1");
        assert_eq!(told(&m::SELECT, &[&Dim::Unknown, &s, &s]), "S");
        assert_eq!(told(&m::SELECT, &[&one, &s, &t]), "S");
        assert_eq!(told(&m::REMAINDER, &[&minus, &Dim::Int(3)]), "2");
        assert_eq!(told(&m::DIV, &[&one, &zero]), "?");
        assert_eq!(told(&m::EXP, &[&one]), "?");
    }
}
