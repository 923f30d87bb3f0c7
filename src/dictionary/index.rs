//! Finds rows by the names that notations give them. The indexes are built once per process.

use std::hash::Hash;
use std::sync::LazyLock;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::row::{Category, Row};
use super::{elementwise, layouts, matrices, reductions, regions, sources, vendors, windows};

/// The families, in the order of the documentation.
static FAMILIES: [&[&Row]; 8] = [
    sources::ROWS,
    elementwise::ROWS,
    matrices::ROWS,
    windows::ROWS,
    reductions::ROWS,
    layouts::ROWS,
    regions::ROWS,
    vendors::ROWS,
];

/// All rows.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    FAMILIES.into_iter().flatten().copied()
}

/// Whose names are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    /// The standard library of NNEF.
    Standard,
    /// The standard library of NNEF in documents with a registry of tract.
    InRegistries,
    /// Operations of registries and converters; converters append the number of a variant to the name.
    Vendor,
    /// Operators of torch.
    Torch,
    /// Operators of ONNX and torch, and operations of registries and converters: torch's `nn.Conv2d` also as `nn_Conv2d`, which is its
    /// name in NNEF.
    Foreign,
}

/// An index of the words that a column has.
type Index<W = &'static str> = FxHashMap<W, &'static Row>;

/// An index of the words of rows; the first row of a word takes precedence.
fn index<W: Hash + Eq, I: Iterator<Item = W>>(words: impl Fn(&'static Row) -> I) -> Index<W> {
    let rows = FAMILIES.iter().map(|rows| rows.len()).sum();
    let mut index = FxHashMap::with_capacity_and_hasher(rows, FxBuildHasher);
    for row in all() {
        for word in words(row) {
            index.entry(word).or_insert(row);
        }
    }
    index
}

/// The words of a column.
fn words(column: &'static str) -> impl Iterator<Item = &'static str> {
    column.split_ascii_whitespace()
}

/// The operators of torch, also as PNNX files become NNEF.
fn torch(row: &'static Row) -> impl Iterator<Item = String> {
    words(row.torch).flat_map(|name| [name.to_owned(), name.replace('.', "_")])
}

/// The names of operations that are not of the standard: of ONNX, registries, converters and torch.
fn foreign(row: &'static Row) -> impl Iterator<Item = String> {
    [row.onnx, row.vendor, row.converters].into_iter().flat_map(words).map(str::to_owned).chain(torch(row))
}

/// The row of an operation, by its name in a notation.
pub(crate) fn find(vocabulary: Vocabulary, name: &str) -> Option<&'static Row> {
    static STANDARD: LazyLock<Index> = LazyLock::new(|| index(|row| words(row.standard)));
    static REGISTRY: LazyLock<Index> = LazyLock::new(|| index(|row| words(row.registry)));
    static VENDOR: LazyLock<Index> = LazyLock::new(|| index(|row| words(row.vendor).chain(words(row.converters))));
    static FOREIGN: LazyLock<Index<String>> = LazyLock::new(|| index(foreign));
    static TORCH: LazyLock<Index> = LazyLock::new(|| index(|row| words(row.torch)));
    match vocabulary {
        Vocabulary::Torch => TORCH.get(name).copied(),
        Vocabulary::Standard => STANDARD.get(name).copied(),
        Vocabulary::InRegistries => REGISTRY.get(name).or_else(|| STANDARD.get(name)).copied(),
        Vocabulary::Vendor => VENDOR.get(without_variant(name)).copied(),
        Vocabulary::Foreign => FOREIGN.get(name).copied(),
    }
}

/// Whether an operation is an undeclared one of Khronos' converters that is supported here.
pub(crate) fn is_of_converter(name: &str) -> bool {
    find(Vocabulary::Vendor, name).is_some_and(|row| words(row.converters).any(|known| known == without_variant(name)))
}

/// The row with a name of the dictionary.
pub(crate) fn named(name: &str) -> Option<&'static Row> {
    static NAMED: LazyLock<Index> = LazyLock::new(|| index(|row| std::iter::once(row.name)));
    NAMED.get(name).copied()
}

/// The name of a vendor operation without the variant number that Khronos' converters append: `erf` for `erf_v1`.
pub(crate) fn without_variant(name: &str) -> &str {
    let (base, variant) = name.rsplit_once("_v").unwrap_or((name, ""));
    let numbered = !variant.is_empty() && variant.bytes().all(|byte| byte.is_ascii_digit());
    if numbered { base } else { name }
}

/// Prefixes that exporters and converters put before names of operations.
const PREFIXES: &[&str] =
    &["tract_core_", "tract_transformers_", "tract_onnx_", "tract_", "nn_", "F_", "torch_", "Tensor_"];
/// Suffixes of the modules of torch.
const SUFFIXES: &[&str] = &["1d", "2d", "3d"];

/// The category of an operation of any notation. Names are equal but for case and underscores: `max_pool` is `MaxPool`
/// in ONNX.
pub(crate) fn category(operation: &str) -> Category {
    static KNOWN: LazyLock<FxHashMap<String, Category>> = LazyLock::new(|| {
        let mut known = FxHashMap::default();
        let mut add = |name: &str, row: &Row| {
            known.entry(plain(name)).or_insert(row.category);
        };
        // Names of the dictionary and of NNEF take precedence.
        all().for_each(|row| words(row.standard).chain([row.name]).for_each(|name| add(name, row)));
        for row in all() {
            foreign(row).for_each(|name| add(&name, row));
            foreign(row).for_each(|name| add(bare(&name), row));
        }
        known
    });
    let known = |name: &str| KNOWN.get(&plain(without_variant(name))).copied();
    known(operation).or_else(|| known(bare(operation))).unwrap_or(Category::Other)
}

/// A name without domain, prefix and suffix.
fn bare(operation: &str) -> &str {
    // ONNX has domains before the names of operators.
    let bare = operation.rsplit('.').next().unwrap_or(operation);
    let bare = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)).unwrap_or(bare);
    SUFFIXES.iter().find_map(|suffix| bare.strip_suffix(suffix)).unwrap_or(bare)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}
