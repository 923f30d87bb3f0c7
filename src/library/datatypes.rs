//! The data-types of tensors in the provisional dialect (3.3.2).
//!
//! A tensor holds scalars, logicals or coordinates, and these do not convert to each other; but the
//! notation cannot declare the data-type: chapter 4 states it for each operation, and this table
//! repeats that. Coordinates are `tensor<integer>` in 1.0.

use crate::graph::Primitive;

/// The parameters and results that do not hold scalars, by operation. Those of any data-type
/// ([`Primitive::Generic`]) share one data-type within an operation.
const EXCEPTIONS: &[(&str, &[(&str, Primitive)])] = &[
    ("not", &[("x", Primitive::Logical), ("y", Primitive::Logical)]),
    ("lt", &[("z", Primitive::Logical)]),
    ("le", &[("z", Primitive::Logical)]),
    ("gt", &[("z", Primitive::Logical)]),
    ("ge", &[("z", Primitive::Logical)]),
    ("eq", &[("z", Primitive::Logical)]),
    ("ne", &[("z", Primitive::Logical)]),
    ("and", &[("x", Primitive::Logical), ("y", Primitive::Logical), ("z", Primitive::Logical)]),
    ("or", &[("x", Primitive::Logical), ("y", Primitive::Logical), ("z", Primitive::Logical)]),
    (
        "select",
        &[
            ("condition", Primitive::Logical),
            ("true_value", Primitive::Generic),
            ("false_value", Primitive::Generic),
            ("output", Primitive::Generic),
        ],
    ),
    ("argmax_pool", &[("index", Primitive::Integer)]),
    ("sample", &[("index", Primitive::Integer)]),
    ("desample", &[("index", Primitive::Integer)]),
    ("max_pool_with_index", &[("index", Primitive::Integer)]),
    ("reshape", &[("input", Primitive::Generic), ("output", Primitive::Generic)]),
    ("transpose", &[("input", Primitive::Generic), ("output", Primitive::Generic)]),
    ("split", &[("value", Primitive::Generic), ("values", Primitive::Generic)]),
    ("concat", &[("values", Primitive::Generic), ("value", Primitive::Generic)]),
    ("copy_n", &[("x", Primitive::Generic), ("y", Primitive::Generic)]),
];

/// The data-type of a parameter or result of a standard operation.
pub(crate) fn data_type(operation: &str, name: &str) -> Primitive {
    EXCEPTIONS
        .iter()
        .find(|(of, _)| *of == operation)
        .and_then(|(_, names)| names.iter().find(|(of, _)| *of == name))
        .map_or(Primitive::Scalar, |(_, data_type)| *data_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Dialect;
    use crate::library::texts::standard;

    #[test]
    fn rows_speak_of_declared_names() {
        for (operation, names) in EXCEPTIONS {
            let found = standard(Dialect::Draft).find(operation).unwrap();
            let params = found.params.iter().map(|param| param.name);
            let known: Vec<&str> = params.chain(found.results.iter().map(|result| result.name)).collect();
            assert!(names.iter().all(|(name, _)| known.contains(name)), "{operation}");
        }
    }
}
