//! Models with quantizations are computed with the values that codes stand for.

use super::{Archive, Fixture, dat_header};

const GRAPH: &str = "version 1.0;\nextension KHR_enable_fragment_definitions;\n\
    extension KHR_enable_operator_expressions;\n\
    fragment halves_quantize( x: tensor<scalar>, above: scalar ) -> ( y: tensor<scalar> ) { y = round(x * 2.0) / 2.0 + above; }\n\
    graph G( x ) -> ( y )\n{\n    x = external(shape = [2, 2]);\n    \
    w = variable(shape = [2], label = 'w');\n    t = mul(x, 3.0);\n    y = add(t, w);\n}\n";

/// The output `y` of a model with these quantizations and data.
fn output(quant: &str, data: &[u8]) -> Result<String, String> {
    let fixture = Fixture::new();
    fixture.write("m/graph.nnef", GRAPH);
    fixture.write("m/graph.quant", quant);
    fixture.write("m/w.dat", data);
    fixture.write("x.json", "{\"x\": [[0.1, 0.2], [0.3, 1.0]]}");
    let run = fixture.run("run m --inputs x.json");
    for form in ["m/graph.nnef", "m.tar"] {
        let text = fixture.read("m/graph.nnef");
        fixture.write(
            "m.tar",
            Archive::default().file("graph.nnef", text).file("graph.quant", quant).file("w.dat", data).end(),
        );
        assert_eq!(fixture.run(&format!("run {form} --inputs x.json")).out(), run.out());
    }
    if run.status() != 0 {
        return Err(run.err());
    }
    let found: serde_json::Value = serde_json::from_str(&run.out()).unwrap();
    Ok(found["outputs"]["y"]["data"].to_string())
}

fn floats() -> Vec<u8> {
    super::numbers(&[0.0, 0.0])
}

/// Two codes of 8 bits with this item type.
fn codes(codes: [u8; 2], of: u16) -> Vec<u8> {
    [dat_header(&[2], 2, 8, (0, of)), codes.to_vec()].concat()
}

#[test]
fn tensors_are_rounded_to_their_codes() {
    for (quant, wanted) in [
        ("", "[[0.3,0.6],[0.9,3.0]]"),
        // Steps of a half, from 0 to 1.5.
        ("'t': linear_quantize(min = 0.0, max = 1.5, bits = 2);", "[[0.5,0.5],[1.0,1.5]]"),
        ("'y': linear_quantize(min = 0.0, max = 1.5, bits = 2);", "[[0.5,0.5],[1.0,1.5]]"),
        // Inputs, and an array with a value for each channel.
        (
            "'x': zero_point_linear_quantize(zero_point = 0, scale = [[0.25, 0.5]], bits = 8, signed = true, symmetric = false);",
            "[[0.0,0.0],[0.75,3.0]]",
        ),
        // An algorithm of the document.
        ("'t': halves_quantize(above = 10.0);", "[[10.5,10.5],[11.0,13.0]]"),
    ] {
        let rounded = |text: String| {
            let items: Vec<Vec<f64>> = serde_json::from_str(&text).unwrap();
            let items = items.iter().flatten().map(|item| (item * 1e6).round() / 1e6);
            format!("{:?}", items.collect::<Vec<f64>>())
        };
        assert_eq!(rounded(output(quant, &floats()).unwrap()), rounded(wanted.to_owned()), "{quant}");
    }
}

#[test]
fn data_of_variables_may_be_codes() {
    let zero_point = |signed: bool| {
        format!(
            "'w': zero_point_linear_quantize(zero_point = 2, scale = 0.5, bits = 8, signed = {signed}, symmetric = false);"
        )
    };
    let quarter = "'w': min_max_linear_quantize(min = 0.0, max = 63.75, bits = 8, signed = false, symmetric = false);";
    // Quantized codes with and without sign, and integers.
    for (quant, data, wanted) in [
        (zero_point(false), codes([4, 1], 1), [1.0, -0.5]),
        (zero_point(false), codes([4, 254], 2), [1.0, 126.0]),
        (zero_point(true), codes([4, 254], 3), [1.0, -2.0]),
        // As tract writes it.
        (zero_point(true).replace(", symmetric = false", ""), codes([4, 254], 3), [1.0, -2.0]),
        (quarter.to_owned(), codes([4, 1], 2), [1.0, 0.25]),
        (
            quarter.replace("min_max_linear", "linear").replace(", signed = false, symmetric = false", ""),
            codes([4, 1], 2),
            [1.0, 0.25],
        ),
    ] {
        let found: Vec<[f64; 2]> = serde_json::from_str(&output(&quant, &data).unwrap()).unwrap();
        // Axes correspond from the first: each row has a code.
        let [first, second] = [found[0][0] - 0.3, found[1][0] - 0.9];
        assert!((first - wanted[0]).abs() < 1e-6 && (second - wanted[1]).abs() < 1e-6, "{quant}: {found:?}");
    }
    let refused = output("'w': halves_quantize(above = 0.0);", &codes([1, 2], 2)).unwrap_err();
    assert!(
        refused.contains("E0825") && refused.contains("the meaning of the codes of `halves_quantize`"),
        "{refused}"
    );
}

#[test]
fn wrong_quantizations_refuse_a_model() {
    let misspelt = output("'t': linear_quantize(low = 0.0, max = 1.0, bits = 8);", &floats()).unwrap_err();
    assert!(misspelt.contains("E1225") && misspelt.contains("cannot be expanded"), "{misspelt}");
    for quant in ["'w': linear_quantize(min = [[0.0]], max = 1.0, bits = 8);", "'t': halves_quantize(above = 0.0);"] {
        let found = output(quant, &floats());
        let widened =
            found.as_ref().err().is_some_and(|err| err.contains("changes the shape of the tensor, [2], to [2, 1]"));
        assert_eq!((widened, found.is_err()), (quant.contains("[[0.0]]"), quant.contains("[[0.0]]")), "{found:?}");
    }
    let refused = output("'t': linear_quantise(min = 0.0, max = 1.0, bits = 8);", &floats()).unwrap_err();
    assert!(refused.contains("m/graph.quant:1:") && refused.contains("did you mean"), "{refused}");
}
