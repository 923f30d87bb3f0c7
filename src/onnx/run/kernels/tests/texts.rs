//! Text.

use super::trial::{check, results, words};

#[test]
fn texts_are_joined_and_split() {
    let x = "string[2] a = {\"x\",\"y\"}, string[1] b = {\"z\"}, string[2] c = {\"p q  r\",\"\"}";
    assert_eq!(words(&results(20, x, "y = StringConcat (a, b)")[0]), ["xz", "yz"]);
    let split = results(20, x, "y, n = StringSplit <maxsplit = 1> (c)");
    assert_eq!((words(&split[0]), split[0].shape()), (vec!["p", "q  r", "", ""], &[2, 2][..]));
    assert_eq!(split[1].to_scalars(), [2.0, 0.0]);
    assert_eq!(results(20, x, "y, n = StringSplit <delimiter = \" \"> (c)")[1].to_scalars(), [4.0, 1.0]);
    check(20, "string[2] a = {\"ab\",\"abc\"}", "y = RegexFullMatch <pattern = \"a|ab\"> (a)", &[2], &[1.0, 0.0]);
}

#[test]
fn stop_words_vanish() {
    let x = "string[3] a = {\"Mon\",\"tue\",\"Wed\"}";
    let kept = "y = StringNormalizer <case_change_action = \"UPPER\", stopwords = [\"mon\"]> (a)";
    assert_eq!(words(&results(10, x, kept)[0]), ["TUE", "WED"]);
    let none = "y = StringNormalizer <is_case_sensitive = 1, stopwords = [\"Mon\", \"tue\", \"Wed\"]> (a)";
    assert_eq!(words(&results(10, x, none)[0]), [""]);
}

#[test]
fn grams_are_counted_with_gaps() {
    let x = "int64[4] x = {1,2,9,2}";
    let node = |more: &str| {
        let pool = "ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], pool_int64s = [1, 2, 1, 2]";
        format!("y = TfIdfVectorizer <min_gram_length = 1, max_gram_length = 2, {pool}, {more}> (x)")
    };
    check(9, x, &node("mode = \"TF\", max_skip_count = 0"), &[3], &[1.0, 2.0, 1.0]);
    check(9, x, &node("mode = \"TF\", max_skip_count = 2"), &[3], &[1.0, 2.0, 2.0]);
    check(9, x, &node("mode = \"IDF\", max_skip_count = 0, weights = [2.0, 3.0, 4.0]"), &[3], &[2.0, 3.0, 4.0]);
}
