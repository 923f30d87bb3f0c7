//! Dispatch on the element type of two operands.

/// Evaluates an expression on the elements of two operands of equal type, if the type is one of those listed.
macro_rules! same_type {
    ($a:expr, $b:expr, [$($variant:ident),*], $x:ident, $y:ident => $body:expr) => {
        match ($a.data(), $b.data()) {
            $((Data::$variant(x), Data::$variant(y)) => {
                let ($x, $y) = ((x.as_slice(), $a.shape()), (y.as_slice(), $b.shape()));
                Some($body)
            })*
            _ => None,
        }
    };
}
