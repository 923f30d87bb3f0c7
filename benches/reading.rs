//! Reading, from text to syntax tree.
#![allow(missing_docs)] // The macros make items without documentation.

use nnef_flatten_benches as workloads;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use nnef_flatten::{Options, parse};

const NAMES: &[&str] =
    &["flat", "flatconv", "flatcomment", "biglit", "bigint", "bigconcat", "chain_mixed", "callnest", "transformer"];
const SIZE: usize = 30_000;

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let options = Options::default();
    for workload in NAMES.iter().filter_map(|name| workloads::find(name)) {
        let text = (workload.make)(SIZE).text;
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(workload.name, |bencher| {
            let read = |text| black_box(parse("workload", text, &options));
            bencher.iter_batched(|| text.clone(), read, BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
