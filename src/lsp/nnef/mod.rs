//! Documents of NNEF, and files of declarations.

mod answers;
mod completion;
mod declaration;
mod expansion;
mod folds;
mod hints;
mod hover;
mod index;
mod locals;
mod outline;
mod place;
mod signature;
mod text;
mod types;
mod words;

pub(super) use text::NnefText;
