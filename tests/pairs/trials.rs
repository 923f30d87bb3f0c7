//! The trials: for each option the runs in which it shows. In words, `@` is the folder of the samples, and a word that
//! begins with `<` is a file for standard input.

/// What an option changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The outcome.
    Shows,
    /// The outcome of a run that fails already.
    Fails,
    /// The time that the run takes, and nothing else.
    Speed,
    /// Nothing: it names what is done in any case.
    Usual,
}

/// Runs with an option.
#[derive(Clone, Copy)]
pub struct Trial {
    pub option: &'static str,
    /// Its value, and options that it needs.
    pub value: &'static str,
    /// Options of the run with it, and of the one without it.
    pub with: &'static str,
    /// The subcommands; flattening has none.
    pub of: &'static [&'static str],
    /// The input notations; empty for all.
    pub only: &'static [&'static str],
    /// The input of a notation, or of a subcommand that reads none, if it is not the usual one.
    pub inputs: &'static [(&'static str, &'static str)],
    pub effect: Effect,
}

impl Trial {
    /// Whether it is one of a subcommand with an input notation.
    pub fn of(&self, subcommand: &str, notation: &str) -> bool {
        self.of.contains(&subcommand) && (self.only.is_empty() || notation.is_empty() || self.only.contains(&notation))
    }

    /// Whether it is one of a subcommand.
    pub fn names(&self, subcommand: &str) -> bool {
        self.of.iter().any(|of| of.split(' ').next() == Some(subcommand))
    }

    const fn with(self, with: &'static str) -> Self {
        Trial { with, ..self }
    }

    const fn only(self, only: &'static [&'static str]) -> Self {
        Trial { only, ..self }
    }

    const fn on(self, inputs: &'static [(&'static str, &'static str)]) -> Self {
        Trial { inputs, ..self }
    }

    const fn by(self, effect: Effect) -> Self {
        Trial { effect, ..self }
    }
}

const fn trial(of: &'static [&'static str], option: &'static str, value: &'static str) -> Trial {
    Trial { option, value, with: "", of, only: &[], inputs: &[], effect: Effect::Shows }
}

const FLATTEN: &[&str] = &[""];
const CHECK: &[&str] = &["check"];
const DIFF: &[&str] = &["diff"];
const RUN: &[&str] = &["run"];
const FUSE: &[&str] = &["expr --fuse"];
const FMT: &[&str] = &["fmt"];
const EXPR: &[&str] = &["expr"];
const LAYOUT: &[&str] = &["layout"];
const LANGUAGE: &[&str] = &["", "check", "diff", "run", "expr --fuse", "expr"];
const EXPANSION: &[&str] = &["", "expr --fuse", "expr"];
const LIMITS: &[&str] = &["", "check", "diff", "run", "expr --fuse"];
const MESSAGES: &[&str] = &["", "check", "diff", "run", "expr --fuse", "expr", "layout"];
const TOLD: &[&str] = &["explain", "completions", "man", "lsp"];
const LSP: &[&str] = &["lsp"];

/// Loops whose trips are not known.
const OPEN: &[(&str, &str)] =
    &[("nnef", "@scan.nnef"), ("loops", "@loop.json"), ("onnx", "@loop.onnx"), ("onnxtxt", "@loop.onnxtxt")];
/// Loops whose condition depends on data.
const CONDITION: &[(&str, &str)] = &[
    ("nnef", "@loop.nnef"),
    ("loops", "@loop.json"),
    ("run-loops", "@loop.json --inputs @small.inputs.json"),
    ("onnx", "@loop.onnx"),
    ("onnxtxt", "@loop.onnxtxt"),
];
const LARGE: &[(&str, &str)] = &[
    ("nnef", "@large.nnef"),
    ("nnef-draft", "@large-draft.nnef"),
    ("loops", "@large.json"),
    ("onnx", "@large.onnx"),
    ("onnxtxt", "@large.onnxtxt"),
    ("pnnx", "@large.pnnx.param"),
    ("ncnn", "@large.ncnn.param"),
    ("expr", "add(@0,@1) --inputs @large.operands.json"),
    ("layout", "- <@large.txt"),
];
/// Formatting in place would change the samples.
const STREAMS: &[(&str, &str)] = &[
    ("nnef", "- <@plain.nnef"),
    ("nnef-draft", "- <@draft.nnef"),
    ("loops", "- <@plain.json"),
    ("onnx", "- <@plain.onnx"),
    ("onnxtxt", "- <@plain.onnxtxt"),
    ("pnnx", "- <@plain.pnnx.param"),
    ("ncnn", "- <@plain.ncnn.param"),
];
const BROKEN: &[(&str, &str)] = &[
    ("nnef", "- <@broken.nnef"),
    ("nnef-draft", "- <@broken-draft.nnef"),
    ("loops", "- <@plain.json"),
    ("onnx", "- <@plain.onnx"),
    ("onnxtxt", "- <@plain.onnxtxt"),
    ("pnnx", "- <@plain.pnnx.param"),
    ("ncnn", "- <@plain.ncnn.param"),
];
/// Chains of equal parts.
const REPEATED: &[(&str, &str)] = &[
    ("nnef", "@repeated.nnef"),
    ("nnef-draft", "@repeated-draft.nnef"),
    ("loops", "@repeated.json"),
    ("onnx", "@repeated.onnx"),
    ("onnxtxt", "@repeated.onnxtxt"),
    ("pnnx", "@repeated.pnnx.param"),
    ("ncnn", "@repeated.ncnn.param --lower all"),
];
/// Models with a large constant that is computed.
const KNOWN: &[(&str, &str)] = &[("onnx", "@known.onnx"), ("onnxtxt", "@known.onnxtxt")];
/// Models with a sum behind a product.
const MERGED: &[(&str, &str)] = &[("onnx", "@merged.onnx"), ("onnxtxt", "@merged.onnxtxt")];
/// Layers that all become operations of NNEF.
const LOWERED: &[(&str, &str)] =
    &[("ncnn", "@plain.ncnn.param --lower all"), ("run-ncnn", "@plain.ncnn.param --inputs @plain.inputs.json")];
/// A text with a warning.
const WARNED: &[(&str, &str)] = &[("expr", "--compat mul(expm1,@0),log1p,@1"), ("layout", "- <@plain.nnef")];
const WEIGHTS: &[(&str, &str)] = &[
    ("pnnx", "@weights.pnnx.param"),
    ("run-pnnx", "@weights.pnnx.param --inputs @pnnx.inputs.json"),
    ("expr", "mul(add(@0,@1),exp(@0)) --inputs @arrays.json"),
];

/// Inputs of notations with weights, or with operations that are lowered before they can be evaluated in other notations.
const VERIFIED: &[(&str, &str)] = &[("pnnx", "@weights.pnnx.param"), LOWERED[0]];

pub const TRIALS: &[Trial] = &[
    // The result.
    trial(FLATTEN, "--output", "flat"),
    trial(FLATTEN, "--output", "flat").with("--to json"),
    trial(FLATTEN, "--output", "flat/"),
    trial(FLATTEN, "--output", "flat.tgz"),
    trial(FLATTEN, "--to", "json"),
    trial(FLATTEN, "--threads", "1").by(Effect::Speed),
    trial(CHECK, "--threads", "1").by(Effect::Speed),
    trial(FLATTEN, "--source-map", "map.json").on(LOWERED),
    trial(FLATTEN, "--provenance", ""),
    trial(FLATTEN, "--annotate", ""),
    trial(FLATTEN, "--outline", "").on(REPEATED),
    trial(FLATTEN, "--fold", ""),
    trial(FLATTEN, "--fold", "").with("-q").only(&["nnef"]),
    trial(FLATTEN, "--share", "").with("-q").on(LOWERED),
    trial(FLATTEN, "--simplify", ""),
    trial(FLATTEN, "--simplify-except", "share").with("--simplify").on(LOWERED),
    trial(FLATTEN, "--merge", "").on(MERGED),
    trial(FLATTEN, "--opset", "13"),
    trial(FLATTEN, "--keep-tensors", "a").with("--simplify"),
    trial(FLATTEN, "--fold-growth", "1MB").with("--fold").on(KNOWN),
    trial(FLATTEN, "--drop-bitcasts", "").with("-q").only(&["nnef", "loops", "onnx", "onnxtxt"]),
    trial(FLATTEN, "--drop-bitcasts", "").only(&["nnef-draft"]),
    trial(FLATTEN, "--drop-bitcasts", "").with("-q --lower all").on(&[("pnnx", "@reshape.pnnx.param")]).only(&["pnnx"]),
    trial(FLATTEN, "--drop-bitcasts", "").only(&["ncnn"]),
    trial(FLATTEN, "--layout", "{0,1}"),
    trial(FLATTEN, "--layout", "{0,1}").with("--stats"),
    trial(FLATTEN, "--stats", ""),
    trial(FLATTEN, "--verify", "").on(LOWERED),
    trial(FLATTEN, "--inputs", "@plain.inputs.json"),
    trial(FLATTEN, "--inputs", "@wrong.inputs.json").with("--verify").on(LOWERED),
    trial(FLATTEN, "--seed", "9"),
    trial(FLATTEN, "--seed", "9")
        .with("--verify")
        .on(&[
            ("nnef", "@seed.nnef"),
            ("nnef-draft", "@seed-draft.nnef"),
            ("onnx", "@seed.onnx"),
            ("onnxtxt", "@seed.onnxtxt"),
        ])
        .only(&["nnef", "nnef-draft", "onnx", "onnxtxt"]),
    // Input and expansion.
    trial(LANGUAGE, "--from", "loops").only(&["nnef", "nnef-draft", "onnx", "onnxtxt", "pnnx", "ncnn"]),
    trial(LANGUAGE, "--from", "pnnx").only(&["loops"]),
    trial(LANGUAGE, "--production", "node"),
    trial(EXPANSION, "--lower", "none"),
    trial(EXPANSION, "--lower", "nothing"),
    trial(CHECK, "--lower", "nothing"),
    trial(CHECK, "--lower", "all").only(&["pnnx"]).on(&[("pnnx", "@torch.pnnx.param")]),
    trial(&["", "check"], "--lower", "all").only(&["ncnn"]).on(&[("ncnn", "@custom.ncnn.param")]),
    trial(FUSE, "--lower", "all").only(&["ncnn"]),
    trial(RUN, "--lower", "nothing"),
    trial(DIFF, "--lower", "nothing"),
    trial(DIFF, "--lower", "all")
        .only(&["pnnx", "ncnn"])
        .on(&[("pnnx", "@torch.pnnx.param"), ("ncnn", "@custom.ncnn.param")]),
    trial(DIFF, "--bind", "x=[[1,2,3]]"),
    trial(DIFF, "--keep-unused", ""),
    trial(RUN, "--lower", "none").only(&["pnnx"]),
    trial(LANGUAGE, "--keep", "nothing"),
    trial(FLATTEN, "--keep", "twice").only(&["nnef", "nnef-draft", "onnx", "onnxtxt"]),
    trial(LANGUAGE, "--strict", "").on(WARNED),
    trial(LANGUAGE, "--fragments", "@broken.nnef"),
    trial(FLATTEN, "--fragments", "@declarations.nnef").only(&["nnef"]),
    trial(RUN, "--fragments", "@declarations.nnef").only(&["nnef"]),
    trial(&["", "run", "expr --fuse", "expr"], "--bind", "x=[[1,2,3],[4,5,6]]").on(LOWERED),
    trial(CHECK, "--bind", "x=[[1,2,3]]"),
    trial(&["", "run", "expr --fuse"], "--bind", "v_0=[[1,2,3],[4,5,6]]").only(&["pnnx"]),
    trial(LANGUAGE, "--outputs", "none"),
    trial(LANGUAGE, "--inputs-at", "none"),
    trial(LANGUAGE, "--input-shape", "x=4,3"),
    trial(LANGUAGE, "--input-shape", "v_0=4,3").only(&["pnnx"]),
    trial(LANGUAGE, "--set", "M=4").on(&[("nnef", "@symbol.nnef")]),
    trial(LANGUAGE, "--set", "N=4").with("--input-shape v_0=N,3").only(&["pnnx"]),
    trial(LANGUAGE, "--set", "N=4").with("--input-shape x=N,3").only(&["ncnn"]),
    trial(EXPANSION, "--keep-unused", "").on(&[("nnef", "@unused.nnef")]),
    trial(FLATTEN, "--keep-unused", "").with("--fold").on(&[("nnef", "@unused.nnef")]),
    trial(CHECK, "--keep-unused", ""),
    trial(RUN, "--keep-unused", "").on(&[
        ("nnef", "@unused.nnef --inputs @plain.inputs.json"),
        ("nnef-draft", "@unused-draft.nnef --inputs @plain.inputs.json"),
    ]),
    trial(LANGUAGE, "--unroll", "").on(OPEN),
    trial(LANGUAGE, "--max-trips", "3").on(CONDITION),
    trial(LANGUAGE, "--max-trips", "3").with("--unroll").on(CONDITION),
    trial(LANGUAGE, "--flat", "").on(OPEN),
    trial(LANGUAGE, "--flat", "").with("--unroll").on(OPEN),
    // Limits.
    trial(LIMITS, "--limits", "untrusted").on(LARGE),
    trial(&["expr", "layout"], "--limits", "untrusted").on(LARGE),
    trial(FMT, "--limits", "untrusted").on(&[("nnef", "- <@large.nnef"), ("nnef-draft", "- <@large-draft.nnef")]),
    trial(LIMITS, "--max-ops", "1").on(&[("run-loops", "@loop.json --inputs @small.inputs.json")]),
    trial(CHECK, "--max-ops", "1").with("--unroll").only(&["loops"]),
    trial(&["expr", "layout"], "--max-ops", "1").on(&[("expr", "add(@0,mul(@1,@2))")]),
    trial(LIMITS, "--max-depth", "1").on(&[("nnef", "@deep.nnef"), ("nnef-draft", "@deep-draft.nnef")]),
    trial(LIMITS, "--max-length", "1").on(&[("pnnx", "@list.pnnx.param"), ("run-pnnx", "@list.pnnx.param")]),
    trial(LIMITS, "--max-memory", "1").on(WEIGHTS),
    trial(CHECK, "--max-memory", "1").with("--unroll").only(&["loops"]),
    trial(&["expr"], "--max-memory", "1").on(WEIGHTS),
    trial(LAYOUT, "--max-memory", "1"),
    trial(LAYOUT, "--max-memory", "1").on(&[("layout", "- <@shapes.txt")]),
    trial(LIMITS, "--max-text", "9"),
    trial(EXPR, "--max-text", "9").on(WEIGHTS),
    trial(LAYOUT, "--max-text", "9").on(&[("layout", "- <@shapes.txt")]),
    trial(FMT, "--max-text", "9").on(STREAMS),
    trial(LIMITS, "--max-files", "1").on(&[("nnef", "@model.tgz"), ("nnef-draft", "@model-draft.tgz")]),
    trial(LIMITS, "--max-unpacked", "1").on(&[("nnef", "@zeros.tgz"), ("nnef-draft", "@zeros-draft.tgz")]),
    trial(&["expr", "layout"], "--max-depth", "1"),
    trial(&["expr", "layout"], "--max-length", "1"),
    trial(&["expr", "layout"], "--max-files", "1"),
    trial(&["expr", "layout"], "--max-unpacked", "1"),
    trial(LAYOUT, "--max-items", "1"),
    trial(LAYOUT, "--max-work", "1"),
    trial(LIMITS, "--max-output", "1").only(&["nnef", "nnef-draft", "loops", "onnx", "onnxtxt", "pnnx"]),
    trial(FLATTEN, "--max-output", "1").on(LOWERED).only(&["ncnn"]),
    trial(EXPR, "--max-output", "1"),
    trial(LAYOUT, "--max-output", "1"),
    trial(FMT, "--max-output", "1").on(STREAMS),
    trial(LSP, "--max-output", "1"),
    trial(LIMITS, "--max-items", "1").on(WEIGHTS),
    trial(LIMITS, "--max-work", "1").on(WEIGHTS),
    trial(EXPR, "--max-items", "1").on(WEIGHTS),
    trial(EXPR, "--max-work", "1").on(WEIGHTS),
    trial(EXPR, "--max-items", "1"),
    trial(EXPR, "--max-work", "1"),
    trial(FLATTEN, "--max-items", "1").with("--fold").on(WEIGHTS),
    trial(FLATTEN, "--max-work", "1").with("--fold"),
    trial(FLATTEN, "--max-items", "1").with("--verify").on(VERIFIED),
    trial(FLATTEN, "--max-work", "1").with("--verify").on(LOWERED),
    trial(FMT, "--max-ops", "1").on(STREAMS),
    trial(FMT, "--max-depth", "1").on(STREAMS),
    trial(FMT, "--max-length", "1").on(STREAMS),
    trial(FMT, "--max-memory", "1").on(STREAMS),
    trial(FMT, "--max-files", "1")
        .on(&[("nnef", "--check @model.tgz")])
        .only(&["nnef", "loops", "onnx", "pnnx", "ncnn"]),
    trial(FMT, "--max-unpacked", "1")
        .on(&[("nnef", "--check @zeros.tgz")])
        .only(&["nnef", "loops", "onnx", "pnnx", "ncnn"]),
    trial(FMT, "--max-items", "1").on(STREAMS),
    trial(FMT, "--max-work", "1").on(STREAMS),
    trial(LSP, "--stdio", "").by(Effect::Usual),
    trial(LSP, "--strict", ""),
    trial(LSP, "--fragments", "@broken.nnef"),
    trial(LSP, "--limits", "default").on(&[("lsp", "<@large.lsp")]),
    trial(LSP, "--max-ops", "1"),
    trial(LSP, "--max-depth", "1").on(&[("lsp", "<@deep.lsp")]),
    trial(LSP, "--max-length", "1"),
    trial(LSP, "--max-memory", "1"),
    trial(LSP, "--max-text", "9"),
    trial(LSP, "--max-files", "1"),
    trial(LSP, "--max-unpacked", "1"),
    trial(LSP, "--max-items", "1"),
    trial(LSP, "--max-work", "1"),
    // Messages.
    trial(MESSAGES, "--message-format", "json").on(WARNED),
    trial(MESSAGES, "--color", "always").on(WARNED),
    trial(MESSAGES, "--quiet", "").on(WARNED),
    trial(MESSAGES, "--warnings", "all").on(WARNED),
    trial(MESSAGES, "--allow", "all").on(WARNED),
    trial(MESSAGES, "--deny", "all").on(WARNED),
    trial(FMT, "--message-format", "json").on(BROKEN),
    trial(FMT, "--color", "always").on(BROKEN),
    trial(FMT, "--quiet", "").on(BROKEN),
    trial(FMT, "--warnings", "all").on(STREAMS),
    trial(FMT, "--allow", "all").on(STREAMS),
    trial(FMT, "--deny", "all").on(STREAMS),
    trial(TOLD, "--message-format", "json").on(TOO_MANY).by(Effect::Fails),
    trial(TOLD, "--color", "always").on(TOO_MANY).by(Effect::Fails),
    trial(TOLD, "--quiet", ""),
    trial(TOLD, "--warnings", "all"),
    trial(TOLD, "--allow", "all"),
    trial(TOLD, "--deny", "all"),
    trial(&["man"], "--folder", "."),
    // The options of subcommands.
    trial(RUN, "--inputs", "@plain.inputs.json"),
    trial(RUN, "--output", "values.json").with("--to json"),
    trial(RUN, "--layout", "none={0,1}"),
    trial(RUN, "--to", "npz"),
    trial(CHECK, "--fix", "").on(&[("nnef", "@mended.nnef"), ("nnef-draft", "@mended-draft.nnef")]),
    trial(DIFF, "--values", "").only(&["onnxtxt"]).on(&[("onnxtxt", "@data.onnxtxt @other.onnxtxt")]),
    trial(DIFF, "--page", "page.html").only(&["nnef"]),
    trial(DIFF, "--renamed", "").only(&["nnef"]).on(&[("nnef", "@named.nnef @named-other.nnef")]),
    trial(FMT, "--check", "").on(STREAMS),
    trial(FMT, "--from", "nnef-draft").on(STREAMS).only(&["nnef"]),
    trial(FMT, "--from", "nnef").on(STREAMS).only(&["nnef-draft"]),
    trial(FUSE, "--recompute", "").on(&[
        ("nnef", "@recompute.nnef"),
        ("nnef-draft", "@recompute-draft.nnef"),
        ("loops", "@recompute.json"),
        ("pnnx", "@recompute.pnnx.param"),
        ("ncnn", "@recompute.ncnn.param --lower all"),
    ]),
    trial(FUSE, "--fold", ""),
    trial(FUSE, "--inputs", "@operands.json"),
    trial(FUSE, "--batch", "2"),
    trial(FUSE, "--arity", "1"),
    trial(FUSE, "--compat", ""),
    trial(FUSE, "--shape", "2,3"),
    trial(FUSE, "--share", ""),
    trial(EXPR, "--to", "svg"),
    trial(EXPR, "--fuse", "").on(&[("expr", "@plain.nnef")]),
    trial(EXPR, "--recompute", ""),
    trial(EXPR, "--fold", "").on(&[("expr", "mul(@0,add(1,2))")]),
    trial(EXPR, "--inputs", "@operands.json"),
    trial(EXPR, "--batch", "2").with("--inputs @four.json"),
    trial(EXPR, "--arity", "1"),
    trial(EXPR, "--compat", "").on(&[("expr", "mul(expm1,@0),log1p,@1")]),
    trial(EXPR, "--shape", "2,3"),
    trial(EXPR, "--shape", "2,3").with("--fold").on(&[("expr", "size(@0,1)")]),
    trial(EXPR, "--share", "").on(&[("expr", "add(mul(@0,@1),mul(@0,@1))")]),
    trial(LAYOUT, "--to", "nnef"),
    trial(LAYOUT, "--to", "nnef").on(&[("layout", "- <@shapes.txt")]),
    trial(LAYOUT, "--tpu-tiles", "").on(&[("layout", "f32[3,5]{1,0}")]),
    trial(LAYOUT, "--tpu-tiles", "").on(&[("layout", "- <@shapes.txt")]),
    trial(LAYOUT, "--padded", "6,8"),
    trial(LAYOUT, "--padded", "6,8").on(&[("layout", "- <@shapes.txt")]),
    trial(LAYOUT, "--padding-value", "one"),
    trial(LAYOUT, "--padding-value", "one").with("--padded 6,8"),
    trial(LAYOUT, "--index", "1,1"),
    trial(LAYOUT, "--memory", "").on(&[("layout", "f32[40,50]{1,0}")]),
    trial(LAYOUT, "--reshape", "f32[15]"),
    trial(LAYOUT, "--transpose", "f32[5,3] --permutation 1,0"),
    trial(LAYOUT, "--permutation", "1,0 --transpose f32[5,3]"),
];

/// Arguments that are wrong usage.
const TOO_MANY: &[(&str, &str)] =
    &[("explain", "E0401 E0402"), ("completions", "bash zsh"), ("man", "check fmt"), ("lsp", "graph.nnef")];
