#!/usr/bin/env bash
# Builds the fuzz targets with the toolchain at hand, and runs one: fuzz/run.sh TARGET [OPTION OF LIBFUZZER]...
# Coverage is measured by a pass of the compiler that stable toolchains have, too.
set -euo pipefail
cd "$(dirname "$0")"

passes="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
passes="$passes -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
passes="$passes -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
host=$(rustc -vV | sed -n 's/^host: //p')

# With a target named, the flags are not for build scripts.
RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg fuzzing $passes" cargo build --release --target "$host"
[ "${1-}" = --build ] && exit

target=$1
shift
mkdir -p "corpus/$target" artifacts
exec "${CARGO_TARGET_DIR:-target}/$host/release/$target" -max_len=4000 -timeout=60 -rss_limit_mb=2048 \
    -artifact_prefix="artifacts/$target-" "$@" "corpus/$target" "seeds/$target"
