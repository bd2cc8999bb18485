"""The page of supported SQL is current."""

from __future__ import annotations

from tests.golden.support_page import PAGE, page


def test_the_page_of_supported_sql_is_what_the_compiler_and_the_cases_say(update_golden: bool):
    text = page()
    if update_golden:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "run `make golden` and review the difference"
