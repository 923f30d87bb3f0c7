//! A text of ncnn is read, or refused; its graph, with layers kept or lowered, is flat: its text reads back as the same.

use crate::common::{flat_text, run, tell};
use crate::shared::small;
use nnef_flatten::input::Given;
use nnef_flatten::{Lower, open};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    for lower in [Lower::Custom, Lower::All] {
        let options = small().with(|o| o.lower = lower);
        let given = Given::from(("fuzz.param", bytes)).notation("ncnn");
        let Ok(graph) = open(given, &options).and_then(|input| input.flatten()).map(|(graph, _)| graph) else {
            continue;
        };
        assert_eq!(graph.verify(), Vec::<String>::new());
        let flat = flat_text(&graph);
        let again = run(&flat, &small()).unwrap_or_else(|found| panic!("{flat}\n{}", tell(&found)));
        assert_eq!(flat_text(&again.graph), flat);
    }
}
