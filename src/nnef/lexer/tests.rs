use super::*;

/// Divides a text into tokens.
fn lex(text: &str, file: FileId, dialect: Dialect, diagnostics: &mut Diagnostics) -> Tokens {
    let mut tokens = Tokens::default();
    let mut lexer = Lexer::new(text, file, dialect, diagnostics.policy());
    while lexer.next(&mut tokens).is_some() {}
    diagnostics.extend(lexer.diagnostics);
    tokens
}

fn run(text: &str, dialect: Dialect) -> (Vec<TokenKind>, Vec<(Code, u32)>) {
    let mut diagnostics = Diagnostics::new(false);
    let tokens = lex(text, FileId::default(), dialect, &mut diagnostics);
    assert_eq!(tokens.kinds.len(), tokens.spans.len());
    (tokens.kinds, diagnostics.iter().map(|d| (d.code, d.at.span.start)).collect())
}

fn kinds(text: &str) -> Vec<TokenKind> {
    let (kinds, findings) = run(text, Dialect::V1);
    assert!(findings.is_empty(), "{text}: {findings:?}");
    kinds
}

fn findings(text: &str) -> Vec<(Code, u32)> {
    run(text, Dialect::V1).1
}

#[test]
fn words_and_numbers() {
    use TokenKind::*;
    assert_eq!(kinds("a _b1 for fortune inf true_value"), [Ident, Ident, For, Ident, Ident, Ident]);
    assert_eq!(kinds("1 1.5 1e5 1.5E-3 0.0"), [Int, Real, Real, Real, Real]);
    assert_eq!(kinds("x<=-1->y"), [Ident, Le, Minus, Int, Arrow, Ident]);
    assert_eq!(kinds("a\x0B\x0C\r\n\tb"), [Ident, Ident]);
    assert_eq!(kinds("k: tensor<scalar>=1.0"), [Ident, Colon, Tensor, Lt, Scalar, Gt, Assign, Real]);
    assert_eq!(kinds("a >= b"), [Ident, Ge, Ident]);
}

#[test]
fn comments_end_at_line_ends_and_form_feeds() {
    let mut diagnostics = Diagnostics::new(false);
    let text = "a # one\rb # two\x0Cc # three";
    let tokens = lex(text, FileId::default(), Dialect::V1, &mut diagnostics);
    assert_eq!(tokens.kinds, [TokenKind::Ident; 3]);
    let comments: Vec<&str> = tokens.comments.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(comments, ["# one", "# two", "# three"]);
}

#[test]
fn dialects_differ_in_words() {
    use TokenKind::*;
    let text = "version extension yield integer extent";
    assert_eq!(run(text, Dialect::V1).0, [Version, Extension, Yield, Integer, Ident]);
    assert_eq!(run(text, Dialect::Draft).0, [Ident, Ident, Ident, Ident, Integer]);
}

#[test]
fn malformed_elements_are_found_where_they_start() {
    assert_eq!(findings("a 0x10"), [(Code::BadNumber, 2)]);
    assert_eq!(findings("1.5.2"), [(Code::BadNumber, 0)]);
    assert_eq!(findings("5L"), [(Code::BadNumber, 0)]);
    assert_eq!(findings("1e"), [(Code::BadNumber, 0)]);
    assert_eq!(findings("1."), [(Code::NumberWithoutFraction, 0)]);
    assert_eq!(findings("1e999"), [(Code::NonFiniteLiteral, 0)]);
    assert_eq!(findings("99999999999999999999"), [(Code::IntegerTooLarge, 0)]);
    assert_eq!(findings("a $y"), [(Code::BadIdentifier, 2)]);
    assert_eq!(findings("na\u{EF}ve = 1"), [(Code::BadIdentifier, 0)]);
    assert_eq!(findings("a\u{A0}b"), [(Code::BadCharacter, 1)]);
    assert_eq!(findings("x @ y"), [(Code::BadCharacter, 2)]);
    assert_eq!(findings("x @@\u{1} y @"), [(Code::BadCharacter, 2), (Code::BadCharacter, 8)]);
    let kinds = run("x @@\u{1} y @ @", Dialect::V1).0;
    assert_eq!(kinds, [TokenKind::Ident, TokenKind::Stray, TokenKind::Ident, TokenKind::Stray, TokenKind::Stray]);
    assert_eq!(findings("x | y"), [(Code::BadCharacter, 2)]);
    assert_eq!(findings("x; // 'no comment\ny"), [(Code::BadComment, 3)]);
}

#[test]
fn strings() {
    assert_eq!(kinds(r#"'it\'s' "it's" 'a\\' "\"" '' "" "#), [TokenKind::Str; 6]);
    assert_eq!(findings("f('w\");\nx"), [(Code::UnterminatedString, 2)]);
    assert_eq!(findings("'a\tb'"), [(Code::StringCharacter, 2)]);
    assert_eq!(findings("'a\u{E9}b'"), [(Code::StringCharacter, 2)]);
    assert_eq!(findings(r"'a\nb'"), [(Code::StringCharacter, 2)]);
    assert_eq!(findings("'a\\"), [(Code::UnterminatedString, 0)]);
}

#[test]
fn extension_directives_hold_anything() {
    assert_eq!(findings("extension a 5L @ it's // x;\n@"), [(Code::BadCharacter, 28)]);
}

#[test]
fn reserved_words_are_told_by_their_spelling() {
    let keywords = "version extension graph fragment tensor integer scalar logical string shape_of length_of range_of \
        for in yield if else true false";
    let mut names = reserved_names();
    assert!(keywords.split(' ').all(|word| TokenKind::named(names.intern(word)).is_some_and(TokenKind::is_keyword)));
    assert!(kinds(keywords).iter().all(|kind| kind.is_keyword()));
    for word in ["", "f", "fo", "form", "while", "x", "In", "z", "_", "\u{E9}", "length_of1", "conv"] {
        assert_eq!(TokenKind::named(names.intern(word)), None, "{word}");
    }
}
