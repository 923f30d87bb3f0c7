//! Pages.

use std::io::{self, Write};

use super::layout::Arrangement;
use super::scene::Scene;
use crate::source::Sources;

/// Writes an arranged scene.
pub fn write(_scene: &Scene, _arrangement: &Arrangement, _sources: &Sources, _out: &mut dyn Write) -> io::Result<()> {
    Ok(())
}
