//! Models: the text of a graph and the data of its variables, in a folder or an archive.
//!
//! A model consists of `graph.nnef`, a data file `<label>.dat` for each variable, an optional `graph.quant`, and any
//! other files. [`Model::open`] lists the files of a folder, a `.tar` or a `.tar.gz`, within the same [`Limits`]; data
//! are streamed, not loaded into memory. `check` compares data with a graph,
//! [`Document::check_quant`](crate::Document::check_quant) reads quantizations, and [`Target::write`] writes a model,
//! completely or not at all. `docs/models.md` has the decisions.
//!
//! ```
//! use nnef_flatten::model::{Limits, Model};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("graph.nnef"), "version 1.0;")?;
//! std::fs::create_dir(folder.path().join("part"))?;
//! std::fs::write(folder.path().join("part/w.dat"), [0; 128])?;
//! let model = Model::open(folder.path(), &Limits::default())?;
//! let files: Vec<&str> = model.files().map(|file| file.path()).collect();
//! assert_eq!(files, ["graph.nnef", "part/w.dat"]);
//! assert_eq!(model.graph()?, b"version 1.0;");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
pub(crate) mod check;
mod error;
mod folder;
mod index;
mod input;
mod limits;
mod names;
mod parts;
pub(crate) mod path;
mod quant;
mod recognize;
mod scratch;
mod spool;
mod stored_model;
mod tar;
mod variables;
mod write;

pub use error::ModelError;
pub use index::ModelFile;
pub(crate) use input::GZIP;
pub use limits::Limits;
pub(crate) use names::{GRAPH, QUANT};
pub(crate) use recognize::{ARCHIVES, has_archive_name, is_archive};
pub(crate) use scratch::Scratch;
pub(crate) use spool::spool;
pub use stored_model::Model;
pub(crate) use stored_model::graph_in;
pub(crate) use variables::ModelVariables;
pub use write::{Content, Target};
pub(crate) use write::{Look, Staged, rewrite};
