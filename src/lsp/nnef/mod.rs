//! Documents of NNEF, and files of declarations.

mod answers;
mod completion;
mod declaration;
mod expansion;
mod hover;
mod index;
mod text;
mod types;
mod words;

pub(super) use text::NnefText;
