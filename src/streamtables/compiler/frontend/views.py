"""Inlining of views: each is bound once, like a WITH query, against its own text."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import Node
from streamtables.compiler.algebra.expressions import expressions_of
from streamtables.compiler.frontend.binding import Binding, Bound
from streamtables.compiler.frontend.calls import parsed
from streamtables.compiler.frontend.dialect import forget_places
from streamtables.compiler.frontend.inlining import Inlining, inside_of
from streamtables.compiler.library import View
from streamtables.compiler.rewrites.rebuild import in_order


def view_query(view: View, inlining: Inlining) -> exp.Query:
    """Return the parsed query of a view."""
    key = view.name.lower()
    if key not in inlining.queries:
        with inside_of(view, view.sql):
            inlining.queries[key] = parsed(view.sql, inlining)
    return inlining.queries[key]


def bind_view(view: View, binding: Binding) -> Bound:
    """Bind a view: it sees tables and other views, and nothing of the query that reads it."""
    inlining = binding.inlining
    key = view.name.lower()
    if key not in inlining.bound:
        alone = replace(binding, sql=view.sql, named_queries={}, enclosing=())
        with inside_of(view, view.sql):
            bound = binding.bind_query(view_query(view, inlining), alone)
        _forget_places(bound.node)
        inlining.bound[key] = bound
    return inlining.bound[key]


def _forget_places(root: Node) -> None:
    """Take places in the view's text away: later errors point into the text of its reader."""
    for node in in_order(root):
        for expression in expressions_of(node):
            forget_places(expression)
