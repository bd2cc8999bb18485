"""What the compiler must know about Spark's functions: which exist, and how each behaves.

The names are those that Spark 4.2 lists (`spark_functions.txt`).  Everything else about a scalar
function is Spark's business; the compiler only needs its return type where that decides a rule, and
answers `UNKNOWN` where it does not know.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from streamtables.compiler.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    SqlType,
    decimal,
    decimal_parts,
    holds_collated,
    is_decimal,
    is_float,
    is_integer,
    is_numeric,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AGGREGATES = _words(
    """any any_value approx_count_distinct approx_percentile approx_top_k
    approx_top_k_accumulate approx_top_k_combine array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list
    collect_set corr count count_if count_min_sketch covar_pop covar_samp every first
    first_value grouping grouping_id histogram_numeric hll_sketch_agg hll_union_agg
    kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint
    kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value listagg max max_by
    mean measure median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop
    stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg
    try_avg try_sum tuple_intersection_agg_double tuple_intersection_agg_integer
    tuple_sketch_agg_double tuple_sketch_agg_integer tuple_union_agg_double
    tuple_union_agg_integer var_pop var_samp variance vector_avg vector_sum"""
)
"""Functions that turn many rows into one value."""

FIRST = frozenset({"first", "first_value", "any_value"})
LAST = frozenset({"last", "last_value"})
COLLECTIONS = frozenset({"collect_list", "collect_set", "array_agg"})
SPREADS = _words("kurtosis skewness std stddev stddev_pop stddev_samp var_pop var_samp variance")
"""Aggregates of how far numbers lie apart."""

OF_PAIRS = _words(
    """corr covar_pop covar_samp regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy"""
)
"""Aggregates of pairs of numbers; a pair with a NULL in it does not count."""

FLOATING = SPREADS | OF_PAIRS
"""Aggregates that compute with floats, whatever they are given."""

SUMS = frozenset({"sum", "avg", "mean", "try_sum", "try_avg"})
"""Aggregates that add their values up."""

EVERY = _words("bool_and every")
EVERY_OR_SOME = EVERY | _words("bool_or some any")
"""Aggregates of conditions."""

ONE_ARGUMENT = SPREADS | EVERY_OR_SOME | _words("sum avg mean min max count_if")
"""Aggregates of exactly one value."""

TWO_ARGUMENTS = frozenset({"max_by", "min_by"})
"""Aggregates of a value and an order; with a third argument Spark gives an array."""

MAINTAINED_AGGREGATES = (
    FIRST
    | LAST
    | COLLECTIONS
    | FLOATING
    | ONE_ARGUMENT
    | TWO_ARGUMENTS
    | _words(
        """approx_count_distinct bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
        bitmap_or_agg count listagg string_agg median mode percentile percentile_cont
        percentile_disc regr_count try_avg try_sum"""
    )
)
"""Aggregates that have a rule."""

DEPENDS_ON_ROW_ORDER = _words("approx_percentile histogram_numeric percentile_approx")
"""Aggregates whose answer nothing can make deterministic."""

ORDER_DEPENDENT = FIRST | LAST | COLLECTIONS | frozenset({"listagg", "string_agg"})
"""Aggregates whose answer depends on the order of the rows, unless one is given."""

OF_EQUALS = _words("min max mode collect_set")
"""Aggregates that keep one of several values that are equal."""

_COUNTS = _words("count count_if approx_count_distinct regr_count")
_SAME_AS_ARGUMENT = FIRST | LAST | _words("min max min_by max_by mode bit_and bit_or bit_xor")

GENERATORS = _words(
    """explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    variant_explode variant_explode_outer"""
)
"""Functions that turn one row into many."""

NONDETERMINISTIC = _words(
    """aes_encrypt input_file_block_length input_file_block_start input_file_name java_method
    monotonically_increasing_id rand randn random randstr reflect shuffle spark_partition_id
    try_reflect uniform uuid python_worker_logs"""
)
"""Functions that may give another answer each time."""

WITH_UNIT = _words("dateadd date_add datediff date_diff timediff timestampadd timestampdiff")
"""Functions whose first of three arguments is the name of a unit."""

CLOCK = _words(
    """curdate current_date current_time current_timestamp localtimestamp now unix_timestamp"""
)
"""Functions of the current time (`unix_timestamp` only without arguments)."""

SESSION = _words(
    """current_catalog current_database current_path current_schema current_timezone current_user
    session_user user version"""
)
"""Functions whose answer depends on who runs the query, and where."""

_FIXED_TYPES: dict[SqlType, str] = {
    STRING: """base64 btrim bin char chr concat_ws date_format dayname decode format_number
        format_string from_unixtime get_json_object hex initcap lcase left lower lpad ltrim md5
        monthname overlay printf quote regexp_extract regexp_replace regexp_substr repeat replace
        right rpad rtrim sha sha1 sha2 soundex space split_part string substr substring
        substring_index to_char to_csv to_json to_varchar translate trim typeof ucase upper
        url_decode url_encode array_join conv elt
        make_valid_utf8 mask parse_url try_parse_url try_url_decode try_validate_utf8
        validate_utf8 xpath_string""",
    INT: """ascii bit_length cardinality char_length character_length date_diff datediff day
        dayofmonth dayofweek dayofyear find_in_set hour instr int length len levenshtein locate
        minute month octet_length position quarter size array_size weekday weekofyear year hash
        json_array_length unix_date bit_count regexp_count regexp_instr second xpath_int""",
    BIGINT: """bigint xxhash64 crc32 unix_timestamp to_unix_timestamp unix_seconds unix_millis
        unix_micros factorial width_bucket array_position bitmap_bit_position
        bitmap_bucket_number bitmap_count xpath_long""",
    DOUBLE: """acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot degrees double e exp expm1
        hypot ln log log10 log1p log2 months_between pi pow power radians rint sec sin sinh sqrt
        tan tanh csc sign signum xpath_double xpath_number""",
    BOOLEAN: """array_contains arrays_overlap boolean contains endswith equal_null exists forall
        isnan isnotnull isnull like luhn_check map_contains_key regexp regexp_like rlike
        startswith is_valid_utf8 xpath_boolean""",
    DATE: """add_months date date_add date_from_unix_date date_sub last_day make_date next_day
        to_date trunc try_to_date""",
    TIMESTAMP: """date_trunc from_utc_timestamp timestamp timestamp_micros timestamp_millis
        timestamp_seconds to_utc_timestamp make_timestamp make_timestamp_ltz to_timestamp
        to_timestamp_ltz try_make_timestamp try_make_timestamp_ltz try_to_timestamp""",
    TIMESTAMP_NTZ: """convert_timezone make_timestamp_ntz to_timestamp_ntz
        try_make_timestamp_ntz""",
    BINARY: "aes_decrypt binary encode to_binary try_aes_decrypt try_to_binary unbase64 unhex",
    SqlType("tinyint"): "bit_get getbit tinyint",
    SqlType("smallint"): "smallint xpath_short",
    SqlType("float"): "float xpath_float",
    SqlType("variant"): "parse_json to_variant_object try_parse_json",
}


@cache
def known_functions() -> frozenset[str]:
    """Return the names of all functions that Spark has."""
    text = files("streamtables.compiler.frontend").joinpath("spark_functions.txt").read_text()
    return frozenset(text.split()) | WITH_UNIT


@cache
def _types_by_name() -> dict[str, SqlType]:
    return {name: type_ for type_, names in _FIXED_TYPES.items() for name in names.split()}


def fixed_type(function: str) -> SqlType:
    """Return the type of a function that always returns the same one; UNKNOWN for others."""
    return _types_by_name().get(function, UNKNOWN)


def aggregate_type(function: str, argument: SqlType) -> SqlType:
    """Return the type of an aggregate over an argument type, as Spark derives it."""
    if function in _COUNTS:
        return BIGINT
    if function in _SAME_AS_ARGUMENT:
        return argument
    if function in EVERY_OR_SOME:
        return BOOLEAN
    if function in FLOATING:
        return DOUBLE
    if function in COLLECTIONS:
        return UNKNOWN if argument == UNKNOWN else SqlType(f"array<{argument}>")
    match function:
        case "sum" | "try_sum":
            return _sum_type(argument)
        case "avg" | "mean" | "try_avg":
            return _average_type(argument)
        case "listagg" | "string_agg":
            return argument if argument == STRING else UNKNOWN
        case "median":
            return DOUBLE if is_numeric(argument) else UNKNOWN
        case _:
            return UNKNOWN


def accepts(function: str, argument: SqlType) -> bool:
    """Whether an aggregate takes an argument of this type, as far as the compiler can tell."""
    # Spark casts text to DOUBLE here; NULL is a number, and intervals are summed too.
    number = is_numeric(argument) or argument in (UNKNOWN, STRING, "void")
    if function in FLOATING:
        return number
    if function in ("sum", "avg", "mean"):
        return number or argument.startswith("interval")
    if function == "collect_set":
        return not ("map<" in argument or holds_collated(argument))
    return not (function in ("min", "max") and argument.startswith("map<"))


def cast_to_be_taken(function: str) -> str:
    """Return what to do about a value that an aggregate does not take."""
    wanted = "plain text" if function == "collect_set" else "a number"
    return f"Cast the argument to {wanted}."


def _sum_type(argument: SqlType) -> SqlType:
    if is_integer(argument):
        return BIGINT
    if is_decimal(argument):
        precision, scale = decimal_parts(argument) or (0, 0)
        return decimal(precision + 10, scale)
    return DOUBLE if is_float(argument) or argument == STRING else UNKNOWN


def _average_type(argument: SqlType) -> SqlType:
    if is_decimal(argument):
        precision, scale = decimal_parts(argument) or (0, 0)
        return decimal(precision + 4, scale + 4)
    return DOUBLE if is_numeric(argument) or argument == STRING else UNKNOWN
