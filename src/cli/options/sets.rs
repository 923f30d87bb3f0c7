//! Sets of subcommands, of input notations and of outputs.

use crate::input::table::{NOTATIONS, Notation};

/// A set of subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commands(pub(super) u16);

impl Commands {
    pub(crate) const FLATTEN: Self = Commands(1);
    pub(crate) const CHECK: Self = Commands(2);
    pub(crate) const RUN: Self = Commands(4);
    pub(crate) const FMT: Self = Commands(8);
    /// `expr` on an expression.
    pub(crate) const EXPR: Self = Commands(16);
    /// `expr --fuse`.
    pub(crate) const FUSE: Self = Commands(32);
    /// `layout` on a shape.
    pub(crate) const LAYOUT: Self = Commands(64);
    /// `layout` on a text with shapes.
    pub(crate) const LISTING: Self = Commands(128);
    pub(crate) const EXPLAIN: Self = Commands(256);
    pub(crate) const COMPLETIONS: Self = Commands(512);
    pub(crate) const MAN: Self = Commands(1024);
    pub(crate) const LSP: Self = Commands(2048);
    pub(crate) const DIFF: Self = Commands(4096);

    /// Each subcommand, with its name for clap and with what distinguishes it from another one of that name.
    pub(crate) const ALL: &[(Self, &str, &str)] = &[
        (Self::FLATTEN, "", ""),
        (Self::CHECK, "check", ""),
        (Self::DIFF, "diff", ""),
        (Self::RUN, "run", ""),
        (Self::FMT, "fmt", ""),
        (Self::EXPR, "expr", ""),
        (Self::FUSE, "expr", " --fuse"),
        (Self::LAYOUT, "layout", " SHAPE"),
        (Self::LISTING, "layout", " -"),
        (Self::EXPLAIN, "explain", ""),
        (Self::COMPLETIONS, "completions", ""),
        (Self::MAN, "man", ""),
        (Self::LSP, "lsp", ""),
    ];

    pub(super) const fn and(self, other: Self) -> Self {
        Commands(self.0 | other.0)
    }

    /// Whether they report on an input.
    pub(crate) fn reports(self) -> bool {
        !Self::EXPLAIN.and(Self::COMPLETIONS).and(Self::MAN).has(self)
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The subcommands of a name; none has the name of the command itself.
    pub(super) fn named(name: &str) -> Self {
        Self::ALL.iter().filter(|(_, known, _)| *known == name).fold(Commands(0), |all, (one, ..)| all.and(*one))
    }

    /// Their names as words of a command line, without that of flattening.
    pub(super) fn names(self) -> Vec<String> {
        let named = Self::ALL.iter().filter(|(one, name, _)| self.has(*one) && !name.is_empty());
        named.map(|(_, name, rest)| format!("{name}{rest}")).collect()
    }
}

/// Whether two names are equal, for constants.
const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A set of input notations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inputs(pub(super) u16);

impl Inputs {
    pub(super) const NNEF: Self = Self::of("nnef");
    pub(super) const DRAFT: Self = Self::of("nnef-draft");
    pub(super) const LOOPS: Self = Self::of("loops");
    const ONNX: Self = Self::of("onnx");
    pub(super) const ONNXTXT: Self = Self::of("onnxtxt");
    pub(super) const PNNX: Self = Self::of("pnnx");
    pub(super) const NCNN: Self = Self::of("ncnn");
    pub(super) const DOCUMENTS: Self = Self::NNEF.and(Self::DRAFT);
    pub(super) const MODELS: Self = Self::ONNX.and(Self::ONNXTXT);
    pub(super) const ALL: Self = Inputs(u16::MAX);

    /// The notation with a name, which has to be in the table.
    pub(super) const fn of(name: &str) -> Self {
        let mut i = 0;
        while !equal(NOTATIONS[i].name.as_bytes(), name.as_bytes()) {
            i += 1;
        }
        Inputs(1 << i)
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Inputs(self.0 | other.0)
    }

    /// Whether a notation is one of them; what has no notation is in all sets.
    pub(super) fn has(self, from: Option<&Notation>) -> bool {
        from.is_none_or(|from| self.0 & (1 << from.index()) != 0)
    }

    /// Their names as values of `--from`.
    pub(super) fn names(self) -> Vec<&'static str> {
        NOTATIONS.iter().filter(|from| self.has(Some(from))).map(|from| from.name).collect()
    }
}

/// A set of output notations, or of forms of an answer, by their names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outputs {
    Any,
    Of(&'static [&'static str]),
    Not(&'static [&'static str]),
}

impl Outputs {
    pub(super) fn has(self, output: &str) -> bool {
        match self {
            Outputs::Any => true,
            Outputs::Of(names) => names.contains(&output),
            Outputs::Not(names) => !names.contains(&output),
        }
    }
}
