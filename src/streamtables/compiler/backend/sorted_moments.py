"""Variances, covariances and their kin, computed over values in the order of their size.

One pass moves the mean and the sums of powers of differences from it by each value v (Welford; for
third and fourth powers Terriberry).  With n values so far, their mean m, d = v - m, k = d / (n + 1)
and t = d (d - k):

    m'  = m + k
    s2' = s2 + t
    s3' = s3 + t k (n - 1) - 3 k s2
    s4' = s4 + t k² (n² - n + 1) + 6 k² s2 - 4 k s3

Of pairs, xy' = xy + dx (dy - ky).  The trap: sums over the mean of all values look shorter, but
their rounding leaves a constant column with a variance, where Spark finds none and answers NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from sqlglot import exp

_SPREADS = ("n", "mean", "s2")
_PAIRS = ("n", "mean_x", "mean_y")

SORTED_MOMENTS: Mapping[str, tuple[str, ...]] = {
    "var_pop": _SPREADS,
    "var_samp": _SPREADS,
    "variance": _SPREADS,
    "std": _SPREADS,
    "stddev": _SPREADS,
    "stddev_pop": _SPREADS,
    "stddev_samp": _SPREADS,
    "skewness": (*_SPREADS, "s3"),
    "kurtosis": (*_SPREADS, "s3", "s4"),
    "covar_pop": (*_PAIRS, "xy"),
    "covar_samp": (*_PAIRS, "xy"),
    "corr": (*_PAIRS, "xx", "yy", "xy"),
    "regr_intercept": (*_PAIRS, "xx", "xy"),
    "regr_r2": (*_PAIRS, "xx", "yy", "xy"),
    "regr_slope": (*_PAIRS, "xx", "xy"),
    "regr_sxx": (*_PAIRS, "xx"),
    "regr_sxy": (*_PAIRS, "xy"),
    "regr_syy": (*_PAIRS, "yy"),
}
"""The functions, and what is kept of the values so far."""
# DuckDB takes a column of the same name for the variable, where a field of it is asked for.
_SO_FAR, _VALUE = "__st_so_far", "__st_value"


def sorted_moments(function: str, items: exp.Expr) -> exp.Expr:
    """Return what a function says of a sorted array of numbers, or of pairs `x` and `y` of them."""
    fields = SORTED_MOMENTS[function]
    of_pairs = "mean_x" in fields
    moved = _moved_by_pair() if of_pairs else _moved_by_value()
    answer = _answer_of_pairs(function) if of_pairs else _answer_of_values(function)
    zero = exp.cast(exp.Literal.number(0), "double", dialect="spark")
    start = struct({field: zero for field in fields})
    step = _lambda(struct({field: moved[field] for field in fields}), _SO_FAR, _VALUE)
    return _function("aggregate", items, start, step, _lambda(answer, _SO_FAR))


def struct(fields: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return a struct of named values."""
    parts = [part for name, value in fields.items() for part in (exp.Literal.string(name), value)]
    return _function("named_struct", *(part.copy() for part in parts))


def _moved_by_value() -> dict[str, exp.Expr]:
    n, s2, s3 = _so_far("n"), _so_far("s2"), _so_far("s3")
    d = _minus(exp.column(_VALUE), _so_far("mean"))
    k = _over(d, _plus(n, _number(1)))
    t = _times(d, _minus(d, k))
    cubes = _minus(_times(t, k, _minus(n, _number(1))), _times(_number(3), k, s2))
    growth = _plus(_minus(_times(n, n), n), _number(1))
    fourths = _minus(
        _plus(_times(t, k, k, growth), _times(_number(6), k, k, s2)), _times(_number(4), k, s3)
    )
    return {
        "n": _plus(n, _number(1)),
        "mean": _plus(_so_far("mean"), k),
        "s2": _plus(s2, t),
        "s3": _plus(s3, cubes),
        "s4": _plus(_so_far("s4"), fourths),
    }


def _moved_by_pair() -> dict[str, exp.Expr]:
    n = _plus(_so_far("n"), _number(1))
    dx = _minus(exp.column("x", table=_VALUE), _so_far("mean_x"))
    dy = _minus(exp.column("y", table=_VALUE), _so_far("mean_y"))
    kx, ky = _over(dx, n), _over(dy, n)
    return {
        "n": n,
        "mean_x": _plus(_so_far("mean_x"), kx),
        "mean_y": _plus(_so_far("mean_y"), ky),
        "xx": _plus(_so_far("xx"), _times(dx, _minus(dx, kx))),
        "yy": _plus(_so_far("yy"), _times(dy, _minus(dy, ky))),
        "xy": _plus(_so_far("xy"), _times(dx, _minus(dy, ky))),
    }


def _answer_of_values(function: str) -> exp.Expr:
    """Return the answer from what was kept: NULL where Spark has none, as without a value."""
    n, s2 = _so_far("n"), _so_far("s2")
    variance, estimated = _over(s2, n), _over(s2, _minus(n, _number(1)))
    match function:
        case "var_pop":
            return _where(_more_than(0), variance)
        case "stddev_pop":
            return _where(_more_than(0), _root(variance))
        case "var_samp" | "variance":
            return _where(_more_than(1), estimated)
        case "skewness":
            third = _over(_times(_root(n), _so_far("s3")), _root(_times(s2, s2, s2)))
            return _where(_differ("s2"), third)
        case "kurtosis":
            fourth = _over(_times(n, _so_far("s4")), _times(s2, s2))
            return _where(_differ("s2"), _minus(fourth, _number(3)))
        case _:
            return _where(_more_than(1), _root(estimated))


def _answer_of_pairs(function: str) -> exp.Expr:
    n, xx, yy, xy = map(_so_far, ("n", "xx", "yy", "xy"))
    slope, correlation = _over(xy, xx), _over(xy, _root(_times(xx, yy)))
    match function:
        case "covar_pop":
            return _where(_more_than(0), _over(xy, n))
        case "covar_samp":
            return _where(_more_than(1), _over(xy, _minus(n, _number(1))))
        case "corr":
            return _where(_more_than(1), correlation)
        case "regr_slope":
            return _where(_differ("xx"), slope)
        case "regr_intercept":
            there = _times(slope, _so_far("mean_x"))
            return _where(_differ("xx"), _minus(_so_far("mean_y"), there))
        case "regr_r2":
            fits = exp.If(this=_differ("yy"), true=_times(correlation, correlation))
            flat = exp.cast(_number(1), "double", dialect="spark")
            return _where(_differ("xx"), exp.Case(ifs=[fits], default=flat))
        case _:
            return _where(_more_than(0), _so_far(function.removeprefix("regr_s")))


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


def _more_than(least: int) -> exp.Expr:
    return exp.GT(this=_so_far("n"), expression=_number(least))


def _differ(squares: str) -> exp.Expr:
    """Whether values differ from their mean; NaN does."""
    return exp.NEQ(this=_so_far(squares), expression=_number(0))


def _so_far(field: str) -> exp.Expr:
    return exp.column(field, table=_SO_FAR)


def _lambda(body: exp.Expr, *names: str) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])


def _function(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _root(value: exp.Expr) -> exp.Expr:
    return _function("sqrt", value.copy())


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=_operand(left), expression=_operand(right))


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=_operand(left), expression=_operand(right))


def _over(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Div(this=_operand(left), expression=_operand(right))


def _times(*factors: exp.Expr) -> exp.Expr:
    return reduce(
        lambda left, right: exp.Mul(this=left, expression=_operand(right)),
        factors[1:],
        _operand(factors[0]),
    )


def _operand(value: exp.Expr) -> exp.Expr:
    return exp.paren(value.copy(), copy=False) if isinstance(value, exp.Binary) else value.copy()
