//! The shapes in any text, such as a dump of HLO or StableHLO, or a trace.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::check::array;
use super::{ArrayShape, Dimension, ElementType};
use crate::tensor::TensorError;

/// The maximum length in bytes of arrays that are found in a text.
const MAX_ARRAY: usize = 4096;

/// An estimate of the memory of a shape in the list, and of one more byte of its text.
const SHAPE: u64 = 768;
const BYTE: u64 = 32;

/// A shape in a text, the line on which it occurs first, and how often it occurs.
#[derive(Clone, Debug)]
struct Listed {
    shape: ArrayShape,
    line: usize,
    count: u64,
}

/// The different shapes of arrays in a text, in the order in which they occur first.
#[derive(Clone, Debug, Default)]
pub struct ShapeList {
    shapes: Vec<Listed>,
    unread: u64,
}

impl ShapeList {
    /// Finds the shapes of arrays in a text: `f32[2,3]{1,0}` as in HLO, `tensor<2x3xf32>` as in StableHLO. The time is
    /// linear in the length of the text.
    ///
    /// ```
    /// use nnef_flatten::tensor::ShapeList;
    ///
    /// let text = "%a = f32[2,3]{1,0} add(f32[2,3]{1,0} %x, f32[2,3]{0,1} %y)\n%b : tensor<4x?xbf16>";
    /// let list = ShapeList::of(text, 1 << 20)?;
    /// let found: Vec<_> = list.shapes().map(|(shape, line, count)| (shape.to_string(), line, count)).collect();
    /// assert_eq!(found[0], ("f32[2,3]{1,0}".to_owned(), 1, 2));
    /// assert_eq!(found[2], ("bf16[4,?]{1,0}".to_owned(), 2, 1));
    /// assert_eq!(list.unread(), 0);
    /// # Ok::<(), nnef_flatten::tensor::TensorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The different shapes take more than `max_memory` bytes.
    pub fn of(text: &str, max_memory: u64) -> Result<ShapeList, TensorError> {
        let mut list = ShapeList::default();
        let mut memory = 0u64;
        // Texts repeat their shapes: each spelling is read once.
        let mut spelled: FxHashMap<&str, Option<usize>> = FxHashMap::default();
        let mut known: HashMap<ArrayShape, usize, FxBuildHasher> = HashMap::default();
        let (mut line, mut counted) = (1, 0);
        for candidate in Candidates::new(text) {
            line += text[counted..candidate.start].matches('\n').count();
            counted = candidate.start;
            let place = match candidate.spelling.map(|spelling| (spelling, spelled.get(spelling).copied())) {
                None => None,
                Some((_, Some(place))) => place,
                Some((spelling, None)) => {
                    memory += SHAPE + BYTE * spelling.len() as u64;
                    if memory > max_memory {
                        let message = format!("the different shapes of the text take more than {max_memory} bytes");
                        return Err(TensorError::new(message));
                    }
                    let place = candidate.read().map(|shape| {
                        *known.entry(shape).or_insert_with_key(|shape| {
                            list.shapes.push(Listed { shape: shape.clone(), line, count: 0 });
                            list.shapes.len() - 1
                        })
                    });
                    spelled.insert(spelling, place);
                    place
                }
            };
            match place {
                Some(place) => list.shapes[place].count += 1,
                None => list.unread += 1,
            }
        }
        Ok(list)
    }

    /// The list with the default tiles of a TPU, see [`ArrayShape::with_tpu_tiles`]. Shapes that become equal are one.
    #[must_use]
    pub fn with_tpu_tiles(self) -> ShapeList {
        let mut tiled = ShapeList { shapes: Vec::with_capacity(self.shapes.len()), unread: self.unread };
        let mut known: HashMap<ArrayShape, usize, FxBuildHasher> = HashMap::default();
        for Listed { shape, line, count } in self.shapes {
            let shape = shape.with_tpu_tiles();
            let place = *known.entry(shape).or_insert_with_key(|shape| {
                tiled.shapes.push(Listed { shape: shape.clone(), line, count: 0 });
                tiled.shapes.len() - 1
            });
            if let Some(listed) = tiled.shapes.get_mut(place) {
                listed.count = listed.count.saturating_add(count);
            }
        }
        tiled
    }

    /// The shapes, each with the line on which it occurs first, from 1, and how often it occurs.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = (&ArrayShape, usize, u64)> {
        self.shapes.iter().map(|listed| (&listed.shape, listed.line, listed.count))
    }

    /// The number of texts that look like shapes but are not.
    pub fn unread(&self) -> u64 {
        self.unread
    }
}

/// A part of a text that looks like the start of a shape.
struct Candidate<'t> {
    start: usize,
    /// The text up to the end of its brackets and braces; none if these do not end.
    spelling: Option<&'t str>,
}

impl Candidate<'_> {
    fn read(&self) -> Option<ArrayShape> {
        let spelling = self.spelling?;
        match spelling.strip_prefix(TENSOR) {
            Some(inside) => of_mlir(inside.strip_suffix('>')?),
            None => array(spelling),
        }
    }
}

/// The start of a type in MLIR.
const TENSOR: &str = "tensor<";
/// What may have brackets in such a type: the type of complex numbers, and the bounds of sizes.
const COMPLEX: &str = "complex";
const BOUNDS: &str = ".bounds";
const INNER: &[&str] = &[COMPLEX, BOUNDS];

/// The candidates of a text. Their spellings have no brackets inside of brackets and end with their line, so that each
/// byte belongs to one candidate, and perhaps to the start of the next one.
struct Candidates<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Candidates<'t> {
    fn new(text: &'t str) -> Self {
        Candidates { text, at: 0 }
    }

    /// The end of a type of MLIR that is opened at `open`. Its elements may be complex numbers, and it may have bounds:
    /// these have brackets of their own.
    fn closed_type(&self, open: usize) -> Option<usize> {
        let limit = self.text.len().min(open.saturating_add(MAX_ARRAY));
        let (mut at, mut depth) = (open + 1, 1);
        while depth > 0 {
            let rest = self.text.as_bytes().get(at..limit)?;
            let found = rest.iter().position(|byte| b"<>{}\r\n".contains(byte))?;
            let before = self.text.get(open..at + found).unwrap_or_default();
            match rest.get(found) {
                Some(b'>') => depth -= 1,
                Some(b'<') if depth == 1 && INNER.iter().any(|word| before.ends_with(word)) => depth += 1,
                _ => return None,
            }
            at += found + 1;
        }
        Some(at)
    }

    /// The end of a part in brackets that is opened at `open`.
    fn closed(&self, open: usize, close: char) -> Option<usize> {
        let limit = self.text.len().min(open.saturating_add(MAX_ARRAY));
        let inside = &self.text.as_bytes()[open + 1..limit];
        let end = inside.iter().position(|byte| b"[]{}<>\r\n".contains(byte) && !(*byte == b'<' && close == ']'))?;
        (inside[end] == close as u8).then_some(open + 1 + end + 1)
    }

    /// The range of an array with its layout, if its brackets end.
    fn array(&self, start: usize, bracket: usize) -> Option<Range<usize>> {
        let dims = self.closed(bracket, ']')?;
        let blanks = self.text[dims..].bytes().take_while(|byte| b" \t".contains(byte)).take(MAX_ARRAY).count();
        let layout = self.text[dims + blanks..].starts_with('{').then(|| self.closed(dims + blanks, '}')).flatten();
        Some(start..layout.unwrap_or(dims))
    }
}

impl<'t> Iterator for Candidates<'t> {
    type Item = Candidate<'t>;

    fn next(&mut self) -> Option<Candidate<'t>> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_.%-".contains(c);
        loop {
            let rest = &self.text[self.at..];
            let open = self.at + rest.find(['[', '<'])?;
            let before = &self.text[self.at..open];
            self.at = open + 1;
            let word =
                before.rfind(|c| !is_word(c)).map_or(before, |at| before[at..].trim_start_matches(|c| !is_word(c)));
            let start = open - word.len();
            let mlir = self.text.as_bytes()[open] == b'<';
            if mlir && word == "tensor" || !mlir && ElementType::from_name(word).is_some() {
                let range = if mlir { self.closed_type(open).map(|end| start..end) } else { self.array(start, open) };
                let spelling = range.map(|range| &self.text[range]);
                return Some(Candidate { start, spelling });
            }
        }
    }
}

/// A type of MLIR between its brackets, `2x?xf32`; none for types that are not of arrays of XLA.
fn of_mlir(inside: &str) -> Option<ArrayShape> {
    let (of, encoding) = inside.split_once(',').unwrap_or((inside, ""));
    let (mut dims, mut rest) = (Vec::new(), of.trim());
    while let Some((size, after)) =
        rest.split_once('x').filter(|(size, _)| !size.ends_with(|c: char| c.is_alphabetic()))
    {
        dims.push(match size {
            "?" => Dimension::Unbounded,
            size => Dimension::Static(size.parse().ok().filter(|size: &u64| i64::try_from(*size).is_ok())?),
        });
        rest = after;
    }
    let bounds = encoding.trim().strip_suffix('>').and_then(|inside| inside.split_once(".bounds<"));
    if let Some((_, bounds)) = bounds {
        for (dimension, bound) in dims.iter_mut().zip(bounds.split(',')) {
            if let Ok(bound) = bound.trim().parse() {
                *dimension = Dimension::Bounded(bound);
            }
        }
    }
    Some(ArrayShape::of(element_of_mlir(rest)?, dims))
}

/// The element type that MLIR spells so.
fn element_of_mlir(text: &str) -> Option<ElementType> {
    if let Some(part) = text.strip_prefix(COMPLEX) {
        let part = part.strip_prefix('<')?.strip_suffix('>')?;
        return ElementType::from_name(&format!(
            "c{}",
            2 * part.trim().strip_prefix('f')?.parse::<u16>().ok()?.min(64)
        ));
    }
    let name = text.to_ascii_lowercase();
    let name = match (name.strip_prefix("ui"), name.strip_prefix("si").or(name.strip_prefix('i'))) {
        (Some(bits), _) => format!("u{bits}"),
        (_, Some("1")) => "pred".to_owned(),
        (_, Some(bits)) => format!("s{bits}"),
        _ => name,
    };
    ElementType::from_name(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> (Vec<(String, usize, u64)>, u64) {
        let list = ShapeList::of(text, 1 << 30).unwrap();
        (list.shapes().map(|(shape, line, count)| (shape.to_string(), line, count)).collect(), list.unread())
    }

    #[test]
    fn shapes_of_hlo_and_mlir_are_found() {
        for (text, shapes, unread) in [
            ("ENTRY e (x: f32[2]) -> f32[2] {\n f32[2] {0}", &[("f32[2]{0}", 1, 3)][..], 0),
            (
                "(bf16[2,4]{1,0:T(8,128)(2,1)}, /*index=1*/s32[])",
                &[("bf16[2,4]{1,0:T(8,128)(2,1)}", 1, 1), ("s32[]", 1, 1)],
                0,
            ),
            ("f32[<=3,?]\n f32[f32[2 f32[2]{0:T(}", &[("f32[<=3,?]{1,0}", 1, 1), ("f32[2]{0}", 2, 1)], 2),
            ("x[3] %f32[3] a.f32[3]", &[], 0),
            (
                "tensor<2x?xf32> tensor<i1> tensor<3xui8, #e> tensor<4xf8E4M3FN>",
                &[("f32[2,?]{1,0}", 1, 1), ("pred[]", 1, 1), ("u8[3]{0}", 1, 1), ("f8e4m3fn[4]{0}", 1, 1)],
                0,
            ),
            ("tensor<*xf32> tensor<2x!q<i8>> tensor<99999999999999999999xf32> vector<2xf32>", &[], 3),
            (
                "tensor<2xcomplex<f32>> tensor<?x3xf32, #stablehlo.bounds<4, ?>> tensor<complex<f64>> tensor<complex<f6>>",
                &[("c64[2]{0}", 1, 1), ("f32[<=4,3]{1,0}", 1, 1), ("c128[]", 1, 1)],
                1,
            ),
        ] {
            let shapes: Vec<_> = shapes.iter().map(|(text, line, count)| ((*text).to_owned(), *line, *count)).collect();
            assert_eq!(listed(text), (shapes, unread), "{text}");
        }
    }

    #[test]
    fn default_tiles_are_those_of_the_sizes() {
        let list = |text: &str| ShapeList::of(text, 1 << 30).unwrap().with_tpu_tiles();
        for (text, tiled) in [
            ("f32[2,3]", "f32[2,3]{1,0:T(2,128)}"),
            ("f32[1,3]", "f32[1,3]{1,0:T(2,128)}"),
            ("f32[3,2]{0,1:S(1)}", "f32[3,2]{0,1:T(2,128)S(1)}"),
            ("s32[7,3,9]", "s32[7,3,9]{2,1,0:T(4,128)}"),
            ("f32[<=9,4]", "f32[<=9,4]{1,0:T(8,128)}"),
            ("bf16[4,9]", "bf16[4,9]{1,0:T(4,128)(2,1)}"),
            ("bf16[5,9]", "bf16[5,9]{1,0:T(8,128)(2,1)}"),
            ("pred[2,9]", "pred[2,9]{1,0:T(8,128)(4,1)}"),
            ("f32[128]", "f32[128]{0:T(256)}"),
            ("f32[4000]", "f32[4000]{0:T(1024)}"),
            ("bf16[100]", "bf16[100]{0:T(512)(128)(2,1)}"),
            ("f32[]", "f32[]"),
            ("f64[2,3]", "f64[2,3]{1,0}"),
            ("s4[2,3]", "s4[2,3]{1,0}"),
            ("f32[?,3]", "f32[?,3]{1,0}"),
            ("f32[0,3]", "f32[0,3]{1,0:T(2,128)}"),
            ("f32[2,3]{1,0:T(8,128)}", "f32[2,3]{1,0:T(8,128)}"),
            ("f32[2,3]{1,0:E(16)}", "f32[2,3]{1,0:E(16)}"),
        ] {
            let found: Vec<_> = list(text).shapes().map(|(shape, ..)| shape.to_string()).collect();
            assert_eq!(found, [tiled], "{text}");
        }
        let list = list("f32[2,3]\nf32[2,3]{1,0:T(2,128)} f32[2,3]");
        let found: Vec<_> = list.shapes().map(|(shape, line, count)| (shape.to_string(), line, count)).collect();
        assert_eq!(found, [("f32[2,3]{1,0:T(2,128)}".to_owned(), 1, 3)]);
    }

    #[test]
    fn different_shapes_are_charged() {
        let text: String = (0..10_000).map(|size| format!("f32[{size}] ")).collect();
        assert!(ShapeList::of(&text, 1 << 20).is_err());
        assert_eq!(ShapeList::of(&text, 1 << 24).unwrap().shapes().len(), 10_000);
        assert_eq!(ShapeList::of(&"f32[2] ".repeat(10_000), 1 << 20).unwrap().shapes().next().unwrap().2, 10_000);
    }

    #[test]
    fn each_byte_is_looked_at_a_few_times() {
        // The sum of the lengths of all candidates is at most a small multiple of the text.
        for unit in [
            "f32[2]{0:T(",
            "f32[/*",
            "f32[",
            "f32[1,",
            "f32[2]{//",
            "f32[2]{0:T(2)",
            "tensor<",
            "f32[2] {",
            "f32[2]\t",
            "tensor<complex<",
        ] {
            let text = unit.repeat(20_000);
            let looked: usize = Candidates::new(&text).map(|of| of.spelling.map_or(0, str::len)).sum();
            assert!(looked <= text.len(), "{unit}: {looked}");
        }
    }
}
