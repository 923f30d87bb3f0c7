//! The operators of `ai.onnx.ml`.

use super::axes::product;
use super::elementwise::same;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::facts::ValueType;

/// The number of rows of the first operand; a vector is one row.
fn rows(call: &InferCall) -> Dim {
    match call.rank(0) {
        Some(1) => Dim::Int(1),
        _ => call.extent(0, 0),
    }
}

/// The number of items of the first of these attributes that is given.
fn length(call: &InferCall, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| call.list_length(name).filter(|length| *length > 0))
}

/// The labels of classes are integers or strings.
fn label(call: &mut InferCall) {
    let is_text = length(call, &["classlabels_strings"]).is_some();
    call.give_element(0, if is_text { Element::String } else { Element::Int64 });
}

/// A class for each row, and a score for each class.
fn classified(call: &mut InferCall, classes: Option<usize>) -> Option<()> {
    label(call);
    let rows = rows(call);
    let classes = classes.filter(|classes| *classes > 1).map_or(Dim::Unknown, super::source::count);
    call.give(0, [rows.clone()]);
    call.give(1, [rows, classes]);
    Some(())
}

/// `LinearClassifier`, `TreeEnsembleClassifier`
pub(crate) fn classifier(call: &mut InferCall) -> Option<()> {
    let classes = length(call, &["classlabels_strings", "classlabels_int64s", "classlabels_ints"]);
    classified(call, classes)
}

/// `SVMClassifier`: without probabilities there may be a score for each pair of classes.
pub(crate) fn support_classifier(call: &mut InferCall) -> Option<()> {
    let classes = length(call, &["classlabels_strings", "classlabels_ints"]);
    let has_probabilities = length(call, &["prob_a"]).is_some();
    classified(call, classes.filter(|_| has_probabilities))
}

/// Numbers for each row.
pub(crate) fn regressed(call: &mut InferCall, targets: i64) -> Option<()> {
    let shape = [rows(call), Dim::Int(targets)];
    call.give(0, shape);
    Some(())
}

/// `TreeEnsembleRegressor`, `TreeEnsemble`
pub(crate) fn tree_regressor(call: &mut InferCall) -> Option<()> {
    regressed(call, call.int_or("n_targets", 1))
}

/// `FeatureVectorizer`: the columns of all operands.
pub(crate) fn feature_vectorizer(call: &mut InferCall) -> Option<()> {
    let columns = call.ints("inputdimensions")?.into_iter().fold(Dim::Int(0), |sum, count| sum.plus(Dim::Int(count)));
    let shape = [rows(call), columns];
    call.give(0, shape);
    Some(())
}

/// `OneHotEncoder`: the categories are a new last axis.
pub(crate) fn one_hot(call: &mut InferCall) -> Option<()> {
    let categories = length(call, &["cats_int64s", "cats_strings"])?;
    let mut shape = call.extents(0)?.to_vec();
    shape.push(super::source::count(categories));
    call.give(0, shape);
    Some(())
}

/// `CategoryMapper`: strings become integers, and integers strings.
pub(crate) fn category_mapper(call: &mut InferCall) -> Option<()> {
    match call.element(0) {
        Some(Element::String) => call.give_element(0, Element::Int64),
        Some(_) => call.give_element(0, Element::String),
        None => {}
    }
    same(call)
}

/// `LabelEncoder`: the type is that of the values.
pub(crate) fn label_encoder(call: &mut InferCall) -> Option<()> {
    let named = [
        ("values_strings", Element::String),
        ("values_int64s", Element::Int64),
        ("values_floats", Element::Float32),
        ("classes_strings", Element::Int64),
    ];
    let of_tensor = || call.tensor("values_tensor").and_then(|tensor| Element::numbered(tensor.data_type?.into()));
    let found = named.into_iter().find(|(name, _)| call.has_attribute(name)).map(|(_, element)| element);
    // Of the first version, the labels are strings, which become integers or are made from them.
    let swapped = || match call.element(0)? {
        Element::String => Some(Element::Int64),
        Element::Int64 => Some(Element::String),
        _ => None,
    };
    let is_first = call.has_attribute("classes_strings");
    let element = if is_first { swapped() } else { found.or_else(of_tensor) };
    if let Some(element) = element {
        call.give_element(0, element);
    }
    same(call)
}

/// `ArrayFeatureExtractor`: columns of the last axis.
pub(crate) fn array_feature_extractor(call: &mut InferCall) -> Option<()> {
    let columns = product(call.extents(1)?);
    let mut shape = call.extents(0)?.to_vec();
    shape.pop()?;
    if shape.is_empty() {
        shape.push(Dim::Int(1));
    }
    shape.push(columns);
    call.give(0, shape);
    Some(())
}

/// `CastMap`
pub(crate) fn cast_map(call: &mut InferCall) -> Option<()> {
    let element = match call.text("cast_to").as_deref() {
        None | Some("TO_FLOAT") => Element::Float32,
        Some("TO_STRING") => Element::String,
        Some("TO_INT64") => Element::Int64,
        Some(_) => return None,
    };
    call.give_element(0, element);
    Some(())
}

/// `ZipMap`: a map for each row.
pub(crate) fn zip_map(call: &mut InferCall) -> Option<()> {
    call.give_type(0, ValueType::Sequence(Box::new(ValueType::Other)));
    Some(())
}

/// `DictVectorizer`: a row with the values of a vocabulary. Their type is that of the values of the map.
pub(crate) fn dict_vectorizer(call: &mut InferCall) -> Option<()> {
    let count = length(call, &["string_vocabulary", "int64_vocabulary"])?;
    call.give(0, [Dim::Int(1), super::source::count(count)]);
    Some(())
}
