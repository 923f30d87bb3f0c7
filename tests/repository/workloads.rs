//! The documents of the benchmarks are accepted, and have the sizes that they state.
#![allow(clippy::panic)]

#[path = "../../benches/workloads/mod.rs"]
mod documents;

use documents::ALL;
use nnef_flatten::{Lower, Options, expand, parse};

/// The number of operations of a document's flat graph, unless it is refused.
fn operations(name: &str, text: String) -> Option<usize> {
    let options = Options::default().with(|o| {
        o.lower = Lower::All;
        o.max_depth = 10_000;
    });
    let parsed = parse(name, text, &options);
    assert!(!parsed.diagnostics.has_errors(), "{name}");
    let expansion = match expand(&parsed.document, &options) {
        Ok(expansion) => expansion,
        Err(found) => {
            assert!(found.iter().all(|found| found.code.as_str() == "E0801"), "{name}: {found}");
            return None;
        }
    };
    // A fragment whose result is a scalar is not standard and gives a warning, the only one.
    let told: Vec<_> = expansion.diagnostics.iter().map(|d| &d.message).collect();
    assert!(told.iter().all(|message| message.contains("is scalar, not a tensor")), "{name}: {told:?}");
    assert_eq!(expansion.graph.verify(), Vec::<String>::new(), "{name}");
    Some(expansion.graph.operations().len())
}

#[test]
fn expand_to_as_many_operations_as_expected() {
    for workload in ALL {
        for n in [10, 300, 1000] {
            let document = (workload.make)(n);
            let found = operations(workload.name, document.text);
            assert_eq!(found, document.operations, "{} of size {n}", workload.name);
        }
    }
}

#[test]
fn sizes_are_those_asked_for() {
    for workload in ALL {
        for n in [1000, 10_000] {
            let ratio = (workload.make)(n).size as f64 / n as f64;
            assert!((0.7..1.42).contains(&ratio), "{} of size {n}: {ratio}", workload.name);
        }
    }
}

#[test]
fn names_are_unique() {
    for workload in ALL {
        assert_eq!(ALL.iter().filter(|other| other.name == workload.name).count(), 1, "{}", workload.name);
    }
}
