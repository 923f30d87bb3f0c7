//! Operations on regions of interest (4.6 of NNEF).

use super::row::{Allowed, Category, Row, ShapeRule, ToOnnx};
use super::windows::METHODS;
use Category::{Layout, Reduction};

const fn regions(name: &'static str, category: Category, reason: &'static str) -> Row {
    Row::standard(name, category, ShapeRule::Regions).translated(ToOnnx::Refused(reason))
}

const PLACED: &str = "`RoiAlign` places its samples differently";
const RESIZED: &[(&str, Allowed)] = &[("resize_method", METHODS)];

rows! {
    AVG_ROI_POOL = regions("avg_roi_pool", Reduction, "no operator computes means over regions that data decide");
    MAX_ROI_POOL = regions("max_roi_pool", Reduction, "`MaxRoiPool` rounds regions differently");
    ROI_RESAMPLE = regions("roi_resample", Layout, PLACED).arguments(&[("method", METHODS)]);
    AVG_ROI_ALIGN = regions("avg_roi_align", Reduction, PLACED).arguments(RESIZED);
    MAX_ROI_ALIGN = regions("max_roi_align", Reduction, PLACED).arguments(RESIZED);
}
