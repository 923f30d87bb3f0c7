#!/usr/bin/env bash
# Builds the fuzz targets with the toolchain at hand, and runs them:
#
#   fuzz/run.sh TARGET [OPTION OF LIBFUZZER]...   fuzzes a target
#   fuzz/run.sh --minute [SECONDS]                fuzzes every target for so many seconds
#   fuzz/run.sh --keep                            chooses the inputs to keep, of those that runs found
#   fuzz/run.sh --build                           builds the instrumented targets
set -euo pipefail
cd "$(dirname "$0")"

built="${CARGO_TARGET_DIR:-target}"
host=$(rustc -vV | sed -n 's/^host: //p')

# Coverage is measured by a pass of the compiler that stable toolchains have, too.
instrumented() {
    local passes="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
    passes="$passes -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
    passes="$passes -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
    # With a target named, the flags are not for build scripts.
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg fuzzing $passes" cargo build --release --target "$host"
}

# The names of all targets.
targets() { basename -s .rs fuzz_targets/*.rs; }

# Makes a folder for the time of the run.
scratch() {
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
}

# Unpacks the kept inputs of a target into a folder.
unpack() {
    mkdir -p "$2" || return
    if [ -f "kept/$1.tar" ]; then tar -xf "kept/$1.tar" -C "$2"; fi
}

# Fuzzes a target, with options of libFuzzer.
fuzz() {
    local target=$1
    shift
    # Not under `errexit`, since the caller asks for the status.
    mkdir -p "corpus/$target" artifacts && unpack "$target" "corpus/kept/$target" || return
    "$built/$host/release/$target" -max_len=4000 -timeout=60 -rss_limit_mb=2048 \
        -artifact_prefix="artifacts/$target-" "$@" "corpus/$target" "corpus/kept/$target" "seeds/$target"
}

# Replaces the kept inputs of a target by those, of them and of what runs found, that add most to the seeds.
keep() {
    mkdir -p "corpus/$1" && unpack "$1" "corpus/kept/$1" && rm -rf "$scratch/"* && mkdir "$scratch/merged" || return
    "$built/$host/release/$1" -merge=1 -max_len=1000 -timeout=60 -rss_limit_mb=2048 -artifact_prefix="$scratch/" \
        -merge_control_file="$scratch/control" "$scratch/merged" "corpus/$1" "corpus/kept/$1" "seeds/$1" \
        >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        return 1
    }
    python3 keep.py "$1" "$scratch/control" "$scratch/log"
}

# Runs a command for every target, up to the first that fails.
each() {
    local target
    for target in $(targets); do
        "$1" "$target" "${@:2}" || {
            echo "the fuzz target $target failed" >&2
            exit 1
        }
    done
}

# Fuzzes every target for so many seconds, as many at a time as there are processors, and all of them, also after one has
# failed.
minute() {
    scratch
    export scratch built host
    export -f fuzz unpack
    # shellcheck disable=SC2016
    targets | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} bash -c '
        if fuzz {} -max_total_time='"$1"' >"$scratch/{}.log" 2>&1; then
            echo "{}: $(tail -n 1 "$scratch/{}.log")"
        else
            cat "$scratch/{}.log"
            echo "the fuzz target {} failed" >&2
            exit 1
        fi'
}

case "${1-}" in
--build) instrumented ;;
--minute)
    instrumented
    minute "${2:-60}"
    ;;
--keep)
    instrumented
    scratch
    each keep
    ;;
"" | -*)
    sed -n '4,7s/^# *//p' "${0##*/}" >&2
    exit 2
    ;;
*)
    instrumented
    fuzz "$@"
    ;;
esac
