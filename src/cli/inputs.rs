//! The inputs of the command: the notation, the options that apply, and the library's settings.

use std::path::{Path, PathBuf};

use crate::input::Refusal;
use crate::input::opened::Opened;
use crate::input::settings::Settings;
use crate::input::source::Source;
use crate::input::table::{NOTATIONS, Notation};
use crate::library::registries;

use super::args::{self, Language};
use super::io;
use super::outcome::Failure;
use super::report::Reporter;
use super::{foreign, options, tensors};

/// An input whose notation is known.
pub(crate) struct NotationInput {
    pub(crate) opened: Opened,
    pub(crate) notation: &'static Notation,
    /// The options, with the notation that was found as `--from`.
    pub(crate) language: Language,
}

/// Opens an input, and finds its notation.
///
/// # Errors
///
/// The input cannot be opened, or is in none of the notations.
pub(crate) fn open(path: &Path, language: &Language) -> Result<NotationInput, Failure> {
    let opened = match io::is_stream(path) {
        true => Opened::stream_of("<stdin>", std::io::stdin()),
        false => Opened::open(path),
    };
    let opened = opened.map_err(|refusal| suggested(path, refusal.into()))?;
    Ok(NotationInput::new(opened, language.clone())?)
}

/// The failure to open a path, with what was probably meant instead of a path that does not exist.
fn suggested(path: &Path, failure: Failure) -> Failure {
    match failure {
        Failure::Message(message) if !path.exists() => {
            let hint = foreign::instead_of(path, None).map(|hint| format!("; {hint}")).unwrap_or_default();
            Failure::Message(message + &hint)
        }
        failure => failure,
    }
}

/// The declarations that the options name: registries, and files of at most `limit` bytes.
///
/// # Errors
///
/// A file cannot be read.
pub(crate) fn libraries(language: &Language, limit: u64) -> Result<Vec<(String, String)>, Failure> {
    let library = |path: &PathBuf| {
        Ok(match path.to_str().and_then(registries::find) {
            Some(registry) => (registry.name.to_owned(), String::new()),
            None => io::read(path, limit).map(|library| (library.name, library.text))?,
        })
    };
    language.fragments.iter().map(library).collect()
}

impl NotationInput {
    /// Finds the notation of an input.
    ///
    /// # Errors
    ///
    /// It is in none of the notations.
    pub(crate) fn new(opened: Opened, language: Language) -> Result<Self, Refusal> {
        let notation = Notation::of(&opened, language.from.and_then(|from| from.0))?;
        // The version line of a document tells its dialect.
        let from = if notation.dialect.is_some() { language.from } else { Some(args::From(Some(notation))) };
        Ok(NotationInput { opened, notation, language: Language { from, ..language } })
    }

    /// Refuses options that have no effect on the input, and tells what holds anyway. Options of documents are refused
    /// when their dialect is known.
    ///
    /// # Errors
    ///
    /// The first such option.
    pub(crate) fn usable(&mut self, output: &str, reporter: &mut Reporter) -> Result<(), Failure> {
        self.held(output)?.iter().for_each(|held| reporter.remark(held));
        Ok(())
    }

    /// What options ask for that holds anyway. Refuses those that have no effect, as [`NotationInput::usable`].
    ///
    /// # Errors
    ///
    /// The first such option.
    pub(crate) fn held(&mut self, output: &str) -> Result<Vec<String>, Failure> {
        self.applicable(output)?;
        Ok(self.language.asked.held(self.notation))
    }

    /// Refuses options that have no effect on the input, as [`NotationInput::usable`].
    ///
    /// # Errors
    ///
    /// The first such option.
    pub(crate) fn applicable(&mut self, output: &str) -> Result<(), Failure> {
        output.clone_into(&mut self.language.asked.output);
        if self.notation.dialect.is_some() { Ok(()) } else { self.language.usable(Some(self.notation)) }
    }

    /// The refusal of the input by a subcommand that takes other notations.
    pub(crate) fn refused(&self, command: &str, takes: impl Fn(&Notation) -> bool) -> Failure {
        let known: Vec<&str> = NOTATIONS.iter().filter(|known| takes(known)).map(|known| known.name).collect();
        let (name, title) = (&self.opened.name, self.notation.title);
        let known = options::listed(&known);
        Failure::Message(format!("{name}: `{command}` does not apply to {title}: it is for {known}"))
    }

    /// Reads the input, and the declarations of the options.
    ///
    /// # Errors
    ///
    /// It or they cannot be read, or an option does not apply to the dialect of a document.
    pub(crate) fn read(self) -> Result<(Box<dyn Source>, Settings, Language), Failure> {
        let mut settings = self.language.settings();
        let source = (self.notation.read)(self.opened, &settings)?;
        complete(&mut settings, &*source, &self.language)?;
        Ok((source, settings, self.language))
    }
}

/// Refuses options that do not apply to an input that was read, and adds to the settings what is in files of options.
///
/// # Errors
///
/// An option does not apply to the dialect of a document, or its file cannot be read.
pub(crate) fn complete(settings: &mut Settings, source: &dyn Source, language: &Language) -> Result<(), Failure> {
    // Those of other notations were refused before the input was read.
    if let Some(dialect) = source.dialect() {
        language.usable(Some(Notation::of_dialect(dialect)))?;
    }
    settings.options.libraries.extend(libraries(language, settings.options.max_text)?);
    for (name, value) in &language.bind {
        settings.bound.push((name.clone(), tensors::value(name, value, &language.limits)?));
    }
    Ok(())
}
