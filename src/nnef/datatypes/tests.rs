use super::*;
use crate::{Options, parse};

#[test]
fn rows_speak_of_declared_names() {
    let text = "version 1.0\ngraph G( x ) -> ( y ) { x = external(shape = [1]) y = exp(x) }";
    let parsed = parse("t", text.to_string(), &Options::default());
    let document = &parsed.document;
    let library = &document.modules()[0];
    for (operation, names) in EXCEPTIONS {
        let of = |name| document.names().text(name);
        let found = library.fragments.iter().find(|fragment| of(fragment.name.name) == *operation).unwrap();
        for (name, _) in *names {
            let params = found.params.iter().map(|param| of(param.name.name));
            assert!(
                params.chain(found.results.iter().map(|r| of(r.name.name))).any(|known| known == *name),
                "{operation}.{name}"
            );
        }
    }
}
