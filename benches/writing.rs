//! Writing flat graphs as NNEF text and as JSON.
#![allow(missing_docs)] // The macros make items without documentation.

use nnef_flatten_benches as workloads;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nnef_flatten::{Graph, Lower, Options, expand, parse};

const NAMES: &[&str] = &["flat", "flatconv", "biglit", "nest", "transformer"];
const SIZE: usize = 30_000;

fn text(graph: &Graph) -> Vec<u8> {
    let mut out = Vec::new();
    let _ = graph.write_nnef(&mut out); // Writing to memory cannot fail.
    out
}

fn json(graph: &Graph) -> Vec<u8> {
    let mut out = Vec::new();
    let _ = graph.write_json(&mut out);
    out
}

fn writing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("write");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let options = Options::default().with(|o| o.lower = Lower::All);
    for workload in NAMES.iter().filter_map(|name| workloads::find(name)) {
        let parsed = parse("workload", (workload.make)(SIZE).text, &options);
        let Ok(expansion) = expand(&parsed.document, &options) else { continue };
        for (form, write) in [("nnef", text as fn(&Graph) -> Vec<u8>), ("json", json)] {
            group.throughput(Throughput::Bytes(write(&expansion.graph).len() as u64));
            group.bench_function(format!("{}/{form}", workload.name), |bencher| {
                bencher.iter_with_large_drop(|| write(black_box(&expansion.graph)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, writing);
criterion_main!(benches);
