#!/usr/bin/env bash
# Packs the extension of VS Code: release/extension.sh FOLDER
# Its links lead to the tag of its version.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
version="$(sed -n '/^\[package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
address="$(sed -n 's/^repository = "\(.*\)"/\1/p' release/address.toml)"
work="$(mktemp -d)"
cp -r editors/vscode/. "$work"
rm -rf "$work/node_modules"
cp LICENSE "$work/LICENSE"
cd "$work"
npm install --silent --omit=dev --no-package-lock
npx --yes @vscode/vsce@3 package --out "$folder/nnef-flatten-$version.vsix" \
    --baseContentUrl "$address/blob/v$version/editors/vscode" --baseImagesUrl "$address/raw/v$version/editors/vscode"
rm -rf "$work"
