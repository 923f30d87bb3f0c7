#!/usr/bin/env bash
# Measures nnef-flatten and other readers of NNEF side by side; prints tables in Markdown.
#
#   bench/compare.sh                       the full run, some 20 minutes, tables on standard output
#   bench/compare.sh --update              the same, also written into docs/performance.md
#   bench/compare.sh --sizes 1e3,1e4       smaller sizes
#   bench/compare.sh --models DIR          also real models: every graph.nnef below DIR
#   bench/compare.sh --help                all options
#
# Needs a Rust toolchain and Python 3. A peer that cannot be installed is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
cargo build --quiet --release --bin nnef-flatten
cargo build --quiet --release --manifest-path benches/Cargo.toml --bins
exec python3 bench/compare.py --target "$CARGO_TARGET_DIR" "$@"
