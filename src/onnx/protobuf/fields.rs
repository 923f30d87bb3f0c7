//! The field numbers of ONNX messages, from `onnx.proto`.

macro_rules! fields {
    ($($message:ident { $($field:ident = $number:literal),* $(,)? })*) => {
        $(pub(crate) mod $message {
            $(pub(crate) const $field: u32 = $number;)*
        })*
    };
}

fields! {
    model {
        IR_VERSION = 1, PRODUCER_NAME = 2, PRODUCER_VERSION = 3, DOMAIN = 4, MODEL_VERSION = 5, DOC_STRING = 6,
        GRAPH = 7, OPSET_IMPORT = 8, METADATA = 14, TRAINING = 20, FUNCTIONS = 25,
    }
    training { INITIALIZATION = 1, ALGORITHM = 2, INITIALIZATION_BINDING = 3, UPDATE_BINDING = 4 }
    annotation { TENSOR = 1, PARAMETERS = 2 }
    entry { KEY = 1, VALUE = 2 }
    opset { DOMAIN = 1, VERSION = 2 }
    graph {
        NODE = 1, NAME = 2, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, VALUE_INFO = 13, QUANTIZATION_ANNOTATION = 14,
        SPARSE_INITIALIZER = 15,
    }
    node {
        INPUT = 1, OUTPUT = 2, NAME = 3, OP_TYPE = 4, ATTRIBUTE = 5, DOC_STRING = 6, DOMAIN = 7, OVERLOAD = 8,
        METADATA = 9, DEVICES = 10,
    }
    device { SHARDING = 2 }
    sharding { TENSOR = 1 }
    attribute {
        NAME = 1, FLOAT = 2, INT = 3, STRING = 4, TENSOR = 5, GRAPH = 6, FLOATS = 7, INTS = 8, STRINGS = 9, TENSORS = 10,
        GRAPHS = 11, TYPE_PROTO = 14, TYPE_PROTOS = 15, TYPE = 20, REF_ATTR_NAME = 21, SPARSE_TENSOR = 22,
        SPARSE_TENSORS = 23,
    }
    tensor {
        DIMS = 1, DATA_TYPE = 2, FLOAT_DATA = 4, INT32_DATA = 5, STRING_DATA = 6, INT64_DATA = 7, NAME = 8, RAW_DATA = 9,
        DOUBLE_DATA = 10, UINT64_DATA = 11, DOC_STRING = 12, EXTERNAL_DATA = 13, DATA_LOCATION = 14, METADATA = 16,
    }
    sparse { VALUES = 1, INDICES = 2, DIMS = 3 }
    value_info { NAME = 1, TYPE = 2 }
    type_proto { TENSOR = 1, SEQUENCE = 4, MAP = 5, OPAQUE = 7, SPARSE_TENSOR = 8, OPTIONAL = 9 }
    tensor_type { ELEMENT = 1, SHAPE = 2 }
    shape { DIM = 1 }
    dim { VALUE = 1, PARAM = 2 }
    element { TYPE = 1 }
    map { KEY = 1, VALUE = 2 }
    opaque { DOMAIN = 1, NAME = 2 }
    function {
        NAME = 1, INPUT = 4, OUTPUT = 5, ATTRIBUTE = 6, NODE = 7, DOC_STRING = 8, OPSET_IMPORT = 9, DOMAIN = 10,
        ATTRIBUTE_PROTO = 11, VALUE_INFO = 12, OVERLOAD = 13,
    }
}
