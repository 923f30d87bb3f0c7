//! Choices that a generator makes, from a tape of numbers. The fuzz targets use them, too.

/// The choices, and how many are used.
pub struct Tape {
    choices: Vec<u16>,
    at: usize,
}

impl Tape {
    /// A tape to read from the start.
    pub fn new(choices: Vec<u16>) -> Self {
        Tape { choices, at: 0 }
    }

    /// A choice among `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % count
    }

    /// True in `chances` of 16 cases.
    pub fn chance(&mut self, chances: usize) -> bool {
        self.below(16) >= 16 - chances
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
