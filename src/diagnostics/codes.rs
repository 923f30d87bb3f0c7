//! The table of diagnostic codes: one row for each kind of error or warning.
//!
//! A row has the stable code, the id of the rule it enforces, how the default mode treats a
//! violation, and a title. The long explanation of a code, with a wrong and a corrected example,
//! is its section in `docs/diagnostics.md`, which `nnef-flatten explain CODE` prints.

use super::diagnostic::Severity;

/// One row of the table.
#[derive(Debug)]
pub(crate) struct CodeInfo {
    /// The stable code, `E0401`.
    pub(crate) code: &'static str,
    /// The rule it enforces: a row of `docs/rules.md`; `None` for limits of this program.
    pub(crate) rule: Option<&'static str>,
    /// How a violation is treated.
    pub(crate) treatment: Treatment,
    /// What is wrong, in a few words.
    pub(crate) title: &'static str,
    /// What is found at the location, which the label under the source line says; none if that is a whole input.
    pub(crate) label: Option<&'static str>,
}

/// How a violation is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// An error.
    Error,
    /// A warning, and an error under `--strict`.
    Lenient,
    /// As lenient, and common practice: exporters in use write it, readers in use accept it. The command reports it
    /// only on request.
    Practice,
    /// As lenient, but a document that violates the rule has no values: programs that read it may mean different
    /// things.
    Undefined,
    /// A warning that is common practice.
    Habit,
    /// A warning.
    Warning,
}

macro_rules! treatment {
    (error) => {
        Treatment::Error
    };
    (lenient) => {
        Treatment::Lenient
    };
    (practice) => {
        Treatment::Practice
    };
    (undefined) => {
        Treatment::Undefined
    };
    (habit) => {
        Treatment::Habit
    };
    (warning) => {
        Treatment::Warning
    };
}

macro_rules! rule {
    (none) => {
        None
    };
    ($rule:ident) => {
        Some(stringify!($rule))
    };
    // Ids of rules that are not Rust identifiers.
    ($rule:literal) => {
        Some($rule)
    };
}

macro_rules! label {
    (none) => {
        None
    };
    ($label:literal) => {
        Some($label)
    };
}

macro_rules! codes {
    ($($name:ident $code:literal $rule:tt $treatment:ident $title:literal $label:tt;)*) => {
        /// A diagnostic code. The variant's documentation is its title.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The row of this code.
            pub(crate) fn info(self) -> &'static CodeInfo {
                &TABLE[self as usize]
            }
        }

        static TABLE: &[CodeInfo] = &[
            $(CodeInfo {
                code: $code,
                rule: rule!($rule),
                treatment: treatment!($treatment),
                title: $title,
                label: label!($label),
            }),*
        ];
    };
}

codes! {
    // Reading.
    NotUtf8               "E0001" L5   error   "the text is not UTF-8" "not UTF-8";
    TooLarge              "E0002" none error   "the text is too large" none;
    TooDeep               "E0003" none error   "the nesting is too deep" "nested too deep";
    ForeignInput          "E0004" none error   "the input is not in a supported notation" "not a supported notation";
    NotBuilt              "E0005" none error   "this build does not have the part that is needed" none;
    // Lexical elements.
    BadIdentifier         "E0101" L1   error   "not an identifier" "not an identifier";
    BadNumber             "E0102" L2   error   "malformed number" "not a number";
    NumberWithoutFraction "E0103" L2   lenient "number ends with its decimal point" "no digits after the point";
    UnterminatedString    "E0104" L3   error   "unterminated string" "this quote is not closed";
    StringCharacter       "E0105" L3   lenient "character not allowed in a string" "not printable ASCII";
    KeywordAsName         "E0107" L4   error   "keyword used as a name" "this is a keyword";
    BadCharacter          "E0108" L5   error   "unexpected character" "not a token";
    BadComment            "E0109" L6   error   "not a comment" "not the start of a comment";
    IntegerTooLarge       "E0110" E3   error   "integer literal out of range" "more than 64 bits";
    NonFiniteLiteral      "E0111" L2   practice "literal of a non-finite scalar" "not a finite number";
    NonFiniteValue        "E0112" L2   lenient "value that is computed as infinity or not-a-number" "not a finite number";
    // Syntax.
    DocumentStructure     "E0201" S1   error   "wrong order of the parts of a document" "not expected at this place of a document";
    BadVersion            "E0202" S2   error   "malformed or unsupported version" "not a supported version";
    BadExtension          "E0203" S3   error   "malformed extension directive" "not an extension directive";
    FragmentsNotEnabled   "E0204" S4   practice "fragments are not enabled" "a fragment";
    OperatorsNotEnabled   "E0205" S5   practice "compound expressions are not enabled" "a compound expression";
    BadAssignment         "E0206" S6   error   "malformed assignment" "not part of an assignment";
    EmptyBody             "E0207" S7   error   "empty body" "the body has no assignment";
    EmptyList             "E0208" S8   practice "empty parameter, result or argument list" "no items between the parentheses";
    BadList               "E0218" S8   error   "malformed parameter, result or argument list" "not part of the list";
    BadType               "E0209" S9   error   "malformed type" "not a type";
    BadDefault            "E0210" S10  error   "default value is not a literal" "not a literal";
    BadTarget             "E0211" S11  error   "left side cannot be assigned" "not assignable";
    BareTuple             "E0212" S12  error   "tuple without parentheses" "a second value without parentheses";
    BadBuiltinCall        "E0213" S13  error   "built-in functions take one argument" "not the only argument";
    BadComprehension      "E0214" S14  error   "malformed comprehension" "not part of a comprehension";
    SelectWithoutElse     "E0215" S15  error   "select without else" "`else` is missing before this";
    TypedGraphParameter   "E0216" S16  error   "graph parameter with a type or a default" "a type or default value starts at this token";
    BadExpression         "E0217" S17  error   "malformed expression" "not part of an expression";
    UnknownExtension      "E0219" S3   lenient "unknown extension" "not known";
    VendorSyntax          "E0220" S3   lenient "extension with free text" "free text";
    FragmentWithoutBody   "E0221" S4   lenient "fragment without a body" "the body is missing";
    // Declarations.
    DuplicateFragment     "E0301" D1   error   "fragment declared twice" "second declaration";
    ShadowsStandard       "E0311" D1   practice "fragment replaces a standard operation" "also a standard operation";
    BesideReplacement     "E0312" D1   error   "standard operation beside the fragment that replaces it" "this is the standard operation";
    DuplicateParameter    "E0302" D2   error   "parameter or result declared twice" "second declaration";
    AttributeBeforeTensor "E0303" D3   practice "attribute before a tensor parameter" "this is a tensor";
    ResultNotTensor       "E0304" D4   practice "result is not a tensor" "not a tensor";
    DefaultType           "E0305" D5   error   "default value has another type than the parameter" "of another type";
    GenericMismatch       "E0306" D6   error   "generic type declared and not used, or used and not declared" "a generic type";
    AnyTensorResult       "E0307" D7   error   "result of type tensor<>" "the element type is open";
    MixedTuple            "E0308" D8   practice "tuple mixes tensors and attributes" "tensors and attributes in one tuple";
    BadElementType        "E0309" D9   error   "element type of a tensor is not primitive" "not a primitive type";
    // Invocations.
    UnknownOperation      "E0401" A1   lenient "operation is not declared" "not declared";
    MisspeltOperation     "E0412" A1   error   "name of an operation is misspelt" "not declared";
    CallsLocalName        "E0411" A1   error   "a tensor or attribute is called like an operation" "not an operation";
    TooManyArguments      "E0402" A2   error   "too many arguments" "no parameter is left for this argument";
    MissingArgument       "E0403" A3   error   "argument is missing" "an argument of this call is missing";
    PositionalAfterNamed  "E0404" A4   error   "positional argument after a named one" "this argument has no name";
    UnknownArgument       "E0405" A5   error   "no parameter of this name" "not a parameter";
    IgnoredArgument       "E0413" A5   lenient "argument that is ignored" "this argument is ignored";
    DuplicateArgument     "E0406" A6   error   "argument given twice" "given a second time";
    NamedAndPositional    "E0407" A7   error   "argument given by position and by name" "given a second time, by name";
    PositionalAttribute   "E0408" A8   practice "attribute given by position" "an attribute without its name";
    GenericArgument       "E0409" A9   error   "type argument is missing, superfluous or contradictory" "a type argument";
    NamedTensor           "E0410" A10  habit   "tensor given by name" "a tensor given by name";
    // Assignments.
    StructureMismatch     "E0502" U2   error   "left side and value have different structure" "the structures differ";
    LengthMismatch        "E0503" U3   error   "array has another length than the left side" "the lengths differ";
    UnknownLength         "E0504" U4   error   "length of an array result is not known" "gives an array of unknown length";
    ChainedResults        "E0505" U5   error   "call with several results used as a value" "has several results";
    TupleOfArray          "E0506" U2   practice "array assigned to a tuple of names" "this is a tuple, the value an array";
    // Identifiers.
    ParameterAssigned     "E0601" I1   error   "parameter assigned" "assigns the parameter";
    InputNotExternal      "E0602" I2   error   "graph input is not defined by external" "a graph input";
    ExternalInFragment    "E0603" I3   error   "external inside a fragment" "called in a fragment";
    ExternalNotInput      "E0604" I4   error   "external is not a graph input" "not a graph input";
    ResultUnassigned      "E0605" I5   error   "result is not assigned" "never assigned";
    ResultReassigned      "E0615" I5   error   "result assigned twice" "assigned a second time";
    UndeclaredName        "E0606" I6   error   "name is not defined" "not defined";
    ImpliedSymbol         "E0626" I6   lenient "dimension symbol that no extension declares" "not declared by an extension";
    HiddenByTensor        "E0627" I6   error   "value is spelled like a tensor of the graph" "also the name of a tensor";
    UsedBeforeDefined     "E0616" I6   error   "name used before it is defined" "used before the assignment";
    Reassigned            "E0607" I7   error   "name assigned twice" "assigned a second time";
    GraphNameReassigned   "E0617" I7   lenient "graph tensor assigned again before it is used" "assigned a second time";
    GraphNameReused       "E0618" I7   practice "graph tensor assigned again" "assigned a second time";
    GraphNameNotTensor    "E0608" I8   practice "graph name does not hold a tensor" "not a tensor";
    StateInFragment       "E0609" I9   practice "variable or update inside a fragment" "called in a fragment";
    OutputUnassigned      "E0610" I10  error   "graph output is not assigned" "never assigned";
    InputUnassigned       "E0612" I2   error   "graph input is not assigned" "never assigned";
    IteratorShadows       "E0611" I11  error   "iterator hides another name" "this iterator has the same name";
    // Types.
    ArgumentType          "E0701" T1   error   "argument has the wrong type" "of another type";
    ElementType           "E0721" T1   practice "tensor has other elements than the parameter" "other elements";
    TensorAsAttribute     "E0722" T1   practice "tensor where an attribute is declared" "a tensor";
    LiteralAsTensor       "E0723" T1   practice "constant of another type where a tensor is declared" "not a tensor";
    ArgumentStructure     "E0728" T1   practice "single value for an array, or array for a tuple" "of another structure";
    DataType              "E0729" T17  lenient "tensor has another data-type than the parameter" "another data-type";
    ExtentAsScalar        "E0730" T1   lenient "extent where a scalar is declared" "an extent";
    ResultType            "E0702" T2   error   "value has another type than the result" "of another type";
    OperandType           "E0703" T3   error   "operator is not defined for these operands" "not defined for its operands";
    OperandElements       "E0724" T3   practice "operator applied to tensors of other elements" "an operand has other elements";
    MixedArithmetic       "E0704" T4   error   "arithmetic mixes integers and scalars" "an integer and a scalar";
    ComparisonTypes       "E0705" T5   error   "comparison of different types" "operands of different types";
    ArrayItemTypes        "E0706" T6   error   "array items have no common type" "of another type than the items before";
    ConditionType         "E0707" T7   error   "condition is not logical" "not a logical";
    BranchTypes           "E0708" T8   error   "branches of a select have no common type" "of another type";
    SubscriptType         "E0709" T9   error   "subscript is not an integer" "not an integer";
    TupleSubscript        "E0710" T10  error   "subscript of a tuple is not an integer literal in its range" "not an item of the tuple";
    NotSubscriptable      "E0711" T11  error   "value cannot be subscripted" "has no items";
    TensorSubscript       "E0725" T11  practice "tensor subscripted" "this is a tensor";
    Iterable              "E0712" T12  error   "comprehension cannot run over this" "not an array";
    BuiltinType           "E0713" T13  error   "argument of a built-in function has the wrong type" "of another type";
    BadCast               "E0714" T14  error   "string is not a literal of the type" "the string is not a literal of this type";
    IndexOutOfRange       "E0715" T15  error   "index out of range" "out of range";
    NotMembershipArray    "E0716" T16  error   "right side of in is not an array" "the right side is not an array";
    DynamicType           "E0726" T1   error   "value has the wrong type at expansion" "of another type";
    NotCompileTime        "E0727" T1   error   "value is not known at compile time" "not known while expanding";
    // Evaluation.
    EndlessRecursion      "E0801" E1   error   "calls are nested too deep" "the call that exceeds the limit";
    DivisionByZero        "E0802" E2   error   "division by zero" "the divisor is 0";
    IntegerRange          "E0803" E3   error   "integer out of range" "the result exceeds 64 bits";
    NegativeRepeat        "E0804" E3   error   "negative repetition" "the number of repetitions is negative";
    OperationBudget       "E0811" E1   error   "too many operations" "adds an operation beyond the limit";
    LengthBudget          "E0812" E1   error   "array or string too long" "the result exceeds the limit";
    MemoryBudget          "E0813" E1   error   "too much compile-time data" "exceeds the limit";
    StepBudget            "E0814" E1   error   "evaluation takes too long" "the limit is reached at this step";
    // Pictures.
    PictureTooLarge       "E0818" none error   "graph too large to be drawn" "too many operations";
    // Outputs.
    OutputTooLarge        "E0819" none error   "output too large" none;
    // Evaluation of a flat graph on tensors.
    NotEvaluated          "E0821" none error   "operation that cannot be evaluated" "not evaluated";
    EvalInput             "E0822" none error   "graph input is missing or does not fit" "no value that fits";
    EvalVariable          "E0823" none error   "data of a variable are missing or do not fit" "no data that fit";
    EvalShapes            "E0824" none error   "operands do not fit together" "operands do not fit together";
    EvalValue             "E0825" none error   "operation is not defined for a value" "not defined for this value";
    EvalArgument          "E0826" none error   "argument of another kind than the operation takes" "not a value that the operation takes";
    EvalMemory            "E0827" none error   "tensors too large to evaluate" "tensors exceed the limit";
    EvalWork              "E0828" none error   "evaluation takes too many steps" "the limit is reached at this operation";
    TensorFile            "E0829" none error   "file does not hold tensors" none;
    VerifyDifference      "E0830" none error   "flat graph and source give different numbers" "differs";
    // Graph.
    EmptyLabel            "E0901" G1   error   "variable label is empty" "an empty label";
    LabelCharacters       "E0902" G2   lenient "character not allowed in a label" "contains a character that is not allowed";
    SharedLabel           "E0903" G3   error   "variables of one label differ in shape" "the same label, another shape";
    BadExtent             "E0904" G4   error   "extent is not positive" "an extent is not positive";
    ConstantLength        "E0905" G5   error   "constant has the wrong number of values" "the values do not fill the shape";
    UpdateTarget          "E0906" G6   error   "update of something other than a variable" "updates something other than a variable";
    UpdatedTwice          "E0907" G7   error   "variable updated twice" "the second update";
    ArgumentValue         "E0908" H16  error   "argument has a value that the operation does not take" "not a value that the operation takes";
    CommonValue           "E0909" H16  lenient "argument has a value that the specification does not name" "not a value that the specification lists";
    // Networks with loops.
    LoopFormat            "E0920" none error   "not a network with loops" "malformed";
    LoopUnknownMember     "E0921" none lenient "unknown member of a network" "not a known member";
    LoopInput             "E0922" none error   "value of an input is missing or does not fit" "no value that fits";
    LayerOperands         "E0923" none error   "operation is not defined for these operands" "not defined for its operands";
    NotFlattenable        "E0924" none error   "network cannot be written as a flat graph" "cannot be flat";
    RespelledName         "E0925" none warning "name is not an identifier" "not an identifier of NNEF";
    NoTripLimit           "E0930" "E-NOLIMIT"       error   "loop without a trip limit" "no count, iterator or condition";
    TwoTripLimits         "E0931" "E-TWOLIMITS"     error   "loop with two trip limits of a kind" "more than one trip limit of a kind";
    CountType             "E0932" "E-COUNTTYPE"     error   "count of a loop is not a single integer" "not a single integer";
    CountInside           "E0933" "E-COUNTINSIDE"   error   "count of a loop comes from inside the loop" "comes from inside the loop";
    WhileType             "E0934" "E-WHILETYPE"     error   "condition of a loop is not a single logical" "not a single logical";
    WhileBoundary         "E0935" "E-WHILEBOUNDARY" error   "condition of a loop uses an iterator or an inner loop" "not available before a trip";
    WhileRecurrence       "E0936" "E-WHILEREC"      lenient "condition of a loop uses a sequence of another loop" "a sequence of another loop";
    EndlessLoop           "E0937" "E-NONTERM"       error   "condition of a loop stays true" "the condition stays true";
    IteratorInside        "E0940" "E-ITERINSIDE"    error   "iterator over a tensor from inside its loop" "iterates over a tensor of its own loop";
    IteratorRank          "E0941" "E-ITERRANK"      error   "iterator over a tensor without axes" "iterates over a tensor without axes";
    IteratorAxis          "E0942" "E-ITERAXIS"      error   "iterator along an axis that does not exist" "iterates along an axis that does not exist";
    ReverseWithoutCount   "E0943" "E-REVNOCOUNT"    error   "reverse iterator in a loop without a count" "iterates backwards without a count";
    IteratorRange         "E0944" "E-ITEROOB"       error   "iterator is outside its axis" "the iterator is outside its axis";
    RecurrenceInputs      "E0950" "E-RECONE"        error   "recurrence without two inputs" "does not have two inputs";
    RecurrenceInitial     "E0951" "E-RECINIT"       error   "recurrence starts with a tensor from inside its loop" "the initial value is inside the loop";
    RecurrenceShape       "E0952" "E-RECSHAPE"      error   "recurrence changes its shape" "the shape changes";
    RecurrenceType        "E0953" "E-RECTYPE"       error   "recurrence changes the type of its elements" "the element type changes";
    LastValueInput        "E0960" "E-LASTNOTREC"    error   "last value of something other than a recurrence" "not the last value of a recurrence";
    LastValueLength       "E0961" "E-LASTLEN"       error   "last value with a length" "a last value with a length";
    OutputOutside         "E0962" "E-CATOUTSIDE"    error   "loop output of a tensor from outside the loop" "collects a tensor from outside the loop";
    OutputWithoutLength   "E0963" "E-CATNOLEN"      error   "loop output without a length" "no length is given";
    OutputLengthType      "E0964" "E-CATLENTYPE"    error   "length of a loop output is not a single integer" "the length is not a single integer";
    OutputLengthOpen      "E0965" "E-CATLENTYPE"    lenient "length of a loop output is not a constant" "the length is not a constant";
    OutputLengthInside    "E0966" "E-CATLENINSIDE"  error   "length of a loop output comes from inside the loop" "the length comes from inside the loop";
    OutputAxis            "E0967" "E-CATAXIS"       error   "loop output along an axis that does not exist" "the axis does not exist";
    OutputTooShort        "E0968" "E-CATSHORT"      error   "loop output is shorter than the trips" "shorter than the number of trips";
    OutputShape           "E0969" "E-CATSHAPE"      error   "elements of a loop output differ in shape" "collects elements of different shapes";
    InteriorOutput        "E0970" "E-OUTINSIDE"     error   "network output from inside a loop" "inside a loop";
    LoopNesting           "E0971" "E-NEST"          error   "loops are not cleanly nested" "uses two loops that are not nested";
    DataFlowCycle         "E0972" "E-CYCLE"         error   "cycle without a recurrence" "depends on itself";
    LoopDuplicate         "E0973" "E-DUP"           error   "tensor defined twice" "second definition";
    LoopUndefined         "E0974" "E-UNDEF"         error   "tensor that is not defined" "not defined";
    LoopKept              "E0975" none warning "loop is not unrolled" "stays as it is";
    LoopNotFlat           "E0976" none error   "loop cannot be unrolled" "stays as it is";
    ScanArguments         "E0977" none error   "arguments of a scan do not fit its body" "does not fit the body of the scan";
    // Shapes.
    BroadcastShapes       "E1001" H1   undefined "shapes of operands do not agree" "shapes do not agree";
    ConvolutionShapes     "E1002" H2   error   "arguments of a convolution do not fit together" "arguments do not fit together";
    PoolingShapes         "E1003" H3   error   "window does not fit the input" "the window does not fit";
    ReduceAxes            "E1004" H4   lenient "axis out of range" "an axis is out of range";
    ReshapeVolume         "E1005" H5   error   "items do not fill the new shape" "the items do not fill the new shape";
    TransposeAxes         "E1006" H6   error   "axes are not a permutation" "not a permutation of the axes";
    ConcatShapes          "E1007" H7   error   "shapes of concatenated tensors do not agree" "shapes do not agree";
    SplitRatios           "E1008" H8   error   "tensor cannot be split like this" "cannot be split like this";
    SliceRange            "E1009" H9   error   "slice is malformed or out of range" "the range does not fit";
    AxisInsertion         "E1010" H10  error   "axis cannot be added or dropped" "the axis cannot be added or dropped";
    MatmulShapes          "E1011" H11  error   "matrices do not fit together" "the matrices do not fit together";
    TilePadLengths        "E1012" H12  error   "repeats or padding do not fit the input" "does not fit the input";
    GatherAxis            "E1013" H13  error   "gather along an axis that does not exist" "the axis does not exist";
    UpdateShape           "E1014" H14  error   "new value of a variable has another shape" "of another shape than the variable";
    RoiShapes             "E1015" H15  error   "regions of interest are malformed" "malformed regions";
    BiasShape             "E1021" H2   practice "bias has another shape than [1, C]" "a bias of another shape";
    ChannelAxis           "E1022" H1   undefined  "parameters of a batch normalization along the last axis" "parameters along the last axis";
    WindowOfNothing       "E1023" H3   undefined  "window that covers no items" "a window that covers no items";
    UnequalExtents        "E1024" H1   error   "operands of one rank have different extents" "extents differ";
    AxisOutside           "E1025" H4   error   "axis that the tensor does not have" "the axis does not exist";
    BiasAlongBatch        "E1026" H11  lenient "bias of a linear layer along the batch" "the bias lies along the batch";
    WindowOfSpace         "E1027" H3   lenient    "window without batch and channels" "a window without batch and channels";
    // Migration from the provisional dialect.
    NoCounterpart         "E1101" none error   "operation has no counterpart in NNEF 1.0" "not in NNEF 1.0";
    NoCounterpartValue    "E1102" none error   "argument has no counterpart in NNEF 1.0" "not in NNEF 1.0";
    OpenExtent            "E1103" none error   "extent of an input is left open" "an extent is open";
    DraftFragment         "E1104" none error   "fragment stays in the provisional notation" "stays in the provisional notation";
    RenamedKeyword        "E1105" none warning "name is a keyword of NNEF 1.0" "renamed";
    // Whole models: folders, archives, data, quantization.
    ModelArchive          "E1201" none error   "archive cannot be read" none;
    ModelPath             "E1202" none error   "name of a file leads outside the model" "leads outside the model";
    ModelEntry            "E1203" none error   "model contains something other than files" none;
    ModelDuplicate        "E1204" none error   "file of a model occurs twice" none;
    ModelLimit            "E1205" none error   "archive is larger than allowed" none;
    ModelWithoutGraph     "E1206" none error   "model has no graph.nnef" none;
    DataMissing           "E1211" none error   "variable has no data file" "no data";
    DataUnnamed           "E1212" none warning "data file without a variable" none;
    DataHeader            "E1213" none error   "data file is malformed" "the data of this variable";
    DataLength            "E1214" none error   "data file is truncated or too long" "the data of this variable";
    DataShape             "E1215" G3   error   "data of a variable have another shape" "the data have another shape";
    DataItems             "E1216" none lenient "data of a variable hold items of another type" "the data have items of another type";
    QuantSyntax           "E1221" none error   "malformed graph.quant" "malformed entry";
    QuantTensor           "E1222" G9   lenient "quantization of a tensor that does not exist" "not a tensor of the graph";
    QuantDuplicate        "E1223" G9   error   "quantization of a tensor given twice" "given a second time";
    QuantAlgorithm        "E1224" none lenient "quantization algorithm is not declared" "not declared";
    QuantArgument         "E1225" none lenient "arguments of a quantization do not fit the algorithm" "does not fit the algorithm";
    // Options of a run that do not fit the document.
    OptionOperation       "E1301" none error   "option names an unknown operation" "not an operation of the input";
    OptionInput           "E1302" none error   "option names an unknown input" "this graph has no such input";
    OptionConflict        "E1303" none error   "operation both expanded and kept" "both expanded and kept";
    OptionShape           "E1304" none error   "shape of an input cannot be replaced" "this input has no argument `shape`";
    NoGraph               "E1305" none error   "there is no graph to expand" "no graph is declared";
    OptionOfDocuments     "E1306" none error   "option does not apply to networks with loops" none;
    OptionSymbol          "E1307" none error   "option names an unknown dimension symbol" "this symbol";
    OptionPrimitive       "E1308" none error   "operation cannot be expanded" "has no body";
    OptionValue           "E1309" none error   "value does not fit the input" none;
    OperatorStays         "E1310" none warning "operator is not expanded" "stays";
    OptionTensor          "E1311" none error   "option names an unknown tensor" none;
    OptionKept            "E1312" none warning "option keeps an operation that is not there" none;
    // Shapes and layouts of XLA.
    ShapeSyntax           "E1501" none error   "text is not a shape" "not a valid shape";
    ShapeElement          "E1502" none error   "unknown element type" "not an element type";
    ShapeNumber           "E1503" none error   "number of a shape is out of range" "out of range";
    ShapeOrder            "E1504" none error   "order of the dimensions is not a permutation" "not a permutation of the dimensions";
    ShapeTile             "E1505" none error   "tile is malformed" "not a tile";
    ShapeAttribute        "E1506" none error   "attribute of a layout is malformed or out of place" "not a valid attribute";
    ShapePadding          "E1507" none error   "padded sizes do not fit the array" "the padded sizes do not fit";
    ShapeIndex            "E1508" none error   "index outside the array" "outside of the array";
    ShapeUnsized          "E1509" none error   "shape without a size in memory" "has no size in memory";
    ShapeMemory           "E1510" none error   "memory cannot be shown or compared" "cannot be shown";
    ShapeTensor           "E1511" none error   "layout does not fit a tensor of the graph" "the layout does not fit";
    ShapeNone             "E1512" none warning "text without shapes" none;
    // Texts and files of ONNX.
    OnnxSyntax            "E2001" none error   "unexpected token in an ONNX text" "not expected";
    OnnxString            "E2002" none error   "unterminated string in an ONNX text" "this quote is not closed";
    OnnxNumber            "E2003" none error   "number of an ONNX text is malformed or out of range" "not a number of the type";
    OnnxKey               "E2004" none error   "unknown key in a header" "not a key of the header";
    OnnxAttribute         "E2005" none error   "type and value of an attribute do not match" "type and value differ";
    OnnxInitializer       "E2006" none error   "constant tensor of an unsuitable type or shape" "not a type with a known shape";
    OnnxElements          "E2007" none error   "number of elements does not fit the shape" "another number of elements";
    OnnxComma             "E2008" none lenient "comma before a node" "a comma without a name before it";
    OnnxDomain            "E2009" none lenient "part of a domain that is not an identifier" "not an identifier";
    OnnxProtobuf          "E2010" none error   "the file is not a model in protobuf" none;
    OnnxNoText            "E2011" none error   "not expressible in the text notation" "has no form in the text notation";
    OnnxLeftOut           "E2012" none warning "omitted from the text notation" "omitted from the text notation";
    OnnxNotUtf8           "E2013" none lenient "text of a model that is not UTF-8" none;
    OnnxNanBits           "E2014" none lenient "bits of a NaN are not expressible in the text notation" "a NaN with other bits";
    OnnxChanged           "E2015" none error   "the file of a model changed while it was read" none;
    OnnxDuplicate         "E2020" none error   "function declared twice" "second declaration";
    OnnxRecursion         "E2021" none error   "functions call each other recursively" "part of the cycle";
    OnnxOverload          "E2022" none error   "unknown overload of a function" "no such overload";
    OnnxArguments         "E2023" none error   "more operands than the function declares" "another number of operands";
    OnnxUndefined         "E2024" none error   "output of a function without a value" "gets no value";
    OnnxReassigned        "E2025" none error   "value of a function defined twice" "second definition";
    OnnxReference         "E2026" none error   "attribute of another type than the function takes" "another type of attribute";
    OnnxOpset             "E2027" none error   "operator set in two versions" "another version of the operator set";
    // The check of models of ONNX.
    OnnxModel             "E2030" none error   "required part of a model is missing" "a required part is missing";
    OnnxNoValue           "E2031" none error   "value that is not defined" "not defined before this use";
    OnnxTwice             "E2032" none error   "name given twice" "given a second time";
    OnnxShadowed          "E2033" none lenient "value that hides a value of an outer graph" "hides the outer value";
    OnnxNoOpset           "E2034" none error   "operator set that is not imported" "the operator set is not imported";
    OnnxOperator          "E2035" none error   "operator that is not in its operator set" "not in this version of the operator set";
    OnnxOperands          "E2036" none error   "number of operands does not fit the operator" "another number of operands";
    OnnxNoAttribute       "E2037" none error   "unknown attribute" "not an attribute of the operator";
    OnnxAttributeMissing  "E2038" none error   "required attribute is missing" "an attribute is missing";
    OnnxAttributeType     "E2039" none error   "attribute of another type than the operator has" "another type of attribute";
    OnnxType              "E2040" none error   "type does not fit the operator" "an operand or a result of another type";
    OnnxData              "E2041" none error   "data do not fit the shape and type of the tensor" "data that do not fit";
    OnnxExternal          "E2042" none error   "external data outside the folder of the model" "outside the folder of the model";
    OnnxUntaken           "E2043" none lenient "attribute that is not taken" "not taken";
    OnnxNoFunction        "E2044" none lenient "function that is not in the model" "not a function of the model";
    OnnxIncomplete        "E2045" none lenient "result that the operator always has is left out" "a result is left out";
    OnnxElement           "E2046" none error   "unknown element type of a tensor" "not an element type";
    OnnxSparse            "E2047" none error   "malformed sparse tensor" "not a valid sparse tensor";
    OnnxVersion           "E2048" none error   "unknown version" "not a known version";
    OnnxNoReference       "E2049" none lenient "reference to an attribute that is not declared" "not an attribute of the function";
    OnnxMisfit            "E2050" none warning "graph of a node that does not fit the shapes" "cannot run with these shapes";
    OnnxShapes            "E2051" none error   "shapes of operands do not go together" "shapes that do not go together";
    OnnxDeclared          "E2052" none error   "declared shape is not that of the value" "another shape than declared";
    OnnxComputed          "E2053" none lenient "declared shape is not the computed one" "another shape than declared";
    OnnxVendor            "E2054" none warning "operator that only onnxruntime has" "not an operator of the standard";
    OnnxInexpressible     "E2055" none error   "operator that another version of the operator set cannot express" "not expressible in the other version";
    OnnxExternalFile      "E2060" none error   "external data do not match the model" "the data are not in the file";
    OnnxDataLeft          "E2061" none lenient "external data are not copied with the model" none;
    // Graphs of NNEF as models of ONNX.
    OnnxMeaning           "E2090" none error   "operation without a counterpart in ONNX" "no counterpart in ONNX";
    OnnxUnknown           "E2091" none error   "information that ONNX requires is not known" "not known";
    OnnxWeights           "E2092" none error   "data of a variable cannot be written to a model" "the data do not fit";
    OnnxQuantized         "E2093" none lenient "quantizations are not written to a model" none;
    // Models of ONNX as graphs of NNEF.
    NnefMeaning           "E2094" none error   "operator without a counterpart in NNEF" "no counterpart in NNEF";
    // Expressions of PNNX.
    ExpressionEmpty       "E2201" "E-EMPTY"   error   "the expression is empty" "no expression";
    ExpressionCharacter   "E2202" "E-CHAR"    error   "not part of an expression" "not part of an expression";
    ExpressionToken       "E2203" "E-EXPECT"  error   "unexpected token in an expression" "not expected";
    ExpressionOperation   "E2204" "E-OP"      error   "unknown operation in an expression" "not an operation";
    ExpressionArity       "E2205" "E-ARITY"   error   "wrong number of operands" "another number of operands";
    ExpressionArgument    "E2206" "E-ARG"     error   "unknown operand" "not an operand";
    ExpressionPattern     "E2207" "E-PATTERN" error   "variable of a rewrite pattern" "a variable of a pattern";
    ExpressionTrail       "E2208" "E-TRAIL"   error   "text after an expression" "after the end of the expression";
    ExpressionBrackets    "E2209" none lenient "expression with mismatched brackets" "the brackets do not match the operands";
    ExpressionValue       "E2210" none error   "expression has no value for these operands" "has no value";
    ExpressionCounterpart "E2211" none error   "part of an expression has no counterpart in NNEF" "has no counterpart in NNEF";
    ExpressionShapes      "E2212" none error   "shapes of operands are not known or do not fit together" "shapes do not fit together";
    // Files of PNNX.
    PnnxSyntax            "E2221" none error   "malformed line of a PNNX file" "malformed line";
    PnnxOperand           "E2222" none error   "operand is not defined, or defined twice" "not a defined operand";
    PnnxShape             "E2223" none error   "shape of an operand does not fit" "the shape does not fit";
    PnnxData              "E2224" none error   "data of an operator are missing or malformed" "the data do not fit";
    PnnxCount             "E2225" none lenient "counts of a PNNX file are wrong" "not the numbers of the file";
    PnnxPassed            "E2226" none warning "operator is passed through" "not expanded";
    PnnxArgument          "E2227" none error   "argument has no form in files of PNNX" "has no form in PNNX";
    PnnxComplex           "E2228" none warning "complex numbers become pairs of real numbers" "pairs of real numbers";
    PnnxOpen              "E2229" none warning "extents of a file of PNNX are not known" "its extents are not known";
    // Texts of ncnn.
    NcnnSyntax            "E2231" none error   "malformed line of a text of ncnn" "malformed line";
    NcnnBlob              "E2232" none error   "blob is not defined, or defined twice" "not a defined blob";
    NcnnWeights           "E2233" none error   "weights of a layer are missing or malformed" "the weights do not fit";
    NcnnCount             "E2234" none lenient "counts of a text of ncnn are wrong" "not the numbers of the text";
    NcnnPassed            "E2235" none warning "layer is passed through" "not lowered";
}

impl Code {
    /// Whether it says that a limit on all that is done is exceeded, so that nothing else can be done either: on
    /// operations, memory or steps.
    pub(crate) fn is_spent(self) -> bool {
        matches!(self, Code::OperationBudget | Code::MemoryBudget | Code::StepBudget)
    }

    /// The stable text of the code.
    pub fn as_str(self) -> &'static str {
        self.info().code
    }

    /// The rule it enforces: a row of `docs/rules.md`; `None` for limits of this program.
    pub fn rule(self) -> Option<&'static str> {
        self.info().rule
    }

    /// What is wrong, in a few words.
    pub fn title(self) -> &'static str {
        self.info().title
    }

    /// What is found at the location of a diagnostic with this code. Reports that know more, such as a type or a shape,
    /// have a label of their own.
    pub(crate) fn label(self) -> Option<&'static str> {
        self.info().label
    }

    /// Whether it is common practice: exporters in use write it, readers in use accept it. The command
    /// reports it only on request.
    pub fn is_practice(self) -> bool {
        matches!(self.info().treatment, Treatment::Practice | Treatment::Habit)
    }

    /// Whether a document that violates the rule can be flattened, but has no values. Commands that need values treat
    /// such warnings as errors.
    pub fn is_undefined(self) -> bool {
        self.info().treatment == Treatment::Undefined
    }

    /// The severity in the default mode or under `--strict`.
    pub fn severity(self, strict: bool) -> Severity {
        match self.info().treatment {
            Treatment::Error => Severity::Error,
            Treatment::Lenient | Treatment::Practice | Treatment::Undefined if strict => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// Finds a code by its text, upper or lower case.
    pub fn from_text(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text))
    }
}

/// The stable text of the code.
impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_codes_have_no_label() {
        let without = Code::ALL.iter().filter(|code| code.label().is_none()).count();
        assert!(without * 10 <= Code::ALL.len(), "{without} of {} codes have no label", Code::ALL.len());
    }

    #[test]
    fn codes_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{} twice", code.as_str());
            assert_eq!(Code::from_text(code.as_str()), Some(*code));
        }
    }
}
