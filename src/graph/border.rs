//! Borders: what operations of windows, padding and resampling find outside of a tensor (4.3).

/// What lies outside of a tensor. A constant border has a `C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border<C = ()> {
    /// Nothing: windows are cut at the edge.
    Ignore,
    /// A constant.
    Constant(C),
    /// The items at the edge.
    Replicate,
    /// The items mirrored at the edge item.
    Reflect,
    /// The items mirrored behind the edge item.
    ReflectEven,
}

impl<C> Border<C> {
    /// The border of a mode, as documents write it; a constant one has this value.
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

    /// Whether items of the tensor itself lie outside.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self, Border::Ignore | Border::Constant(_))
    }

    /// The index of the item at position `i` along an axis; none where the border gives the value.
    ///
    /// Positions far outside are mirrored repeatedly; the specification has one reflection only.
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
