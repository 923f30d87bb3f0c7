//! Categories of operations, with their colours: one table for all pictures.

use crate::dictionary;
pub(crate) use crate::dictionary::Category;

/// The style of a category.
#[derive(Debug)]
pub(crate) struct Style {
    /// The category; its number is the position in the table, which a test checks.
    #[cfg_attr(not(test), expect(dead_code, reason = "the position in the table says the same"))]
    pub(crate) category: Category,
    /// Its name, a class of the style sheet.
    pub(crate) class: &'static str,
    /// Background and accent on a light page.
    pub(crate) light: (&'static str, &'static str),
    /// Background and accent on a dark page.
    pub(crate) dark: (&'static str, &'static str),
}

macro_rules! styles {
    ($($category:ident $class:literal $fill:literal $line:literal $dark:literal $dark_line:literal)*) => {
        &[$(Style {
            category: Category::$category,
            class: $class,
            light: ($fill, $line),
            dark: ($dark, $dark_line),
        }),*]
    };
}

/// The table, in the order of [`Category`].
pub(crate) const STYLES: &[Style] = styles! {
    Port "port" "#eef1f5" "#64748b" "#27303d" "#94a3b8"
    Data "data" "#f6f1ea" "#a1845c" "#332c22" "#c9a877"
    Product "product" "#eaf1fd" "#3b76d6" "#1d2c47" "#6ea3f5"
    Normalization "normalization" "#f3eefb" "#8456c5" "#2d2340" "#b08be6"
    Activation "activation" "#fdf0ea" "#d26a2e" "#3b261a" "#f0975f"
    Reduction "reduction" "#e7f5f2" "#1f8a76" "#17312c" "#4fbfa9"
    Elementwise "elementwise" "#edf6e7" "#5b8f2e" "#22301a" "#8fc35f"
    Layout "layout" "#f0f2f4" "#7b8794" "#282d34" "#a3aebb"
    Selection "selection" "#e9eefb" "#5360c4" "#222848" "#8d98ee"
    Quantization "quantization" "#fbeef4" "#c14d87" "#3a2030" "#e98bb8"
    Other "other" "#ffffff" "#8a94a3" "#20252c" "#8a94a3"
};

/// The category of an operation.
pub(crate) fn of(operation: &str) -> Category {
    dictionary::category(operation)
}

/// The style of a category.
pub(crate) fn style(category: Category) -> &'static Style {
    &STYLES[category as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(STYLES.iter().enumerate().all(|(i, row)| row.category as usize == i));
    }

    /// The relative luminance of a colour `#rrggbb`, as WCAG defines it.
    fn luminance(color: &str) -> f64 {
        let channel = |i: usize| f64::from(u8::from_str_radix(&color[i..i + 2], 16).unwrap()) / 255.0;
        let linear = |c: f64| if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(channel(1)) + 0.7152 * linear(channel(3)) + 0.0722 * linear(channel(5))
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn texts_and_lines_can_be_seen() {
        let css = include_str!("page/page.css");
        for (mode, dark) in [false, true].into_iter().enumerate() {
            let color = |name: &str| css.split(&format!("{name}: ")).nth(mode + 1).unwrap().get(..7).unwrap();
            let fills = STYLES.iter().map(|style| if dark { style.dark.0 } else { style.light.0 });
            let grounds = ["--page", "--bar", "--group", "--group-even", "--closed"].map(color);
            for (ground, text) in
                fills.chain(grounds).flat_map(|of| ["--text", "--note", "--key"].map(|t| (of, color(t))))
            {
                assert!(contrast(ground, text) >= 4.5, "{text} on {ground}: {}", contrast(ground, text));
            }
            let grounds = ["--page", "--group", "--group-even"].map(color);
            for (ground, line) in grounds.iter().flat_map(|of| ["--line", "--tip"].map(|t| (*of, color(t)))) {
                assert!(contrast(ground, line) >= 3.0, "{line} on {ground}: {}", contrast(ground, line));
            }
            for name in ["--text", "--note", "--key", "--line", "--tip"].into_iter().filter(|_| !dark) {
                assert!(include_str!("svg.css").contains(color(name)), "{name}: pages and SVG differ");
            }
        }
    }

    #[test]
    fn vendors_names_are_known_by_what_they_end_with() {
        assert_eq!(of("conv"), Category::Product);
        assert_eq!(of("tract_core_softmax"), Category::Activation);
        assert_eq!(of("tract_core_external"), Category::Port);
        assert_eq!(of("no_such"), Category::Other);
        assert_eq!([of("QLinearConv"), of("TopK")], [Category::Product, Category::Reduction]);
        assert_eq!(
            [of("nn_Conv2d"), of("F_relu"), of("nn_ReLU")],
            [Category::Product, Category::Activation, Category::Activation]
        );
        assert_eq!([of("torch_mean"), of("Mean")], [Category::Reduction, Category::Elementwise]);
        assert_eq!(of("com.microsoft.MatMul"), Category::Product);
    }
}
