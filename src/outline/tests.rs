//! What is found in listings.

use super::{Leaf, Listing, OperationClass, OutlinePlan, Source, find};

/// A listing of operations, each with its class, operands and results. Value 0 is an input.
fn listing(operations: &[(u32, &[u32], &[u32])], fixed: &[u32]) -> Listing {
    let values = operations.iter().flat_map(|(_, operands, results)| operands.iter().chain(*results));
    let count = values.max().map_or(0, |last| last + 1);
    let mut listing = Listing::new(count, fixed.to_vec());
    for class in 0..=operations.iter().map(|(class, ..)| *class).max().unwrap_or(0) {
        let leaf = if class == 0 { Leaf::Stays } else { Leaf::Sinks };
        listing.add_class(OperationClass { bytes: 30, leaf });
    }
    for (class, operands, results) in operations {
        listing.push(*class, operands.iter().copied(), results.iter().copied());
    }
    listing
}

/// A chain of parts of four operations, of which each has a constant.
fn chain(parts: u32) -> Listing {
    let mut operations: Vec<(u32, Vec<u32>, Vec<u32>)> = vec![(0, vec![], vec![0])];
    for part in 0..parts {
        let at = part * 5;
        operations.push((1, vec![], vec![at + 1]));
        operations.push((2, vec![at, at + 1], vec![at + 2]));
        operations.push((3, vec![at + 2], vec![at + 3]));
        operations.push((4, vec![at + 3, at], vec![at + 4]));
        operations.push((5, vec![at + 4], vec![at + 5]));
    }
    let rows: Vec<(u32, &[u32], &[u32])> = operations.iter().map(|(class, a, b)| (*class, &a[..], &b[..])).collect();
    listing(&rows, &[parts * 5])
}

fn calls(plan: &OutlinePlan) -> usize {
    plan.steps.iter().filter(|step| matches!(step.source, Source::Call(_))).count()
}

#[test]
fn parts_that_follow_each_other_have_one_body_with_their_constant() {
    let plan = find(&chain(5)).unwrap();
    assert_eq!((plan.bodies.len(), calls(&plan), plan.steps.len()), (1, 5, 6));
    let body = &plan.bodies[0];
    assert_eq!((body.params.len(), body.results.len(), body.steps.len()), (1, 1, 5));
    assert!(find(&chain(1)).is_none());
}

/// Every operation stands in the plan as often as in the listing, if bodies are written in place of their calls.
#[test]
fn nothing_is_lost() {
    for parts in [2, 3, 7, 64, 1000] {
        let Some(plan) = find(&chain(parts)) else {
            assert!(parts < 3, "{parts} parts have no plan");
            continue;
        };
        let mut sizes: Vec<usize> = Vec::new();
        let size = |steps: &[super::PlannedStep], sizes: &[usize]| -> usize {
            let one = |step: &super::PlannedStep| match step.source {
                Source::Operation(_) => 1,
                Source::Call(body) => sizes[body],
            };
            steps.iter().map(one).sum()
        };
        for body in &plan.bodies {
            sizes.push(size(&body.steps, &sizes));
        }
        assert_eq!(size(&plan.steps, &sizes), 1 + 5 * parts as usize, "{parts}");
    }
}

/// A part that is found both alone and inside of a longer one has one body.
#[test]
fn no_body_only_calls_another_one() {
    // The classes of the part, of what stands around it in the longer one, and of what stands between them.
    let part: Vec<u32> = (2..12).collect();
    let longer: Vec<u32> = (12..22).chain(part.iter().copied()).chain(22..32).collect();
    let classes: Vec<u32> =
        [&part[..], &[32], &part[..], &[33], &longer[..], &[34], &longer[..], &[35], &longer[..]].concat();
    let mut operations: Vec<(u32, Vec<u32>, Vec<u32>)> = vec![(0, vec![], vec![0])];
    operations.extend(classes.iter().zip(0..).map(|(class, at)| (*class, vec![at], vec![at + 1])));
    let rows: Vec<(u32, &[u32], &[u32])> = operations.iter().map(|(class, a, b)| (*class, &a[..], &b[..])).collect();
    let plan = find(&listing(&rows, &[classes.len() as u32])).unwrap();
    assert_eq!((plan.bodies.len(), calls(&plan)), (2, 5));
    assert!(plan.bodies.iter().all(|body| body.steps.len() > 1));
}
