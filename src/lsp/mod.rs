//! The language server: what an editor asks about documents of NNEF and texts of ONNX, over the Language Server
//! Protocol.
//!
//! The server is one thread with a loop (`server`). Texts are stored as the editor changes them (`texts`), and are
//! analyzed when nothing else is to be done or a request needs it. What is known of a text is the same in all notations
//! (`analyzed`): findings, symbols, and answers about a position; `languages` is the table of notations. Each request has
//! a module, and a row in `methods`.

mod actions;
mod analyzed;
mod client;
mod completion;
mod definition;
mod diagnostics;
mod folding;
mod formatting;
mod hints;
mod hover;
mod languages;
mod library_texts;
mod meaning;
mod methods;
mod nnef;
mod onnx;
mod outline;
mod params;
mod places;
mod positions;
mod references;
mod rename;
mod server;
mod session;
mod signature;
mod stream;
mod surrogates;
mod symbols;
#[cfg(test)]
mod tests;
mod texts;
mod uri;

pub(crate) use server::{Ended, serve};
