#!/usr/bin/env bash
# Installs the command for the action: the program of the release with the commit that is used, or one that is built here if
# there is none. A download that fails in another way, or has another digest, is an error.
#
#   release/install.sh plan             key=… and archive=… for GITHUB_OUTPUT; the archive is empty if it has to be built
#   release/install.sh run ARCHIVE DIR  puts the command into a folder
#
# SERVER, REPOSITORY and REF say where the action comes from, RUNNER_OS and RUNNER_ARCH where it runs.
set -euo pipefail
source="$(cd "$(dirname "$0")/.." && pwd)"
version="$(sed -n '/^\[package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$source/Cargo.toml")"
address="${SERVER-}/${REPOSITORY-}"

# The platforms of `platforms.json` by the names of runners.
archive_name() {
    case "$RUNNER_OS-$RUNNER_ARCH" in
        Linux-X64) echo "nnef-flatten-v$version-x86_64-unknown-linux-musl.tar.gz" ;;
        Linux-ARM64) echo "nnef-flatten-v$version-aarch64-unknown-linux-musl.tar.gz" ;;
        macOS-X64) echo "nnef-flatten-v$version-x86_64-apple-darwin.tar.gz" ;;
        macOS-ARM64) echo "nnef-flatten-v$version-aarch64-apple-darwin.tar.gz" ;;
        Windows-X64) echo "nnef-flatten-v$version-x86_64-pc-windows-msvc.zip" ;;
        Windows-ARM64) echo "nnef-flatten-v$version-aarch64-pc-windows-msvc.zip" ;;
    esac
}

# The commit of a tag, a branch or a commit. Annotated tags have it in a line of their own, which is the last one.
commit_of() {
    if grep -qE '^[0-9a-f]{40}$' <<<"$1"; then
        echo "$1"
    else
        git ls-remote "$address" "refs/tags/$1" "refs/tags/$1^{}" "refs/heads/$1" | tail -n 1 | cut -f 1
    fi
}

plan() {
    local archive="" commit="" released=""
    # An action that is used from a checkout has no address.
    if [ -n "${REPOSITORY-}" ] && [ -n "${REF-}" ]; then
        commit="$(commit_of "$REF")"
        released="$(commit_of "v$version")"
        [ -z "$commit" ] || [ "$commit" != "$released" ] || archive="$(archive_name)"
    fi
    if [ -n "$archive" ]; then
        echo "key=$archive"
    else
        echo "key=nnef-flatten-built-$RUNNER_OS-$RUNNER_ARCH-${commit:-$(digest_of_sources)}"
    fi
    echo "archive=$archive"
}

# Names the sources of a checkout.
digest_of_sources() {
    (cd "$source" && find Cargo.toml Cargo.lock src -type f -print0 | sort -z | xargs -0 cat | git hash-object --stdin)
}

# Fetches a file of the release; fails if there is none of this name.
fetched() {
    local status=0 answer
    answer="$(curl --location --silent --show-error --retry 3 --write-out '%{http_code}' --output "$2" \
        "$address/releases/download/v$version/$1")" || status=$?
    case "$status-$answer" in
        0-200) ;;
        0-404) return 1 ;;
        *) broken "$1 cannot be fetched: status $answer of the server, $status of curl" ;;
    esac
}

broken() { echo "::error::$*" >&2; exit 1; }

digest() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

# Unpacks an archive that was fetched into a folder, if its digest is right.
unpack() {
    local archive="$1" work="$2" wanted
    fetched SHA256SUMS "$work/SHA256SUMS" || broken "the release has no SHA256SUMS"
    wanted="$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")"
    [ -n "$wanted" ] && [ "$(digest "$work/$archive")" = "$wanted" ] \
        || broken "$archive does not have the digest in SHA256SUMS"
    case "$archive" in
        *.zip) unzip -q "$work/$archive" -d "$work" ;;
        *) tar -xzf "$work/$archive" -C "$work" ;;
    esac
}

run() {
    local archive="$1" folder="$2" work name
    mkdir -p "$folder"
    work="$(mktemp -d)"
    if [ -n "$archive" ] && fetched "$archive" "$work/$archive"; then
        unpack "$archive" "$work"
        name="${archive%.zip}"
        cp "$work/${name%.tar.gz}"/nnef-flatten* "$folder/"
    else
        echo "::notice::nnef-flatten is built from source: no release has a program for this commit and platform"
        command -v cargo >/dev/null || broken "building nnef-flatten needs a Rust toolchain"
        cargo install --locked --quiet --path "$source" --root "$work/built"
        cp "$work"/built/bin/nnef-flatten* "$folder/"
    fi
    rm -rf "$work"
}

case "${1-}" in
    plan) plan ;;
    run) run "$2" "$3" ;;
    *) echo "usage: release/install.sh plan | run ARCHIVE FOLDER" >&2; exit 2 ;;
esac
