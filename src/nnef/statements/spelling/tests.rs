use super::*;

/// Compares which texts fit a spelling.
fn fit(first: &Spelling, cases: &[(&str, bool)], callees: Callees) {
    let mut other = Spelling::default();
    for (text, fits) in cases {
        assert_eq!(other.fit(&first.to_key(), text, callees).is_some(), *fits, "{text}");
    }
}

fn nobody(names: &Names) -> Callees<'_> {
    Callees { names, words: &[] }
}

/// The key with `_` for names, the names, and the rest of the text.
fn spell(text: &str) -> Option<(String, Vec<&str>, &str)> {
    let mut spelling = Spelling::default();
    let end = spelling.scan(text, nobody(&Names::new()))?;
    let key = spelling.key().iter().map(|&byte| if is_mark(byte) { '@' } else { char::from(byte) }).collect();
    let names = spelling.names().iter().map(|&(start, end)| &text[start as usize..end as usize]).collect();
    Some((key, names, &text[end as usize..]))
}

#[test]
fn names_are_what_is_neither_called_nor_reserved() {
    let cases = [
        (" t1 = add(t0, x);", "@ = add(@, @)", "t1 t0 x"),
        (
            "(a, b) = f<scalar>(x, k = y, l = [1, -2.5e-3]);",
            "(@, @) = f<scalar>(@, k = @, l = [1, -2.5e-3])",
            "a b x y",
        ),
        ("y=a*b+ f ( c )==d;", "@=@*@+ f ( @ )==@", "y a b c d"),
        ("w = variable(label = 'a.b', shape = [1]);", "@ = variable(label = '@', shape = [1])", "w a.b"),
        ("w = f(label=\"\", border = 'x');", "@ = f(label=\"@\", border = 'x')", "w "),
        ("y = [for i in x yield i * z] + i;", "@ = [for i in @ yield i * @] + i", "y x z"),
        ("y = f(i, [for i in j in x,k in i yield k]);", "@ = f(@, [for i in j in @,k in i yield k])", "y i x"),
        (
            "y = f(a == b, true, in, integer_, 'x = y', \"z\");",
            "@ = f(@ == @, true, in, @, 'x = y', \"z\")",
            "y a b integer_",
        ),
    ];
    for (text, key, names) in cases {
        let (found, words, rest) = spell(text).expect("a spelling");
        assert_eq!((found.as_str(), words.join(" ").as_str(), rest), (key, names, ""));
    }
}

#[test]
fn reserved_words_are_no_names() {
    let reserved = "version extension graph fragment tensor integer scalar logical string shape_of length_of \
                    range_of for in yield if else true false";
    reserved.split(' ').for_each(|word| assert!(is_reserved(word.as_bytes()), "{word}"));
    for word in ["x", "label", "truE", "true1", "extensions", "_", "a_rather_long_name"] {
        assert!(!is_reserved(word.as_bytes()), "{word}");
    }
}

#[test]
fn what_fits_is_what_is_spelled_alike() {
    let (mut first, mut other) = (Spelling::default(), Spelling::default());
    let names = Names::new();
    let nobody = nobody(&names);
    first.scan("(a, b) = f(x, 0.5, k = b);", nobody).expect("a spelling");
    let cases = [
        ("\n (t1, t2) = f(t3, 0.5, k = t4); c = d;", true),
        ("(a, b) = f(x, 0.5, k = b)", false),
        ("(a, b) = f(x, 0.55, k = b);", false),
        ("(a, b) = f(x, 0.5, k = b(c));", false),
        ("(a, b) = f(true, 0.5, k = b);", false),
        ("(a, b) = f(1, 0.5, k = b);", false),
        ("(a, b) = f($x, 0.5, k = b);", false),
        ("(a, b) = g(x, 0.5, k = b);", false),
        ("(a, b) = f(x, 0.5, k = bé);", false),
        ("", false),
    ];
    for (text, fits) in cases {
        let end = other.fit(&first.to_key(), text, nobody);
        assert_eq!(end.is_some(), fits, "{text}");
        if fits {
            let (names, start) = (other.names().to_vec(), other.start());
            assert_eq!((other.scan(text, nobody), other.names(), other.start()), (end, &names[..], start));
            assert_eq!((other.key(), other.targets()), (first.key(), first.targets()));
        }
    }
    first.scan("y = [for i in x yield i * z];", nobody).expect("a spelling");
    let cases: &[_] = &[
        ("b = [for i in y yield i * x];", true),
        ("b = [for j in y yield j * x];", false),
        ("b = [for i in y yield i * i];", false),
        ("b = [for i in y yield z * x];", false),
    ];
    fit(&first, cases, nobody);
    first.scan("w = variable(label = 'a', shape = [1]);", nobody).expect("a spelling");
    let cases: &[_] = &[
        ("v = variable(label = '', shape = [1]);", true),
        ("v = variable(label = 'b/c \"d', shape = [1]);", true),
        ("v = variable(label = \"a\", shape = [1]);", false),
        ("v = variable(label = 'a\\'', shape = [1]);", false),
        ("v = variable(label = 'é', shape = [1]);", false),
        ("v = variable(label = 'a, shape = [1]);", false),
    ];
    fit(&first, cases, nobody);
}

#[test]
fn fragments_that_are_called_are_told_by_their_declarations() {
    let (mut first, mut names) = (Spelling::default(), Names::new());
    let words: Vec<u32> = ["f", "g", "h", "k"]
        .iter()
        .zip([12, 12, 0, 7])
        .map(|(name, words)| {
            names.intern(name);
            words
        })
        .collect();
    let callees = Callees { names: &names, words: &words };
    first.scan("y = f(x, k = g (z)) + h(f);", callees).expect("a spelling");
    let key: String = first.key().iter().map(|&byte| if is_mark(byte) { '@' } else { char::from(byte) }).collect();
    assert_eq!(key, "@ = @12(@, k = @12 (@)) + h(@)");
    let kinds: Vec<HoleKind> = first.holes().map(|(_, _, kind)| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == HoleKind::Called).count(), 2);
    let cases: &[_] = &[
        ("a = g(b, k = f (c)) + h(d);", true),
        ("a = g(b, k = g (c)) + h(d);", true),
        ("a = k(b, k = g (c)) + h(d);", false),
        ("a = h(b, k = g (c)) + h(d);", false),
        ("a = other(b, k = g (c)) + h(d);", false),
        ("a = f(b, k = g (c)) + g(d);", false),
    ];
    fit(&first, cases, callees);
}

#[test]
fn what_is_out_of_the_ordinary_is_left_to_others() {
    let long = format!("y = f({});", "1, ".repeat(MAX_LENGTH));
    let names = format!("y = f({}x);", "x, ".repeat(MAX_NAMES));
    let word = format!("y = {};", "x".repeat(MAX_NAME + 1));
    for text in
        ["y = x # c\n;", "y = x", "", "y = 'a", "y = 'a\\'';", "y = é;", "y = $x;", "y = {x};", &long, &names, &word]
    {
        assert_eq!(spell(text), None, "{text}");
    }
    assert_eq!(spell("a = b; c = d;"), Some(("@ = @".to_owned(), vec!["a", "b"], " c = d;")));
}
