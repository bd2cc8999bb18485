"""Reading a statement about stream tables word by word, with errors that point at the place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from sqlglot.tokenizer_core import Token, TokenType

from streamtables.errors import Span, SqlSyntaxError

Option: TypeAlias = str | int | float | bool
S = TypeVar("S")

VERBS = ("CREATE", "ALTER", "DROP", "REFRESH", "EXPLAIN", "SHOW")
_CLAUSES: dict[str, tuple[str, ...]] = {
    "SCHEDULE": (),
    "MODE": ("AUTO", "DIFFERENTIAL", "FULL", "IMMEDIATE"),
    "FULL": ("ALLOW", "FORBID"),
    "TIER": ("HOT", "WARM", "COLD", "FROZEN"),
    "OPTIONS": (),
}


@dataclass
class Clauses:
    """What stands between the name and the query; None where nothing is said."""

    schedule: str | None = None
    mode: str | None = None
    full: str | None = None
    tier: str | None = None
    options: dict[str, Option] = field(default_factory=dict)


class StatementReader:
    """A place in the words of a statement."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        while self.tokens and self.tokens[-1].token_type == TokenType.SEMICOLON:
            self.tokens.pop()

    def is_ours(self) -> bool:
        """Whether the statement is about stream tables."""
        words = [token.text.upper() for token in self.tokens[:5]]
        head = words[1:3] if words[1:3] != ["OR", "REPLACE"] else words[3:5]
        return (
            words[:1] != []
            and words[0] in VERBS
            and head[:1] == ["STREAM"]
            and (head[1:] in (["TABLE"], ["TABLES"]))
        )

    def word(self) -> str:
        """Take the next word, whatever it is."""
        return self._take("a word").text.upper()

    def took(self, *words: str) -> bool:
        """Take these words if they come next."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if [token.text.upper() for token in ahead] != list(words):
            return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Take these words, or fail at this place."""
        if not self.took(*words):
            raise self.error(f"{' '.join(words)} was expected")

    def part(self) -> str:
        """Take a name of one part."""
        return self._identifier()

    def type_text(self, *ends: str) -> str:
        """Take the name of a type: all up to a comma, a closing bracket or one of the words."""
        first, depth = self.at, 0
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text.upper()
            if depth == 0 and (text in (",", ")") or text in ends):
                break
            depth += text.count("(") + text.count("<") - text.count(")") - text.count(">")
            self.at += 1
        if self.at == first:
            raise self.error("a type was expected")
        return self.text[self.tokens[first].start : self.tokens[self.at - 1].end + 1]

    def name(self) -> str:
        """Take a name of one or more parts."""
        parts = [self._identifier()]
        while self.took("."):
            parts.append(self._identifier())
        return ".".join(parts)

    def clauses(self) -> tuple[Clauses, int]:
        """Take SCHEDULE, MODE, FULL, TIER and OPTIONS, in any order, each once; count them."""
        found = Clauses()
        seen: set[str] = set()
        while (word := self._next_clause()) is not None:
            if word in seen:
                raise self.error(f"{word} is given twice")
            self.at += 1
            seen.add(word)
            self.took("=")
            if word == "OPTIONS":
                found.options = self._options()
            elif word == "SCHEDULE":
                found.schedule = self._schedule()
            else:
                setattr(found, word.lower(), self._choice(word))
            self.took(",")
        return found, len(seen)

    def rest(self) -> str:
        """Take everything that is left, as it was written."""
        if self.at >= len(self.tokens):
            raise self.error("the query is missing")
        text = self.text[self.tokens[self.at].start : self.tokens[-1].end + 1]
        self.at = len(self.tokens)
        return text

    def ended(self, statement: S) -> S:
        """Return the statement if nothing is left."""
        if self.at < len(self.tokens):
            raise self.error("the statement should end here")
        return statement

    def error(self, message: str) -> SqlSyntaxError:
        """Return an error that points at the next word."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        end = len(self.text.rstrip())
        span = Span(token.start, token.end + 1) if token else Span(max(0, end - 1), end)
        near = f' near "{token.text}"' if token else " at the end"
        return SqlSyntaxError(
            f"syntax error{near}: {message}",
            sql=self.text,
            span=span,
            hint="The forms of the statements are in the manual: CREATE, ALTER, DROP, REFRESH, "
            "EXPLAIN STREAM TABLE and SHOW STREAM TABLES; CREATE and DROP VIEW and FUNCTION.",
        )

    def _take(self, what: str) -> Token:
        if self.at >= len(self.tokens):
            raise self.error(f"{what} was expected")
        self.at += 1
        return self.tokens[self.at - 1]

    def _next_clause(self) -> str | None:
        word = self.tokens[self.at].text.upper() if self.at < len(self.tokens) else None
        return word if word in _CLAUSES else None

    def _identifier(self) -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if (
            token is None
            or token.token_type in (TokenType.STRING, TokenType.NUMBER)
            or not token.text.replace("_", "a").isalnum()
        ):
            raise self.error("a name was expected")
        self.at += 1
        return token.text

    def _schedule(self) -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is None or token.token_type != TokenType.STRING:
            raise self.error("a schedule in quotes was expected")
        self.at += 1
        return token.text.lower()

    def _choice(self, clause: str) -> str:
        word = self.tokens[self.at].text.upper() if self.at < len(self.tokens) else ""
        if word not in _CLAUSES[clause]:
            raise self.error(f"{clause} is one of {', '.join(_CLAUSES[clause])}")
        self.at += 1
        return word.lower()

    def _options(self) -> dict[str, Option]:
        self.expect("(")
        found: dict[str, Option] = {}
        while not self.took(")"):
            if found:
                self.expect(",")
            place = self.at
            key = self._identifier()
            if key in found:
                self.at = place
                raise self.error(f'option "{key}" is given twice')
            self.expect("=")
            found[key] = self._option()
        return found

    def _option(self) -> Option:
        negative = self.took("-")
        token = self._take("a value")
        if token.token_type == TokenType.NUMBER:
            return _number(token.text) * (-1 if negative else 1)
        named = token.text.replace("_", "a").isalnum()
        if negative or not (token.token_type == TokenType.STRING or named):
            self.at -= 1
            raise self.error("a value was expected")
        if token.token_type != TokenType.STRING and token.text.upper() in ("TRUE", "FALSE"):
            return token.text.upper() == "TRUE"
        return token.text


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)
