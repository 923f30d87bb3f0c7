/**
 * @file The grammar of NNEF 1.0, with the loops of `extension flatten_loops`.
 * @license MIT
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

/** Binary operators, the weakest first; all of them are left-associative. */
const BINARY = [
  ['in'],
  ['&&', '||'],
  ['<', '<=', '>', '>=', '==', '!='],
  ['+', '-'],
  ['*', '/'],
  ['^'],
];

/** The precedence of `a if c else b`, of unary operators, and of subscripts. */
const SELECT = 1;
const UNARY = BINARY.length + 2;
const POSTFIX = UNARY + 1;

const list = (rule) => seq(rule, repeat(seq(',', rule)));
const maybe = (rule) => optional(list(rule));

module.exports = grammar({
  name: 'nnef',

  word: ($) => $.identifier,

  extras: ($) => [/\s/, $.comment],

  // `f < a` compares, `f<scalar>(a)` calls.
  conflicts: ($) => [[$._expression, $.call]],

  rules: {
    document: ($) => seq(optional($.version), repeat($.extension), repeat(choice($.fragment, $.graph))),

    version: ($) => seq('version', $.number, ';'),

    extension: ($) => seq('extension', optional($.directive), ';'),

    // Any text up to the semicolon.
    directive: () => token(/[^;\s#][^;]*/),

    fragment: ($) =>
      seq(
        'fragment',
        field('name', $.identifier),
        optional($.generic),
        field('parameters', $.parameters),
        '->',
        field('results', $.results),
        choice(';', field('body', $.body)),
      ),

    generic: ($) => seq('<', '?', optional(seq('=', $.primitive_type)), '>'),

    parameters: ($) => seq('(', maybe($.parameter), ')'),

    parameter: ($) =>
      seq(field('name', $.identifier), ':', field('type', $._type), optional(seq('=', field('default', $._expression)))),

    results: ($) => seq('(', maybe($.result), ')'),

    result: ($) => seq(field('name', $.identifier), ':', field('type', $._type)),

    graph: ($) =>
      seq(
        'graph',
        field('name', $.identifier),
        field('inputs', $.names),
        '->',
        field('outputs', $.names),
        field('body', $.body),
      ),

    names: ($) => seq('(', maybe($.identifier), ')'),

    _type: ($) => choice($.primitive_type, $.tensor_type, $.array_type, $.tuple_type),

    primitive_type: () => choice('integer', 'scalar', 'logical', 'string', '?'),

    tensor_type: ($) => seq('tensor', '<', optional($.primitive_type), '>'),

    array_type: ($) => seq($._type, '[', ']'),

    tuple_type: ($) => seq('(', list($._type), ')'),

    body: ($) => seq('{', repeat($.assignment), '}'),

    assignment: ($) =>
      seq(field('left', choice($._target, alias($.bare_tuple, $.tuple))), '=', field('right', choice($._expression, $.loop)), ';'),

    // The outermost tuple on the left side needs no parentheses.
    bare_tuple: ($) => seq($._target, ',', list($._target)),

    _target: ($) => choice($.identifier, alias($.target_array, $.array), alias($.target_tuple, $.tuple)),

    target_array: ($) => seq('[', maybe($._target), ']'),

    target_tuple: ($) => seq('(', list($._target), ')'),

    _expression: ($) =>
      choice(
        $.identifier,
        $.number,
        $.string,
        $.logical,
        $.array,
        $.tuple,
        $.parenthesized,
        $.unary,
        $.binary,
        $.select,
        $.subscript,
        $.comprehension,
        $.builtin,
        $.call,
      ),

    array: ($) => seq('[', maybe($._expression), ']'),

    tuple: ($) => seq('(', $._expression, ',', list($._expression), ')'),

    parenthesized: ($) => seq('(', $._expression, ')'),

    unary: ($) =>
      prec(UNARY, seq(field('operator', choice('-', '+', '!')), field('operand', $._expression))),

    binary: ($) =>
      choice(
        ...BINARY.map((operators, level) =>
          prec.left(
            SELECT + 1 + level,
            seq(
              field('left', $._expression),
              field('operator', operators.length > 1 ? choice(...operators) : operators[0]),
              field('right', $._expression),
            ),
          ),
        ),
      ),

    select: ($) =>
      prec.right(
        SELECT,
        seq(
          field('yes', $._expression),
          'if',
          field('condition', $._expression),
          'else',
          field('no', $._expression),
        ),
      ),

    subscript: ($) =>
      prec(POSTFIX, seq(field('base', $._expression), '[', choice(field('index', $._expression), $.slice), ']')),

    slice: ($) => seq(optional(field('begin', $._expression)), ':', optional(field('end', $._expression))),

    comprehension: ($) =>
      seq(
        '[',
        'for',
        list($.iterator),
        optional(seq('if', field('condition', $._expression))),
        'yield',
        field('item', $._expression),
        ']',
      ),

    // The array binds more tightly than a select, whose `if` would be that of the comprehension.
    iterator: ($) => prec(SELECT + 1, seq(field('name', $.identifier), 'in', field('array', $._expression))),

    builtin: ($) =>
      seq(field('name', choice('shape_of', 'length_of', 'range_of')), '(', field('argument', $._expression), ')'),

    call: ($) =>
      seq(
        field('operation', $.identifier),
        optional(seq('<', field('type', $.primitive_type), '>')),
        field('arguments', $.arguments),
      ),

    arguments: ($) => seq('(', maybe(choice($.named_argument, $._expression)), ')'),

    named_argument: ($) => seq(field('name', $.identifier), '=', field('value', $._expression)),

    loop: ($) =>
      prec.right(
        seq(
          optional(seq('with', list($.recurrence))),
          optional(seq('for', list($.loop_iterator))),
          optional($.while),
          choice('do', 'unroll'),
          optional($.count),
          choice($._expression, $.loop_body),
          optional($.while),
        ),
      ),

    recurrence: ($) =>
      seq(
        field('name', $.identifier),
        optional(seq(':', field('type', $._type))),
        '=',
        field('initial', $._expression),
      ),

    loop_iterator: ($) => seq(field('name', $.identifier), ':', field('array', $._expression)),

    while: ($) => seq('while', field('condition', $._expression)),

    count: ($) =>
      seq('..', '(', optional(seq(field('index', $.identifier), '->')), optional(field('count', $._expression)), ')'),

    loop_body: ($) => seq('{', repeat($.assignment), 'yield', list($._expression), ';', '}'),

    logical: () => choice('true', 'false'),

    number: () => token(/[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?/),

    string: () => token(choice(/'([^'\\\n]|\\.)*'/, /"([^"\\\n]|\\.)*"/)),

    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,

    comment: () => token(/#[^\n\r]*/),
  },
});
