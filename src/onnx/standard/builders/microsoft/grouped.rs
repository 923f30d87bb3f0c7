//! Attention with heads of queries that share heads of keys, and with a cache of keys and values.

use super::heads::Heads;
use super::numbers::{bounded, extent};
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

const PAST_KEY: usize = 3;
const COSINES: usize = 7;
const POSITIONS: usize = 9;
const BIAS: usize = 10;
const SINK: usize = 11;
const NORM: usize = 14;
const QUERY_LENGTHS: usize = 16;

/// What is refused: quantized and windowed caches, and results before the values.
fn check(call: &StandardCall) -> Build<()> {
    let windowed = call.int("sliding_window_cache", 0)? != 0;
    let quantized = call.has_input(12) || call.has_input(13);
    let wants_scores = call.int("qk_output", 0)? != 0 || call.has_output(3);
    let past = call.has_input(PAST_KEY) == call.has_input(PAST_KEY + 1);
    if windowed || quantized || wants_scores || !past || call.has_input(QUERY_LENGTHS) { Err(NotKnown) } else { Ok(()) }
}

pub(in crate::onnx::standard) fn grouped(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    check(call)?;
    let (heads, groups) = (bounded(call.int("num_heads", 0)?)?, bounded(call.int("kv_num_heads", 0)?)?);
    if heads <= 0 || groups <= 0 || heads % groups != 0 || call.version < 12 {
        return Err(NotKnown);
    }
    let packed = !call.has_input(1);
    let parts = if packed { heads + 2 * groups } else { heads };
    let hidden = extent(call, 0, 2)?;
    if hidden <= 0 || hidden % parts != 0 {
        return Err(NotKnown);
    }
    let size = hidden / parts;
    let mut own = Heads::new(call, settings)?;
    let mut names = ["query", "key", "value"];
    if packed {
        names = ["flat_queries", "flat_keys", "flat_values"];
        own.split("query", 2, names, [heads * size, groups * size, groups * size]);
    }
    own.separate(names[0], "own_queries", heads, size);
    own.separate(names[1], "own_keys", groups, size);
    own.separate(names[2], "new_values", groups, size);
    write_lengths(&mut own);
    let [queries, keys] = normalized(&mut own)?;
    let [queries, keys] = rotated(&mut own, [queries, keys], size)?;
    write_cache(&mut own, keys);
    repeat(&mut own, heads / groups, heads, size);
    write_scores(&mut own, queries, size)?;
    own.join("result", "output", heads * size);
    Ok(())
}

/// Writes how many tokens each sequence has and had: `all_tokens`, `earlier_tokens`, and the positions of the new ones.
fn write_lengths(own: &mut Heads) {
    own.line("one = const int64 (1)");
    own.line("first = const int64 (0)");
    own.line("column = const int64[2] (-1, 1)");
    own.extent("own_queries", "query_count", 2);
    own.line("last_places = Cast <to: int = 7> (seqlens_k)");
    own.line("row_of_places = Reshape (last_places, column)");
    own.line("all_tokens = Add (row_of_places, one)");
    own.line("difference = Sub (all_tokens, query_count)");
    own.line("earlier_tokens = Max (difference, first)");
    own.line("query_index = Range (first, query_count, one)");
    own.line("query_places = Add (earlier_tokens, query_index)");
}

/// Writes heads of queries and keys divided by the root of the mean of their squares, if the call gives weights for that.
fn normalized(own: &mut Heads) -> Build<[&'static str; 2]> {
    let call = own.call;
    if !call.has_input(NORM) {
        return Ok(["own_queries", "own_keys"]);
    }
    let shared = call.float("qk_norm_epsilon")?.unwrap_or(1e-6);
    for (x, weight, epsilon) in
        [("queries", "q_norm_weight", "q_norm_epsilon"), ("keys", "k_norm_weight", "k_norm_epsilon")]
    {
        let epsilon = call.float(epsilon)?.unwrap_or(shared);
        own.line(format!("wide_{x} = Cast <to: int = 1> (own_{x})"));
        own.line(format!("square_of_{x} = Mul (wide_{x}, wide_{x})"));
        own.line(format!("mean_of_{x} = along ReduceMean (-1) (square_of_{x})"));
        own.line(format!("epsilon_of_{x} = const float ({epsilon:e})"));
        own.line(format!("enlarged_{x} = Add (mean_of_{x}, epsilon_of_{x})"));
        own.line(format!("root_of_{x} = Sqrt (enlarged_{x})"));
        own.line(format!("unit_{x} = Div (wide_{x}, root_of_{x})"));
        own.line(format!("narrow_{x} = Cast <to: int = {}> (unit_{x})", call.element(0)?.number));
        own.line(format!("normal_{x} = Mul (narrow_{x}, {weight})"));
    }
    Ok(["normal_queries", "normal_keys"])
}

/// Writes queries and keys turned by their positions, if the call asks for it.
fn rotated(own: &mut Heads, of: [&'static str; 2], size: i64) -> Build<[&'static str; 2]> {
    let call = own.call;
    if call.int("do_rotary", 0)? == 0 {
        return Ok(of);
    }
    let rotated = 2 * extent(call, COSINES, 1)?;
    if rotated <= 0 || rotated > size {
        return Err(NotKnown);
    }
    let interleaved = call.int("rotary_interleaved", 0)? != 0;
    if call.has_input(POSITIONS) {
        write_given_positions(own);
    }
    own.angles(if call.has_input(POSITIONS) { "places_of_tokens" } else { "query_places" });
    own.rotate(of[0], "turned_queries", size, rotated, interleaved);
    own.rotate(of[1], "turned_keys_of_tokens", size, rotated, interleaved);
    Ok(["turned_queries", "turned_keys_of_tokens"])
}

/// Writes the positions that a call gives. Those of a first prompt follow on the first one.
fn write_given_positions(own: &mut Heads) {
    own.line("all_ids = const int64[1] (-1)");
    own.line("flat_ids = Reshape (position_ids, all_ids)");
    own.line("first_id = Gather (flat_ids, first)");
    own.line("following_ids = Add (first_id, query_index)");
    own.line("count_of_tokens = Cast <to: int = 7> (total_sequence_length)");
    own.line("is_prompt = Equal (count_of_tokens, query_count)");
    own.line("places_of_tokens = Where (is_prompt, following_ids, position_ids)");
}

/// Writes the keys and values of all tokens: the new ones are behind the earlier ones of their sequence.
fn write_cache(own: &mut Heads, keys: &str) {
    let call = own.call;
    let names = ["keys", "values"].map(|name| {
        let i = if name == "keys" { 1 } else { 2 };
        if !call.has_output(i) {
            name
        } else if i == 1 {
            "present_key"
        } else {
            "present_value"
        }
    });
    if !call.has_input(PAST_KEY) {
        own.line(format!("{} = Identity ({keys})", names[0]));
        own.line(format!("{} = Identity (new_values)", names[1]));
    } else {
        own.extent("past_key", "room", 2);
        own.line("wide_total = Cast <to: int = 7> (total_sequence_length)");
        own.line("no_axes = const int64[1] (1)");
        own.line("row_total = Reshape (wide_total, no_axes)");
        own.line("single_total = Squeeze (row_total)");
        own.line("place_count = Max (room, single_total)");
        own.line("place = Range (first, place_count, one)");
        own.line("is_earlier = Less (place, earlier_tokens)");
        own.line("moved_place = Sub (place, earlier_tokens)");
        own.line("new_place = Add (moved_place, room)");
        own.line("wanted_place = Where (is_earlier, place, new_place)");
        own.line("all_room = Add (room, query_count)");
        own.line("last_place = Sub (all_room, one)");
        own.line("source = Min (wanted_place, last_place)");
        own.line("source_of_heads = along Unsqueeze (1, 3) (source)");
        for (past, new, result) in [("past_key", keys, names[0]), ("past_value", "new_values", names[1])] {
            own.line(format!("{past}_shape = Shape ({past})"));
            own.line(format!("joined_{past} = Concat <axis: int = 2> ({past}, {new})"));
            own.line(format!("{past}_joined_shape = Shape (joined_{past})"));
            own.line(format!("{past}_outer_from = const int64[1] (0)"));
            own.line(format!("{past}_outer_to = const int64[1] (2)"));
            own.line(format!("{past}_inner_from = const int64[1] (3)"));
            own.line(format!("{past}_inner_to = const int64[1] (4)"));
            own.line(format!("{past}_outer = Slice ({past}_joined_shape, {past}_outer_from, {past}_outer_to)"));
            own.line(format!("{past}_inner = Slice ({past}_joined_shape, {past}_inner_from, {past}_inner_to)"));
            own.line(format!("{past}_count = Reshape (place_count, no_axes)"));
            own.line(format!("{past}_wanted = Concat <axis: int = 0> ({past}_outer, {past}_count, {past}_inner)"));
            own.line(format!("{past}_source = Expand (source_of_heads, {past}_wanted)"));
            own.line(format!("{result} = GatherElements <axis: int = 2> (joined_{past}, {past}_source)"));
        }
    }
    own.line(format!("stored_keys = Identity ({})", names[0]));
    own.line(format!("stored_values = Identity ({})", names[1]));
}

/// Writes a head of keys and values for each head of queries: `all_keys`, `all_values`.
fn repeat(own: &mut Heads, times: i64, heads: i64, size: i64) {
    for name in ["keys", "values"] {
        if times == 1 {
            own.line(format!("all_{name} = Identity (stored_{name})"));
            continue;
        }
        own.line(format!("column_{name} = along Unsqueeze (2) (stored_{name})"));
        own.line(format!("times_{name} = const int64[5] (1, 1, {times}, 1, 1)"));
        own.line(format!("repeated_{name} = Expand (column_{name}, times_{name})"));
        own.line(format!("head_shape_{name} = const int64[4] (0, {heads}, -1, {size})"));
        own.line(format!("all_{name} = Reshape (repeated_{name}, head_shape_{name})"));
    }
}

/// Writes the result of heads: `result`.
fn write_scores(own: &mut Heads, queries: &str, size: i64) -> Build<()> {
    let call = own.call;
    let (scale, cap) = (own.scale(size)?, call.float("softcap")?.filter(|cap| *cap > 0.0));
    own.line(format!("scale = const $T ({scale:e})"));
    own.line("turned_keys = Transpose <perm: ints = [0, 1, 3, 2]> (all_keys)");
    own.line(format!("products = MatMul ({queries}, turned_keys)"));
    own.line("scaled = Mul (products, scale)");
    let mut scores = "scaled";
    if let Some(cap) = cap {
        own.line(format!("cap = const $T ({cap:e})"));
        own.line("relative = Div (scaled, cap)");
        own.line("limited = Tanh (relative)");
        own.line("capped = Mul (limited, cap)");
        scores = "capped";
    }
    if call.has_input(BIAS) {
        own.line(format!("biased = Add ({scores}, attention_bias)"));
        scores = "biased";
    }
    write_hidden(own)?;
    own.line(format!("never = const $T ({:e})", f32::MIN));
    own.line(format!("visible_scores = Where (is_hidden, never, {scores})"));
    let sink = call.has_input(SINK);
    if !sink && call.int("smooth_softmax", 0)? == 0 {
        own.line("shares = Softmax <axis: int = 3> (visible_scores)");
    } else {
        write_sink(own, sink);
    }
    own.line("result = MatMul (shares, all_values)");
    Ok(())
}

/// Writes which keys a query does not see: `is_hidden`.
fn write_hidden(own: &mut Heads) -> Build<()> {
    let (causal, window) = (own.call.int("causal", 1)? != 0, own.call.int("local_window_size", -1)?);
    own.extent("all_keys", "key_count", 2);
    own.line("key_place = Range (first, key_count, one)");
    own.line("query_rows = along Unsqueeze (1, 3) (query_places)");
    let mut hidden = "is_behind";
    if causal {
        own.line("is_behind = Greater (key_place, query_rows)");
    } else {
        own.line("all_rows = along Unsqueeze (1, 2) (all_tokens)");
        own.line("is_inside = Less (key_place, all_rows)");
        own.line("is_behind = Not (is_inside)");
    }
    if window > 0 {
        own.line(format!("window = const int64 ({window})"));
        own.line("window_start = Sub (query_rows, window)");
        own.line("is_inside_window = Greater (key_place, window_start)");
        own.line("is_left = Not (is_inside_window)");
        own.line("is_out = Or (is_behind, is_left)");
        hidden = "is_out";
    }
    own.line(format!("is_hidden = Identity ({hidden})"));
    Ok(())
}

/// Writes the shares of a softmax with one more score: that of the head, or 0.
fn write_sink(own: &mut Heads, given: bool) {
    own.line("zero_score = const $T (0)");
    own.line("axis_of_places = const int64[1] (3)");
    own.part("visible_scores", "first_scores", 0, 1, 3);
    own.line("no_scores = Mul (first_scores, zero_score)");
    if given {
        own.line("of_heads = const int64[4] (1, -1, 1, 1)");
        own.line("sinks = Reshape (head_sink, of_heads)");
        own.line("sink_scores = Add (no_scores, sinks)");
    } else {
        own.line("sink_scores = Identity (no_scores)");
    }
    own.line("more_scores = Concat <axis: int = 3> (visible_scores, sink_scores)");
    own.line("more_shares = Softmax <axis: int = 3> (more_scores)");
    own.line("single_place = const int64[1] (1)");
    own.line("share_start = const int64[1] (0)");
    own.line("share_end = Reshape (key_count, single_place)");
    own.line("shares = Slice (more_shares, share_start, share_end, axis_of_places)");
}
