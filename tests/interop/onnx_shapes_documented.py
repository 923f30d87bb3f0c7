"""Models on which `check` and the inference of onnx are known to differ, for onnx_shapes.py, and why."""
import re


class Row:
    """Differences that a row explains: what onnx says, or where it says nothing what `check` says, about these operators.

    `theirs` and `ours` are patterns of the messages; an empty one stands for acceptance. `what` is a pattern of the change.
    """

    def __init__(self, reason, operators="", theirs="", ours="", what=""):
        self.reason, self.operators = reason, set(operators.split())
        self.theirs, self.ours, self.what = theirs, ours, what

    def covers(self, sample):
        def agrees(pattern, text):
            return bool(re.search(pattern, text)) if pattern else not text

        named = not self.operators or self.operators & sample.operators
        told = agrees(self.theirs, sample.theirs) and agrees(self.ours, sample.ours)
        return bool(named) and told and re.search(self.what, sample.what)


DOCUMENTED = [
    # ---- onnx refuses more.
    Row("what is in a branch, or in a loop of unknown count, need not run: a warning", "If Loop", theirs=r"op_type:(If|Loop)\b"),
    Row("an empty list of a window is one that is not given, as in onnxruntime", theirs=r"Attribute (strides|kernel_shape|dilations|pads) has incorrect size",
        what="of (strides|kernel_shape|dilations|pads)"),
    Row("`keepdims` is 0 or not: onnx takes other numbers than 0 and 1 as 0", theirs=".", what="of keepdims"),
    Row("the past states decide extents of the present ones in onnx, here all operands do", "Attention", theirs="Inferred shape and existing shape differ in dimension"),
    Row("types of `ai.onnx.ml` beyond the schema are not compared", "LabelEncoder TreeEnsemble", theirs="."),
    Row("a window that is larger than what it moves over: the number of its places differs between programs", "MaxPool AveragePool LpPool",
        theirs=r"Inferred shape and existing shape differ in dimension \d: \(\d\)"),
    Row("a signal whose last extent is open is taken as complex by onnx", "STFT", theirs="Inferred shape and existing shape differ in dimension 2", what="open of input"),
    Row("a result of two types: onnx takes that of the operand, the schema that of the scale", "RMSNormalization", theirs="Y has inconsistent type"),
    Row("onnx does not follow the default value of an attribute of a function", "MeanVarianceNormalization", theirs="One and only one of the attributes"),
    Row("a single extent is repeated, and sizes are counted in any rank, as in onnxruntime", "CenterCropPad Resize",
        theirs="does not match the number of axes|shape input must be 1D"),
    Row("an operand without items may have any rank, as in onnxruntime", "Concat",
        theirs=r"op_type:Concat\): .*(axis must be in|must have same rank)"),
    # ---- `check` refuses more.
    Row("a loop has one count and one condition: onnxruntime refuses more, but sequences are not made here to run it", "Loop",
        ours="is not a single number"),
    Row("queries and keys have one batch: onnxruntime broadcasts in the body of a version for which it has no kernel", "Attention",
        ours="do not go together"),
    Row("`keepdims` is 0 or not: onnx takes other numbers than 0 and 1 as 0", ours=".", what="of keepdims"),
    Row("onnx does not follow the default value of an attribute of a function", "Cast", ours="E2040", what="of to"),
    Row("onnx computes no items, so that it does not know the classes", "NegativeLogLikelihoodLoss", ours="NegativeLogLikelihoodLoss"),
    Row("onnx tells no shape of what losses compute from computed shapes", "SoftmaxCrossEntropyLoss", ours="E2052"),
]
