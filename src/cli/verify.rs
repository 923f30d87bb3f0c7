//! `--verify`: reads back what is written, and compares it with its source on the same inputs.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::Path;

use crate::Dialect;
use crate::files::temporary;
use crate::input::layouts;
use crate::input::source::{Backing, Source};
use crate::input::verify::{Labels, ReadBack, Side, Verified, verify};
use crate::model::{Model, ModelError, Staged};
use crate::tensor::value::NamedValues;
use serde_json::json;

use super::outcome::Failure;
use super::report::Reporter;
use super::request::{Request, path};
use super::tensors;

/// A comparison that is asked for.
pub(super) struct Comparison<'c> {
    /// The input once more.
    source: Box<dyn Source>,
    /// The name of the output.
    name: String,
    /// The folder of the external data of a model.
    folder: Option<&'c Path>,
    /// What is behind the graph that is written.
    flat: Option<&'c dyn Backing>,
    request: &'c Request<'c>,
}

impl<'c> Comparison<'c> {
    /// The comparison of a result with its source, if it is asked for.
    pub(super) fn of(source: Option<Box<dyn Source>>, request: &'c Request) -> Option<Self> {
        let name = path(request.output).map_or_else(|| "<stdout>".to_owned(), |path| path.display().to_string());
        source.map(|source| Comparison { source, name, folder: None, flat: None, request })
    }

    /// The comparison of a model with external data in a folder.
    pub(super) fn in_folder(self, folder: Option<&'c Path>) -> Self {
        Comparison { folder, ..self }
    }

    /// The comparison of a graph with data behind it.
    pub(super) fn of_graph(self, flat: &'c dyn Backing) -> Self {
        Comparison { flat: Some(flat), ..self }
    }

    fn written(&self) -> ReadBack<'_> {
        ReadBack { name: &self.name, to: self.request.to(), folder: self.folder }
    }

    /// Compares a file. Data are beside it, or it is a text whose data are those of its source.
    ///
    /// # Errors
    ///
    /// It cannot be read back or evaluated, or it computes something else.
    pub(super) fn file(self, file: &Path, reporter: &mut Reporter) -> Result<(), Failure> {
        let written = self.written().at(file, self.request.settings)?;
        let to = self.request.to();
        let labels = match (to.dialect, to.data_beside()) {
            (Some(_), _) => Labels::Source(self.flat),
            (None, Some(_)) => Labels::Files,
            (None, None) => Labels::Own,
        };
        self.compare(written, labels, reporter)
    }

    /// Compares a whole model with a document of this name.
    ///
    /// # Errors
    ///
    /// Those of [`Comparison::file`].
    pub(super) fn model(self, staged: Staged, document: &str, reporter: &mut Reporter) -> Result<(), Failure> {
        let settings = self.request.settings;
        let (nnef, here) =
            (self.request.to().dialect == Some(Dialect::V1), ReadBack { folder: None, ..self.written() });
        let written = match staged {
            Staged::Folder(folder) if nnef => here.at(folder, settings)?,
            Staged::Folder(folder) => here.at(&folder.join(document), settings)?,
            Staged::Archive(file) if nnef => here.archived(self.rewound(file)?, settings)?,
            Staged::Archive(file) => {
                let unpacked = self.unpacked(file)?;
                let written = here.at(&unpacked.path().join(document), settings)?;
                // External data are read when the model is evaluated.
                return self.compare(written, Labels::Own, reporter);
            }
        };
        self.compare(written, Labels::Own, reporter)
    }

    fn failed(&self, error: &io::Error) -> Failure {
        super::io::failure(&self.name, error)
    }

    /// An archive from its start.
    fn rewound(&self, file: &File) -> Result<File, Failure> {
        let rewound = file.try_clone().and_then(|mut file| file.rewind().map(|()| file));
        rewound.map_err(|error| self.failed(&error))
    }

    /// The files of an archive in a temporary folder.
    fn unpacked(&self, file: &File) -> Result<temporary::Folder, Failure> {
        let folder = temporary::Folder::beside(&std::env::temp_dir().join("result"));
        let folder = folder.map_err(|error| self.failed(&error))?;
        let name = Path::new(&self.name);
        let model = Model::from_file(name, self.rewound(file)?, &self.request.settings.model);
        let unpacked = model.and_then(|model| {
            model.each(
                |_| true,
                |file, bytes| {
                    let to = folder.path().join(file.path());
                    let copied = fs::create_dir_all(crate::files::parent(&to))
                        .and_then(|()| io::copy(bytes, &mut File::create_new(&to)?));
                    copied.map(drop).map_err(|error| ModelError::Io { path: self.name.clone(), error })
                },
            )
        });
        unpacked.map_err(super::models::failed)?;
        Ok(folder)
    }

    fn compare(self, mut written: Side, labels: Labels, reporter: &mut Reporter) -> Result<(), Failure> {
        let Request { language, verification, settings, .. } = *self.request;
        let mut source = Side::source(self.source, settings)?;
        if let Some(graph) = written.graph() {
            layouts::assign(graph, &settings.layouts)?;
        }
        let read = |path: &Path| -> Result<NamedValues, Failure> {
            // A network has no graph: that of what was written has its inputs.
            let of = [&mut source, &mut written];
            for side in of {
                if let Some(graph) = side.graph() {
                    let read = tensors::read(path, graph, &language.limits)?;
                    return Ok(read.into_iter().map(|(name, tensor)| (name, tensor.into())).collect());
                }
                if let Some(inputs) = side.model() {
                    return tensors::read_model(path, &inputs, &language.limits);
                }
            }
            Ok(NamedValues::new())
        };
        let given = verification.inputs.as_deref().map(read).transpose()?.unwrap_or_default();
        let given = (&given[..], verification.seed.unwrap_or(0));
        match verify(&mut source, written, given.0, given.1, labels, settings)? {
            Verified::Equal { items, largest, open_extents } => tell(items, largest, &open_extents, reporter),
            Verified::Nothing(why) => tell_nothing(&why, reporter),
        }
        Ok(())
    }
}

/// Reports that a source and what was written agree; for programs as an object.
fn tell(items: usize, largest: f64, open_extents: &[String], reporter: &mut Reporter) {
    let shown = if largest == 0.0 { "0".to_owned() } else { format!("{largest:e}") };
    let mut text = format!("verified: {items} items of the outputs, the largest difference is {shown}");
    let mut told = json!({ "verified": true, "items": items, "largest_difference": largest });
    if !open_extents.is_empty() {
        text += &format!("; open extents are 1: {}", open_extents.join(", "));
        told["open_extents"] = json!(open_extents);
    }
    reporter.result(&text, &json!({ "verify": told }));
}

/// Reports that a comparison says nothing on these inputs, and why.
fn tell_nothing(why: &str, reporter: &mut Reporter) {
    reporter.result(&format!("not verified: {why}"), &json!({ "verify": { "verified": false, "reason": why } }));
}
