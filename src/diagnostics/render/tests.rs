use super::calls::MAX_FRAMES;
use super::human::write_human;
use super::line::summary;
use crate::diagnostics::{Code, Diagnostic, TraceFrame};
use crate::source::{FileId, Location, Sources, Span};

fn human(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> String {
    let mut out = Vec::new();
    write_human(&mut out, sources, diagnostic, color).unwrap();
    String::from_utf8(out).unwrap()
}

fn find(sources: &Sources, file: FileId, what: &str) -> Location {
    let start = sources.file(file).text().find(what).unwrap() as u32;
    Location::new(file, Span::new(start, start + what.len() as u32))
}

#[test]
fn heading_labels_help_and_trace() {
    let mut sources = Sources::new();
    let text = "# é\nfragment f( x: tensor<scalar> )\n{\n    y = frob(x);\n}\n\n    z = f(a);\n";
    let file = sources.add("m.nnef", text);
    let at = find(&sources, file, "frob");
    let mut diagnostic = Diagnostic::new(Code::UnknownOperation, at, "`frob` is not declared")
        .label("not declared")
        .see(find(&sources, file, "x:"), "x is this")
        .help("did you mean `from`?");
    diagnostic.expansion.push(TraceFrame { fragment: "f".into(), at: find(&sources, file, "f(a)") });
    let text = human(&sources, &diagnostic, false);
    let wanted = "\
Warning[E0401 A1]: `frob` is not declared
   ╭─[ m.nnef:4:9 ]
   │
 2 │ fragment f( x: tensor<scalar> )
   │             ─┬
   │              ╰── x is this
   │
 4 │     y = frob(x);
   │         ──┬─
   │           ╰─── not declared
   │
   │ Help: did you mean `from`?
───╯
  in `f`, called at m.nnef:7:9
       7 │ z = f(a);

";
    assert_eq!(text, wanted, "\n{text}");
    assert!(text.lines().all(|line| line.trim_end() == line));
    let colored = human(&sources, &diagnostic, true);
    assert!(colored.contains("\x1b["));
    let mut plain = String::new();
    let mut inside = false;
    for c in colored.chars() {
        match c {
            '\x1b' => inside = true,
            'm' if inside => inside = false,
            c if !inside => plain.push(c),
            _ => {}
        }
    }
    assert_eq!(plain.lines().map(str::trim_end).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
}

#[test]
fn line_numbers_are_those_of_the_file() {
    let mut sources = Sources::new();
    let library = sources.add("<standard library>", "fragment relu\n");
    let (before, between) = ("x = 1;\n".repeat(123_455), "\n".repeat(40_000));
    let file = sources.add("big.nnef", format!("{before}y = bad;\n{between}z = worse;\n"));
    let diagnostic = Diagnostic::new(Code::BadNumber, find(&sources, file, "worse"), "m")
        .see(find(&sources, file, "bad"), "first")
        .see(find(&sources, library, "relu"), "declared here");
    let text = human(&sources, &diagnostic, false);
    assert!(text.contains("─[ big.nnef:163457:5 ]"), "{text}");
    assert!(text.contains("─[ big.nnef:123456:5 ]"), "{text}");
    assert!(text.contains("\n 163457 │ z = worse;\n"), "{text}");
    assert!(text.contains("\n 123456 │ y = bad;\n"), "{text}");
    assert!(text.contains("\n      1 │ fragment relu\n"), "{text}");
    assert!(text.contains("\n────────╯\n"), "{text}");
}

#[test]
fn long_lines_are_cut_and_keep_their_position() {
    let mut sources = Sources::new();
    let (before, after) = ("x = relu(y); ".repeat(100_000), "é".repeat(100_000));
    let file = sources.add("one.nnef", format!("{before}WRONG{after}"));
    let at = find(&sources, file, "WRONG");
    let text = human(&sources, &Diagnostic::new(Code::BadNumber, at, "m"), false);
    assert!(text.contains("one.nnef:1:1300001"), "{text}");
    assert!(text.contains("WRONG") && text.len() < 1000, "{text}");
}

#[test]
fn long_traces_are_elided() {
    let mut sources = Sources::new();
    let file = sources.add("t", "a\nb\nc\n");
    let at = |byte| Location::new(file, Span::new(byte, byte + 1));
    let mut diagnostic = Diagnostic::new(Code::EndlessRecursion, at(0), "m");
    diagnostic.expansion = (0..30).map(|i| TraceFrame { fragment: format!("f{i}"), at: at(2) }).collect();
    for elided in [None, Some((1000, 15)), Some((1000, 0)), Some((1000, 30)), Some((1000, 99))] {
        diagnostic.elided = elided;
        let text = human(&sources, &diagnostic, false);
        let hidden = 18 + elided.map_or(0, |elided| elided.0);
        assert_eq!(text.matches("called at t:2:1").count(), MAX_FRAMES, "{text}");
        assert!(text.contains(&format!("… {hidden} more calls …")), "{text}");
    }
    diagnostic.elided = None;
    let text = human(&sources, &diagnostic, false);
    assert!(["`f0`", "`f5`", "`f24`", "`f29`"].iter().all(|frame| text.contains(frame)), "{text}");
    for (hidden, told) in [(0, None), (1, Some("… 1 more call …")), (2, Some("… 2 more calls …"))] {
        diagnostic.expansion.truncate(MAX_FRAMES + hidden);
        let text = human(&sources, &diagnostic, false);
        let found = text.lines().map(str::trim).find(|line| line.starts_with('…'));
        assert_eq!((found, text.matches("called at t:2:1").count()), (told, MAX_FRAMES), "{text}");
        diagnostic.expansion = (0..30).map(|i| TraceFrame { fragment: format!("f{i}"), at: at(2) }).collect();
    }
}

#[test]
fn any_span_in_any_text_can_be_drawn() {
    let texts = ["", "\n", "\r\n\r\n", "é", "a\u{2028}b\r\u{85}c\n\u{1}0\u{1}:9\t\u{b}x", "日本\n語🎉\n", "ab\r"];
    for text in texts {
        let mut sources = Sources::new();
        let file = sources.add("t\n\u{1b}[0m", text);
        let end = text.len() as u32 + 2;
        for a in 0..=end {
            for b in a..=end {
                for c in 0..=end {
                    let at = |start, end| Location::new(file, Span { start, end });
                    let diagnostic =
                        Diagnostic::new(Code::BadCharacter, at(a, b), "m\u{1}0\u{1}").see(at(c, c + 1), "s");
                    let drawn = human(&sources, &diagnostic, false);
                    let position = sources.start(diagnostic.at);
                    let heading = format!(":{}:{} ]", position.line, position.column);
                    assert!(drawn.contains(&heading), "{text:?} {a} {b} {c}\n{drawn}");
                    assert!(!drawn.contains(['\u{1}', '\u{1b}']), "{drawn:?}");
                }
            }
        }
    }
}

#[test]
fn summaries() {
    assert_eq!(summary(2, 3, 5).as_deref(), Some("2 errors, 3 warnings (5 more not shown)"));
    assert_eq!(summary(1, 0, 0).as_deref(), Some("1 error"));
    assert_eq!(summary(0, 1, 0).as_deref(), Some("1 warning"));
    assert_eq!(summary(0, 0, 0), None);
}

proptest::proptest! {
    #[test]
    fn many_labels_in_wild_texts_can_be_drawn(
        parts in proptest::collection::vec((crate::tests::matching("[a\u{e9}\u{65e5} \t\r\n\u{2028}\u{1}\u{1b}─│]{0,9}"), 1..120usize), 0..12),
        spans in proptest::collection::vec((0..9000u32, 0..400u32), 1..6),
        elided in proptest::option::of((0..9usize, 0..9usize)),
    ) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        let mut sources = Sources::new();
        let file = sources.add("t", text.clone());
        let size = text.len() as u32 + 3;
        let place = |(start, len): (u32, u32)| {
            let start = start % size;
            Location::new(file, Span { start, end: start + len })
        };
        let mut diagnostic = Diagnostic::new(Code::BadCharacter, place(spans[0]), "m");
        for span in &spans[1..] {
            diagnostic = diagnostic.see(place(*span), "label");
            diagnostic.expansion.push(TraceFrame { fragment: "f".into(), at: place(*span) });
        }
        diagnostic.elided = elided;
        let plain = human(&sources, &diagnostic, false);
        let position = sources.start(diagnostic.at);
        let heading = format!("t:{}:{} ]", position.line, position.column);
        proptest::prop_assert!(plain.contains(&heading), "{}", plain);
        let harmless = !plain.contains(['\u{1}', '\u{1b}']);
        proptest::prop_assert!(plain.len() < 30_000 && harmless, "{}", plain);
        let marked = human(&sources, &diagnostic, true).contains('\u{1}');
        proptest::prop_assert!(!marked);
    }
}
