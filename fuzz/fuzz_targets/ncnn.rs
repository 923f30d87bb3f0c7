//! A text of ncnn is read, or refused; its graph, with layers kept or lowered, is flat: its text reads back as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::input::Given;
use nnef_flatten::{Lower, open};
use nnef_flatten_fuzz::common::{flat_text, run, tell};
use nnef_flatten_fuzz::{bounded, small};

fuzz_target!(|bytes: &[u8]| bounded(|| {
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
}));
