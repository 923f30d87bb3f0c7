//! The choice of the notation of an input.
//!
//! A name that is given decides. Without it the first bytes decide if they are certain, then the extension of the file;
//! an input that says nothing is read as a document of NNEF. What is recognized as the format of another program is
//! refused by its name (`foreign.rs`).

use super::opened::Opened;
use super::table::{NOTATIONS, Notation};
use super::{Refusal, foreign};
use crate::diagnostics::{Code, Diagnostic};
use crate::model::{self, GRAPH};

impl Notation {
    /// The notation of an input; `given` is the one that is asked for.
    ///
    /// # Errors
    ///
    /// The input is in the format of another program, or in none that is recognized.
    pub(crate) fn of(opened: &Opened, given: Option<&'static Notation>) -> Result<&'static Notation, Refusal> {
        if opened.is_folder() {
            return match given {
                Some(given) if given.dialect.is_none() => Ok(given),
                _ => folder(opened).map(|()| &NOTATIONS[0]),
            };
        }
        let start = opened.start();
        if let Some(given) = given {
            return if (given.looks)(&start) {
                Ok(given)
            } else {
                foreign::refuse(opened, Some(given)).map(|()| given)
            };
        }
        if let Some(found) = Notation::of_start(&start) {
            return Ok(found);
        }
        if model::is_archive(start.bytes()) && foreign::packs_archive(&start) {
            return Ok(&NOTATIONS[0]);
        }
        let named = Notation::of_extension(opened.word());
        foreign::refuse(opened, named)?;
        match named {
            Some(named) => Ok(named),
            None if start.is_binary() && !model::has_archive_name(opened.word()) => Err(unknown(opened)),
            None => Ok(&NOTATIONS[0]),
        }
    }
}

/// The refusal of bytes in no known format.
fn unknown(opened: &Opened) -> Refusal {
    let names: Vec<&str> = NOTATIONS.iter().map(|notation| notation.name).collect();
    let message = "the bytes are not in a format that is recognized";
    Refusal::of(opened.name.clone(), String::new(), |at| {
        Diagnostic::new(Code::ForeignInput, at, message)
            .help(format!("--from names the notation: {}", names.join(", ")))
    })
}

/// Checks that a folder has a graph; one without it may have a model in another notation, which is named.
fn folder(opened: &Opened) -> Result<(), Refusal> {
    let path = opened.word();
    if path.join(GRAPH).symlink_metadata().is_ok() {
        return Ok(());
    }
    // Reading the graph fails with the error of the system.
    let Some(other) = foreign::model_in(path) else { return Ok(()) };
    let message = format!("the folder has no {GRAPH}, but {}", other.what);
    Err(other.refusal(&opened.name, Code::ModelWithoutGraph, message))
}
