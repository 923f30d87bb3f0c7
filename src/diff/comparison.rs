//! The steps of a comparison.

use super::difference::{Compared, Difference};
use super::{changes, hashes, matching};
use crate::Graph;

/// Compares two flat graphs of one dialect, without the data of their variables. Names of inner tensors do not count,
/// those of inputs and outputs do.
///
/// ```
/// use nnef_flatten::diff::diff;
/// use nnef_flatten::{Options, open};
///
/// let graph = |body: &str| {
///     let text = format!("version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [2]); {body} }}");
///     open(("example", text), &Options::default()).and_then(|input| Ok(input.flatten()?.0))
/// };
/// let a = graph("t = exp(x); y = leaky_relu(t, alpha = 0.1);")?;
/// let b = graph("u = exp(x); y = leaky_relu(u, alpha = 0.2);")?;
/// assert!(diff(&a, &a).is_equal());
/// let difference = diff(&a, &b);
/// assert!(!difference.is_equal());
/// assert!(difference.to_string().starts_with("~ leaky_relu y: alpha: 0.1 -> 0.2\n"));
/// # Ok::<(), nnef_flatten::input::Refusal>(())
/// ```
pub fn diff(a: &Graph, b: &Graph) -> Difference {
    compare([Compared::of(a), Compared::of(b)])
}

/// Compares two graphs with what is known of their data and their texts.
pub(crate) fn compare(sides: [Compared; 2]) -> Difference {
    let hashes = hashes::of_both(&sides);
    let matching = matching::of(&hashes);
    changes::find(&sides, &hashes, &matching)
}
