use super::*;

#[test]
fn long_arrays_leave_the_table_and_short_ones_stay() {
    let mut ast = Ast::default();
    ast.ints.extend([1, 2, 3]);
    assert_eq!(ast.int_array(1), Expr::IntArray(ListRange { start: 1, len: 2 }));
    ast.ints.extend((0..).take(MANY));
    assert_eq!(ast.int_array(3), Expr::Numbers(NumbersId(0)));
    ast.scalars.extend(std::iter::repeat_n(0.5, MANY));
    assert_eq!(ast.scalar_array(1), Expr::ScalarArray(ListRange { start: 1, len: MANY as u32 - 1 }));
    assert_eq!(ast.scalar_array(0), Expr::Numbers(NumbersId(1)));
    assert_eq!((ast.ints.as_slice(), ast.scalars.len()), ([1, 2, 3].as_slice(), 0));
    assert_eq!(ast.numbers[0], Numbers::Ints((0..).take(MANY).collect()));
    assert_eq!(ast.numbers[1].len(), MANY);
}
