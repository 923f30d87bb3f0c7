//! Polynomials with integer coefficients.

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
        sum.retain(|(_, value)| *value != 0);
        (sum.len() <= MAX_TERMS).then_some(Polynomial(sum))
    }

    /// The sum.
    pub(super) fn plus(&self, other: &Polynomial) -> Option<Self> {
        Polynomial::of(self.0.iter().chain(&other.0).cloned().collect())
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

    /// The minimum value, if no variable (according to `natural`) and no coefficient of a variable is negative.
    pub(super) fn least(&self, natural: impl Fn(&Variable) -> bool) -> Option<i64> {
        let natural = |product: &Product| product.iter().all(&natural);
        let grows = self.0.iter().all(|(product, value)| product.is_empty() || (*value >= 0 && natural(product)));
        let constant = self.0.iter().find(|(product, _)| product.is_empty()).map_or(0, |(_, value)| *value);
        grows.then_some(constant)
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
