use super::*;

#[test]
fn the_semicolon_decides() {
    assert_eq!(detect("version 1.0;"), Dialect::V1);
    assert_eq!(detect("# a\nversion # b\n 1.0 # c;\n ; "), Dialect::V1);
    assert_eq!(detect("# a\n\tversion 1.0\ngraph"), Dialect::Draft);
    assert_eq!(detect("version 1.0 # ;\ngraph"), Dialect::Draft);
    assert_eq!(detect(""), Dialect::V1);
    assert_eq!(detect("graph g( x )"), Dialect::V1);
    assert_eq!(detect("version ;"), Dialect::V1);
}
