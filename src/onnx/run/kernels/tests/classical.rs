//! Models of the domain `ai.onnx.ml`.

use super::trial::{check, results, words};

const X: &str = "float[2,2] x = {1,2,3,-4}, int64[3] i = {5,6,7}, string[2] t = {\"a\",\"b\"}";

fn ml(node: &str, shape: &[usize], items: &[f64]) {
    check(21, X, &format!("y = ai.onnx.ml.{node}"), shape, items);
}

#[test]
fn features_change() {
    ml("Scaler <offset = [1.0], scale = [2.0, 3.0]> (x)", &[2, 2], &[0.0, 3.0, 4.0, -15.0]);
    ml("Normalizer <norm = \"L1\"> (x)", &[2, 2], &[1.0 / 3.0, 2.0 / 3.0, 3.0 / 7.0, -4.0 / 7.0]);
    ml("Binarizer <threshold = 1.5> (x)", &[2, 2], &[0.0, 1.0, 1.0, 0.0]);
    ml("Imputer <imputed_value_floats = [9.0], replaced_value_float = 3.0> (x)", &[2, 2], &[1.0, 2.0, 9.0, -4.0]);
    ml("FeatureVectorizer <inputdimensions = [1, 3]> (x, x)", &[2, 4], &[1.0, 1.0, 2.0, 0.0, 3.0, 3.0, -4.0, 0.0]);
}

#[test]
fn labels_are_encoded() {
    ml("LabelEncoder <keys_int64s = [6, 5], values_floats = [0.5, 1.5]> (i)", &[3], &[1.5, 0.5, 0.0]);
    ml("LabelEncoder <keys_strings = [\"b\"], values_int64s = [3]> (t)", &[2], &[-1.0, 3.0]);
    ml("CategoryMapper <cats_strings = [\"a\"], cats_int64s = [4]> (t)", &[2], &[4.0, -1.0]);
    ml("OneHotEncoder <cats_int64s = [7, 5]> (i)", &[3, 2], &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn linear_models() {
    ml("LinearRegressor <coefficients = [1.0, 2.0], intercepts = [0.5]> (x)", &[2, 1], &[5.5, -4.5]);
    let classes =
        "y, z = ai.onnx.ml.LinearClassifier <coefficients = [1.0, 2.0], classlabels_strings = [\"no\", \"yes\"]> (x)";
    let found = results(21, X, classes);
    assert_eq!(words(&found[0]), ["yes", "no"]);
    assert_eq!(found[1].to_scalars(), [-5.0, 5.0, 5.0, -5.0]);
}

#[test]
fn support_vectors() {
    let kernel = "kernel_type = \"POLY\", kernel_params = [1.0, 1.0, 2.0]";
    let machine = format!(
        "SVMRegressor <coefficients = [2.0], support_vectors = [1.0, 0.0], n_supports = 1, rho = [1.0], {kernel}> (x)"
    );
    ml(&machine, &[2, 1], &[9.0, 33.0]);
    let pair = "y, z = ai.onnx.ml.SVMClassifier <coefficients = [1.0, -1.0], support_vectors = [1.0, 0.0, 0.0, 1.0], \
         vectors_per_class = [1, 1], rho = [0.0], classlabels_ints = [3, 8]> (x)";
    assert_eq!(results(21, X, pair)[0].to_scalars(), [8.0, 3.0]);
}

#[test]
fn trees_vote() {
    let nodes = "nodes_treeids = [0,0,0], nodes_nodeids = [0,1,2], nodes_featureids = [0,0,0], \
         nodes_values = [2.0,0.0,0.0], nodes_modes = [\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"], \
         nodes_truenodeids = [1,0,0], nodes_falsenodeids = [2,0,0]";
    let votes = |of: &str, ids: &str| {
        format!("{of}_treeids = [0,0], {of}_nodeids = [1,2], {ids} = [0,1], {of}_weights = [1.0,2.0]")
    };
    let regressor = format!("TreeEnsembleRegressor <{nodes}, {}, n_targets = 2> (x)", votes("target", "target_ids"));
    ml(&regressor, &[2, 2], &[1.0, 0.0, 0.0, 2.0]);
    let classes = votes("class", "class_ids");
    let classifier = format!("TreeEnsembleClassifier <{nodes}, {classes}, classlabels_int64s = [7,9]> (x)");
    let found = results(21, X, &format!("y, z = ai.onnx.ml.{classifier}"));
    assert_eq!(found[0].to_scalars(), [7.0, 9.0]);
    assert_eq!(found[1].to_scalars(), [1.0, 0.0, 0.0, 2.0]);
    // A second tree is one leaf, whose vote changes the class of the first row.
    let two = "TreeEnsembleClassifier <nodes_treeids = [0,0,0,1], nodes_nodeids = [0,1,2,0], \
         nodes_featureids = [0,0,0,0], nodes_values = [2.0,0.0,0.0,0.0], \
         nodes_modes = [\"BRANCH_LEQ\",\"LEAF\",\"LEAF\",\"LEAF\"], nodes_truenodeids = [1,0,0,0], \
         nodes_falsenodeids = [2,0,0,0], class_treeids = [0,0,1], class_nodeids = [1,2,0], class_ids = [0,1,1], \
         class_weights = [1.0,2.0,1.5], classlabels_int64s = [7,9]> (x)";
    let found = results(21, X, &format!("y, z = ai.onnx.ml.{two}"));
    assert_eq!(found[0].to_scalars(), [9.0, 9.0]);
    assert_eq!(found[1].to_scalars(), [1.0, 1.5, 0.0, 3.5]);
}

#[test]
fn maps_are_made_and_read() {
    let zipped = "y <- m = ai.onnx.ml.ZipMap <classlabels_int64s = [4, 0]> (x) i = Constant <value_int = 1> () \
         row = SequenceAt (m, i)";
    let to = |node: &str, shape: &[usize], items: &[f64]| {
        check(21, X, &format!("{zipped} y = ai.onnx.ml.{node}"), shape, items)
    };
    // Keys are in ascending order: the second row has -4 for 0 and 3 for 4.
    to("CastMap (row)", &[1, 2], &[-4.0, 3.0]);
    to("CastMap <cast_to = \"TO_INT64\", map_form = \"SPARSE\", max_map = 3> (row)", &[1, 3], &[-4.0, 0.0, 0.0]);
    to("DictVectorizer <int64_vocabulary = [4, 9, 0]> (row)", &[1, 3], &[3.0, 0.0, -4.0]);
}
