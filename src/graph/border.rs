//! Border modes: the values that window operations, padding and resampling read outside of a tensor (4.3).

/// A border mode. A constant border contains the constant `C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border<C = ()> {
    /// No values: windows are truncated at the edge.
    Ignore,
    /// A constant.
    Constant(C),
    /// The items at the edge.
    Replicate,
    /// The items mirrored at the edge item, which is not repeated.
    Reflect,
    /// The items mirrored beyond the edge item, which is repeated.
    ReflectEven,
}

impl<C> Border<C> {
    /// The border with the name of a mode in NNEF. `constant` is the value of a constant border.
    pub(crate) fn named(mode: &str, constant: C) -> Option<Self> {
        Some(match mode {
            "ignore" => Border::Ignore,
            "constant" => Border::Constant(constant),
            "replicate" => Border::Replicate,
            "reflect" => Border::Reflect,
            "reflect-even" => Border::ReflectEven,
            _ => return None,
        })
    }

    /// Whether the values outside are items of the tensor.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self, Border::Ignore | Border::Constant(_))
    }

    /// The index of the item at position `i` along an axis; none if it is outside and the border does not
    /// repeat items.
    ///
    /// Positions far outside are mirrored repeatedly; the specification defines a single reflection only.
    pub(crate) fn place(&self, i: i64, extent: usize) -> Option<usize> {
        if extent == 0 {
            return None;
        }
        let extent = extent as i64;
        if (0..extent).contains(&i) {
            return Some(i as usize);
        }
        let place = match self {
            Border::Ignore | Border::Constant(_) => return None,
            Border::Replicate => i.clamp(0, extent - 1),
            Border::Reflect if extent == 1 => 0,
            Border::Reflect => {
                let period = 2 * (extent - 1);
                let i = i.rem_euclid(period);
                i.min(period - i)
            }
            Border::ReflectEven => {
                let i = i.rem_euclid(2 * extent);
                i.min(2 * extent - 1 - i)
            }
        };
        Some(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_those_of_the_text() {
        let around = |border: Border| (-3..6).map(|i| border.place(i, 3)).collect::<Vec<_>>();
        let some = |items: [usize; 9]| items.map(Some).to_vec();
        assert_eq!(around(Border::Replicate), some([0, 0, 0, 0, 1, 2, 2, 2, 2]));
        assert_eq!(around(Border::Reflect), some([1, 2, 1, 0, 1, 2, 1, 0, 1]));
        assert_eq!(around(Border::ReflectEven), some([2, 1, 0, 0, 1, 2, 2, 1, 0]));
        assert_eq!(around(Border::Constant(()))[..4], [None, None, None, Some(0)]);
        for border in [Border::Replicate, Border::Reflect, Border::ReflectEven] {
            assert_eq!(Border::<()>::place(&border, 5, 0), None);
            assert_eq!(border.place(-7, 1), Some(0));
        }
    }
}
