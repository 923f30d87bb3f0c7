//! Compares two inputs as flat graphs, with the data of their variables.
//!
//! Inputs in notations with the same operations are compared as they are flattened. Otherwise those that do not have the
//! operations of NNEF are translated to it, as far as that is possible.

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::open::Input;
use super::settings::Settings;
use super::source::{Backing, Flat};
use super::stored::{DataPlace, DataReader, StoredData};
use super::{Findings, Refusal};
use crate::diff::{self, Compared, DataDigest, Difference, What};
use crate::graph::OperationId;
use crate::tensor::{DType, Data, Tensor};
use crate::threads::both;
use crate::{Diagnostics, Dialect, Graph, Lower, write};

/// An input that was compared.
#[derive(Debug)]
pub(crate) struct DiffInput {
    /// Its path.
    pub(crate) name: String,
    /// The notation in which it was written.
    pub(crate) notation: &'static str,
    /// Whether its operations were translated to those of NNEF.
    pub(crate) translated: bool,
    pub(crate) graph: Graph,
    pub(crate) findings: Findings,
}

impl Input {
    /// Compares the flat graphs of this input and another one, with the data of their variables. If their notations have
    /// different operations, they are compared as graphs of NNEF. Returns the findings about both.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let nnef = "version 1.0; graph g( x ) -> ( y ) { x = external(shape = [2]); y = relu(exp(x)); }";
    /// let onnx = r#"<ir_version: 10, opset_import: ["" : 21]>
    ///     g (float[2] x) => (float[2] y) { t = Exp (x) y = Abs (t) }"#;
    /// let options = Options::default();
    /// let (difference, _) = open(("a", nnef), &options)?.diff(open(("b", onnx), &options)?)?;
    /// assert_eq!(difference.len(), 2);
    /// assert!(difference.to_string().contains("- relu y"));
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An input is refused, its data cannot be read, or it has no translation.
    pub fn diff(self, other: Input) -> Result<(Difference, [Findings; 2]), Refusal> {
        let _run = self.settings.run();
        let wanted = DiffDetails::default();
        let (difference, inputs) = differ([("a".to_owned(), self), ("b".to_owned(), other)], wanted)?;
        Ok((difference, inputs.map(|input| input.findings)))
    }
}

/// What is told in addition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiffDetails {
    /// The largest difference between data.
    pub(crate) values: bool,
    /// The names of inner tensors that differ.
    pub(crate) renamed: bool,
}

/// Compares two inputs under their names.
///
/// # Errors
///
/// Those of [`Input::diff`].
pub(crate) fn differ(
    inputs: [(String, Input); 2],
    wanted: DiffDetails,
) -> Result<(Difference, [DiffInput; 2]), Refusal> {
    let [operations, other] = inputs.each_ref().map(|(_, input)| input.notation.operations);
    let common = operations == other;
    let drafts = inputs.iter().all(|(_, input)| input.notation.dialect == Some(Dialect::Draft));
    let to = if drafts { Dialect::Draft } else { Dialect::V1 };
    let [a, b] = inputs.map(|(name, input)| move || FlatInput::new(name, input, to, common));
    let (a, b) = both(a, b).map_err(|error| Refusal::io("a thread", error))?;
    let (mut a, mut b) = (a?, b?);
    let mut difference = compared([&mut a, &mut b], wanted.values)?;
    if !wanted.renamed {
        difference.renames.clear();
    }
    let inputs = [a.told(), b.told()];
    difference.notes = inputs
        .iter()
        .filter(|input| input.translated)
        .map(|input| format!("{} ({}) is compared as its translation to NNEF", input.name, input.notation))
        .collect();
    Ok((difference, inputs))
}

/// Compares flat graphs with their data.
fn compared([a, b]: [&mut FlatInput; 2], values: bool) -> Result<Difference, Refusal> {
    let names = [a.name.clone(), b.name.clone()];
    let sources = [a.backing.sources().clone(), b.backing.sources().clone()];
    let stored = [a.stored()?, b.stored()?];
    let readers = stored.each_ref().map(StoredData::reader);
    let side = |at: usize| {
        let (graph, digests) = readers[at].compared(&names[at])?;
        Ok::<_, Refusal>(Compared { graph, sources: Some(&sources[at]), digests })
    };
    let mut difference = diff::compare([side(0)?, side(1)?]);
    if values {
        for change in difference.changes.iter_mut().filter(|change| change.what == What::Data) {
            if let [Some(of_a), Some(of_b)] = &change.operations {
                change.largest = largest(&readers[0].tensors(of_a.id)?, &readers[1].tensors(of_b.id)?);
            }
        }
    }
    Ok(difference)
}

/// The largest difference between the items of tensors; none if they have other shapes.
fn largest(a: &[Tensor], b: &[Tensor]) -> Option<f64> {
    let mut largest: f64 = 0.0;
    for (a, b) in a.iter().zip(b) {
        if a.shape() != b.shape() {
            return None;
        }
        for (x, y) in a.to_scalars().into_iter().zip(b.to_scalars()) {
            let between = if x == y || x.is_nan() && y.is_nan() { 0.0 } else { (x - y).abs() };
            largest = if between.is_nan() { f64::INFINITY } else { largest.max(between) };
        }
    }
    Some(largest)
}

/// The flat graph of an input, and what it was made of.
struct FlatInput {
    name: String,
    notation: &'static str,
    translated: bool,
    graph: Graph,
    backing: Box<dyn Backing>,
    found: Diagnostics,
    settings: Settings,
}

impl FlatInput {
    fn new(name: String, input: Input, dialect: Dialect, common: bool) -> Result<Self, Refusal> {
        let Input { source, notation, settings } = input;
        let translated = !common && notation.operations != NNEF;
        let to = match (notation.operations == NNEF, translated) {
            (false, false) => write::Notation::of_graphs(),
            _ => write::Notation::of_dialect(dialect),
        };
        let mut settings = Settings { constants: true, ..settings };
        if translated && notation.lowers {
            // Compounds are compared as those of documents, which are expanded where the options ask for it.
            settings.options.internal.keeps_compounds = settings.options.lower != Lower::All;
            settings.options.lower = Lower::All;
            settings.options.internal.exact = true;
        }
        let Flat { backing, result } = source.flatten(to, &settings)?.passed(&settings)?;
        match result {
            Ok((graph, found)) if !found.has_errors() => {
                Ok(FlatInput { name, notation: notation.name, translated, graph, backing, found, settings })
            }
            Ok((_, found)) | Err(found) => {
                Err(Refusal::Found(Box::new(Findings::new(backing.sources().clone(), found))))
            }
        }
    }

    fn told(self) -> DiffInput {
        let FlatInput { name, notation, translated, graph, backing, found, .. } = self;
        DiffInput { name, notation, translated, graph, findings: Findings::new(backing.sources().clone(), found) }
    }

    /// The data of its variables, with the graph and its texts.
    fn stored(&mut self) -> Result<StoredData<'_>, Refusal> {
        StoredData::new(&self.graph, &mut *self.backing, &self.settings)
    }
}

/// The notation whose operations others are translated to.
const NNEF: &str = "nnef";

impl<'b> DataReader<'b> {
    /// The graph with the digests of its data.
    ///
    /// # Errors
    ///
    /// Data cannot be read.
    fn compared(&self, name: &str) -> Result<(&'b Graph, FxHashMap<OperationId, DataDigest>), Refusal> {
        let mut digests = FxHashMap::default();
        for id in (0..self.graph.operations.len()).map(OperationId::at) {
            let digest = self.digest(id).map_err(|error| Refusal::Unfit(format!("{name}: {error}")))?;
            digests.extend(digest.map(|digest| (id, digest)));
        }
        Ok((self.graph, digests))
    }

    fn digest(&self, id: OperationId) -> Result<Option<DataDigest>, String> {
        let mut sum = Sha256::new();
        let form = match &self.place {
            DataPlace::Constants(constants) => constants.pieces(id, &mut |piece| sum.update(piece))?,
            DataPlace::Files(files) => match self.variable(id) {
                Some((label, shape)) => match files.pieces(label, &shape, &mut |piece| sum.update(piece)) {
                    Ok(Some(true)) => Some(form(DType::Float32, &shape)),
                    Ok(None) => None,
                    Ok(Some(false)) | Err(_) => self.loaded(label, &shape)?.map(|tensor| stored(&tensor, &mut sum)),
                },
                None => None,
            },
            DataPlace::Loaded(_) => match self.variable(id) {
                Some((label, shape)) => self.loaded(label, &shape)?.map(|tensor| made(&tensor, &mut sum)),
                None => None,
            },
            DataPlace::Nowhere => None,
        };
        Ok(form.map(|form| DataDigest { form, sum: sum.finalize().into() }))
    }
}

/// `float32[2, 3]`
fn form(dtype: DType, shape: &[usize]) -> String {
    format!("{}{shape:?}", dtype.name())
}

/// The type and the shape of a tensor of a file, whose elements are added to a checksum.
fn stored(tensor: &Tensor, sum: &mut Sha256) -> String {
    sum.update(tensor.data().le_bytes());
    form(tensor.dtype(), tensor.shape())
}

/// [`stored`] for a tensor of a translation. Those are loaded as wide floats, whatever the type that their files get: what 32
/// bits can have is compared as such.
fn made(tensor: &Tensor, sum: &mut Sha256) -> String {
    let is_narrow = |item: &f64| item.is_nan() || f64::from(*item as f32) == *item;
    match tensor.data() {
        Data::Float64(items) if items.iter().all(is_narrow) => {
            let mut bytes = Vec::new();
            for block in items.chunks(1024) {
                bytes.clear();
                bytes.extend(block.iter().flat_map(|item| (*item as f32).to_le_bytes()));
                sum.update(&bytes);
            }
            form(DType::Float32, tensor.shape())
        }
        _ => stored(tensor, sum),
    }
}
