//! Places of 1e8 elements in memory, beside counting to 1e8.
#![allow(missing_docs)] // The macros make items without documentation.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use nnef_flatten::tensor::{ArrayShape, Shape};

/// Dense arrays, and with them what tiles cost.
const SHAPES: &[&str] = &[
    "f32[100000000]",
    "f32[10000,10000]{1,0}",
    "f32[10000,10000]{0,1}",
    "f32[100,100,100,100]{2,0,3,1}",
    "f32[8192,12208]{1,0:T(8,128)}",
    "f32[10000,10000]{1,0:T(8,128)}",
];

fn array(text: &str) -> Option<ArrayShape> {
    text.parse::<Shape>().ok()?.array().cloned()
}

fn places(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("places");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(4));
    group.bench_function("counting", |bencher| {
        bencher.iter(|| {
            for place in 0..black_box(100_000_000u64) {
                black_box(place);
            }
        });
    });
    for text in SHAPES {
        let Some(array) = array(text) else { continue };
        group.bench_function(format!("each_place {text}"), |bencher| {
            bencher.iter(|| {
                let _ = array.each_place(|place| {
                    black_box(place);
                });
            });
        });
    }
    for text in ["f32[10000,10000]{1,0}", "f32[10000,10000]{0,1}", "f32[10000,10000]{1,0:T(8,128)}"] {
        let Some(indexer) = array(text).and_then(|array| array.indexer().ok()) else { continue };
        group.bench_function(format!("indexer {text}"), |bencher| {
            bencher.iter(|| {
                for y in 0..10_000 {
                    for x in 0..10_000 {
                        black_box(indexer(&[y, x]));
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, places);
criterion_main!(benches);
