//! Polynomials with integer coefficients.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::expression::Variable;

/// The maximum number of terms of a polynomial.
const MAX_TERMS: usize = 64;
/// The maximum number of variables of a term, counted with multiplicity.
const MAX_DEGREE: usize = 8;

/// A product of variables, sorted.
pub(super) type Product = SmallVec<[Variable; 1]>;

/// A product with its coefficient.
pub(super) type Term = (Product, i64);

/// A sum of products, sorted, each with a coefficient that is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Polynomial(Terms);

type Terms = SmallVec<[Term; 2]>;

/// The minimum and the maximum of a number, if they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

impl Bounds {
    /// The number, if the bounds determine it.
    pub(super) fn known(self) -> Option<i64> {
        self.least.filter(|_| self.least == self.most)
    }
}

impl Polynomial {
    /// A constant.
    pub(super) fn constant(value: i64) -> Self {
        Polynomial(std::iter::once((Product::new(), value)).filter(|_| value != 0).collect())
    }

    /// A variable.
    pub(super) fn variable(variable: Variable) -> Self {
        Polynomial(smallvec::smallvec![(smallvec::smallvec![variable], 1)])
    }

    /// The products, each with its coefficient.
    pub(super) fn terms(&self) -> &[Term] {
        &self.0
    }

    /// The variables of all products.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.0.iter().flat_map(|(product, _)| product)
    }

    /// The constant, if there are no variables.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match &self.0[..] {
            [] => Some(0),
            [(product, value)] if product.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The variable, if the polynomial is a single variable.
    pub(super) fn as_variable(&self) -> Option<&Variable> {
        match &self.0[..] {
            [(product, 1)] => product.first().filter(|_| product.len() == 1),
            _ => None,
        }
    }

    fn of(mut terms: Terms) -> Option<Self> {
        terms.sort_unstable();
        let mut sum: Terms = SmallVec::new();
        for (product, value) in terms {
            match sum.last_mut() {
                Some((last, total)) if *last == product => *total = total.checked_add(value)?,
                _ => sum.push((product, value)),
            }
        }
        Polynomial::within_limit(sum)
    }

    fn within_limit(mut terms: Terms) -> Option<Self> {
        terms.retain(|(_, value)| *value != 0);
        (terms.len() <= MAX_TERMS).then_some(Polynomial(terms))
    }

    /// The products of two polynomials in their order, each with its two coefficients.
    fn pairs<'a>(&'a self, other: &'a Polynomial) -> impl Iterator<Item = (&'a Product, i64, i64)> {
        let (mut own, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        std::iter::from_fn(move || {
            let order = match (own.peek(), others.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let a = if order.is_le() { own.next() } else { None };
            let b = if order.is_ge() { others.next() } else { None };
            let (product, _) = a.or(b)?;
            let factor = |term: Option<&Term>| term.map_or(0, |(_, value)| *value);
            Some((product, factor(a), factor(b)))
        })
    }

    /// The sum.
    pub(super) fn plus(&self, other: &Polynomial) -> Option<Self> {
        let terms = self.pairs(other).map(|(product, a, b)| Some((product.clone(), a.checked_add(b)?)));
        Polynomial::within_limit(terms.collect::<Option<_>>()?)
    }

    /// The difference.
    pub(super) fn minus(&self, other: &Polynomial) -> Option<Self> {
        let terms = self.pairs(other).map(|(product, a, b)| Some((product.clone(), a.checked_sub(b)?)));
        Polynomial::within_limit(terms.collect::<Option<_>>()?)
    }

    /// The bounds of the difference, as far as they follow from variables that are not negative. The bounds of a
    /// difference without variables are equal.
    pub(super) fn difference(&self, other: &Polynomial) -> Bounds {
        let (mut constant, mut grows, mut falls) = (0, true, true);
        for (product, a, b) in self.pairs(other) {
            let Some(value) = a.checked_sub(b) else { return Bounds::default() };
            if product.is_empty() {
                constant = value;
            } else if value != 0 {
                let natural = product.iter().all(Variable::is_natural);
                grows &= natural && value > 0;
                falls &= natural && value < 0;
            }
            if !grows && !falls {
                break;
            }
        }
        Bounds { least: grows.then_some(constant), most: falls.then_some(constant) }
    }

    /// The product.
    pub(super) fn times(&self, other: &Polynomial) -> Option<Self> {
        let mut terms = SmallVec::new();
        for ((a, x), (b, y)) in self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a, b))) {
            let mut product: Product = a.iter().chain(b).cloned().collect();
            product.sort_unstable();
            if product.len() > MAX_DEGREE || terms.len() > MAX_TERMS * MAX_TERMS {
                return None;
            }
            terms.push((product, x.checked_mul(*y)?));
        }
        Polynomial::of(terms)
    }

    /// The quotient, if there is no remainder. Supported are a divisor of a single term, and a quotient of a
    /// single term.
    pub(super) fn exactly_over(&self, divisor: &Polynomial) -> Option<Self> {
        if let [(product, factor)] = &divisor.0[..] {
            let terms = self.0.iter().map(|(own, value)| {
                let rest = without(own, product)?;
                Some((rest, exact_quotient(*value, *factor)?))
            });
            return Polynomial::of(terms.collect::<Option<_>>()?);
        }
        // The leading terms determine the only candidate for a quotient of a single term.
        let leading =
            |of: &Polynomial| of.0.iter().max_by_key(|(product, _)| (product.len(), product.clone())).cloned();
        let ((own, value), (product, factor)) = (leading(self)?, leading(divisor)?);
        let rest = without(&own, &product)?;
        let candidate = Polynomial(smallvec::smallvec![(rest, exact_quotient(value, factor)?)]);
        (candidate.times(divisor)? == *self).then_some(candidate)
    }

    /// The greatest common divisor of the coefficients except the constant term; 0 if there are no others.
    pub(super) fn content(&self) -> i64 {
        self.0.iter().filter(|(product, _)| !product.is_empty()).fold(0, |divisor, (_, value)| gcd(divisor, *value))
    }

    /// Divides each coefficient, and returns the quotients, rounded down, and the remainders.
    pub(super) fn divided(&self, divisor: i64) -> (Self, Self) {
        let part = |f: fn(i64, i64) -> i64| {
            let terms = self.0.iter().map(|(product, value)| (product.clone(), f(*value, divisor)));
            Polynomial(terms.filter(|(_, value)| *value != 0).collect())
        };
        (part(i64::div_euclid), part(i64::rem_euclid))
    }
}

/// The quotient, if there is no remainder and it fits 64 bits.
pub(super) fn exact_quotient(a: i64, b: i64) -> Option<i64> {
    a.checked_rem(b).filter(|rest| *rest == 0)?;
    a.checked_div(b)
}

/// The variables of a product without those of another; none if it does not contain all of them.
fn without(product: &Product, other: &Product) -> Option<Product> {
    let mut rest = product.clone();
    for atom in other {
        rest.remove(rest.iter().position(|own| own == atom)?);
    }
    Some(rest)
}

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}
