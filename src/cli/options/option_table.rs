//! The rows.

use super::row::{NoEffect, OptionRow, Use};
use super::sets::{Commands as C, Inputs as I, Outputs};
use crate::Lower;
use crate::cli::args::Language;

use Outputs::{Not, Of};

const OUTPUT: &str = "Output";
const PASSES: &str = "Passes over the flat graph";
const COMPARISON: &str = "Verification";
const INPUT: &str = "Input";
const EXPANSION: &str = "Expansion";
const LIMITS: &str = "Limits";
const MESSAGES: &str = "Messages";

/// The subcommands that read inputs in any notation.
const READ: C = C::FLATTEN.and(C::CHECK).and(C::RUN).and(C::FUSE);
/// Those that make a flat graph.
const GRAPHS: C = C::FLATTEN.and(C::CHECK).and(C::FUSE);
/// Those that make one of a model of ONNX, which is not fused.
const MODEL_GRAPHS: C = C::FLATTEN.and(C::CHECK);
/// Those with diagnostics.
const TOLD: C = READ.and(C::DIFF).and(C::EXPR).and(C::LAYOUT).and(C::LISTING);
/// Those that write a result.
const WRITTEN: C =
    C::FLATTEN.and(C::RUN).and(C::FUSE).and(C::DIFF).and(C::FMT).and(C::EXPR).and(C::LISTING).and(C::LAYOUT);
/// All.
const EVERY: C = TOLD.and(C::FMT).and(C::EXPLAIN).and(C::COMPLETIONS).and(C::MAN).and(C::LSP);
/// The forms of `expr` that are graphs.
const OF_GRAPHS: Outputs = Of(&["nnef", "onnxtxt", "dot", "svg"]);
/// The forms that describe an expression or a shape.
const TOLD_FORMS: Outputs = Of(&["text", "json"]);
/// Everything but a file of PNNX, which is made of another one without a graph.
const NOT_PNNX: Outputs = Not(&["pnnx"]);
/// What models of ONNX are written as without a translation to NNEF, which unrolls all loops and leaves out nodes.
const NOT_NNEF: Outputs = Not(&["nnef"]);
const NOT_LOOPS: I = I::DOCUMENTS.and(I::MODELS).and(I::PNNX).and(I::NCNN);
const NOT_PNNX_FILES: I = I::DOCUMENTS.and(I::LOOPS).and(I::MODELS).and(I::NCNN);
const NOT_MODELS: I = I::DOCUMENTS.and(I::LOOPS).and(I::PNNX).and(I::NCNN);
/// Files with an operator or a layer in each line.
const LAYERED: I = I::PNNX.and(I::NCNN);

const KNOWN_TRIPS: &str = "their loops are unrolled, or they are refused";
const NO_LOOPS: &str = "they have no loops";
/// Where the loops of models are unrolled without an option.
const UNROLLED: &[(I, Outputs, &str)] = &[(I::MODELS, Of(&["nnef"]), "NNEF has no loops, so that all are unrolled")];

const fn row(name: &'static str, heading: &'static str, uses: &'static [Use]) -> OptionRow {
    // What is said of texts, limits and messages holds for each of them.
    let of_parts: fn(&Language) -> bool = match heading.as_bytes() {
        b"" | b"Limits" | b"Messages" => |_| true,
        _ => |_| false,
    };
    OptionRow { name, heading, uses, no_effect: &[], held: &[], because: &[], of_parts }
}

const fn of(commands: C) -> Use {
    Use { commands, inputs: I::ALL, outputs: Outputs::Any, with: &[] }
}

impl Use {
    const fn on(self, inputs: I) -> Self {
        Use { inputs, ..self }
    }

    const fn to(self, outputs: Outputs) -> Self {
        Use { outputs, ..self }
    }

    const fn with(self, with: &'static [&'static str]) -> Self {
        Use { with, ..self }
    }
}

impl OptionRow {
    const fn no_effect(self, no_effect: &'static [NoEffect]) -> Self {
        OptionRow { no_effect, ..self }
    }

    const fn of_parts(self) -> Self {
        self.of_parts_if(|_| true)
    }

    const fn of_parts_if(self, of_parts: fn(&Language) -> bool) -> Self {
        OptionRow { of_parts, ..self }
    }

    const fn held(self, held: &'static [(I, Outputs, &'static str)]) -> Self {
        OptionRow { held, ..self }
    }

    const fn because(self, because: &'static [(I, &'static str)]) -> Self {
        OptionRow { because, ..self }
    }
}

/// What looks at the flat graph. Files of PNNX that are written again have none.
const VIEWS: &[Use] = &[of(C::FLATTEN).on(NOT_PNNX_FILES), of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX)];
/// What takes a part of the flat graph.
const PARTS: &[Use] =
    &[of(C::FLATTEN).on(NOT_PNNX_FILES), of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX), of(C::RUN).on(NOT_LOOPS)];
/// The texts that an editor has.
const TEXTS: I = I::DOCUMENTS.and(I::ONNXTXT);
/// What limits lengths of values: documents, and files of PNNX of which a flat graph is made.
const LENGTHS: &[Use] = &[
    of(READ.and(C::DIFF).and(C::LSP)).on(I::DOCUMENTS),
    of(C::CHECK.and(C::DIFF).and(C::RUN).and(C::FUSE)).on(I::PNNX),
    of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX),
];

/// What shapes of inputs can be given for.
const SHAPES: &[Use] = &[
    of(READ.and(C::DIFF)).on(I::DOCUMENTS.and(I::NCNN)),
    of(MODEL_GRAPHS.and(C::DIFF)).on(I::MODELS),
    of(C::CHECK.and(C::DIFF).and(C::RUN).and(C::FUSE)).on(I::PNNX),
    of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX),
];

/// All options, in the order of `--help`.
pub(super) static OPTIONS: &[OptionRow] = &[
    row("output", OUTPUT, &[of(C::FLATTEN)]).of_parts(),
    row(
        "to",
        OUTPUT,
        &[
            of(C::FLATTEN).on(NOT_MODELS).to(Not(&["nnef-draft"])),
            of(C::FLATTEN).on(I::DRAFT).to(Of(&["nnef-draft"])),
            of(C::FLATTEN).on(I::MODELS).to(Not(&["nnef-draft", "pnnx"])),
        ],
    )
    .of_parts(),
    row(
        "threads",
        OUTPUT,
        &[
            of(C::FLATTEN).to(Of(&["nnef", "nnef-draft", "json", "nnef-json"])),
            of(C::FLATTEN).on(I::MODELS).to(Of(&["onnxtxt"])),
            of(C::CHECK),
        ],
    )
    .of_parts(),
    row("source-map", OUTPUT, VIEWS),
    row("provenance", OUTPUT, &[of(C::FLATTEN).on(I::MODELS).to(Of(&["onnx"]))]),
    row(
        "annotate",
        OUTPUT,
        &[of(C::FLATTEN).to(Of(&["nnef", "nnef-draft"])), of(C::FLATTEN).on(I::MODELS).to(OF_MODELS)],
    ),
    row(
        "outline",
        OUTPUT,
        &[
            of(C::FLATTEN).on(NOT_MODELS).to(Of(&["nnef"])),
            of(C::FLATTEN).on(I::MODELS).to(Of(&["nnef", "onnx", "onnxtxt"])),
        ],
    ),
    row("stats", OUTPUT, VIEWS),
    row("fold", PASSES, MODEL_PASS),
    row("share", PASSES, MODEL_PASS),
    row("simplify", PASSES, MODEL_PASS),
    row(
        "simplify-except",
        PASSES,
        &[
            of(C::FLATTEN).on(NOT_PNNX_FILES).with(&["simplify"]),
            of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX).with(&["simplify"]),
        ],
    ),
    row("merge", PASSES, SIMPLIFIED),
    row("opset", PASSES, &[of(C::FLATTEN).on(I::MODELS).to(OF_MODELS)]),
    row(
        "keep-tensors",
        PASSES,
        &[of(C::FLATTEN).on(I::MODELS).to(NOT_NNEF).with(&["fold", "merge", "share", "simplify"])],
    ),
    row("fold-growth", PASSES, &[of(C::FLATTEN).on(I::MODELS).to(NOT_NNEF).with(&["fold", "simplify"])]),
    row("drop-bitcasts", PASSES, PASS),
    row(
        "layout",
        PASSES,
        &[
            of(C::FLATTEN).on(NOT_MODELS).to(Of(&["json", "html"])),
            of(C::FLATTEN).on(I::DOCUMENTS.and(I::LOOPS)).with(&["stats", "drop-bitcasts", "verify"]),
            of(C::FLATTEN).on(I::NCNN).with(&["stats", "drop-bitcasts", "verify"]),
            of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX).with(&["stats", "drop-bitcasts", "verify"]),
        ],
    ),
    row("verify", COMPARISON, &[of(C::FLATTEN).to(READ_BACK)]),
    row("inputs", COMPARISON, COMPARED),
    row("seed", COMPARISON, COMPARED),
    row("from", INPUT, &[of(READ.and(C::DIFF).and(C::FMT))]).of_parts(),
    row("production", INPUT, &[of(C::FLATTEN.and(C::CHECK)).on(I::ONNXTXT)]).of_parts(),
    row("strict", INPUT, &[of(READ.and(C::DIFF)), of(C::EXPR.and(C::LSP))]).of_parts(),
    row("fragments", INPUT, &[of(READ.and(C::DIFF).and(C::LSP)).on(I::DOCUMENTS)]),
    row("input-shape", INPUT, SHAPES),
    row(
        "set",
        INPUT,
        &[
            of(READ.and(C::DIFF)).on(I::DOCUMENTS),
            of(MODEL_GRAPHS.and(C::DIFF)).on(I::MODELS),
            of(C::CHECK.and(C::DIFF).and(C::RUN).and(C::FUSE)).on(I::PNNX).with(&["input-shape"]),
            of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX).with(&["input-shape"]),
            of(READ.and(C::DIFF)).on(I::NCNN).with(&["input-shape"]),
        ],
    )
    .no_effect(&[NoEffect {
        inputs: LAYERED,
        outputs: Outputs::Any,
        what: "--set of a symbol that no --input-shape has",
        is: |language| {
            let shapes = language.shapes();
            language.set.iter().any(|(symbol, _)| !shapes.mentions(symbol))
        },
    }]),
    row(
        "bind",
        INPUT,
        &[
            of(C::FLATTEN.and(C::DIFF).and(C::RUN)).on(I::DOCUMENTS.and(I::NCNN)),
            of(C::FLATTEN.and(C::DIFF)).on(I::LOOPS),
            of(MODEL_GRAPHS.and(C::DIFF)).on(I::MODELS),
            of(C::DIFF.and(C::RUN)).on(I::PNNX),
            of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX),
        ],
    )
    .because(&[(I::LOOPS, "their inputs are values of --inputs")]),
    row("outputs", INPUT, PARTS),
    row("inputs-at", INPUT, PARTS),
    row(
        "lower",
        EXPANSION,
        &[
            of(GRAPHS.and(C::DIFF)).on(I::DOCUMENTS.and(LAYERED)),
            of(C::CHECK.and(C::DIFF)).on(I::MODELS),
            of(C::FLATTEN).on(I::MODELS.and(I::LOOPS)),
            of(C::RUN).on(I::DOCUMENTS),
        ],
    )
    // Nothing is expanded in a part.
    .of_parts_if(|language| matches!(language.lower, Some(Lower::None)))
    .no_effect(&[
        // What is expanded besides all is decided by the operators that NNEF has.
        NoEffect {
            inputs: I::MODELS,
            outputs: Of(&["nnef"]),
            what: "--lower with names, or none",
            is: |language| matches!(language.lower, Some(Lower::Names(_) | Lower::None)),
        },
        NoEffect {
            inputs: I::LOOPS,
            outputs: Outputs::Any,
            what: "--lower with names, or none",
            is: |language| matches!(language.lower, Some(Lower::Names(_) | Lower::None)),
        },
        NoEffect {
            inputs: LAYERED,
            outputs: Outputs::Any,
            what: "--lower with names",
            is: |language| matches!(language.lower, Some(Lower::Names(_))),
        },
        NoEffect {
            inputs: I::NCNN,
            outputs: Outputs::Any,
            what: "--lower none",
            is: |language| language.lower == Some(Lower::None),
        },
        NoEffect {
            inputs: I::DRAFT,
            outputs: Of(&["nnef", "onnx", "onnxtxt"]),
            what: "--lower none",
            is: |language| language.lower == Some(Lower::None),
        },
    ])
    .because(&[
        (I::PNNX, "all its operators have to become operations of NNEF"),
        (I::NCNN, "all its layers have to become operations of NNEF"),
    ]),
    row("keep", EXPANSION, &[of(READ.and(C::DIFF)).on(I::DOCUMENTS), of(MODEL_GRAPHS.and(C::DIFF)).on(I::MODELS)]),
    row("keep-unused", EXPANSION, &[of(C::FLATTEN.and(C::FUSE).and(C::RUN)).on(I::DOCUMENTS)])
        .held(&[
            (I::MODELS, NOT_NNEF, "all nodes are kept"),
            (I::PNNX, Outputs::Any, "all operators are kept"),
            (I::NCNN, Outputs::Any, "all layers are kept"),
        ])
        .because(&[
            (I::LOOPS, "a value that no output needs is never computed"),
            (I::MODELS, "nodes that no output needs are not translated"),
        ]),
    row(
        "unroll",
        EXPANSION,
        &[
            of(READ.and(C::DIFF)).on(I::NNEF),
            of(GRAPHS.and(C::DIFF)).on(I::LOOPS),
            of(C::CHECK.and(C::DIFF)).on(I::MODELS),
            of(C::FLATTEN).on(I::MODELS).to(NOT_NNEF),
            // With an option that says how: in NNEF they are always unrolled.
            of(C::FLATTEN).on(I::MODELS).with(&["max-trips"]),
        ],
    )
    .held(UNROLLED)
    .because(&[(I::DRAFT.and(LAYERED), NO_LOOPS), (I::LOOPS, "their loops are run")]),
    row(
        "max-trips",
        EXPANSION,
        &[
            of(READ.and(C::DIFF)).on(I::NNEF),
            of(GRAPHS.and(C::DIFF)).on(I::LOOPS).with(&["unroll"]),
            of(MODEL_GRAPHS.and(C::DIFF)).on(I::MODELS).with(&["unroll"]),
            of(C::RUN).on(I::LOOPS),
        ],
    )
    .because(&[(I::DRAFT.and(LAYERED), NO_LOOPS)]),
    row(
        "flat",
        EXPANSION,
        &[of(READ).on(I::NNEF), of(C::CHECK).on(I::MODELS), of(C::FLATTEN).on(I::MODELS).to(NOT_NNEF)],
    )
    .held(UNROLLED)
    .because(&[(I::DRAFT.and(LAYERED), NO_LOOPS), (I::LOOPS, KNOWN_TRIPS)]),
    row("limits", LIMITS, &[of(READ.and(C::DIFF).and(C::FMT).and(C::EXPR).and(C::LISTING).and(C::LAYOUT).and(C::LSP))]),
    row(
        "max-ops",
        LIMITS,
        &[
            of(C::FLATTEN.and(C::CHECK).and(C::FUSE)).on(NOT_LOOPS),
            of(C::DIFF),
            of(C::LSP).on(TEXTS),
            of(C::RUN).on(I::DOCUMENTS.and(LAYERED)),
            of(C::FLATTEN.and(C::RUN).and(C::FUSE)).on(I::LOOPS),
            of(C::CHECK).on(I::LOOPS).with(&["unroll"]),
            of(C::EXPR).to(OF_GRAPHS),
        ],
    ),
    row("max-depth", LIMITS, &[of(READ.and(C::DIFF).and(C::LSP)).on(I::DOCUMENTS)]),
    row("max-length", LIMITS, LENGTHS),
    row(
        "max-memory",
        LIMITS,
        &[
            of(READ.and(C::DIFF)).on(I::DOCUMENTS.and(I::MODELS).and(I::PNNX)),
            of(GRAPHS.and(C::DIFF)).on(I::NCNN).with(&["lower"]),
            of(C::RUN).on(I::NCNN),
            of(C::DIFF).on(I::LOOPS),
            of(C::LSP).on(TEXTS),
            of(C::FLATTEN.and(C::RUN).and(C::FUSE)).on(I::LOOPS),
            of(C::CHECK).on(I::LOOPS).with(&["unroll"]),
            of(C::EXPR).to(Of(&["onnxtxt"])),
            of(C::EXPR).to(TOLD_FORMS).with(&["inputs"]),
            of(C::LAYOUT).to(Of(&["nnef"])),
            of(C::LISTING),
        ],
    ),
    row("max-text", LIMITS, &[of(READ.and(C::DIFF).and(C::FMT).and(C::EXPR).and(C::LISTING).and(C::LSP))]),
    row("max-files", LIMITS, &[of(READ.and(C::DIFF).and(C::FMT)).on(I::DOCUMENTS)]),
    row("max-unpacked", LIMITS, &[of(READ.and(C::DIFF).and(C::FMT)).on(I::DOCUMENTS)]),
    row("max-output", LIMITS, &[of(WRITTEN)]),
    row(
        "max-items",
        LIMITS,
        &[
            of(READ).on(I::PNNX),
            of(C::FLATTEN).on(I::DOCUMENTS).with(&["fold", "verify"]),
            of(C::FLATTEN).on(I::LOOPS.and(I::MODELS).and(LAYERED)).with(&["verify"]),
            of(C::RUN).on(I::DOCUMENTS.and(I::MODELS).and(I::NCNN)),
            of(C::EXPR).to(TOLD_FORMS).with(&["inputs"]),
        ],
    ),
    row(
        "max-work",
        LIMITS,
        &[
            of(C::FLATTEN).on(I::DOCUMENTS).with(&["fold", "verify"]),
            of(C::FLATTEN).on(I::LOOPS.and(I::MODELS).and(LAYERED)).with(&["verify"]),
            of(C::RUN).on(NOT_LOOPS),
            of(C::EXPR).to(TOLD_FORMS).with(&["inputs"]),
        ],
    ),
    row("message-format", MESSAGES, &[of(EVERY)]),
    row("color", MESSAGES, &[of(EVERY)]),
    row("quiet", MESSAGES, &[of(TOLD.and(C::FMT))]),
    row("warnings", MESSAGES, &[of(TOLD)]),
    row("allow", MESSAGES, &[of(TOLD)]),
    row("deny", MESSAGES, &[of(TOLD)]),
    // The options of subcommands.
    row("inputs", "", &[of(C::RUN), of(C::EXPR).to(TOLD_FORMS)]),
    row("output", "", &[of(C::RUN)]),
    row("layout", "", &[of(C::RUN).on(I::DOCUMENTS.and(LAYERED))]),
    row(
        "to",
        "",
        &[
            of(C::RUN).on(NOT_LOOPS),
            of(C::RUN).on(I::LOOPS).to(Of(&["json"])),
            of(C::EXPR),
            of(C::FUSE).to(TOLD_FORMS),
            of(C::LAYOUT),
            of(C::LISTING).to(TOLD_FORMS),
        ],
    ),
    row("fix", "", &[of(C::CHECK).on(I::DOCUMENTS)]).held(&[(
        I::LOOPS.and(I::MODELS).and(LAYERED),
        Outputs::Any,
        "no solution of a finding is certain",
    )]),
    row("values", "", &[of(C::DIFF)]),
    row("renamed", "", &[of(C::DIFF)]),
    row("page", "", &[of(C::DIFF)]),
    row("check", "", &[of(C::FMT)]),
    row("stdio", "", &[of(C::LSP)]),
    row("fuse", "", &[of(C::FUSE)]),
    row("recompute", "", &[of(C::FUSE)]),
    row("fold", "", &[of(C::EXPR).to(TOLD_FORMS)]),
    row("batch", "", &[of(C::EXPR).to(TOLD_FORMS).with(&["inputs"])]),
    row("arity", "", &[of(C::EXPR)]),
    row("compat", "", &[of(C::EXPR)]),
    row("shape", "", &[of(C::EXPR).to(OF_GRAPHS), of(C::EXPR).to(TOLD_FORMS).with(&["fold"])]),
    row("share", "", &[of(C::EXPR).to(OF_GRAPHS)]),
    row("tpu-tiles", "", &[of(C::LAYOUT.and(C::LISTING))]),
    row("padded", "", &[of(C::LAYOUT)]),
    row("padding-value", "", &[of(C::LAYOUT).with(&["padded"])]),
    row("index", "", &[of(C::LAYOUT).to(TOLD_FORMS)]),
    row("memory", "", &[of(C::LAYOUT).to(TOLD_FORMS)]),
    row("reshape", "", &[of(C::LAYOUT).to(TOLD_FORMS)]),
    row("transpose", "", &[of(C::LAYOUT).to(TOLD_FORMS)]),
    row("permutation", "", &[of(C::LAYOUT).to(TOLD_FORMS)]),
    row("folder", "", &[of(C::MAN)]),
];

/// What passes apply to that models of ONNX have, too.
const MODEL_PASS: &[Use] = &[of(C::FLATTEN).on(NOT_PNNX_FILES), of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX)];

/// What changes rounding in models.
const SIMPLIFIED: &[Use] = &[of(C::FLATTEN).on(I::MODELS).to(NOT_NNEF)];

/// The notations in which models are edited themselves.
const OF_MODELS: Outputs = Of(&["onnx", "onnxtxt"]);

/// What the options of comparisons apply to.
const COMPARED: &[Use] = &[of(C::FLATTEN).to(READ_BACK).with(&["verify"])];

/// The notations that are read, too, so that what was written can be evaluated.
const READ_BACK: Outputs = Of(&["nnef", "nnef-draft", "onnx", "onnxtxt", "pnnx"]);

/// What passes over the flat graph apply to.
const PASS: &[Use] =
    &[of(C::FLATTEN).on(I::DOCUMENTS.and(I::LOOPS).and(I::NCNN)), of(C::FLATTEN).on(I::PNNX).to(NOT_PNNX)];
