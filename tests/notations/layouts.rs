//! Shapes and layouts: texts, places in memory, bitcasts, primitives, and the command.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use crate::common::layouts::{arrays, index_of, known, laid_out, order};
use crate::common::patterns::matching;
use nnef_flatten::Graph;
use nnef_flatten::eval::Evaluator;
use nnef_flatten::tensor::{ArrayShape, Dimension, ElementType, Layout, PaddingValue, Shape, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

fn array(text: &str) -> ArrayShape {
    text.parse::<Shape>().unwrap_or_else(|error| panic!("{text}: {error}")).array().unwrap().clone()
}

fn f32() -> ElementType {
    ElementType::from_name("f32").unwrap()
}

/// Two lists of sizes with one product: the second one has the same factors in other groups.
fn reshaped() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    let factors = proptest::collection::vec(select(vec![1u64, 2, 3]), 1..6);
    let cuts = || proptest::collection::vec(any::<bool>(), 6);
    let grouped = |factors: &[u64], cuts: &[bool]| {
        let mut groups = vec![1];
        for (factor, cut) in factors.iter().zip(cuts) {
            if *cut {
                groups.push(1);
            }
            *groups.last_mut().unwrap() *= factor;
        }
        groups
    };
    (factors, cuts(), cuts()).prop_map(move |(factors, a, b)| (grouped(&factors, &a), grouped(&factors, &b)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_is_printed_reads_back(shape in arrays(), space in 0u64..3, bits in 0u64..9, bound in any::<bool>()) {
        let layout = shape.layout().clone().with_memory_space(space).with_element_bits(bits);
        let is_padded = layout.padding().is_some();
        let mut shape = shape.with_layout(layout).unwrap();
        if bound && shape.rank() > 0 {
            let size = known(&shape)[0];
            shape = shape.with_dimension(0, Dimension::Bounded(size)).unwrap();
        }
        let shape = Shape::Tuple(vec![Shape::Array(shape), Shape::Token]);
        // Padding has no text.
        let read: Shape = shape.to_string().parse().unwrap();
        prop_assert_eq!(read.to_string(), shape.to_string());
        if !is_padded {
            prop_assert_eq!(&read, &shape);
        }
        let again: Shape = read.to_string().replace(',', " , // \n").replace(':', " : /* */ ").parse().unwrap();
        prop_assert_eq!(again, read);
    }

    #[test]
    fn places_and_indices_are_inverse(shape in arrays()) {
        let walk = shape.memory_walk().unwrap();
        let sizes = known(&shape);
        let elements = shape.elements().unwrap();
        let mut seen: Vec<u64> = walk.iter().flatten().copied().collect();
        seen.sort_unstable();
        prop_assert!(seen.into_iter().eq(0..elements), "no permutation: {}", shape);
        prop_assert_eq!(shape.allocated_bytes().unwrap(), 4 * walk.len() as u64);
        for (place, element) in walk.iter().enumerate() {
            let index = shape.multi_index(place as u64).unwrap();
            prop_assert_eq!(&index, &element.map(|element| index_of(element, &sizes)), "{} at {}", shape, place);
            if let Some(index) = index {
                prop_assert_eq!(shape.linear_index(&index).unwrap(), place as u64);
            }
        }
        let mut index = vec![0; sizes.len()];
        let mut counted = u64::from(elements > 0);
        while elements > 0 && shape.bump_index(&mut index).unwrap() {
            prop_assert_eq!(&index, &index_of(counted, &sizes));
            counted += 1;
        }
        prop_assert_eq!(counted, elements);
    }

    #[test]
    fn primitives_make_the_memory(shape in arrays()) {
        prop_assume!(shape.elements().unwrap() > 0);
        let graph = Graph::memory_of(&shape).unwrap();
        prop_assert_eq!(graph.verify(), Vec::<String>::new());
        let sizes: Vec<usize> = known(&shape).iter().map(|size| *size as usize).collect();
        let items = (1..=shape.elements().unwrap()).map(|item| item as f64).collect();
        let input = Tensor::scalars(&sizes, items).unwrap();
        let made = Evaluator::default().run(&graph, &[("x".to_owned(), input)], &BTreeMap::new()).unwrap().outputs;
        let wanted: Vec<f64> =
            shape.memory_walk().unwrap().iter().map(|element| element.map_or(0.0, |element| element as f64 + 1.0)).collect();
        prop_assert_eq!(made[0].1.to_scalars(), wanted, "{}", shape);
    }

    #[test]
    fn reshapes_are_bitcasts_where_memory_is_equal(
        (a, b) in reshaped().prop_flat_map(|(a, b)| (laid_out(a), laid_out(b)))
    ) {
        let equal = a.memory_walk().unwrap() == b.memory_walk().unwrap();
        prop_assert_eq!(a.reshape_is_bitcast(&b).unwrap(), equal, "{} {}", a, b);
        prop_assert!(a.reshape_is_bitcast(&a).unwrap());
    }

    #[test]
    fn dense_reshapes_are_bitcasts_where_memory_is_equal(
        (a, b, c, d) in reshaped().prop_flat_map(|(a, b)| (order(a.len()), order(b.len()), Just(a), Just(b)))
    ) {
        let plain = |order: &[usize], sizes: &[u64]| {
            ArrayShape::new(f32(), sizes).with_layout(Layout::new(order).unwrap()).unwrap()
        };
        let (from, to) = (plain(&a, &c), plain(&b, &d));
        let equal = from.memory_walk().unwrap() == to.memory_walk().unwrap();
        prop_assert_eq!(from.reshape_is_bitcast(&to).unwrap(), equal, "{} {}", from, to);
        // Layouts are found exactly where there is one.
        if let Some(aligned) = from.align_layout(&d).unwrap() {
            prop_assert_eq!(from.memory_walk().unwrap(), aligned.memory_walk().unwrap(), "{} {}", from, aligned);
        } else {
            prop_assert!(!equal, "{} {}", from, to);
        }
    }

    #[test]
    fn transposes_are_bitcasts_where_memory_is_equal(
        (a, order, b) in arrays().prop_flat_map(|a| (Just(a.clone()), order(a.rank()))).prop_flat_map(|(a, order)| {
            let sizes = known(&a);
            let b = laid_out(order.iter().map(|&dimension| sizes[dimension]).collect());
            (Just(a), Just(order), b)
        })
    ) {
        let (from, to) = (known(&a), known(&b));
        let moved = |element: &Option<u64>| element.map(|element| {
            let index = index_of(element, &to);
            let at = |i: usize| order.iter().position(|&dimension| dimension == i).unwrap();
            from.iter().enumerate().fold(0, |all, (i, size)| all * size + index[at(i)])
        });
        let walk: Vec<Option<u64>> = b.memory_walk().unwrap().iter().map(moved).collect();
        // Nothing moves where there is nothing.
        let equal = walk.iter().all(Option::is_none) || a.memory_walk().unwrap() == walk;
        prop_assert_eq!(a.transpose_is_bitcast(&b, &order).unwrap(), equal, "{} {} {:?}", a, b, order);
        prop_assert!(a.transpose_is_bitcast(&a.permuted(&order).unwrap(), &order).unwrap());
        if let Some(deduced) = a.deduce_transpose(&b).unwrap() {
            prop_assert!(a.transpose_is_bitcast(&b, &deduced).unwrap());
        }
    }

    #[test]
    fn places_are_counted_in_order(shape in arrays()) {
        let sizes = known(&shape);
        let mut places = Vec::new();
        shape.each_place(|place| places.push(place)).unwrap();
        let wanted: Vec<u64> =
            (0..shape.elements().unwrap()).map(|element| shape.linear_index(&index_of(element, &sizes)).unwrap()).collect();
        prop_assert_eq!(&places, &wanted, "{}", shape);
        let indexer = shape.indexer().unwrap();
        let found: Vec<u64> =
            (0..places.len() as u64).map(|element| indexer(&index_of(element, &sizes)).unwrap()).collect();
        prop_assert_eq!(found, wanted, "{}", shape);
        prop_assert_eq!(indexer(&sizes), if sizes.is_empty() { Some(0) } else { None });
    }

    /// One text of random characters, and a right one in which a character is replaced: of these one in ten is right.
    #[test]
    fn any_text_is_read_or_refused(
        text in matching("(f32|s4|b|token)?[\\[(]{0,2}[0-9,<=?*():{}TLESCM#DP /]{0,24}[\\])}]{0,2}"),
        shape in arrays(),
        at in any::<usize>(),
        other in matching("[0-9,<=?*():{}TLESCM#DP /]{0,2}"),
    ) {
        let right = shape.to_string();
        let at = at % right.len();
        let near = format!("{}{other}{}", &right[..at], &right[at + 1..]);
        for text in [text, near] {
            if let Ok(shape) = text.parse::<Shape>() {
                prop_assert_eq!(shape.to_string().parse::<Shape>().unwrap(), shape);
            }
        }
    }
}

#[test]
fn known_places() {
    assert_eq!(array("f32[3,5]{1,0:T(2,2)}").linear_index(&[2, 3]).unwrap(), 17);
    assert_eq!(array("f32[8,8]{1,0:T(2,4)(2,1,1,1)}").linear_index(&[6, 5]).unwrap(), 51);
    let layout = Layout::column_major(2).with_padding(&[3, 5], PaddingValue::Zero);
    let padded = ArrayShape::new(f32(), &[2, 3]).with_layout(layout).unwrap();
    let letters: String = padded
        .memory_walk()
        .unwrap()
        .iter()
        .map(|element| element.map_or('0', |element| char::from(b'a' + element as u8)))
        .collect();
    assert_eq!(letters, "ad0be0cf0000000");
    // Padding around no elements.
    let padded = Layout::row_major(2).with_padding(&[1, 2], PaddingValue::Zero);
    let empty = ArrayShape::new(f32(), &[0, 2]).with_layout(padded).unwrap();
    assert_eq!(empty.memory_walk().unwrap(), [None, None]);
    // A tile of more dimensions than the array.
    assert_eq!(array("f32[5]{0:T(2,4)}").memory_walk().unwrap().len(), 16);
    assert_eq!(array("f32[]{:T(256)}").allocated_bytes().unwrap(), 1024);
}

/// Dimensions of size 1 take no stack and no time, however many there are.
#[test]
fn very_many_dimensions_are_walked_through() {
    let rank = 20_000;
    let sizes: Vec<u64> = std::iter::repeat_n(1, rank - 2).chain([3, 5]).collect();
    let layout = Layout::row_major(rank).with_tile(&[Some(2), Some(2)]).unwrap();
    let many = ArrayShape::new(f32(), &sizes).with_layout(layout).unwrap();
    let (mut places, mut few) = (Vec::new(), Vec::new());
    many.each_place(|place| places.push(place)).unwrap();
    array("f32[3,5]{1,0:T(2,2)}").each_place(|place| few.push(place)).unwrap();
    assert_eq!(places, few);
}

/// The strides of empty arrays are meaningless and not a reason to refuse them.
#[test]
fn empty_arrays_have_strides() {
    let empty = array("f32[0,3000000000,1000000000]");
    assert_eq!(empty.byte_strides().unwrap().unwrap()[1..], [4_000_000_000, 4]);
    let large = array("f32[2,3000000000,1000000000]").byte_strides().unwrap_err().to_string();
    assert!(large.contains("does not fit into 63 bits"), "{large}");
}

#[test]
fn elements_of_six_bits_take_a_byte() {
    for name in ["f6e2m3fn", "f6e3m2fn"] {
        assert_eq!(array(&format!("{name}[5]")).allocated_bytes().unwrap(), 5);
        assert_eq!(array(&format!("{name}[5]{{0:E(6)}}")).allocated_bytes().unwrap(), 4);
    }
}

#[test]
fn large_arrays_are_decided_without_a_walk() {
    let big = array("f32[1048576,1000,1000]{2,1,0:T(8,128)}");
    assert!(big.reshape_is_bitcast(&array("f32[1024,1024,1000,1000]{3,2,1,0:T(8,128)}")).unwrap());
    assert!(!big.reshape_is_bitcast(&array("f32[1024,1024,1000,1000]{2,3,1,0:T(8,128)}")).unwrap());
    let long = big.memory_walk().unwrap_err().to_string();
    assert!(long.contains("are too many to list"), "{long}");
    // Without a closed form, and too large to be compared.
    let merged = array("f32[100003,100003]{1,0:T(*,1000)}");
    let long = merged.reshape_is_bitcast(&array("f32[100003,1,100003]{2,1,0:T(*,*,1000)}")).unwrap_err().to_string();
    assert!(long.contains("are too many to list"), "{long}");
    assert!(merged.reshape_is_bitcast(&merged).unwrap());
    assert!(merged.transpose_is_bitcast(&merged, &[0, 1]).unwrap());
    let large = array("f32[9223372036854775807,2]").elements().unwrap_err().to_string();
    assert!(large.contains("does not fit into 63 bits"), "{large}");
    assert_eq!(array("f32[9223372036854775807,0]").elements().unwrap(), 0);
}

#[test]
fn mistakes_have_codes_and_places() {
    for (text, code, place) in [
        ("f32[2;3]", "E1501", 5),
        ("f32[2,3]{1,0}x", "E1501", 13),
        ("token[2]", "E1501", 0),
        ("b(token[])", "E1501", 0),
        ("f31[2]", "E1502", 0),
        ("f32[2]{0:#(s32)}", "E1502", 11),
        ("f32[-1]", "E1503", 4),
        ("f32[2,9223372036854775808]", "E1503", 6),
        ("(s8[], f32[9223372036854775807,3])", "E1503", 7),
        ("(b(f64[9223372036854775807]))", "E1503", 1),
        ("f32[2,3]{1,2}", "E1504", 9),
        ("f32[2,3]{0}", "E1504", 9),
        ("f32[2,3]{1,0:T()}", "E1505", 14),
        ("f32[2,3]{1,0:T(4)(2,0)}", "E1505", 17),
        ("f32[2,3]{1,0:T(2,*)}", "E1505", 14),
        ("f32[2,3]{1,0:S(1)T(8,128)}", "E1506", 17),
        ("f32[2,3]{1,0:S(1)S(1)}", "E1506", 17),
        ("f32[2,3]{1,0:P(f32[2])}", "E1506", 13),
        ("f32[2,3]{1,0:L(0)}", "E1506", 13),
        ("f32[2,3]{1,0:Q(0)}", "E1506", 13),
        ("f32[2,3]{1,0:S(128)}", "E1506", 13),
        ("f32[2]{0:SC(1:1)}", "E1506", 6),
    ] {
        let found = text.parse::<Shape>().unwrap_err();
        let first = found.iter().next().unwrap();
        assert_eq!((first.code.as_str(), first.at.span.start), (code, place), "{text}: {first}");
    }
    assert_eq!("(f31[2], f32[-1]{0,0})".parse::<Shape>().unwrap_err().len(), 3);
    let deep = "(".repeat(100_000).parse::<Shape>().unwrap_err();
    assert!(deep.to_string().contains("nested more than 200 deep"), "{deep}");
}

#[cfg(feature = "cli")]
mod calls {
    use std::io::Write;
    use std::process::Output;

    use crate::common::command::feed;

    fn run(args: &[&str], stdin: &str) -> Output {
        fed(args, stdin.as_bytes())
    }

    fn fed(args: &[&str], stdin: &[u8]) -> Output {
        feed(&[&["layout"], args].concat(), stdin)
    }

    fn stdout(output: &Output) -> String {
        String::from_utf8(output.stdout.clone()).unwrap()
    }

    #[test]
    fn shapes_of_a_text_are_listed() {
        let text = "ENTRY %main.4 (p: f32[2,3]) -> f32[2,3] {\n  %p = f32[2,3]{1,0:T(8,128)} parameter(0)\n  \
            %t = (f32[2,3]{1,0:T(8,128)}, /*index=1*/ s32[]) tuple(%p)\n  ROOT %r = bf16[4096,1]{1,0:T(8,128)(2,1)} x(%f32[0])\n  \
            not_f32[2] f32[2,x] f32[?] f32[\n  f32[2,bf16[3]\n s8[\ns8[]";
        let listed = stdout(&run(&["-", "--to", "json"], text));
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let shapes = listed["shapes"].as_array().unwrap();
        let seen: Vec<_> =
            shapes.iter().map(|row| (row["shape"].as_str().unwrap(), row["count"].as_u64().unwrap())).collect();
        assert_eq!(
            seen,
            [
                ("bf16[4096,1]{1,0:T(8,128)(2,1)}", 1),
                ("f32[2,3]{1,0:T(8,128)}", 2),
                ("f32[2,3]{1,0}", 2),
                ("bf16[3]{0}", 1),
                ("s32[]", 1),
                ("s8[]", 1),
                ("f32[?]{0}", 1),
            ]
        );
        assert_eq!(shapes[0]["wasted_bytes"], 2 * 4096 * 127);
        assert_eq!(listed["unread"], 4);
        assert!(stdout(&run(&["-"], text)).contains("1.0 MiB    1016.0 KiB    128.00"));
        // Traces are compressed, or binary with texts within.
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        let binary = [b"\xff\x0a\x12".as_slice(), text.as_bytes(), b"\x00\xfe"].concat();
        for trace in [packed.finish().unwrap(), binary] {
            let again: serde_json::Value = serde_json::from_slice(&fed(&["-", "--to", "json"], &trace).stdout).unwrap();
            assert_eq!(again["shapes"].as_array().unwrap().len(), shapes.len());
        }
        let cut = fed(&["-"], b"\x1f\x8b\x08");
        assert!(cut.status.code() == Some(1) && String::from_utf8_lossy(&cut.stderr).contains("E1201"), "{cut:?}");
    }

    #[test]
    fn sizes_are_added_up_by_memory_space() {
        let text = "f32[8,128]{1,0:T(8,128)} f32[8,128]{1,0:T(8,128)} f32[256]{0} bf16[16,128]{1,0:T(8,128)(2,1)S(1)}";
        let listed: serde_json::Value = serde_json::from_str(&stdout(&run(&["-", "--to", "json"], text))).unwrap();
        let sums: Vec<_> = listed["memory_spaces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sum| {
                let number = |key: &str| sum[key].as_u64().unwrap();
                ["memory_space", "shapes", "array_size_bytes", "count", "array_size_bytes_of_all"].map(number)
            })
            .collect();
        assert_eq!(sums, [[0, 2, 4096 + 1024, 3, 2 * 4096 + 1024], [1, 1, 4096, 1, 4096]]);
        assert!(stdout(&run(&["-"], text)).contains("memory space 1: 4.0 KiB for 1 shapes, 4.0 KiB for 1 occurrences"));
    }

    fn flatten(args: &[&str], text: &str) -> Output {
        feed(&[args, &["-"]].concat(), text)
    }

    fn document(shape: &[usize], body: &[String], outputs: &str) -> String {
        let body: String = body.iter().map(|line| format!("    {line}\n")).collect();
        format!("version 1.0;\n\ngraph G(x) -> ({outputs})\n{{\n    x = external(shape = {shape:?});\n{body}}}\n")
    }

    #[test]
    fn what_moves_nothing_is_removed() {
        let rows: &[(&[usize], &[&str], &str, &str)] = &[
            // Two transposes that undo each other.
            (
                &[2, 1, 3],
                &["transpose(x, axes = [2, 0, 1])", "transpose(a, axes = [1, 2, 0])", "relu(b)"],
                "c = relu(x);",
                "moved: 48 before, 0 after",
            ),
            // Only an axis of extent 1 moves.
            (
                &[2, 1, 3],
                &["transpose(x, axes = [1, 0, 2])"],
                "a = reshape(x, shape = [1, 2, 3]);",
                "moved: 0 before, 0 after",
            ),
            // Chains are joined.
            (
                &[2, 1, 3],
                &[
                    "reshape(x, shape = [6])",
                    "squeeze(unsqueeze(a, axes = [0]), axes = [0])",
                    "reshape(b, shape = [3, 2])",
                ],
                "c = reshape(x, shape = [3, 2]);",
                "transposes: 4 before, 1 after",
            ),
            (
                &[2, 3, 4],
                &["transpose(x, axes = [1, 2, 0])", "transpose(a, axes = [1, 2, 0])"],
                "b = transpose(x, axes = [2, 0, 1]);",
                "moved: 192 before, 96 after",
            ),
            // The second one moves nothing after the first one.
            (
                &[2, 1, 3],
                &["transpose(x, axes = [1, 2, 0])", "transpose(a, axes = [1, 2, 0])"],
                "a = transpose(x, axes = [1, 2, 0]); b = reshape(a, shape = [3, 2, 1]);",
                "moved: 24 before, 24 after",
            ),
            // An output keeps its name.
            (&[2, 1, 3], &["reshape(x, shape = [2, 1, 3])"], "a = copy(x);", "transposes: 1 before, 0 after"),
        ];
        for (shape, chain, wanted, told) in rows {
            let names: Vec<char> = ('a'..='z').collect();
            let body: Vec<String> = chain.iter().zip(&names).map(|(call, name)| format!("{name} = {call};")).collect();
            let text = document(shape, &body, &names[body.len() - 1].to_string());
            let output = flatten(&["--drop-bitcasts", "--verify"], &text);
            let (flat, remarks) = (stdout(&output), String::from_utf8(output.stderr.clone()).unwrap());
            assert_eq!(output.status.code(), Some(0), "{remarks}");
            let lines: Vec<&str> = flat.lines().filter(|line| line.contains(" = ")).map(str::trim).collect();
            assert_eq!(lines[1..].join(" "), *wanted, "{text}{flat}");
            assert!(remarks.contains(told) && remarks.contains("the largest difference is 0"), "{remarks}");
        }
        let stats = flatten(
            &["--drop-bitcasts", "--stats", "--message-format", "json"],
            &document(&[2, 1, 3], &["y = transpose(x, axes = [2, 1, 0]);".into()], "y"),
        );
        assert!(String::from_utf8(stats.stderr).unwrap().contains("\"bytes_moved\":{\"after\":24,\"before\":24}"));
    }

    proptest::proptest! {
        #![proptest_config(super::ProptestConfig { failure_persistence: None, ..super::ProptestConfig::with_cases(60) })]

        #[test]
        fn removing_keeps_the_meaning(steps in proptest::collection::vec((0usize..4, 0usize..7), 1..9)) {
            const SHAPES: [&[usize]; 7] =
                [&[12], &[4, 3], &[3, 4], &[1, 12], &[2, 2, 3], &[6, 1, 2], &[3, 2, 2]];
            let (mut rank, mut body) = (3, Vec::new());
            for (i, (what, which)) in steps.iter().enumerate() {
                let from = if i == 0 { "x".to_owned() } else { format!("t{}", i - 1) };
                let axes: Vec<usize> = match what {
                    0 => (0..rank).rev().collect(),
                    _ => (0..rank).map(|axis| (axis + which) % rank).collect(),
                };
                body.push(match what {
                    0 | 1 => format!("t{i} = transpose({from}, axes = {axes:?});"),
                    2 => format!("t{i} = reshape({from}, shape = {:?});", SHAPES[*which]),
                    _ => format!("t{i} = relu({from});"),
                });
                rank = if *what == 2 { SHAPES[*which].len() } else { rank };
            }
            let (middle, last) = (format!("t{}", steps.len() / 2), format!("t{}", steps.len() - 1));
            let text = document(&[2, 2, 3], &body, &if middle == last { last } else { format!("{middle}, {last}") });
            let output = flatten(&["--drop-bitcasts", "--verify"], &text);
            let remarks = String::from_utf8(output.stderr.clone()).unwrap();
            let is_same = output.status.success() && remarks.contains("the largest difference is 0");
            proptest::prop_assert!(is_same, "{text}{remarks}");
            let again = flatten(&["--drop-bitcasts"], &stdout(&output));
            proptest::prop_assert_eq!(stdout(&again), stdout(&output));
        }
    }
}
