#!/usr/bin/env python3
"""Compares operations of registries, one by one, with tract (PyPI `tract`).

usage: registry_ops.py --bin PATH [--seeds N] [--onnx] [-v] [NAME…]

Each case is a graph with one operation, on inputs of random shapes and items. `nnef-flatten run` has to
compute what tract computes, and the shapes and elements that `--to json` tells have to be those. With `--onnx`,
onnxruntime has to compute the same with the translation to ONNX (which needs PyPI `onnxruntime`). Exit status 0
when all agree, 1 when some differ, 0 with the word `skipped` when a package is missing.
"""
import argparse, json, os, subprocess, sys, tempfile

try:
    import numpy as np
    import tract
except (ImportError, OSError) as error:
    print(f"skipped: {error}")
    sys.exit(0)

from practice import apart

# What has no translation to ONNX; see docs/nnef-to-onnx.md.
UNTRANSLATED = ("grid_sample bicubic border",)
REGISTRIES = ("tract_core", "tract_transformers", "tract_onnx", "tract_extra")

def cases(rng):
    """Cases: name, inputs, the call, and how many results it has."""
    a, b, c, d = (int(extent) for extent in rng.integers(2, 6, 4))
    cube = {"x": F((a, b, c))}
    whole = {"x": I((a, b), 8), "y": I((a, b), 8)}
    axis = int(rng.integers(0, 3))
    k = int(rng.integers(-2, 3))
    upper = str(bool(rng.integers(0, 2))).lower()
    n = (a, b, c)[axis]
    taken = int(rng.integers(1, n + 1))
    yield "cast to integers", {"x": F((a, b), 5)}, "tract_core_cast(x, to = 'i64')"
    yield "cast to scalars", {"x": I((a, b), 5)}, "tract_core_cast(x, to = 'f32')"
    yield "cast to logicals", {"x": I((a, b), 2)}, "tract_core_cast(x, to = 'bool')"
    yield "shape_of", cube, "tract_core_cast(tract_core_shape_of(x), to = 'i64')"
    yield "range", {"x": F((1,))}, f"add(tract_core_cast(tract_core_range({k}, {k + 3 * a}, step = {b}), to = 'f32'), 0.5)"
    for name in ("tract_core_round_even", "tract_core_erf", "tract_core_hard_swish", "tract_core_silu", "tract_transformers_silu"):
        yield name.split("_", 2)[2], {"x": F((a, b), 4)}, f"{name}(x)"
    yield "recip", {"x": F((a, b), 2, 0.1)}, "recip(x)"
    yield "square", cube, "square(x)"
    for fast in ("true", "false"):
        yield "gelu_approx " + fast, cube, f"tract_core_gelu_approx(x, fast_impl = {fast})"
        yield "gelu_approx of transformers " + fast, cube, f"tract_transformers_gelu_approx(x, fast_impl = {fast})"
    yield "pow_const", {"x": F((a, b), 2, 0.1)}, "tract_core_pow_const(x, exponent = 1.5)"
    yield "is_nan", cube, "tract_core_is_nan(div(x, sub(x, x)))"
    yield "is_inf", cube, "tract_core_is_inf(div(x, sub(x, x)), detect_negative = false)"
    for name in ("tract_core_bitand", "tract_core_bitor", "tract_core_bitxor"):
        yield name[11:], whole, f"{name}(x, y)"
    yield "xor", {"x": B((a, b)), "y": B((a, b))}, "tract_core_xor(x, y)"
    yield "bitnot", {"x": I((a, b), 8)}, "tract_core_bitnot(x)"
    yield "shl", {"x": I((a, b), 8), "y": I((a, b), 4)}, "tract_shl(x, y)"
    yield "shr", {"x": I((a, b), 99), "y": I((a, b), 4)}, "tract_shr(x, y)"
    yield "broadcast", {"x": F((b, 1))}, f"tract_core_broadcast(x, shape = [{a}, {b}, {c}])"
    yield "downsample", cube, f"tract_core_downsample(x, axis = {axis}, stride = {a}, modulo = 1)"
    yield "dyn_slice", cube, f"tract_core_dyn_slice(x, start = 0, end = {taken}, len = {taken}, axis = {axis})"
    yield "gather", {"x": F((a, b, c)), "i": I((d, 2), n)}, f"tract_core_gather(x, i, axis = {axis})"
    yield "gather_elements", {"x": F((a, b)), "i": I((a, d), b)}, "tract_core_gather_elements(x, i, axis = 1)"
    yield "gather_nd", {"x": F((a, b, c)), "i": I((d, 2), min(a, b))}, "tract_core_gather_nd(x, i, batch_dims = 0)"
    for reduction in ("none", "add", "mul", "min", "max"):
        scatter = {"x": F((a, b)), "i": I((a, 1), b), "u": F((a, 1))}
        yield "scatter_elements " + reduction, scatter, f"tract_core_scatter_elements(x, i, u, axis = 1, reduction = '{reduction}')"
        scatter = {"x": F((a, b)), "i": I((1, 1), a), "u": F((1, b))}
        yield "scatter_nd " + reduction, scatter, f"tract_core_scatter_nd(x, i, u, reduction = '{reduction}')"
    yield "one_hot", {"x": I((a, b), d)}, f"tract_core_one_hot(x, axis = {axis}, dim = {d}, value_off = -1.0, value_on = 2.0)"
    yield "trilu", cube, f"tract_core_trilu(x, k = {k}, upper = {upper})"
    yield "topk", cube, f"tract_core_topk(x, k = {taken}, axis = {axis}, largest = {upper})", 2
    for name in ("tract_core_argmax_reduce_last", "tract_core_argmin_reduce_last"):
        yield name[11:], {"x": F((a, b, c), 2, whole=True)}, f"{name}(x, axes = [{axis}])"
    yield "product_reduce", cube, f"tract_core_product_reduce(x, axes = [{axis}])"
    for name in ("softmax", "log_softmax"):
        yield name, cube, f"tract_core_{name}(x, axes = [{axis}])"
    yield "rms_norm", cube, f"tract_core_rms_norm(x, axis = {axis}, eps = 0.001)"
    yield "rms_norm of transformers", cube, f"tract_transformers_rms_norm(x, axis = {axis})"
    yield "einsum", {"x": F((a, b, c)), "y": F((a, d, c))}, "tract_core_einsum([x, y], expr = 'bik,bjk->bij', acc = 'f32')"
    for expr, shape in (("abc,abc->ab", (a, b, c)), ("abc,acd->abd", (a, c, d)), ("abc,cd->dba", (c, d)), ("abc,acd->db", (a, c, d))):
        yield "einsum " + expr, {"x": F((a, b, c)), "y": F(shape)}, f"tract_core_einsum([x, y], expr = '{expr}', acc = 'f32')"
    yield "einsum transposed", {"x": F((a, b)), "y": F((c, b))}, "tract_core_einsum([x, y], expr = 'mk,nk->nm', acc = 'f32')"
    yield "fft", {"x": F((a, b, 2))}, f"tract_core_fft(x, axis = {axis % 2}, inverse = {upper})"
    frame, stride = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    yield "stft", {"x": F((a, 9, 2))}, f"tract_core_stft(x, axis = 1, frame = {frame}, stride = {stride})"
    window = [round(float(item), 3) for item in rng.uniform(0.1, 1.0, frame - 1)]
    yield "stft with a window", {"x": F((a, 9, 2))}, f"tract_core_stft(x, axis = 1, frame = {frame}, stride = {stride}, window = {window})"
    for transformer in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        for interpolator in ("nearest", "linear", "cubic"):
            if transformer == "align_corners" and interpolator == "nearest":
                # Which neighbour is nearer is decided by the last bit.
                continue
            how = f"coord_transformer = '{transformer}', interpolator = '{interpolator}', nearest_mode = 'floor'"
            size = {"x": F((1, 2, b, c))}
            yield f"resize {transformer} {interpolator}", size, f"tract_core_resize(x, [1.0, 1.0, 2.0, 3.0], {how})"
            yield f"resize to sizes {transformer} {interpolator}", size, f"tract_core_resize(x, sizes = [1.0, 2.0, {2 * b}.0, {c + 1}.0], {how})"
    how = "coord_transformer = 'half_pixel', interpolator = 'cubic', nearest_mode = 'floor', cubic_coeff_a = -0.5"
    yield "resize of onnx", {"x": F((1, 2, b, c))}, f"tract_onnx_resize(x, [1.0, 1.0, 2.0, 3.0], {how})"
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            sample = {"x": F((a, 2, b, c)), "g": F((a, d, 3, 2), 1.2)}
            onnx = f"tract_onnx_grid_sample(x, g, mode = '{mode}', padding_mode = '{padding}')"
            yield f"grid_sample {mode} {padding} of onnx", sample, onnx
            yield f"grid_sample {mode} {padding}", sample, f"tract_core_grid_sample(x, g, mode = '{mode}', padding_mode = '{padding}', align_corners = {upper})"
    yield "gru_epilogue", {"x": F((a, 3 * b)), "r": F((a, 3 * b)), "h": F((a, b))}, f"tract_core_gru_epilogue(x, r, h, hidden = {b})"
    yield "lstm_epilogue", {"x": F((a, 4 * b)), "c": F((a, b))}, f"tract_core_lstm_epilogue(x, c, hidden = {b})", 2
    yield "apply_rope", {"x": F((a, b, 2 * c)), "c": F((a, b, 2 * c)), "s": F((a, b, 2 * c))}, "tract_transformers_apply_rope(x, c, s)"
    scores = {"x": F((a, b, c)), "m": F((a, b, c))}
    yield "scaled_masked_softmax", scores, "tract_transformers_scaled_masked_softmax(x, m, scale = 0.5)"
    scores = {"x": F((a, b, c)), "m": B((a, b, c), keep=True)}
    yield "scaled_masked_softmax by logicals", scores, f"tract_transformers_scaled_masked_softmax(x, m, scale = 0.5, post_softmax_mask = {upper})"
    heads = {"q": F((1, 2 * a, c, 8)), "k": F((1, a, c, 8)), "v": F((1, a, c, 8))}
    dtypes = "datum_type = 'f32', acc_datum_type = 'f32'"
    yield "sdpa", heads, f"tract_transformers_sdpa(q, k, v, {dtypes}, is_causal = {upper})"
    yield "sdpa with a scale", heads, f"tract_transformers_sdpa(q, k, v, scale = 0.3, {dtypes}, is_causal = false)"
    masked = dict(heads, m=F((1, 1, c, c)))
    yield "sdpa with a mask", masked, f"tract_transformers_sdpa(q, k, v, m, {dtypes}, is_causal = false)"
    yield "non_zero", {"x": I((a, b), 2)}, "tract_onnx_non_zero(x, count_symbol = 'N')"
    yield "lrn", {"x": F((1, a + 2, b, c))}, f"tract_onnx_lrn(x, alpha = 0.1, beta = 0.5, bias = 1.5, size = {a})"
    yield "exp_unit_norm", {"x": F((a, b)), "s": F((b,), 1, 0.5)}, "tract_extra_exp_unit_norm(x, s, axis = 0, alpha = 0.9, stateless = true)"
    yield "exp_mean_norm", {"x": F((a, b)), "s": F((b,))}, "tract_extra_exp_mean_norm(x, s, axis = 0, alpha = 0.9, stateless = true, scaling_factor = 2.0)"
    yield "exp_unit_norm of complex numbers", {"x": F((a, b, c, 2)), "s": F((a, c), 1, 0.5)}, f"tract_extra_exp_unit_norm(x, s, axis = 1, alpha = 0.9, skip = 1, stateless = true, complex = true)"
    boxes = {"x": F((a, b + 3, 4), 1, 0.0), "y": F((a, c, b + 3))}
    for most in (0, 2):
        yield f"non_max_suppression {most}", boxes, f"tract_onnx_non_max_suppression(x, y, {most}, 0.3, 0.1, center_point_box = {most // 2})"
    # Operations of the standard on integers, as documents of registries have them.
    for name in ("add", "sub", "mul", "div", "min", "max"):
        # An integer beside a tensor of integers makes dimensions of them, which tract does not give out.
        yield name + " of integers", whole, f"tract_core_cast({name}(x, add(y, 1)), to = 'i64')"
        yield name + " of integers and a number", {"x": I((a, b), 9)}, f"tract_core_cast({name}(x, 2), to = 'i64')"
    yield "operands of two ranks", {"x": F((a, b)), "y": F((a,))}, "add(x, y)"
    yield "select of integers", dict(whole, c=B((a, b))), "select(c, x, y)"
    yield "sum_reduce of integers", {"x": I((a, b), 9)}, "sum_reduce(x, axes = [1])"
    yield "slice from the end", cube, f"slice(x, axes = [{axis}], begin = [1], end = [0])"
    yield "matmul", {"x": F((a, b)), "y": F((b, c))}, "matmul(x, y)"


class Spec:
    """The shape and items of a random input."""

    def __init__(self, dtype, shape, scale=1.0, least=None, whole=False, keep=False):
        self.dtype, self.shape, self.scale, self.least, self.whole, self.keep = dtype, shape, scale, least, whole, keep

    def array(self, rng):
        if self.dtype is np.int64:
            return rng.integers(0, int(self.scale), self.shape)
        if self.dtype is np.bool_:
            array = rng.integers(0, 2, self.shape).astype(bool)
            # Something has to count in each row.
            array[..., 0] |= self.keep
            return array
        array = rng.uniform(-self.scale if self.least is None else self.least, self.scale, self.shape)
        return (np.round(array) if self.whole else array).astype(np.float32)

    def external(self, name):
        of = {np.float32: "f32", np.int64: "i64", np.bool_: "bool"}[self.dtype]
        return f"    {name} = tract_core_external(shape = {list(self.shape)}, datum_type = '{of}');\n"


class Given(Spec):
    """An input of given items."""

    def __init__(self, items, dtype=np.float32):
        self.items = np.array(items, dtype)
        super().__init__(dtype, self.items.shape)

    def array(self, rng):
        return self.items


def spec(dtype):
    return lambda shape, scale=1.0, least=None, **more: Spec(dtype, shape, scale, least, **more)


def run(binary, *args):
    return subprocess.run([binary, *args], capture_output=True, text=True)


def by_onnxruntime(binary, folder, arrays):
    """What the translation of a model to ONNX computes; None if the translation is refused."""
    import onnxruntime
    path = os.path.join(folder, "model.onnx")
    if run(binary, "-q", folder, "-o", path).returncode:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, arrays)


def compare(binary, case, rng, onnx=False, translated_all=False):
    """What is wrong with a case; nothing if all agree. None where tract does not run it. With `translated_all`, only the
    cases without a translation may be refused."""
    name, inputs, call, *count = case
    results = [f"y{i}" for i in range(count[0] if count else 1)]
    left = results[0] if len(results) == 1 else "(" + ", ".join(results) + ")"
    head = "version 1.0;\n" + "".join(f"extension tract_registry {name};\n" for name in REGISTRIES)
    body = "".join(of.external(name) for name, of in inputs.items()) + f"    {left} = {call};\n"
    text = head + f"graph G( {', '.join(inputs)} ) -> ( {', '.join(results)} )\n{{\n{body}}}\n"
    arrays = {name: of.array(rng) for name, of in inputs.items()}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "graph.nnef"), "w") as file:
            file.write(text)
        try:
            reader = tract.nnef().with_tract_transformers().with_onnx().with_tract_extra()
            outputs = reader.load(folder).into_runnable().run(list(arrays.values()))
            wanted = [output.to_numpy() for output in outputs]
        except Exception as error:
            return "tract: " + " ".join(str(error).split("Stack backtrace")[0].split())[-160:], True
        if onnx:
            try:
                translated = by_onnxruntime(binary, folder, arrays)
            except Exception as error:
                return "onnxruntime: " + str(error)[-160:], False
            if translated is None and translated_all and not name.startswith(UNTRANSLATED):
                return "the translation to ONNX is refused", False
            # The maximum of no items is the least float in tract, and -inf in the standard.
            least = [np.where(a == np.finfo(np.float32).min, -np.inf, a) if a.dtype.kind == "f" else a for a in wanted]
            difference = 0.0 if translated is None else apart(translated, least)
            # Operators are free in what they make of NaN.
            if difference > 1e-4 and not any(np.isnan(array).any() for array in arrays.values()):
                return f"the model of ONNX differs by {difference:g}", False
        given, found = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(given, **arrays)
        done = run(binary, "run", "-q", folder, "--inputs", given, "-o", found)
        if done.returncode:
            return done.stderr.splitlines()[0], False
        computed = np.load(found)
        difference = apart([computed[name] for name in results], wanted)
        if difference > 1e-4:
            return f"differs by {difference:g}: {[computed[name].shape for name in results]}, {[w.shape for w in wanted]}", False
        told = run(binary, os.path.join(folder, "graph.nnef"), "--to", "json")
        if told.returncode or told.stderr:
            return told.stderr, False
        tensors = json.loads(told.stdout)["tensors"]
        kinds = {"f": "scalar", "i": "integer", "u": "integer", "b": "logical"}
        for name, array in zip(results, wanted):
            tensor = tensors[name]
            fits = len(tensor["shape"]) == array.ndim and all(
                not isinstance(told, int) or told == extent for told, extent in zip(tensor["shape"], array.shape))
            if not fits or tensor["dtype"] != kinds[array.dtype.kind]:
                return f"{tensor} is told, {array.dtype}{list(array.shape)} is computed", False
    return None, False


def compare_all(about, cases, translated_all=False):
    """Compares cases, with the options of the command line."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--onnx", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    agree = differ = refused = 0
    for seed in range(args.seeds):
        rng = np.random.default_rng(seed)
        for case in cases(rng):
            if args.names and not any(case[0].startswith(name) for name in args.names):
                continue
            wrong, by_tract = compare(args.bin, case, rng, args.onnx, translated_all)
            agree += wrong is None
            differ += wrong is not None and not by_tract
            refused += by_tract
            if wrong and (args.verbose or not by_tract):
                print(f"{case[0]}: {wrong}", flush=True)
    print(f"registries: {agree} agree, {differ} differ, {refused} are not run by tract")
    sys.exit(1 if differ or refused > agree or not agree else 0)


F, I, B = spec(np.float32), spec(np.int64), spec(np.bool_)

if __name__ == "__main__":
    compare_all(__doc__, cases, translated_all=True)
