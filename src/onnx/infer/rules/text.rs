//! Operators on strings.

use super::elementwise::same;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// `StringSplit`: the parts of each string along a new axis, and how many there are.
pub(crate) fn split(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    call.give(1, shape.clone());
    shape.push(Dim::Unknown);
    call.give(0, shape);
    Some(())
}

/// `StringNormalizer`: the last axis may lose stop words.
pub(crate) fn normalize(call: &mut InferCall) -> Option<()> {
    if call.list_length("stopwords").unwrap_or(0) == 0 {
        return same(call);
    }
    let mut shape = call.extents(0)?.to_vec();
    *shape.last_mut()? = Dim::Unknown;
    call.give(0, shape);
    Some(())
}

/// `TfIdfVectorizer`: a vector of as many items as the largest index tells for each row.
pub(crate) fn tf_idf(call: &mut InferCall) -> Option<()> {
    let items = call.ints("ngram_indexes")?.into_iter().max()?.checked_add(1)?;
    let mut shape = call.extents(0)?.to_vec();
    shape.pop();
    shape.push(Dim::Int(items));
    call.give(0, shape);
    Some(())
}
