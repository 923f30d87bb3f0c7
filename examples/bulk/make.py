"""Makes a folder of small models, of which one in fifty is wrong: make.py FOLDER [NUMBER]."""

import sys
from pathlib import Path

import onnx

MODEL = """
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
g (float[2, {n}] x) => (float[2, {n}] y) {{ t = local.scaled (x) u = local.scaled (t) y = {last} (u) }}
<domain: "local", opset_import: ["" : 21]>
scaled (a) => (b) {{ c = Constant <value_float = {n}.5> () d = Mul (a, c) b = Tanh (d) }}
"""
DOCUMENT = """version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;
fragment scaled( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = tanh(x * {n}.5); }}
graph G( x ) -> ( y ) {{ x = external(shape = [2, {n}]); y = {last}(scaled(scaled(x))); }}
"""


def main(folder, count=10_000):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(int(count)):
        wrong = i % 50 == 49
        if i % 2:
            text = DOCUMENT.format(n=1 + i % 97, last="undefined + relu" if wrong else "relu")
            (folder / f"{i:05}.nnef").write_text(text)
        else:
            model = onnx.parser.parse_model(MODEL.format(n=1 + i % 97, last="Relu"))
            if i % 50 == 48:
                model.graph.node[1].input[0] = "undefined"
            (folder / f"{i:05}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
