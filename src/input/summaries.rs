//! What the data of variables are like, for pages.

use super::Refusal;
use super::settings::Settings;
use super::source::Backing;
use super::stored::{DataReader, StoredData};
use crate::Graph;
use crate::graph::OperationId;
use crate::picture::{MAX_OPERATIONS, Summaries, Summary, Summing};
use crate::write;

/// What the data behind the operations of a graph are like, for a notation that tells it. Data that are not there, or
/// cannot be read, are left out.
pub(crate) fn summaries(
    backing: &mut dyn Backing,
    graph: &Graph,
    to: &write::Notation,
    settings: &Settings,
) -> Summaries {
    let mut found = Summaries::default();
    // A graph that is not drawn is refused after this.
    if !to.summarizes || graph.operations.len() > MAX_OPERATIONS {
        return found;
    }
    let Ok(stored) = StoredData::new(graph, backing, settings) else { return found };
    let reader = stored.reader();
    for id in (0..graph.operations.len()).map(OperationId::at) {
        if let Ok(Some(summary)) = summary(&reader, id) {
            found.insert(id, summary);
        }
    }
    found
}

/// What the data behind an operation are like; none if there are none.
fn summary(reader: &DataReader, id: OperationId) -> Result<Option<Summary>, Refusal> {
    let mut summing = Summing::default();
    if !reader.numbers(id, &mut |items| summing.add(items))? {
        return Ok(None);
    }
    let mut counting = summing.counting();
    reader.numbers(id, &mut |items| counting.add(items))?;
    Ok(Some(counting.summary()))
}
