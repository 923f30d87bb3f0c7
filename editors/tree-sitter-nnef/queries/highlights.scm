; Of several patterns for one node, the last counts.
(identifier) @variable

(comment) @comment
(string) @string
(number) @number
(logical) @constant.builtin
(directive) @module

["version" "extension" "fragment" "graph"] @keyword
["for" "in" "yield" "if" "else" "with" "while" "do" "unroll"] @keyword.control
["shape_of" "length_of" "range_of"] @function.builtin
(primitive_type) @type.builtin
"tensor" @type.builtin
(generic "?" @type.builtin)

(fragment name: (identifier) @function)
(graph name: (identifier) @function)
(call operation: (identifier) @function.call)
(parameter name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)

["->" "=" "+" "-" "*" "/" "^" "!" "&&" "||" "<" "<=" ">" ">=" "==" "!=" ".." ":"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";"] @punctuation.delimiter
