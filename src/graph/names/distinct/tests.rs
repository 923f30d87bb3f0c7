use std::collections::HashSet;

use super::super::{NameId, TensorNames};
use super::*;

/// The expected names of a table, computed from their texts instead of hashes.
fn expected(table: &TensorNames, names: &Names) -> Vec<String> {
    let entries = &table.entries;
    let mut texts = vec![String::new(); entries.len()];
    let is_taken = |entry: &&NameEntry| entry.is(bits::USED) && entry.is(bits::USER);
    let user_names = entries.iter().filter(is_taken).map(|entry| names.text(entry.segment));
    let mut taken: HashSet<String> = user_names.map(str::to_owned).collect();
    for inner in [false, true] {
        for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| !inner || entry.is(bits::INNER)) {
            let parent = texts.get(entry.parent.index()).map_or(String::new(), |parent| format!("{parent}_"));
            let ordinal = if entry.ordinal > 0 { entry.ordinal.to_string() } else { String::new() };
            let text = format!("{parent}{}{ordinal}", names.text(entry.segment));
            let mut all = std::iter::once(text.clone()).chain((2..).map(|suffix| format!("{text}_{suffix}")));
            texts[i] = match entry.claims(inner) {
                true => all.find(|text| taken.insert(text.clone())).unwrap_or_default(),
                false => text,
            };
        }
    }
    texts
}

/// A random table of names with few spellings.
fn table(names: &mut Names, seed: u64) -> TensorNames {
    let segments = ["a", "b_2", "a1", "_", "a_a", "b2", ""].map(|text| names.intern(text));
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % below
    };
    let mut table = TensorNames::default();
    // The prefix of a new name is one of the last few names, or any name.
    let near = [3, 50, usize::MAX][random(3)];
    let mut users = HashSet::new();
    for i in 0..500 {
        let segment = segments[random(segments.len())];
        let id = if i == 0 || random(20) == 0 {
            table.user(segment)
        } else {
            let parent = NameId::at(i - 1 - random(i.min(near)));
            let is_inner = table.entries[parent.index()].is(bits::INNER) || random(10) == 0;
            table.child(parent, segment, [0, 0, 1, 2, 12, 99, 1000, 4_000_000_100][random(8)], is_inner)
        };
        let is_new = !table.is_user(id) || users.insert(segment);
        if is_new && random(4) > 0 {
            table.mark_used(id);
        }
    }
    table
}

#[test]
fn names_are_made_distinct_in_their_order() {
    for seed in 0..60 {
        let mut names = Names::new();
        let mut table = table(&mut names, seed);
        let expected = expected(&table, &names);
        // Resolving again does not change the names.
        for _ in 0..2 {
            table.resolve(&names, &Default::default());
            for (i, expected) in expected.iter().enumerate() {
                let mut text = String::new();
                table.write(&names, NameId::at(i), &mut text);
                assert_eq!(&text, expected, "name {i} of table {seed}");
            }
        }
    }
}

#[test]
fn hashes_depend_on_the_spelling_alone() {
    let mut names = Names::new();
    let h = names.intern("h");
    let mut seen = HashSet::new();
    for (segment, ordinal) in ["add", "_", "", "x_3", "a__7"]
        .iter()
        .flat_map(|segment| [0, 1, 10, 999, 1000, 1_000_000, u32::MAX].map(|i| (*segment, i)))
    {
        let number = if ordinal == 0 { String::new() } else { ordinal.to_string() };
        let whole = names.intern(&format!("h_{segment}{number}"));
        let entry = |segment, ordinal| NameEntry { parent: NameId::ROOT, segment, ordinal, bits: 1 };
        let segment = names.intern(segment);
        let mut segments = Segments::new(&names);
        let root = segments.hash(None, &entry(h, 0));
        let of_whole = segments.hash(None, &entry(whole, 0));
        assert_eq!(segments.hash(Some(root), &entry(segment, ordinal)), of_whole);
        assert!(seen.insert(of_whole), "{} has the hash of another spelling", names.text(whole));
    }
}

#[test]
fn neighbours_are_told_apart() {
    let mut taken = Taken::with_capacity(30_000);
    let hashes: Vec<Hash> = (0..10_000)
        .flat_map(|i| [format!("t{i}"), format!("t_{i}"), format!("t{i}_2")])
        .map(|text| hash_of(&text))
        .collect();
    assert!(hashes.iter().all(|hash| taken.insert(*hash)));
    assert!(hashes.iter().all(|hash| !taken.insert(*hash)));
}

#[test]
fn hashes_of_texts_are_those_of_their_bytes() {
    let text = "layers_0_attention_query_weight";
    for length in 0..text.len() {
        let text = &text[..length];
        assert_eq!(hash_of(text), text.bytes().fold(0, push_byte));
        assert_eq!(HashedText::EMPTY.then("h").then(text).after(0), hash_of(&format!("h{text}")));
    }
}
