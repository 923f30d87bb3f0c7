use super::*;

fn spell(table: &TensorNames, names: &Names, id: NameId) -> String {
    let mut text = String::new();
    table.write(names, id, &mut text);
    text
}

#[test]
fn paths_are_spelled_and_made_distinct() {
    let mut names = Names::new();
    let (h, r, add) = (names.intern("h"), names.intern("r_t"), names.intern("add"));
    let taken = names.intern("h_add1");
    let mut table = TensorNames::default();
    let user = table.user(taken);
    let root = table.user(h);
    let local = table.child(root, r, 0, false);
    let unnamed = table.child(root, add, 1, false);
    let again = table.child(root, add, 1, false);
    [user, root, local, unnamed, again].iter().for_each(|&id| table.mark_used(id));
    table.resolve(&names, &Default::default());
    let mut lengths = SpelledLengths::new(&table, &names);
    for id in table.ids().chain(table.ids()) {
        assert_eq!(lengths.of(id), spell(&table, &names, id).len() as u64);
    }
    assert_eq!(spell(&table, &names, local), "h_r_t");
    assert_eq!(spell(&table, &names, unnamed), "h_add1_2");
    assert_eq!(spell(&table, &names, again), "h_add1_3");
    assert_eq!(spell(&table, &names, user), "h_add1");
}

#[test]
fn names_inside_standard_operations_yield() {
    let mut names = Names::new();
    let (h, add) = (names.intern("h"), names.intern("add"));
    let mut table = TensorNames::default();
    let root = table.user(h);
    let inner = table.child(root, add, 1, true);
    let outer = table.child(root, add, 1, false);
    [root, inner, outer].iter().for_each(|&id| table.mark_used(id));
    table.resolve(&names, &Default::default());
    assert_eq!(spell(&table, &names, outer), "h_add1");
    assert_eq!(spell(&table, &names, inner), "h_add1_2");
}

#[test]
fn long_paths_are_shortened() {
    let mut names = Names::new();
    let (root, part) = (names.intern("r"), names.intern("f"));
    let mut table = TensorNames::default();
    let mut ids = vec![table.user(root)];
    for at in 0..1000 {
        ids.push(table.child(ids[at], part, 1, false));
    }
    ids.iter().for_each(|&id| table.mark_used(id));
    table.resolve(&names, &Default::default());
    let spelled: std::collections::BTreeSet<String> = ids[1..].iter().map(|id| spell(&table, &names, *id)).collect();
    assert_eq!(spelled.len(), 1000);
    assert!(spelled.iter().all(|name| name.starts_with("r_f1") && name.len() < 60), "{spelled:?}");
}
