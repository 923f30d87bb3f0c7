//! Attention of heads: what the operators of attention share.

use super::numbers::extent;
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The number that scores of hidden keys get unless a call says otherwise.
pub(super) const FILTER: f32 = -10000.0;

/// The first version of the standard operator set with `Range`, and of `Slice` with negative axes.
const RANGE: i64 = 11;

/// Writes lines of a body.
pub(super) struct Heads<'c, 's> {
    pub(super) call: &'c StandardCall<'c>,
    settings: &'s mut TemplateSettings,
}

impl<'c, 's> Heads<'c, 's> {
    pub(super) fn new(call: &'c StandardCall<'c>, settings: &'s mut TemplateSettings) -> Build<Self> {
        if call.version < RANGE { Err(NotKnown) } else { Ok(Heads { call, settings }) }
    }

    pub(super) fn line(&mut self, line: impl Into<String>) {
        self.settings.line(line.into());
    }

    /// Writes the pieces of a tensor along an axis.
    pub(super) fn split(&mut self, x: &str, axis: i64, names: [&str; 3], sizes: [i64; 3]) {
        let (names, listed) = (names.join(", "), sizes.map(|size| size.to_string()).join(", "));
        if self.call.version >= 13 {
            self.line(format!("{x}_sizes = const int64[3] ({listed})"));
            self.line(format!("{names} = Split <axis: int = {axis}> ({x}, {x}_sizes)"));
        } else {
            self.line(format!("{names} = Split <axis: int = {axis}, split: ints = [{listed}]> ({x})"));
        }
    }

    /// Writes heads as the second axis: `y`.
    pub(super) fn separate(&mut self, x: &str, y: &str, heads: i64, size: i64) {
        self.line(format!("{y}_shape = const int64[4] (0, 0, {heads}, {size})"));
        self.line(format!("{y}_separate = Reshape ({x}, {y}_shape)"));
        self.line(format!("{y} = Transpose <perm: ints = [0, 2, 1, 3]> ({y}_separate)"));
    }

    /// Writes heads as a part of the last axis again, of which the size is given.
    pub(super) fn join(&mut self, x: &str, y: &str, size: i64) {
        self.line(format!("{y}_separate = Transpose <perm: ints = [0, 2, 1, 3]> ({x})"));
        self.line(format!("{y}_shape = const int64[3] (0, 0, {size})"));
        self.line(format!("{y} = Reshape ({y}_separate, {y}_shape)"));
    }

    /// Writes the items of a tensor from one place to another one along an axis.
    pub(super) fn part(&mut self, x: &str, y: &str, from: i64, to: i64, axis: i64) {
        self.line(format!("{y}_from = const int64[1] ({from})"));
        self.line(format!("{y}_to = const int64[1] ({to})"));
        self.line(format!("{y}_axis = const int64[1] ({axis})"));
        self.line(format!("{y} = Slice ({x}, {y}_from, {y}_to, {y}_axis)"));
    }

    /// Writes an extent of a tensor as a number: `name`.
    pub(super) fn extent(&mut self, x: &str, name: &str, axis: i64) {
        self.line(format!("{name}_shape = Shape ({x})"));
        self.line(format!("{name}_axis = const int64 ({axis})"));
        self.line(format!("{name} = Gather ({name}_shape, {name}_axis)"));
    }

    /// Writes the positions of queries as a column, the last of which is that of the last key, and of keys as a row:
    /// `query_position`, `key_position`.
    pub(super) fn positions(&mut self, queries: &str, keys: &str) {
        self.extent(queries, "query_count", 2);
        self.extent(keys, "key_count", 2);
        self.line("first = const int64 (0)");
        self.line("one = const int64 (1)");
        self.line("key_position = Range (first, key_count, one)");
        self.line("query_index = Range (first, query_count, one)");
        self.line("column = const int64[2] (-1, 1)");
        self.line("query_column = Reshape (query_index, column)");
        self.line("earlier = Sub (key_count, query_count)");
        self.line("query_position = Add (query_column, earlier)");
    }

    /// Writes the bias of a mask of integers, whose form its axes tell: `mask_bias`.
    pub(super) fn mask(&mut self, i: usize, name: &str, batch: usize, filter: f32) -> Build<()> {
        let call = self.call;
        self.line("mask_zero = const int32 (0)");
        match call.rank(i)? {
            1 => self.ends(i, name, batch)?,
            2 => {
                self.line(format!("is_kept = Greater ({name}, mask_zero)"));
                self.line("is_visible = along Unsqueeze (1, 2) (is_kept)");
            }
            3 => {
                self.line(format!("is_kept = Greater ({name}, mask_zero)"));
                self.line("is_visible = along Unsqueeze (1) (is_kept)");
            }
            4 => {
                self.line("mask_one = const int64[1] (1)");
                self.line("mask_end = Reshape (key_count, mask_one)");
                self.line("mask_start = Reshape (earlier, mask_one)");
                self.line("rows = const int64[1] (2)");
                self.line("columns = const int64[1] (3)");
                self.line("mask_first = const int64[1] (0)");
                self.line(format!("mask_rows = Slice ({name}, mask_start, mask_end, rows)"));
                self.line("mask_part = Slice (mask_rows, mask_first, mask_end, columns)");
                self.line("is_visible = Greater (mask_part, mask_zero)");
            }
            _ => return Err(NotKnown),
        }
        self.line("shown = const $T (0)");
        self.line(format!("filtered = const $T ({filter:e})"));
        self.line("mask_bias = Where (is_visible, shown, filtered)");
        Ok(())
    }

    /// Writes which keys are before the end of their sequence, and not before its start if that is given, too.
    fn ends(&mut self, i: usize, name: &str, batch: usize) -> Build<()> {
        let call = self.call;
        let mut ends = name.to_owned();
        let both = match (extent(call, i, 0), extent(call, batch, 0)) {
            (Ok(found), Ok(batch)) if found == 2 * batch => Some(batch),
            _ if call.is_same_extent((i, 0), (batch, 0)) => None,
            _ => return Err(NotKnown),
        };
        self.line("of_batch = const int64[4] (-1, 1, 1, 1)");
        if let Some(batch) = both {
            self.part(name, "mask_ends", 0, batch, 0);
            self.part(name, "mask_starts", batch, 2 * batch, 0);
            self.line("wide_starts = Cast <to: int = 7> (mask_starts)");
            self.line("each_start = Reshape (wide_starts, of_batch)");
            self.line("is_early = Less (key_position, each_start)");
            self.line("is_started = Not (is_early)");
            ends = "mask_ends".to_owned();
        }
        self.line(format!("wide_ends = Cast <to: int = 7> ({ends})"));
        self.line("each_end = Reshape (wide_ends, of_batch)");
        let open = if both.is_some() { "is_open" } else { "is_visible" };
        self.line(format!("{open} = Less (key_position, each_end)"));
        if both.is_some() {
            self.line("is_visible = And (is_open, is_started)");
        }
        Ok(())
    }

    /// Writes the bias that hides keys behind the query: `causal_bias`.
    pub(super) fn causal(&mut self) {
        self.line("is_hidden = Greater (key_position, query_position)");
        self.line("seen = const $T (0)");
        self.line(format!("never = const $T ({:e})", f32::MIN));
        self.line("causal_bias = Where (is_hidden, never, seen)");
    }

    /// Writes the result of heads: `result`. Biases are added to the scores.
    pub(super) fn attend(&mut self, queries: &str, keys: &str, values: &str, scale: f32, biases: &[&str]) {
        self.line(format!("scale = const $T ({scale:e})"));
        self.line(format!("turned_keys = Transpose <perm: ints = [0, 1, 3, 2]> ({keys})"));
        self.line(format!("products = MatMul ({queries}, turned_keys)"));
        self.line("scores0 = Mul (products, scale)");
        for (i, bias) in biases.iter().enumerate() {
            self.line(format!("scores{} = Add (scores{i}, {bias})", i + 1));
        }
        self.line(format!("shares = Softmax <axis: int = 3> (scores{})", biases.len()));
        self.line(format!("result = MatMul (shares, {values})"));
    }

    /// The factor of scores: that of the call, or the root of the size of heads.
    pub(super) fn scale(&self, size: i64) -> Build<f32> {
        let given = self.call.float("scale")?.filter(|scale| *scale != 0.0);
        Ok(given.unwrap_or_else(|| 1.0 / (size as f32).sqrt()))
    }

    /// Writes heads turned by angles that belong to their positions: `y`. The caches have a row for each position.
    pub(super) fn rotate(&mut self, x: &str, y: &str, size: i64, rotated: i64, interleaved: bool) {
        let half = rotated / 2;
        let part = if rotated < size {
            self.part(x, &format!("{y}_turning"), 0, rotated, 3);
            self.part(x, &format!("{y}_resting"), rotated, size, 3);
            format!("{y}_turning")
        } else {
            x.to_owned()
        };
        if interleaved {
            self.line(format!("{y}_pairs_shape = const int64[5] (0, 0, 0, {half}, 2)"));
            self.line(format!("{y}_pairs = Reshape ({part}, {y}_pairs_shape)"));
            for (i, name) in [(0, "left"), (1, "right")] {
                self.line(format!("{y}_{name}_at = const int64 ({i})"));
                self.line(format!("{y}_{name} = Gather <axis: int = 4> ({y}_pairs, {y}_{name}_at)"));
            }
        } else {
            self.part(&part, &format!("{y}_left"), 0, half, 3);
            self.part(&part, &format!("{y}_right"), half, rotated, 3);
        }
        self.line(format!("{y}_left_cos = Mul ({y}_left, cosines)"));
        self.line(format!("{y}_right_sin = Mul ({y}_right, sines)"));
        self.line(format!("{y}_new_left = Sub ({y}_left_cos, {y}_right_sin)"));
        self.line(format!("{y}_left_sin = Mul ({y}_left, sines)"));
        self.line(format!("{y}_right_cos = Mul ({y}_right, cosines)"));
        self.line(format!("{y}_new_right = Add ({y}_left_sin, {y}_right_cos)"));
        let whole = if rotated < size { format!("{y}_turned") } else { y.to_owned() };
        if interleaved {
            self.line(format!("{y}_left_column = along Unsqueeze (4) ({y}_new_left)"));
            self.line(format!("{y}_right_column = along Unsqueeze (4) ({y}_new_right)"));
            self.line(format!("{y}_new_pairs = Concat <axis: int = 4> ({y}_left_column, {y}_right_column)"));
            self.line(format!("{y}_flat = const int64[4] (0, 0, 0, {rotated})"));
            self.line(format!("{whole} = Reshape ({y}_new_pairs, {y}_flat)"));
        } else {
            self.line(format!("{whole} = Concat <axis: int = 3> ({y}_new_left, {y}_new_right)"));
        }
        if rotated < size {
            self.line(format!("{y} = Concat <axis: int = 3> ({whole}, {y}_resting)"));
        }
    }

    /// Writes the rows of the caches for positions of tokens, for all heads: `cosines`, `sines`.
    pub(super) fn angles(&mut self, positions: &str) {
        for (cache, rows) in [("cos_cache", "cosines"), ("sin_cache", "sines")] {
            self.line(format!("{rows}_of_tokens = Gather ({cache}, {positions})"));
            self.line(format!("{rows} = along Unsqueeze (1) ({rows}_of_tokens)"));
        }
    }
}
