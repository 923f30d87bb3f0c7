//! Sums of sizes that may depend on symbols, or have parts of unknown size.

use crate::graph::dims::Dim;

/// The most letters of an expression in a table; JSON has all.
const MOST_LETTERS: usize = 48;

/// A sum of sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    /// The part that is a number.
    number: u64,
    /// What there is besides; most sums are numbers.
    open: Option<Box<OpenPart>>,
}

/// The part of a sum that is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenPart {
    /// An expression on symbols; 0 if there is none.
    terms: Dim,
    /// Whether parts of unknown size are left out.
    is_least: bool,
}

impl From<u64> for Amount {
    fn from(number: u64) -> Self {
        Amount { number, open: None }
    }
}

impl Amount {
    /// A size of which nothing is known.
    pub(super) fn unknown() -> Self {
        Amount::new(0, Dim::Int(0), true)
    }

    fn new(number: u64, terms: Dim, is_least: bool) -> Self {
        match terms {
            Dim::Int(0) if !is_least => Amount::from(number),
            // What is too long to be written is left out.
            Dim::Unknown => Amount { number, open: Some(Box::new(OpenPart { terms: Dim::Int(0), is_least: true })) },
            terms => Amount { number, open: Some(Box::new(OpenPart { terms, is_least })) },
        }
    }

    /// The product of extents, which are all known or expressions.
    pub(super) fn product(extents: &[Dim]) -> Self {
        let mut number: u64 = 1;
        let mut terms: Option<Dim> = None;
        for extent in extents {
            match extent {
                Dim::Int(extent) => number = number.saturating_mul(u64::try_from(*extent).unwrap_or(0)),
                extent => terms = Some(terms.unwrap_or(Dim::Int(1)).times(extent.clone())),
            }
        }
        match terms {
            Some(terms) if number > 0 => Amount::new(0, terms.times(factor(number)), false),
            _ => Amount::from(number),
        }
    }

    fn terms(&self) -> Dim {
        self.open.as_ref().map_or(Dim::Int(0), |open| open.terms.clone())
    }

    /// Whether it is the least that the sum can be, because parts are of unknown size, or it is too large to be counted.
    pub(crate) fn is_least(&self) -> bool {
        self.number == u64::MAX || self.open.as_ref().is_some_and(|open| open.is_least)
    }

    /// The number, if it is one.
    pub(crate) fn known(&self) -> Option<u64> {
        self.open.is_none().then_some(self.number)
    }

    /// Whether nothing of it is known.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_least() && self.number == 0 && self.terms() == Dim::Int(0)
    }

    /// Adds another sum.
    pub(super) fn add(&mut self, other: &Amount) {
        let number = self.number.saturating_add(other.number);
        if self.open.is_none() && other.open.is_none() {
            self.number = number;
            return;
        }
        let is_least = self.is_least() || other.is_least();
        let sum = self.terms().plus(other.terms());
        // Terms that no longer fit are left out.
        let terms = if sum == Dim::Unknown { self.terms() } else { sum.clone() };
        *self = Amount::new(number, terms, is_least || sum == Dim::Unknown);
    }

    /// The sum without a part that was added to it.
    pub(super) fn subtract(&mut self, part: &Amount) {
        let number = self.number.saturating_sub(part.number);
        if self.open.is_none() {
            self.number = number;
            return;
        }
        *self = Amount::new(number, self.terms().minus(part.terms()), self.is_least());
    }

    /// The product with another sum.
    pub(super) fn times(&self, other: &Amount) -> Amount {
        let number = self.number.saturating_mul(other.number);
        if self.open.is_none() && other.open.is_none() {
            return Amount::from(number);
        }
        let (own, others) = (self.terms(), other.terms());
        let terms = own.clone().times(others.clone());
        let terms = terms.plus(own.times(factor(other.number))).plus(others.times(factor(self.number)));
        Amount::new(number, terms, self.is_least() || other.is_least())
    }

    fn dim(&self) -> Dim {
        self.terms().plus(factor(self.number))
    }

    /// Whether it is at least as large as another sum, whatever numbers the symbols are: 1 or more.
    pub(super) fn covers(&self, other: &Amount) -> bool {
        match (self.known(), other.known()) {
            (Some(own), Some(other)) => own >= other,
            _ => {
                // A symbol is not negative: one more than that stands for each.
                let next = |symbol: &str| Some(Dim::symbol(symbol).plus(Dim::Int(1)));
                let difference = self.dim().minus(other.dim());
                difference.is_at_least(0) || difference.substituted(&next).is_at_least(0)
            }
        }
    }

    /// The sum where each symbol is 1.
    pub(super) fn of_ones(&self) -> Option<i64> {
        self.dim().substituted(&|_| Some(Dim::Int(1))).known()
    }

    /// Calls a function with each symbol.
    pub(super) fn each_symbol(&self, f: &mut dyn FnMut(&str)) {
        self.terms().each_symbol(f);
    }

    /// The text of an expression on symbols; none of a number.
    pub(super) fn expression(&self) -> Option<String> {
        let terms = self.terms();
        (terms != Dim::Int(0)).then(|| match self.dim() {
            Dim::Unknown => format!("{}+{}", terms.text(), self.number),
            dim => dim.text(),
        })
    }

    /// As JSON: a number, the text of an expression on symbols, or null if nothing is known.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self.expression() {
            _ if self.is_unknown() => serde_json::Value::Null,
            Some(text) => text.into(),
            None => self.number.into(),
        }
    }

    /// For pages: a number, or the text for people of what is more than that.
    #[cfg(feature = "pictures")]
    pub(crate) fn told(&self) -> serde_json::Value {
        self.known().map_or_else(|| self.text().into(), Into::into)
    }

    /// For people: a number with spaces between thousands, or the beginning of an expression; `at least` before it if
    /// parts are of unknown size.
    pub(super) fn text(&self) -> String {
        if self.is_unknown() {
            return "unknown".to_owned();
        }
        let mut text = self.expression().unwrap_or_else(|| grouped(self.number));
        if let Some((at, _)) = text.char_indices().nth(MOST_LETTERS) {
            text.truncate(at);
            text.push('…');
        }
        if self.is_least() { format!("at least {text}") } else { text }
    }
}

/// A number with spaces between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && digits.len().saturating_sub(i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number as a factor; unknown if it is too large.
fn factor(number: u64) -> Dim {
    Dim::from(i64::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(extents: &[&str]) -> Amount {
        Amount::product(&extents.iter().map(|extent| Dim::of_text(extent)).collect::<Vec<_>>())
    }

    fn sum(items: &[Amount]) -> Amount {
        items.iter().fold(Amount::default(), |mut sum, item| {
            sum.add(item);
            sum
        })
    }

    #[test]
    fn sums_are_numbers_expressions_or_least() {
        let (batch, ten) = (product(&["batch", "3"]), Amount::from(10_000));
        assert_eq!(sum(&[ten.clone(), Amount::from(5)]).text(), "10 005");
        assert_eq!(sum(&[ten.clone(), batch.clone()]).text(), "3*batch+10000");
        assert_eq!(sum(&[batch.clone(), Amount::unknown()]).text(), "at least 3*batch");
        assert_eq!(sum(&[ten.clone(), Amount::unknown()]).text(), "at least 10 000");
        assert_eq!(
            (Amount::unknown().text(), Amount::unknown().json()),
            ("unknown".to_owned(), serde_json::Value::Null)
        );
        assert_eq!((product(&["batch", "0"]), product(&[])), (Amount::from(0), Amount::from(1)));
        assert_eq!(batch.times(&sum(&[ten, batch.clone()])).text(), "9*batch*batch+30000*batch");
        let mut rest = sum(&[batch.clone(), Amount::from(7)]);
        rest.subtract(&batch);
        assert_eq!(rest, Amount::from(7));
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let max = i64::MAX.to_string();
        assert_eq!(product(&[&max, &max]), Amount::from(u64::MAX));
        assert!(product(&[&max, &max, "S"]).is_unknown());
        let many: Vec<Amount> = (0..1000).map(|i| product(&[&format!("s{i}")])).collect();
        assert!(sum(&many).is_least() && sum(&many).expression().is_some());
        assert!(sum(&[Amount::from(u64::MAX), product(&["S"])]).text().contains('S'));
    }

    #[test]
    fn sums_are_compared_whatever_symbols_are() {
        let compared = |a: &[&str], b: &[&str]| (product(a).covers(&product(b)), product(b).covers(&product(a)));
        assert_eq!(compared(&["S", "4"], &["S", "3"]), (true, false));
        assert_eq!(compared(&["S", "4"], &["7"]), (false, false));
        assert_eq!(compared(&["S", "4"], &["3"]), (true, false));
        assert_eq!(compared(&["S"], &["T"]), (false, false));
        assert_eq!(compared(&["5"], &["4"]), (true, false));
    }
}
