#!/usr/bin/env bash
# Builds the command and the wheel for the platform that it runs on, and tries both: release/build.sh TARGET FOLDER
# In a container of manylinux or musllinux it installs Rust first. COMPATIBILITY is the tag of Linux that the wheel has to
# have; what the program needs of the C library is checked against it. PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
target="$1" folder="$2"
python="${PYTHON:-python3}"

if ! command -v cargo >/dev/null; then
    curl --proto '=https' --tlsv1.2 --silent --show-error --fail https://sh.rustup.rs | sh -s -- -y --profile minimal
    export PATH="$HOME/.cargo/bin:$PATH"
fi
[ "$(rustc -vV | sed -n 's/^host: //p')" = "$target" ] || { echo "this is not $target" >&2; exit 1; }

ending=""
case "$target" in *windows*) ending=.exe ;; esac
cargo build --release --locked --bin nnef-flatten
program="${CARGO_TARGET_DIR:-target}/release/nnef-flatten$ending"

# The newest version of the C library whose symbols the program has to have.
case "${COMPATIBILITY-}" in
    manylinux_*)
        allowed="$(sed 's/manylinux_\([0-9]*\)_\([0-9]*\)/\1.\2/' <<<"$COMPATIBILITY")"
        needed="$(objdump -T "$program" | grep -v ' w ' | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -1)"
        [ "$(printf '%s\n' "$needed" "$allowed" | sort -V | tail -1)" = "$allowed" ] \
            || { echo "the program needs glibc $needed, but $allowed is promised" >&2; exit 1; } ;;
esac
"$python" release/archive.py --target "$target" --bin "$program" --folder "$folder"

arguments="--profile wheel --locked"
[ -z "${COMPATIBILITY-}" ] || arguments+=" --compatibility $COMPATIBILITY"
"$python" -m pip wheel --no-deps --wheel-dir "$folder" --config-settings=build-args="$arguments" .

# The wheel in an empty environment. Packages that the tests compare with are not there for every platform.
empty="$(mktemp -d)"
"$python" -m venv "$empty"
case "$target" in *windows*) scripts="$empty/Scripts" ;; *) scripts="$empty/bin" ;; esac
"$scripts/python" -m pip install --quiet --no-deps "$folder"/*.whl
[ "$("$scripts/nnef-flatten" --version)" = "$("$program" --version)" ]
"$scripts/python" -c 'import nnef_flatten; print(nnef_flatten.__version__)'
if "$scripts/python" -m pip install --quiet --only-binary :all: pytest numpy onnx pandas \
    && "$scripts/python" -m pip install --quiet nnef; then
    "$scripts/python" -m pytest -q python
else
    echo "skipped: the tests of python, since their packages cannot be installed"
fi
rm -rf "$empty"
