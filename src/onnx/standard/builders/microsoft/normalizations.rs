//! Normalizations.

use super::numbers::negative_axes;
use crate::onnx::standard::standard_call::{Build, StandardCall};
use crate::onnx::standard::template::TemplateSettings;
use crate::onnx::types::ElementType;

/// The first versions of the standard operator set with `LayerNormalization` and with `RMSNormalization`.
const LAYER: i64 = 17;
const ROOT_MEAN_SQUARE: i64 = 23;

/// The number of `float` among element types.
const FLOAT: i32 = 1;

/// A normalization along the last axes, with the names of its operands and results.
pub(super) struct Normalization<'n> {
    pub(super) x: &'n str,
    pub(super) scale: &'n str,
    pub(super) bias: Option<&'n str>,
    pub(super) y: &'n str,
    pub(super) mean: Option<&'n str>,
    pub(super) spread: Option<&'n str>,
    /// Whether the mean is not subtracted.
    pub(super) simplified: bool,
    pub(super) epsilon: f32,
    /// The first axis, counted from the end.
    pub(super) axis: i64,
    /// The type of the elements, if it is known.
    pub(super) element: Option<&'static ElementType>,
}

impl Normalization<'_> {
    /// Writes the lines: the operator of the standard, if the version has it, or its formula.
    pub(super) fn write(&self, version: i64, settings: &mut TemplateSettings) -> Build<()> {
        let &Normalization { x, scale, bias, y, mean, spread, simplified, epsilon, axis, .. } = self;
        let attributes = format!("<axis: int = {axis}, epsilon: float = {epsilon:e}>");
        if !simplified && version >= LAYER {
            let results = [Some(y), mean, spread].map(|name| name.unwrap_or(""));
            let results = results.join(", ");
            let bias = bias.map_or(String::new(), |bias| format!(", {bias}"));
            let results = results.trim_end_matches([',', ' ']);
            settings.line(format!("{results} = LayerNormalization {attributes} ({x}, {scale}{bias})"));
        } else if simplified && spread.is_none() && version >= ROOT_MEAN_SQUARE {
            settings.line(format!("{y} = RMSNormalization {attributes} ({x}, {scale})"));
        } else {
            self.write_formula(settings)?;
        }
        Ok(())
    }

    /// Writes the formula. Moments of narrow types are computed in floats.
    fn write_formula(&self, settings: &mut TemplateSettings) -> Build<()> {
        let own = self.element;
        let narrow = own.is_none_or(|own| !matches!(own.name, "float" | "double"));
        let axes = negative_axes(self.axis)?;
        let mut line = |text: String| _ = settings.line(text);
        let x = if narrow { "wide" } else { self.x };
        if narrow {
            line(format!("wide = Cast <to: int = {FLOAT}> ({})", self.x));
        }
        let mut centered = x;
        if !self.simplified {
            let mean = self.mean.unwrap_or("mean_of_row");
            line(format!("{mean} = along ReduceMean ({axes}) ({x})"));
            line(format!("deviation = Sub ({x}, {mean})"));
            centered = "deviation";
        }
        line(format!("square = Mul ({centered}, {centered})"));
        line(format!("variance = along ReduceMean ({axes}) (square)"));
        line(format!("epsilon = const {} ({:e})", if narrow { "float" } else { "$T" }, self.epsilon));
        line("enlarged = Add (variance, epsilon)".to_owned());
        line("spread = Sqrt (enlarged)".to_owned());
        if let Some(inverse) = self.spread {
            line(format!("{inverse} = Reciprocal (spread)"));
        }
        line(format!("normalized = Div ({centered}, spread)"));
        let normalized = if narrow { "narrow_again" } else { "normalized" };
        if narrow {
            line(match own {
                Some(own) => format!("{normalized} = Cast <to: int = {}> (normalized)", own.number),
                None => format!("{normalized} = CastLike (normalized, {})", self.x),
            });
        }
        match self.bias {
            None => line(format!("{} = Mul ({normalized}, {})", self.y, self.scale)),
            Some(bias) => {
                line(format!("scaled = Mul ({normalized}, {})", self.scale));
                line(format!("{} = Add (scaled, {bias})", self.y));
            }
        }
        Ok(())
    }
}

pub(in crate::onnx::standard) fn simplified(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let axis = call.int("axis", -1)?;
    let normalization = Normalization {
        x: "X",
        scale: "scale",
        bias: None,
        y: "Y",
        mean: None,
        spread: call.has_output(1).then_some("inv_std_var"),
        simplified: true,
        epsilon: call.float("epsilon")?.unwrap_or(1e-5),
        axis: if axis < 0 { axis } else { axis - call.rank(0)? },
        element: call.element(0).ok(),
    };
    normalization.write(call.version, settings)
}

/// The normalization of a sum: the operands and the skipped ones, and a bias.
pub(in crate::onnx::standard) fn skip(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let simplified = call.operator() == "SkipSimplifiedLayerNormalization";
    let biased = call.has_input(if simplified { 3 } else { 4 });
    let sum = if call.has_output(3) { "input_skip_bias_sum" } else { "sum" };
    if biased {
        settings.line("joined = Add (input, skip)".to_owned()).line(format!("{sum} = Add (joined, bias)"));
    } else {
        settings.line(format!("{sum} = Add (input, skip)"));
    }
    let normalization = Normalization {
        x: sum,
        scale: "gamma",
        bias: (!simplified && call.has_input(3)).then_some("beta"),
        y: "output",
        mean: call.has_output(1).then_some("mean"),
        spread: call.has_output(2).then_some("inv_std_var"),
        simplified,
        epsilon: call.float("epsilon")?.unwrap_or(1e-12),
        axis: -1,
        element: call.element(0).ok(),
    };
    normalization.write(call.version, settings)
}
