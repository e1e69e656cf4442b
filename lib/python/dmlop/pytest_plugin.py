"""The option --update-golden of pytest, for dmlop.assert_matches_golden()."""

from __future__ import annotations

from typing import Any


def pytest_addoption(parser: Any) -> None:
    try:
        parser.getgroup("dmlop").addoption(
            "--update-golden",
            action="store_true",
            default=False,
            help="write the golden files of dmlop.assert_matches_golden that are missing or differ",
        )
    except ValueError:
        pass  # another plugin has the option, which then counts for both


def pytest_configure(config: Any) -> None:
    if config.getoption("--update-golden", False):
        from . import testing

        testing.update_golden = True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    import sys

    testing = sys.modules.get("dmlop.testing")
    for path in testing.updated if testing is not None else ():
        terminalreporter.write_line(f"dmlop: wrote {path}")
