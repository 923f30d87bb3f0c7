//! Expansion, from syntax tree to flat graph, with checks: every workload that is not refused.
#![allow(missing_docs)] // The macros make items without documentation.

use nnef_flatten_benches as workloads;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nnef_flatten::{Lower, Options, expand, parse};

const SIZE: usize = 30_000;

fn expanding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("expand");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    let options = Options::default().with(|o| o.lower = Lower::All);
    for workload in workloads::ALL {
        let document = (workload.make)(SIZE);
        if document.operations.is_none() {
            continue;
        }
        let parsed = parse("workload", document.text, &options);
        group.throughput(Throughput::Elements(document.size as u64));
        group.bench_function(workload.name, |bencher| {
            bencher.iter_with_large_drop(|| black_box(expand(&parsed.document, &options)));
        });
    }
    group.finish();
}

criterion_group!(benches, expanding);
criterion_main!(benches);
