//! The rows: what people type for other programs, and what does that here.
//!
//! Sources: the options of onnxsim 0.8, onnxslim 0.1.98, polygraphy 0.53, the tools of onnxruntime 1.32 and of NNEF,
//! pnnx 20261020, tract 0.23, netron 9.3, the arguments of onnx.inliner, and the first words of programs with
//! subcommands.

/// Words of other programs that mean the same.
pub(super) struct Foreign {
    /// Options with their dashes, keys with `=`, first words.
    pub(super) words: &'static [&'static str],
    /// What does their work here, or why nothing does.
    pub(super) here: &'static str,
}

const FLATTENING: &str = "flattening has no subcommand: nnef-flatten INPUT -o OUTPUT";
const CONVERTING: &str = "nnef-flatten INPUT -o OUTPUT; the extension of OUTPUT, or --to, is the notation";
const SMALLER: &str = "nnef-flatten --simplify INPUT -o OUTPUT; only what is exact is done; --merge fuses, too";
const PART: &str = "nnef-flatten --inputs-at NAME,… --outputs NAME,… INPUT -o OUTPUT";
const COUNTED: &str = "nnef-flatten --stats INPUT -o OUTPUT";
const SHOWN: &str = "nnef-flatten --lower none INPUT; for a binary model also --to onnxtxt";
const DRAWN: &str = "nnef-flatten --lower none INPUT -o graph.html, a page that needs no server";
const COMPARED: &str = "nnef-flatten diff A B; --verify compares a result with its source";
const SHAPE: &str = "--input-shape NAME=1,3,224,224; --set SYMBOL=1 fixes a symbol everywhere";
const VERIFIED: &str = "--verify compares the result with its source";
const DATA: &str = "--inputs FILE (.npz, .npy or JSON), with --verify or the subcommand `run`";
const RUN: &str = "nnef-flatten run INPUT --inputs FILE -o OUTPUT";
const OUTPUTS: &str = "--outputs NAME,…, with all outputs that stay";
const INPUTS: &str = "--inputs-at NAME,… makes inner tensors inputs";
const FOLDED: &str = "--simplify --simplify-except fold; without --simplify, constants are folded with --fold only";
const SMALL: &str = "--fold-growth SIZE: larger results are not computed by --fold and --simplify";
const ASKED: &str =
    "each pass runs only if it is asked for: --simplify, of which --simplify-except RULE,… leaves rules out";
const UNFUSED: &str = "nothing is fused without --merge; --simplify does what is exact";
const TYPED: &str = "--annotate writes the inferred types and shapes";
const UNTYPED: &str = "shapes are written with --annotate only";
const INLINED: &str =
    "functions are expanded without an option; --lower all also expands operators, --lower none nothing";
const KEPT_TYPES: &str = "not here: element types stay as they are, nothing is quantized";
const EXTERNAL: &str = "not here: data that are external stay so, others stay inside; -o FILE writes the model";
const VERSIONS: &str = "nnef-flatten --opset VERSION INPUT -o OUTPUT";
const PROCESSOR: &str = "not here: `run`, with --inputs FILE, and --verify evaluate by themselves, on the processor";
const OTHER_FORMATS: &str = "not here: --to NOTATION writes nnef, onnx, onnxtxt, pnnx, json, dot, svg and html";
const ENGINES: &str = "not here: there are no engines; --input-shape NAME=1,3,224,224 gives an input one shape";
const INPUT: &str = "the input is given without an option, its shape by --input-shape NAME=1,3,224,224";
const OUTPUT: &str = "-o OUTPUT";
const SERVED: &str = "not here: no server runs; -o graph.html writes a page that any browser opens";
const OF_PNNX: &str =
    "a choice of pnnx when it converts a model; nnef-flatten reads the model.pnnx.param that it wrote";

const fn row(words: &'static [&'static str], here: &'static str) -> Foreign {
    Foreign { words, here }
}

/// All words, options first. A word that ends in `=` is a key of pnnx, one that ends in `*` any word that begins so,
/// and rows before others come first. Underscores are hyphens, case does not count.
pub(super) static FOREIGN: &[Foreign] = &[
    // Shapes of inputs.
    row(
        &[
            "--overwrite-input-shape",
            "--overwrite-input-shapes",
            "--override-input-shape",
            "--override-input-shapes",
            "--override-inputs",
            "--input-shapes",
            "--model-inputs",
            "--model-input-shapes",
            "--input-name",
            "--input-dims",
            "--override-fact",
            "--fixed-*",
            "--custom-shapes",
            "--shapes",
        ],
        SHAPE,
    ),
    row(
        &["--dim-param", "--dim-value", "--batch-size", "--batch"],
        "--set SYMBOL=1 gives a symbol a number everywhere",
    ),
    row(&["--dynamic-input-shape"], "extents that stay open need no option; --set SYMBOL=1 gives a symbol a number"),
    row(&["--hint"], "--set SYMBOL=1 fixes a symbol; nothing is planned for typical values"),
    // Comparisons and data.
    row(
        &[
            "--test-input-shape",
            "--check-n",
            "--check-inference",
            "--model-check",
            "--certify",
            "--validate",
            "--compare",
        ],
        VERIFIED,
    ),
    row(
        &["--check-rtol", "--check-atol", "--rtol", "--atol", "--rel-tol", "--abs-tol"],
        "--verify has a tolerance for each element type, and tells the largest difference",
    ),
    row(
        &[
            "--input-data-path",
            "--model-check-inputs",
            "--load-inputs",
            "--load-input-data",
            "--data-loader-script",
            "--input-from-npz",
            "--input-path",
            "--npz",
        ],
        DATA,
    ),
    row(
        &["--input-fill", "--val-range", "--random", "--random-range", "--allow-random-input"],
        "inputs without data are random: --verify, with --seed N",
    ),
    row(&["--save-outputs", "--save-output-data", "--save-results", "--save-outputs-npz", "--output-path"], RUN),
    row(
        &["--onnxrt", "--providers", "--execution-providers", "--cuda", "--use-gpu", "--device", "--trt", "--tf"],
        PROCESSOR,
    ),
    row(&["--graph-diff"], COMPARED),
    row(&["--check", "--full-check", "--check-model", "--lint"], "nnef-flatten check INPUT; --verify compares numbers"),
    // Passes.
    row(&["--fold-constants", "--constant-folding", "--do-constant-folding", "--const-folding"], "--fold"),
    row(&["--no-constant-folding", "--skip-constant-folding", "--no-fold-shapes"], FOLDED),
    row(&["--no-large-tensor", "--size-threshold", "--fold-size-threshold", "--tensor-size-threshold"], SMALL),
    row(&["--num-passes", "--num-const-fold-passes"], "--fold goes on until nothing changes"),
    row(&["--include-subgraph"], "--simplify, --fold and --share reach branches and bodies, too"),
    row(
        &[
            "--onnxsim",
            "--slim",
            "--optimize",
            "--optimise",
            "--perform-optimization",
            "--enable-optimization",
            "--opt-level",
            "--optlevel",
            "--pass",
            "--declutter",
            "-O",
        ],
        "--simplify",
    ),
    row(&["--enable-onnxruntime-optimization"], "not here; --simplify does what is exact"),
    row(&["--skip-optimization", "--skip-optimizations", "--skip-optimizer", "--no-optimization"], ASKED),
    row(&["--skip-fuse-bn", "--enable-fuse-bn", "--skip-fusion-patterns", "--no-fuse"], UNFUSED),
    row(
        &["--list-default-optimizers", "--list-other-optimizers", "--list-ops"],
        "docs/simplify.md lists the rules of --simplify",
    ),
    row(
        &["--cleanup", "--toposort", "--remove-unused", "--prune"],
        "--outputs NAME,… keeps what these need; graphs of NNEF have nothing else without --keep-unused",
    ),
    row(
        &[
            "--inline",
            "--inline-functions",
            "--inline-local-functions",
            "--inline-schema-functions",
            "--expand",
            "--flatten",
        ],
        INLINED,
    ),
    row(&["--decompose"], "--lower NAME,…"),
    row(&["--exclude"], "--keep NAME,…"),
    row(&["--target-opset", "--convert-version", "--opset-version"], VERSIONS),
    row(&["--stdlib", "--custom-fragments"], "--fragments FILE"),
    row(
        &["--custom-lib", "--custom-operators", "--custom-converters", "--plugins", "--plugin-libraries"],
        "not here: operators that are not known stay as they are; --fragments FILE declares them for documents of NNEF",
    ),
    // Types and shapes.
    row(
        &[
            "--infer-shapes",
            "--shape-inference",
            "--do-shape-inference",
            "--annotate-shapes",
            "--auto-merge",
            "--data-prop",
        ],
        TYPED,
    ),
    row(
        &[
            "--no-shape-infer",
            "--no-shape-inference",
            "--skip-shape-inference",
            "--skip-shape-infer",
            "--no-onnxruntime-shape-inference",
        ],
        UNTYPED,
    ),
    row(&["--static-quantize*", "--dynamic-quantize*", "--weight-only-quantize*", "--qoperator-quantize*"], KEPT_TYPES),
    row(
        &["--dtype", "--fp16*", "--bf16*", "--int8*", "--fp8*", "--fp-to-fp16", "--quantize", "--dequantize"],
        KEPT_TYPES,
    ),
    row(&["--ternary-quantize", "--calibration-*", "--convert-to-fp16", "--precision"], KEPT_TYPES),
    // Parts.
    row(
        &[
            "--unused-output",
            "--onnx-outputs",
            "--trt-outputs",
            "--output-names",
            "--output-name",
            "--output-node",
            "--output-nodes",
            "--output-modifications",
            "--mark-outputs",
        ],
        OUTPUTS,
    ),
    row(&["--input-names", "--input-node", "--input-nodes"], INPUTS),
    row(&["--keep-io-names"], "names of inputs and outputs stay; --outputs NAME,… selects"),
    row(
        &["--mutable-initializer", "--initializers-as-non-constants"],
        "--fold leaves initializers that are inputs alone",
    ),
    // Files and notations.
    row(&["--input", "--input-model", "--input-file", "--model", "--model-path", "--onnx", "-i"], INPUT),
    row(&["--output-model", "--output-file", "--out", "--save-model", "--save", "--output-dir", "--export"], OUTPUT),
    row(&["--input-format", "--model-type", "--framework"], "--from NOTATION"),
    row(&["--output-format", "--target-format", "--convert-to", "--format", "-f"], "--to NOTATION"),
    row(&["--json", "--as-json"], "--to json"),
    row(
        &["--nnef", "--nnef-dir", "--nnef-tar", "--nnef-tract-core"],
        "--to nnef -o model/ or --to nnef -o model.tgz; in a file or on standard output it is the text alone",
    ),
    row(&["--nnef-graph"], "--to nnef"),
    row(&["--emit-*", "--coreml-*", "--tflite*", "--mlir-target", "--onnx-mlir", "--tftrt", "--xla"], OTHER_FORMATS),
    row(&["--save-as-external-data", "--save-external-data", "--all-tensors-to-one-file"], EXTERNAL),
    row(&["--external-data-*", "--no-save-all-tensors-to-one-file"], EXTERNAL),
    row(
        &["--load-external-data", "--ignore-external-data"],
        "external data are found beside the input, and read where they are needed: --fold, --verify, `run`",
    ),
    row(&["--trt-*", "--min-shapes", "--max-shapes", "--opt-shapes"], ENGINES),
    // What is told.
    row(&["--inspect", "--info", "--summary", "--cost", "--statistics", "--node-reduction-plot"], "--stats"),
    row(&["--tmp-mem-usage", "--memory-arena", "--static-only"], "--stats tells the memory of tensors, too"),
    row(&["--dump-to-disk", "--save-stats"], "--stats --message-format json"),
    row(&["--profile", "--ort-profile", "--merge-ort-profile"], "not here: nothing is timed; --stats counts"),
    row(
        &["--show", "--dump", "--print", "--display-as", "--show-variables"],
        "--lower none shows the input, --stats counts",
    ),
    row(&["--show-values", "--weights", "--const"], "--lower none --to onnxtxt shows the data of models of ONNX"),
    row(&["--visualize", "--draw", "--browse", "--netron", "--view", "-b"], SERVED),
    row(&["--port", "--host", "-p"], SERVED),
    row(
        &["--verbose", "--verbosity", "--log-level", "-v"],
        "all findings are told; --version is the version, --quiet hides remarks",
    ),
    row(&["--silent", "-s"], "--quiet"),
    row(&["--log-file", "--log-format"], "--message-format FORM, on standard error"),
    row(&["--jobs", "--num-threads", "-j"], "--threads N"),
    row(&["--debug", "--debug-op", "--node-name"], "--source-map FILE tells where operations come from"),
    row(&["--usage"], "--help"),
    // Keys of pnnx.
    row(&["inputshape="], "--input-shape NAME=1,3,224,224"),
    row(&["inputshape2="], "--input-shape NAME=1,3,H,W, with a symbol for each extent that differs"),
    row(&["input=", "input2="], DATA),
    row(&["moduleop=", "customop=", "fp16=", "optlevel=", "device="], OF_PNNX),
    row(&["pnnxparam=", "pnnxbin=", "pnnxpy=", "pnnxonnx=", "ncnnparam=", "ncnnbin=", "ncnnpy="], CONVERTING),
    // First words, also behind an input, as for tract and onnxsim.
    row(
        &[
            "flatten",
            "expand",
            "inline",
            "inliner",
            "inline-local-functions",
            "inline-selected-functions",
            "inline-functions",
        ],
        FLATTENING,
    ),
    row(&["inline-schema-functions"], INLINED),
    row(&["convert", "export", "translate", "transform", "import", "compile", "build", "to-*"], CONVERTING),
    row(&["version-converter", "convert-version", "opset"], VERSIONS),
    row(&["simplify", "slim", "optimize", "optimise", "onnxsim", "onnxslim", "shrink"], SMALLER),
    row(
        &[
            "surgeon sanitize",
            "sanitize",
            "fold",
            "fold-constants",
            "constant-fold",
            "declutter",
            "optimizer",
            "clean",
            "cleanup",
        ],
        SMALLER,
    ),
    row(&["surgeon extract", "extract", "extract-model", "subgraph", "cut", "split", "surgeon"], PART),
    row(&["surgeon weight-strip", "surgeon weight-reconstruct", "quantize"], KEPT_TYPES),
    row(
        &["lint", "validate", "checker", "check-model", "verify", "test"],
        "nnef-flatten check INPUT; --verify compares numbers",
    ),
    row(&["eval", "evaluate", "execute", "predict", "inference", "bench", "benchmark", "criterion"], RUN),
    row(&["infer"], "nnef-flatten run INPUT computes outputs; --annotate writes inferred shapes"),
    row(
        &["shape", "shapes", "infer-shapes", "shape-inference", "symbolic-shape-infer"],
        "--annotate writes inferred shapes, --input-shape NAME=1,3,224,224 gives one; `layout` is for shapes of XLA",
    ),
    row(&["format"], "nnef-flatten fmt INPUT"),
    row(&["fuse"], "nnef-flatten expr --fuse INPUT"),
    row(&["stats", "statistics", "summary", "count", "cost", "analyze", "analyse", "profile"], COUNTED),
    row(&["inspect model", "inspect", "info", "describe"], "--stats counts; --lower none shows the input"),
    row(&["show", "print", "cat", "dump", "text", "list", "ls"], SHOWN),
    row(&["view", "draw", "visualize", "visualise", "netron", "plot", "render", "browse", "open", "serve"], DRAWN),
    row(&["compare", "difference", "optimize-check", "polygraphy"], COMPARED),
    row(
        &["debug reduce", "debug", "reduce", "bisect", "surgeon prune", "prune"],
        "not here: --outputs NAME,… cuts by hand",
    ),
    row(
        &["model", "onnx", "nnef", "pnnx", "ncnn"],
        "the input is a path: nnef-flatten INPUT; --from and --to are notations",
    ),
    row(&["data to-input", "data"], DATA),
    row(&["version"], "nnef-flatten --version"),
    row(&["usage"], "nnef-flatten --help"),
];
