"""Readers of ONNX texts: onnx (parser, checker, inliner, shape inference), onnx_ir, onnxruntime, onnxsim and onnxslim.

    python onnx_models.py PEER

A text becomes a model by onnx.parser for all of them: none of the others reads texts on its own.
"""

import os
import re
import sys
import tempfile

import onnx
import onnx.parser

from serve import Refused, serve

PARSERS = {"model": onnx.parser.parse_model, "graph": onnx.parser.parse_graph, "function": onnx.parser.parse_function,
           "node": onnx.parser.parse_node}


def parsed(text, production):
    try:
        return PARSERS[production](text)
    except onnx.parser.ParseError as error:
        at = re.search(r"line: (\d+)", str(error))
        detail = str(error).strip().split("\n")[-1]
        raise Refused(detail, int(at.group(1)) if at else None) from error


def model_of(stdin):
    return parsed(stdin.decode("utf-8", "surrogateescape"), "model")


def encode(stdin, fields):
    message = parsed(stdin.decode("utf-8", "surrogateescape"), fields["production"])
    return message.SerializeToString(deterministic=True)


def check_text(stdin, fields):
    parsed(stdin.decode("utf-8", "surrogateescape"), fields["production"])
    return {}


def inline(stdin, fields):
    import onnx.inliner
    return onnx.inliner.inline_local_functions(model_of(stdin)).SerializeToString()


def ir_inline(stdin, fields):
    import onnx_ir
    import onnx_ir.passes.common
    model = onnx_ir.serde.deserialize_model(model_of(stdin))
    made = onnx_ir.passes.common.InlinePass()(model).model
    return onnx_ir.serde.serialize_model(made).SerializeToString()


def simplified(stdin, fields):
    import onnxsim
    made, checked = onnxsim.simplify(model_of(stdin))
    if not checked:
        raise Refused("the check of the simplified model failed")
    return made.SerializeToString()


def slimmed(stdin, fields):
    import onnxslim
    return onnxslim.slim(model_of(stdin)).SerializeToString()


def inferred(stdin, fields):
    """The types of the outputs by onnx's inference alone: those that the model tells are taken away first."""
    model = model_of(stdin)
    for value in model.graph.output:
        value.ClearField("type")
    made = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    tensors = {}
    for value in made.graph.output:
        tensor = value.type.tensor_type
        shape = None
        if tensor.HasField("shape"):
            shape = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
        dtype = str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)) if tensor.elem_type else None
        tensors[value.name] = {"dtype": dtype, "shape": shape}
    return {"tensors": tensors}


def session(source):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    return onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])


def run(stdin, fields):
    import oracle
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        onnx.save(model_of(stdin), path)
        return {"outputs": oracle.ran(path, fields["inputs"])}


def reads(question):
    """A question whether the file of a model is read."""
    def asked(stdin, fields):
        question(fields["path"])
        return {}
    return asked


def ir_reads(path):
    import onnx_ir
    onnx_ir.serde.serialize_model(onnx_ir.load(path))


PEERS = {
    "onnx": {"onnx/encode": encode, "onnx/check": check_text, "onnx/inline": inline, "onnx/types": inferred,
             "onnx/reads": reads(lambda path: onnx.checker.check_model(path, full_check=True))},
    "onnx_ir": {"onnx/inline": ir_inline, "onnx/reads": reads(ir_reads)},
    "onnxruntime": {"onnx/run": run, "onnx/reads": reads(session)},
    "onnxsim": {"onnx/inline": simplified},
    "onnxslim": {"onnx/inline": slimmed},
}

if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suite"))
    serve(PEERS[sys.argv[1]])
