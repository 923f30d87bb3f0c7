//! Tests of complete layouts: nothing overlaps, lines lead down, and the time for large graphs is linear.

use proptest::prelude::*;
use rustc_hash::FxHashSet;

use super::drawing::Picture;
use super::grouping;
use super::groups::{self, Groups};
use super::layout::frame::{Placed, Rect, place};
use super::layout::ranks::{self, Level, Net, Rows, Vertex};
use super::layout::{Arrangement, arrange, columns, order};
use super::scene::{Item, Scene};
use crate::graph::Graph;
use crate::source::Sources;
use crate::{Expansion, Lower, Options, expand, parse};

fn with_graph<T>(text: &str, lower: Lower, f: impl FnOnce(&Graph, &Sources) -> T) -> T {
    let options = Options { lower, ..Options::default() };
    let parsed = parse("test.nnef", text.to_owned(), &options);
    assert!(!parsed.diagnostics.has_errors(), "{:?}", parsed.diagnostics.iter().next());
    let Expansion { graph, .. } = expand(&parsed.document, &options).unwrap_or_else(|found| {
        panic!("{:?}", found.iter().map(|one| one.message.clone()).collect::<Vec<_>>());
    });
    f(&graph, parsed.document.sources())
}

fn placed(graph: &Graph) -> (Scene<'_>, Placed) {
    placed_as(graph, grouping::grouped)
}

fn placed_as(graph: &Graph, find: fn(&Graph, &[usize]) -> Groups) -> (Scene<'_>, Placed) {
    let mut scene = Scene::grouped(graph, find);
    let arrangement = arrange(&mut scene);
    let placed = place(&scene, &arrangement);
    (scene, placed)
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

fn within(inner: Rect, outer: Rect) -> bool {
    inner.x >= outer.x - 0.01
        && inner.y >= outer.y - 0.01
        && inner.x + inner.width <= outer.x + outer.width + 0.01
        && inner.y + inner.height <= outer.y + outer.height + 0.01
}

/// Asserts that boxes do not overlap and are within their groups, and that lines lead down and cross no box.
fn check(scene: &Scene, placed: &Placed) {
    for (i, a) in placed.nodes.iter().enumerate() {
        assert!(within(*a, placed.groups[scene.nodes[i].group as usize]), "{}", scene.nodes[i].title);
        for b in &placed.nodes[i + 1..] {
            assert!(!overlap(*a, *b), "{a:?} {b:?}");
        }
    }
    for (i, group) in scene.groups.iter().enumerate().skip(1) {
        assert!(within(placed.groups[i], placed.groups[group.parent as usize]));
        for j in i + 1..scene.groups.len() {
            let (a, b) = (placed.groups[i], placed.groups[j]);
            assert!(!overlap(a, b) || within(a, b) || within(b, a), "{a:?} {b:?}");
        }
    }
    for route in &placed.routes {
        assert!(route.from.1 <= route.bend.0 + 0.01, "{route:?}");
        assert!(route.bend.0 < route.bend.1 || route.from.0 == route.to.0, "{route:?}");
        assert!(route.bend.1 <= route.to.1 + 0.01, "{route:?}");
        // The straight parts touch no box except those at their ends.
        for node in &placed.nodes {
            for (x, from, to) in [(route.from.0, route.from.1, route.bend.0), (route.to.0, route.bend.1, route.to.1)] {
                let inside = x > node.x + 0.1 && x < node.x + node.width - 0.1;
                let passes = from < node.y + node.height - 0.1 && to > node.y + 0.1;
                assert!(!(inside && passes), "{route:?} {node:?}");
            }
        }
    }
    for (i, title) in placed.titles.iter().enumerate().skip(1) {
        assert!(within(*title, placed.groups[i]), "{title:?}");
    }
}

#[test]
fn examples_are_laid_out_well() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in ["dense", "gru", "moments", "pyramid", "quantized", "repeat", "residual", "transformer"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.nnef"))).unwrap();
        for lower in [Lower::Custom, Lower::All] {
            with_graph(&text, lower, |graph, _| {
                let (scene, placed) = placed(graph);
                assert!(!placed.routes.is_empty(), "{name}");
                check(&scene, &placed);
            });
        }
    }
}

const RECURSION: &str = "version 1.0;
fragment deep( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = deep(relu(tanh(x)), n - 1) if n > 0 else x;
}
fragment inner( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = tanh(inner(relu(x), n - 1)) if n > 0 else sigmoid(exp(x));
}
graph G( x ) -> ( y ) { x = external<scalar>(shape = [2]); a = deep(x, 30); y = inner(a, 30); }";

#[test]
fn recursion_is_a_row_of_groups_where_it_can_be() {
    with_graph(RECURSION, Lower::Custom, |graph, _| {
        let (scene, placed) = placed_as(graph, grouping::undivided);
        let depths: Vec<u32> = (0..scene.groups.len() as u32).map(|group| scene.depth(group)).collect();
        let of = |name: &str| (0..depths.len()).filter(|i| scene.groups[*i].title == name).map(|i| depths[i]).max();
        assert_eq!(of("deep"), Some(1));
        assert_eq!(scene.groups.iter().filter(|group| group.title == "deep").count(), 30);
        assert!(of("inner").unwrap() <= groups::MAX_DEPTH);
        check(&scene, &placed);
    });
}

fn width_of(text: &str, lower: Lower) -> f64 {
    with_graph(text, lower, |graph, _| {
        let (scene, placed) = placed_as(graph, grouping::undivided);
        check(&scene, &placed);
        placed.groups[0].width
    })
}

#[test]
fn one_tensor_with_many_users_is_one_straight_line() {
    let count = 400;
    let users: String = (0..count).map(|i| format!("a{i} = relu(x);\n")).collect();
    let all: Vec<String> = (0..count).map(|i| format!("a{i}")).collect();
    let all = all.join(", ");
    let text = format!(
        "version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [1, 2]); {users} y = concat([{all}], axis = 0); }}"
    );
    // There are at most 20 boxes in a row, each about 130 wide with the gap.
    let width = width_of(&text, Lower::Custom);
    assert!(width < 4.0 * 20.0 * 130.0, "{width}");
}

#[test]
fn chains_of_groups_are_no_diagonals() {
    let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gru.nnef"));
    let width = width_of(&text.unwrap(), Lower::All);
    assert!(width < 1600.0, "{width}");
}

#[test]
fn lines_out_of_groups_lead_on() {
    // Only some of the second results have lines to the last operation.
    let calls: String = (0..70).map(|i| format!("(a{}, b{i}) = f(a{i});\n", i + 1)).collect();
    let all: Vec<String> = (0..70).map(|i| format!("b{i}")).collect();
    let all = all.join(", ");
    let text = format!(
        "version 1.0; fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar>, z: tensor<scalar> )
        {{ t = relu(x); y = tanh(t); z = exp(t); }}
        graph G( a0 ) -> ( y ) {{ a0 = external(shape = [1]); {calls} c = relu(a70); y = concat([c, {all}], axis = 0); }}"
    );
    with_graph(&text, Lower::Custom, |graph, _| {
        let mut scene = Scene::grouped(graph, grouping::undivided);
        let Arrangement { levels } = arrange(&mut scene);
        let led = levels[1..].iter().map(|level| level.outs.len()).sum::<usize>();
        let is_group =
            |edge: &&ranks::Edge| matches!(scene.groups[0].items.get(edge.upper as usize), Some(Item::Group(_)));
        let begun: FxHashSet<u32> = levels[0].rows.edges.iter().filter(is_group).map(|edge| edge.net).collect();
        assert!(led == begun.len() && (70..140).contains(&led), "{led} {}", begun.len());
    });
}

#[test]
fn a_row_has_few_wide_groups() {
    let (columns, calls) = (10, 24);
    let all = |name: &str| (0..columns).map(|i| format!("{name}{i}")).collect::<Vec<_>>();
    let results: Vec<String> = all("y").iter().map(|y| format!("{y}: tensor<scalar>")).collect();
    let body: String = all("y").iter().map(|y| format!("{y} = relu(x);\n")).collect();
    let calls: String =
        (0..calls).map(|call| format!("({}) = f(x);\n", all(&format!("a{call}_")).join(", "))).collect();
    let text = format!(
        "version 1.0; fragment f( x: tensor<scalar> ) -> ( {} ) {{ {body} }}
        graph G( x ) -> ( y ) {{ x = external(shape = [1, 2]); {calls} y = tanh(x); }}",
        results.join(", ")
    );
    // Three groups, of ten boxes each, which are about 100 wide without the gap.
    let width = width_of(&text, Lower::Custom);
    assert!(width < 3.5 * 10.0 * 130.0, "{width}");
}

#[cfg(feature = "onnx")]
#[test]
fn constants_have_no_boxes() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>
        g (float[2] x) => (float[2] z) {
            a = Constant <value_float = 0.5> ()
            y = Mul (x, a)
            b = Constant <value = float[2] {1.0, 2.0}> ()
            z = Add (y, b)
        }";
    let options = Options::default();
    let mut sources = Sources::new();
    let (document, _) = crate::onnx::Document::parse("test.onnxtxt", text, &mut sources, &options);
    let graph = document.unwrap().graph(&options).unwrap();
    let scene = Scene::new(&graph);
    let texts: Vec<(&str, Option<&(String, String)>)> =
        scene.nodes.iter().map(|node| (node.title.as_str(), node.rows.first())).collect();
    assert_eq!(texts.iter().map(|text| text.0).collect::<Vec<_>>(), ["x", "Mul", "Add", "z"]);
    assert_eq!(texts[1].1.map(|row| row.1.as_str()), Some("= 0.5"));
}

#[test]
fn lines_that_are_drawn_are_not_also_named() {
    // The line to the last operation would pass more boxes than lanes allow.
    let long: String = (0..60).map(|i| format!("a{} = add(a{i}, x);\n", i + 1)).collect();
    let all: Vec<String> = (0..61).map(|i| format!("a{i}")).collect();
    let all = all.join(", ");
    let text = format!(
        "version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [1]); a0 = relu(x); {long} y = concat([{all}], axis = 0); }}"
    );
    with_graph(&text, Lower::Custom, |graph, _| {
        let (scene, _) = placed_as(graph, grouping::undivided);
        assert!(scene.nodes.iter().any(|node| node.rows.iter().any(|(key, _)| key == "from")));
    });
    let [_, dot, _] = write(&text);
    assert!(!dot.contains("from"), "{dot}");
    assert_eq!(dot.matches(" -> ").count(), 1 + 60 * 2 + 61 + 1);
}

fn rank(level: &Level) -> Rows {
    ranks::rank(level, ranks::place(level))
}

fn level(items: usize, nets: &[(u32, &[u32])]) -> Level {
    let net =
        |(source, targets): &(u32, &[u32])| Net { source: Some(*source), targets: targets.to_vec(), leaves: false };
    Level { items: vec![1; items], nets: nets.iter().map(net).collect() }
}

#[test]
fn a_net_that_passes_rows_has_one_lane_in_each() {
    let rows = rank(&level(5, &[(0, &[1, 3, 4]), (1, &[2]), (2, &[3, 4])]));
    let lanes = rows.vertices.iter().filter(|vertex| matches!(vertex, Vertex::Lane(_))).count();
    assert_eq!((rows.rows.len(), lanes, rows.named.len()), (4, 2, 0));
}

#[test]
fn what_leads_upwards_is_named() {
    let rows = rank(&level(2, &[(0, &[1]), (1, &[0])]));
    assert_eq!(rows.named, [(1, 0)]);
    assert_eq!(rows.edges.len(), 1);
}

#[test]
fn far_targets_are_named() {
    // All tensors are used at the end: more lines than can be drawn.
    let count = 3000u32;
    let mut nets: Vec<(u32, Vec<u32>)> = (0..count - 1).map(|i| (i, vec![i + 1, count - 1])).collect();
    nets[count as usize - 2].1.pop();
    let nets: Vec<(u32, &[u32])> = nets.iter().map(|(source, targets)| (*source, targets.as_slice())).collect();
    let rows = rank(&level(count as usize, &nets));
    assert!(rows.named.len() > 2000 && rows.vertices.len() < 20_000);
}

#[test]
fn crossings_are_undone() {
    let level = level(6, &[(0, &[5]), (1, &[4]), (2, &[3])]);
    let mut rows = rank(&level);
    let ends = vec![(0.0, 0.0); rows.edges.len()];
    order::order(&mut rows, &ends);
    let at = |vertex: u32| rows.rows.iter().find_map(|row| row.iter().position(|other| *other == vertex));
    assert_eq!([at(5), at(4), at(3)], [at(0), at(1), at(2)]);
}

#[test]
fn long_chains_and_wide_fans_are_no_trouble() {
    let count = 20_000u32;
    let chain: Vec<Net> = (0..count - 1)
        .map(|i| Net { source: Some(i), targets: vec![i + 1, (i + 9).min(count - 1)], leaves: false })
        .collect();
    let fan = vec![Net { source: Some(0), targets: (1..count).collect(), leaves: false }];
    let hub: Vec<Net> = chain.iter().cloned().chain(fan.iter().cloned()).collect();
    for nets in [chain, fan, hub] {
        let mut rows = rank(&Level { items: vec![1; count as usize], nets });
        let ends = vec![(0.0, 0.0); rows.edges.len()];
        order::order(&mut rows, &ends);
        let (widths, ends) = (vec![80.0; count as usize], vec![(0.0, 0.0); rows.edges.len()]);
        let (x, width) = columns::columns(&rows, &columns::Sizes { widths: &widths, ends: &ends });
        assert!(x.iter().all(|x| x.is_finite() && *x >= 0.0 && *x <= width));
        let is_item = |vertex: &&u32| matches!(rows.vertices[**vertex as usize], Vertex::Item(_));
        assert_eq!(rows.rows.iter().flatten().filter(is_item).count(), count as usize);
        // Neighbours stand beside each other, in their order.
        let half = |vertex: u32| if matches!(rows.vertices[vertex as usize], Vertex::Item(_)) { 40.0 } else { 0.0 };
        for pair in rows.rows.iter().flat_map(|row| row.windows(2)) {
            let (a, b) = (pair[0], pair[1]);
            let apart = x[b as usize] - x[a as usize];
            assert!(apart > half(a) + half(b), "{a} and {b}: {apart}");
        }
    }
}

fn write(text: &str) -> [String; 3] {
    with_graph(text, Lower::Custom, |graph, sources| {
        let picture = Picture::new(graph, sources).unwrap();
        let mut out = [Vec::new(), Vec::new(), Vec::new()];
        picture.write_svg(&mut out[0]).unwrap();
        picture.write_dot(&mut out[1]).unwrap();
        picture.write_html(&mut out[2]).unwrap();
        out.map(|bytes| String::from_utf8(bytes).unwrap())
    })
}

const HOSTILE: &str = "version 1.0;
graph G( x ) -> ( y )
{
    x = external<scalar>(shape = [1]);
    v = variable<scalar>(shape = [1], label = '</script><!--\\x1b&\"\\\\');
    y = vendor(x, v, mode = ']]></text>\u{1}\u{7}', list = [v, v]);
}";

#[test]
fn pictures_are_well_formed_whatever_the_names() {
    let [svg, dot, html] = write(HOSTILE);
    roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(dot.matches(" -> ").count(), 2);
    // Start and end tags of the data and the script.
    assert_eq!((html.matches("<script").count(), html.matches("</script>").count()), (2, 2));
    let data = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    assert!(!data.contains('<') && !data.contains('&'));
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let label = "</script><!--";
    assert!(data["nodes"].as_array().unwrap().iter().any(|node| node["i"].to_string().contains(label)));
}

#[test]
fn pictures_are_the_same_each_time() {
    assert_eq!(write(RECURSION), write(RECURSION));
}

/// A document of calls of fragments on earlier tensors.
fn document() -> impl Strategy<Value = String> {
    let statement = (0..4usize, any::<prop::sample::Index>(), any::<prop::sample::Index>());
    prop::collection::vec(statement, 1..60).prop_map(|statements| {
        let mut text = String::from(
            "version 1.0;
fragment f( a: tensor<scalar>, b: tensor<scalar> ) -> ( y: tensor<scalar>, z: tensor<scalar> )
{ t = add(a, b); y = relu(t); z = mul(t, a); }
fragment g( a: tensor<scalar>, b: tensor<scalar> ) -> ( y: tensor<scalar> ) { (c, d) = f(a, b); (e, h) = f(c, a); y = max(e, d); }
fragment r( a: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{ y = add(r(exp(a), n - 1), a) if n > 1 else r(tanh(sigmoid(a)), n - 1) if n > 0 else a; }
graph G( t0 ) -> ( out )
{
t0 = external<scalar>(shape = [2]);
w = variable<scalar>(shape = [2], label = 'w');
",
        );
        for (i, (kind, a, b)) in statements.iter().enumerate() {
            let (a, b) = (a.index(i + 1), b.index(i + 1));
            let call = match kind {
                0 => format!("sub(t{a}, t{b})"),
                1 => format!("mul(t{a}, w)"),
                2 => format!("g(t{a}, t{b})"),
                3 => format!("r(t{a}, {})", b % 4),
                _ => format!("add(t{a}, t{b})"),
            };
            text.push_str(&format!("t{} = {call};\n", i + 1));
        }
        text + &format!("out = relu(t{});\n}}\n", statements.len())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_graph_is_laid_out_well(text in document()) {
        with_graph(&text, Lower::Custom, |graph, sources| {
            let (scene, placed) = placed(graph);
            check(&scene, &placed);
            let picture = Picture::new(graph, sources).unwrap();
            let mut svg = Vec::new();
            picture.write_svg(&mut svg).unwrap();
            roxmltree::Document::parse(std::str::from_utf8(&svg).unwrap()).unwrap();
        });
    }

    /// Rows for any nets, including cycles.
    #[test]
    fn any_nets_have_rows(nets in prop::collection::vec((0..40u32, prop::collection::vec(0..40u32, 0..6), any::<bool>()), 0..60)) {
        let net = |(source, targets, leaves): (u32, Vec<u32>, bool)| {
            Net { source: (source > 3).then_some(source), targets, leaves }
        };
        let level = Level { items: vec![1; 40], nets: nets.into_iter().map(net).collect() };
        let rows = rank(&level);
        let mut row_of = vec![usize::MAX; rows.vertices.len()];
        for (i, row) in rows.rows.iter().enumerate() {
            row.iter().for_each(|vertex| row_of[*vertex as usize] = i);
        }
        prop_assert!(row_of.iter().all(|row| *row < rows.rows.len()));
        prop_assert!((0..40).all(|item| rows.vertices[item as usize] == Vertex::Item(item)));
        for edge in &rows.edges {
            prop_assert_eq!(row_of[edge.upper as usize] + 1, row_of[edge.lower as usize]);
            let of_net = match rows.vertices[edge.upper as usize] {
                Vertex::Item(source) => level.nets[edge.net as usize].source == Some(source),
                Vertex::Lane(net) | Vertex::In(net) => net == edge.net,
                Vertex::Out(_) => false,
            };
            prop_assert!(of_net, "{:?}", edge);
        }
        // A line of the net ends at each of its targets, or they name it.
        for (i, net) in level.nets.iter().enumerate() {
            for target in &net.targets {
                let is_drawn = rows.edges.iter().any(|edge| edge.net == i as u32 && edge.lower == *target);
                prop_assert!(is_drawn != rows.named.contains(&(i as u32, *target)), "{} of {}", target, i);
            }
        }
    }
}

#[test]
fn names_of_flat_exports_make_groups() {
    let layer = |i: u32, x: &str| {
        format!(
            "m__layer_{i}__a__q = exp({x}); m__layer_{i}__a__k = exp(m__layer_{i}__a__q);
            m__layer_{i}__sum = add(m__layer_{i}__a__k, {x}); m__layer_{i}__out = relu(m__layer_{i}__sum);\n"
        )
    };
    let text = format!(
        "version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [2]);\n{}{} y = tanh(m__layer_1__out); }}",
        layer(0, "x"),
        layer(1, "m__layer_0__out")
    );
    let options = Options::default();
    let graph = expand(&parse("flat", text, &options).document, &options).unwrap().graph;
    let scene = Scene::new(&graph);
    let titles: Vec<(&str, u32)> = scene.groups.iter().map(|of| (of.title.as_str(), of.operations)).collect();
    assert_eq!(titles[1..], [("m", 8), ("layer_0", 4), ("a", 2), ("layer_1", 4), ("a", 2)]);
    // Names without a separator form no groups.
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); a_b = exp(x); y = exp(a_b); }";
    let graph = expand(&parse("other", text.to_string(), &options).document, &options).unwrap().graph;
    assert_eq!(Scene::new(&graph).groups.len(), 1);
}
