//! Shapes with the items of another shape.

use super::Arithmetic;

/// What is wrong with a shape that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReshapeError {
    /// More than one extent is -1.
    Rests,
    /// An extent is below -1.
    Negative(i64),
    /// The item at a place copies an axis that is not there.
    Copied(usize),
}

/// A shape that was asked for, whose extents are none where they are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reshaped<N> {
    pub(crate) extents: Vec<Option<N>>,
    /// Whether it may have as many items as there are.
    pub(crate) fits: bool,
}

/// More extents are not compared one by one.
const MANY: usize = 64;

fn integer<N: Arithmetic>(extent: &Option<N>) -> Option<i64> {
    extent.as_ref().and_then(N::integer)
}

fn volume<N: Arithmetic>(extents: &[Option<N>]) -> Option<N> {
    extents.iter().try_fold(N::of(1), |all, extent| all.try_times(extent.as_ref()?))
}

/// The extents of a shape that is asked for with the items of the first `count` axes of a shape, of which 0 copies one if
/// `copies` is set, and -1, or else a single extent that is not known, is what remains. If that is a quotient that may be
/// by 0, it is known only if `empty` is set.
///
/// # Errors
///
/// No tensor can have the shape.
pub(crate) fn reshaped<N: Arithmetic + PartialEq>(
    own: &[Option<N>],
    count: usize,
    wanted: &[Option<N>],
    copies: bool,
    empty: bool,
) -> Result<Reshaped<N>, ReshapeError> {
    let rest = rest(wanted)?;
    let mut unknown = (0..wanted.len()).filter(|at| wanted[*at].is_none());
    let open = rest.or_else(|| unknown.next().filter(|_| unknown.next().is_none()));
    let (mut from, mut to) = (own[..count].to_vec(), Vec::new());
    let mut extents = Vec::with_capacity(wanted.len());
    for (i, item) in wanted.iter().enumerate() {
        let copied = copies && integer(item) == Some(0);
        let extent = if copied { own.get(i).ok_or(ReshapeError::Copied(i))? } else { item };
        match from.get_mut(i) {
            // What is copied cancels out, whether it is known or not.
            Some(from) if copied && integer(extent) != Some(0) => *from = Some(N::of(1)),
            _ if open == Some(i) => {}
            _ => to.push(extent.clone()),
        }
        extents.push(extent.clone());
    }
    let fits = match (integer(&volume(&from)), integer(&volume(&to)), open) {
        (Some(from), Some(to), None) => from == to,
        (Some(from), Some(to), _) if rest.is_some() => from.checked_rem(to).unwrap_or(from) == 0,
        _ => true,
    };
    if let Some(at) = open {
        extents[at] = quotient(from, to, empty);
    }
    Ok(Reshaped { extents, fits })
}

/// The place of -1 in a shape that is asked for.
///
/// # Errors
///
/// No tensor can have the shape.
pub(crate) fn rest<N: Arithmetic>(wanted: &[Option<N>]) -> Result<Option<usize>, ReshapeError> {
    let mut rests = (0..wanted.len()).filter(|at| integer(&wanted[*at]) == Some(-1));
    let rest = rests.next();
    match (rests.next(), wanted.iter().filter_map(integer).find(|item| *item < -1)) {
        (Some(_), _) => Err(ReshapeError::Rests),
        (_, Some(item)) => Err(ReshapeError::Negative(item)),
        _ => Ok(rest),
    }
}

/// A product of extents divided by that of others, without factors that both have.
fn quotient<N: Arithmetic + PartialEq>(mut of: Vec<Option<N>>, mut by: Vec<Option<N>>, empty: bool) -> Option<N> {
    if of.len() <= MANY {
        by.retain(|extent| {
            let same = |other: &Option<N>| extent.is_some() && other == extent && integer(extent) != Some(0);
            of.iter().position(same).map(|at| of.swap_remove(at)).is_none()
        });
    }
    let (of, by) = (volume(&of)?, volume(&by)?);
    let is_open = of.integer().is_none() || by.integer().is_none();
    let divides = empty || by.try_minus(&N::of(1)).is_some_and(|less| less.is_natural());
    of.try_quotient(&by).or_else(|| of.try_over(&by).filter(|_| is_open && divides))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(own: &[i64], wanted: &[i64], copies: bool) -> Result<Reshaped<i64>, ReshapeError> {
        let [own, wanted] = [own, wanted].map(|extents| extents.iter().copied().map(Some).collect::<Vec<_>>());
        reshaped(&own, own.len(), &wanted, copies, false)
    }

    #[test]
    fn rests_and_copies_are_computed() {
        let found = |own: &[i64], wanted: &[i64]| shape(own, wanted, true).unwrap().extents;
        assert_eq!(found(&[2, 3, 4], &[0, -1]), [Some(2), Some(12)]);
        assert_eq!(found(&[2, 3, 4], &[4, -1, 2]), [Some(4), Some(3), Some(2)]);
        assert_eq!(shape(&[2, 3], &[3, 0], true).unwrap(), Reshaped { extents: vec![Some(3), Some(3)], fits: false });
        assert_eq!(shape(&[2, 0], &[0, 5], false).unwrap(), Reshaped { extents: vec![Some(0), Some(5)], fits: true });
        assert_eq!(shape(&[2, 0], &[0, -1], false).unwrap(), Reshaped { extents: vec![Some(0), None], fits: true });
        assert!(!shape(&[2, 3], &[4, -1], true).unwrap().fits);
    }

    #[test]
    fn shapes_that_no_tensor_has_are_refused() {
        assert_eq!(shape(&[2], &[-1, -1], true), Err(ReshapeError::Rests));
        assert_eq!(shape(&[2], &[-2], true), Err(ReshapeError::Negative(-2)));
        assert_eq!(shape(&[2], &[2, 0], true), Err(ReshapeError::Copied(1)));
    }

    #[test]
    fn a_single_extent_that_is_not_known_remains() {
        let found = |own: &[Option<i64>], wanted: &[Option<i64>]| {
            reshaped(own, own.len(), wanted, true, false).unwrap().extents
        };
        assert_eq!(found(&[None, Some(6)], &[Some(0), Some(-1), Some(2)]), [None, Some(3), Some(2)]);
        assert_eq!(found(&[Some(4), Some(6)], &[None, Some(3)]), [Some(8), Some(3)]);
        assert_eq!(found(&[Some(4), Some(6)], &[None, None]), [None, None]);
    }
}
