//! What groups of a page are like: their parameters, their multiply-adds, the shape of their result.

use crate::graph::stats::{self, Counts};
use crate::graph::{Graph, TensorId};
use crate::picture::groups::ROOT;
use crate::picture::label;
use crate::picture::scene::{Group, Scene};

/// What is counted in a group, inner groups included.
#[derive(Clone, Debug, Default)]
pub(super) struct Measure {
    pub(super) counts: Counts,
    /// The number of operations that are not counted: their shapes, or what they compute, are not known.
    pub(super) uncounted: u64,
    /// The number of variables and constants, which have no boxes.
    pub(super) data: u64,
}

/// What is counted in a graph.
pub(super) struct Measures {
    /// By the groups of the scene.
    pub(super) groups: Vec<Measure>,
    /// Whether each operation is counted completely.
    pub(super) is_counted: Vec<bool>,
}

impl Measure {
    fn add(&mut self, other: &Measure) {
        self.counts.add(&other.counts);
        self.uncounted += other.uncounted;
        self.data += other.data;
    }

    /// The line below the title of a closed group: its parameters, and the shape of its result if it has one.
    pub(super) fn line(&self, graph: &Graph, group: &Group) -> (String, String) {
        let left = match self.counts.parameters.known() {
            None | Some(0) => String::new(),
            Some(1) => "1 parameter".to_owned(),
            Some(count) => format!("{} parameters", label::rounded(count)),
        };
        let mut results = group.nets.iter().filter(|(_, net)| net.leaves).map(|(tensor, _)| *tensor);
        let right = match (results.next(), results.next()) {
            (Some(result), None) => label::shorten(&label::shape(graph, result), LINE),
            _ => String::new(),
        };
        (left, right)
    }
}

/// The maximum length of a shape in a closed group, in characters.
const LINE: usize = 24;

/// The measures of the groups of a scene.
pub(super) fn measures(scene: &Scene) -> Measures {
    let mut measures = vec![Measure::default(); scene.groups.len()];
    let mut is_counted = Vec::with_capacity(scene.folded.len());
    let each = stats::of_each(scene.graph).into_iter().zip(&scene.folded);
    for (((counts, is_complete), is_data), group) in each.zip(places(scene)) {
        let own = Measure { counts, uncounted: u64::from(!is_complete), data: u64::from(*is_data) };
        measures[group as usize].add(&own);
        is_counted.push(is_complete);
    }
    for group in (1..measures.len()).rev() {
        let own = measures[group].clone();
        measures[scene.groups[group].parent as usize].add(&own);
    }
    Measures { groups: measures, is_counted }
}

/// The group of each operation. That of data is the innermost one around all that uses them.
fn places(scene: &Scene) -> Vec<u32> {
    let graph = scene.graph;
    let mut places: Vec<Option<u32>> = vec![None; graph.operations.len()];
    for (at, operation) in graph.operations.iter().enumerate().rev() {
        let first = graph.tensors_of(operation).next();
        if !scene.folded[at] {
            places[at] = first.and_then(|tensor| scene.source(tensor)).map(|node| scene.nodes[node as usize].group);
        }
        let Some(place) = places[at] else { continue };
        graph.each_operand_tensor(operation, |tensor: TensorId| {
            let producer = graph.tensors[tensor.index()].producer.map(|producer| producer.index());
            if let Some(producer) = producer.filter(|producer| scene.folded[*producer]) {
                places[producer] = Some(places[producer].map_or(place, |other| common(scene, other, place)));
            }
        });
    }
    places.into_iter().map(|place| place.unwrap_or(ROOT)).collect()
}

/// The innermost group around two groups.
fn common(scene: &Scene, mut a: u32, mut b: u32) -> u32 {
    while a != b {
        let (depth_a, depth_b) = (scene.depth(a), scene.depth(b));
        if depth_a >= depth_b {
            a = scene.groups[a as usize].parent;
        }
        if depth_b >= depth_a {
            b = scene.groups[b as usize].parent;
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, expand, parse};

    #[test]
    fn weights_belong_to_the_group_around_their_users() {
        let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2,4]);
            v = variable(shape = [4,4], label = 'v'); w = variable(shape = [3,4], label = 'w');
            a__p = matmul(x, v); a__q = relu(a__p); b__p = matmul(a__q, v); b__t = transpose(w, axes = [1,0]);
            b__q = matmul(b__p, b__t); y = exp(b__q); }";
        let options = Options::default();
        let graph = expand(&parse("flat", text.to_owned(), &options).document, &options).unwrap().graph;
        let scene = Scene::new(&graph);
        let found = measures(&scene).groups;
        assert_eq!(found.iter().map(|of| of.data).collect::<Vec<_>>(), [3, 0, 2]);
        let of = |i: usize| {
            let Counts { parameters, multiply_adds, .. } = &found[i].counts;
            (scene.groups[i].title.as_str(), parameters.known(), multiply_adds.known())
        };
        assert_eq!(
            [of(0), of(1), of(2)],
            [("G", Some(28), Some(88)), ("a", Some(0), Some(32)), ("b", Some(12), Some(56))]
        );
        assert_eq!(found[2].line(&graph, &scene.groups[2]), ("12 parameters".to_owned(), "2×3".to_owned()));
    }

    #[test]
    fn what_is_not_known_is_that_of_statistics() {
        let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2,4]);
            a__p = vendor(x); a__q = relu(a__p); b__p = matmul(x, x, transposeB = true); b__q = relu(b__p);
            y = add(a__q, b__q); }";
        let options = Options::default();
        let graph = expand(&parse("flat", text.to_owned(), &options).document, &options).unwrap().graph;
        let (all, stats) = (measures(&Scene::new(&graph)), stats::Stats::new(&graph, stats::NO_DATA));
        let whole = &all.groups[ROOT as usize];
        assert_eq!((&whole.counts, whole.uncounted), (&stats.counts, stats.uncounted.values().sum()));
        assert_eq!(whole.counts.multiply_adds.told(), "at least 16");
        assert_eq!(all.groups[1].counts.multiply_adds.told(), "unknown");
        assert_eq!(all.is_counted.iter().filter(|is_counted| !**is_counted).count(), 1);
    }
}
