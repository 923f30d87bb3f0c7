// Checks the extension: its files are there, its grammars are complete, and with vscode-textmate they give the words of
// samples the scopes that are listed here. Without these packages, only the structure is checked.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const json = (name) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'));

/** Words of a sample with the end of the scope that they have. */
const SAMPLES = {
    'source.nnef': {
        text: [
            'version 1.0;',
            'extension KHR_enable_fragment_definitions; # loops',
            'fragment norm<?>( x: tensor<scalar>, axes: integer[] = [1], name: string = \'a#b\' ) -> ( y: tensor<scalar> )',
            '{',
            '    y = x / sqrt(max_reduce(x, axes = axes) + 1e-5) if true else [for i in x yield i][length_of(axes)];',
            '}',
        ],
        words: [
            [0, 'version', 'keyword.control.version.nnef'],
            [0, '1.0', 'constant.numeric.version.nnef'],
            [1, 'KHR_enable_fragment_definitions', 'entity.name.namespace.nnef'],
            [1, '# loops', 'comment.line.number-sign.nnef'],
            [2, 'fragment', 'keyword.declaration.nnef'],
            [2, 'norm', 'entity.name.function.nnef'],
            [2, 'x', 'variable.parameter.nnef'],
            [2, 'tensor', 'storage.type.nnef'],
            [2, 'a#b', 'string.quoted.single.nnef'],
            [2, '->', 'keyword.operator.nnef'],
            [4, 'y', 'variable.other.nnef'],
            [4, 'max_reduce', 'entity.name.function.call.nnef'],
            [4, 'axes', 'variable.parameter.nnef'],
            [4, '1e-5', 'constant.numeric.nnef'],
            [4, 'if', 'keyword.control.nnef'],
            [4, 'true', 'constant.language.nnef'],
            [4, 'yield', 'keyword.control.nnef'],
            [4, 'length_of', 'support.function.builtin.nnef'],
        ],
    },
    'source.onnxtxt': {
        text: [
            '<ir_version: 10, opset_import: ["" : 21, "a.b" : 1]>',
            'g (float[N, 3] x) => (float[N, 3] y) # graph',
            '{ [n1] y = a.b.Gate <by: float = 2.5, mode = "u\\"v"> (x, -1) }',
            '<domain: "a.b"> Gate <by> (a) => (b) { b = Mul <alpha = @by> (a, a) }',
        ],
        words: [
            [0, 'ir_version', 'keyword.other.key.onnxtxt'],
            [0, '10', 'constant.numeric.onnxtxt'],
            [1, 'float', 'storage.type.onnxtxt'],
            [1, '=>', 'keyword.operator.onnxtxt'],
            [1, '# graph', 'comment.line.number-sign.onnxtxt'],
            [2, 'a.b.', 'entity.name.namespace.onnxtxt'],
            [2, 'Gate', 'entity.name.function.call.onnxtxt'],
            [2, 'by', 'variable.parameter.onnxtxt'],
            [2, '2.5', 'constant.numeric.onnxtxt'],
            [2, 'mode', 'variable.parameter.onnxtxt'],
            [2, '\\"', 'constant.character.escape.onnxtxt'],
            [2, 'x', 'variable.other.onnxtxt'],
            [3, 'Mul', 'entity.name.function.call.onnxtxt'],
            [3, '@by', 'variable.language.onnxtxt'],
        ],
    },
};

/** All rules of a grammar. */
function* rules(rule) {
    yield rule;
    for (const inner of [...(rule.patterns ?? []), ...Object.values(rule.repository ?? {})]) {
        yield* rules(inner);
    }
}

function structure() {
    const manifest = json('package.json');
    const { languages, grammars } = manifest.contributes;
    // The file itself is made when the extension is built.
    assert(manifest.main && manifest.scripts.build);
    languages.forEach((language) => json(language.configuration));
    for (const { language, scopeName, path: file } of grammars) {
        assert(languages.some(({ id }) => id === language), language);
        const grammar = json(file);
        assert.strictEqual(grammar.scopeName, scopeName);
        for (const rule of rules(grammar)) {
            for (const key of ['match', 'begin', 'end'].filter((key) => key in rule)) {
                new RegExp(rule[key]);
            }
            if (rule.include) {
                assert(rule.include.slice(1) in grammar.repository, rule.include);
            }
        }
    }
    return grammars;
}

function tokenizer() {
    try {
        return { textmate: require('vscode-textmate'), oniguruma: require('vscode-oniguruma') };
    } catch {
        return undefined;
    }
}

async function main() {
    const grammars = structure();
    const packages = tokenizer();
    if (!packages) {
        console.log('the grammars are complete; skipped: vscode-textmate and vscode-oniguruma are not installed');
        return;
    }
    const { textmate, oniguruma } = packages;
    const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
    await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
    const registry = new textmate.Registry({
        onigLib: Promise.resolve({
            createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
            createOnigString: (text) => new oniguruma.OnigString(text),
        }),
        loadGrammar: async (scope) => json(grammars.find(({ scopeName }) => scopeName === scope).path),
    });
    for (const [scope, { text, words }] of Object.entries(SAMPLES)) {
        const grammar = await registry.loadGrammar(scope);
        let stack = textmate.INITIAL;
        const lines = text.map((line) => {
            const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
            stack = ruleStack;
            return tokens.map(({ startIndex, endIndex, scopes }) => [line.slice(startIndex, endIndex), scopes]);
        });
        for (const [line, word, wanted] of words) {
            const found = lines[line].filter(([text]) => text.trim() === word).map(([, scopes]) => scopes.at(-1));
            assert(found.includes(wanted), `${scope}: \`${word}\` in line ${line} has ${JSON.stringify(found)}, not ${wanted}`);
        }
    }
    console.log('the grammars are complete, and the words of the samples have their scopes');
}

main();
