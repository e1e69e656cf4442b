"""The small faults that mutate.py puts into sources: each is one place of one line, changed as a tired author might.

`changes_of(path, text)` lists them. Comments, messages and other words for people are left alone."""
import re
from typing import NamedTuple


class Change(NamedTuple):
    line: int  # from 1
    kind: str
    before: str  # the whole line
    after: str


# (kind, what is replaced, by what). clang-format gives operators a blank on both sides, and templates none.
OPERATORS = [
    ("comparison", r" < ", " <= "), ("comparison", r" <= ", " < "),
    ("comparison", r" > ", " >= "), ("comparison", r" >= ", " > "),
    ("comparison", r" == ", " != "), ("comparison", r" != ", " == "),
    ("condition", r" && ", " || "), ("condition", r" \|\| ", " && "),
    ("condition", r"(?<=[(\s])!(?=[\w(])", ""),
    ("bound", r" [+-] 1(?![\w.'])", ""),
    ("bound", r"\bmin\b(?=[(<])", "max"), ("bound", r"\bmax\b(?=[(<])", "min"),
    ("arithmetic", r" \+ ", " - "), ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \* ", " / "), ("arithmetic", r" [/%] ", " * "),
    ("arithmetic", r" \+= ", " = "), ("arithmetic", r" \|= ", " = "),
]
CONSTANTS = [
    ("constant", r"\btrue\b", "false"), ("constant", r"\bfalse\b", "true"),
    ("constant", r"(?<![\w.'])\d+(?=U?\b)(?![.'\w]*[.x'])", lambda number: str(int(number) + 1)),
    ("constant", r"(?<![\w.'])[1-9]\d*(?=U?\b)(?![.'\w]*[.x'])", lambda number: str(int(number) - 1)),
]
ARGUMENT = r"[\w.\[\]]+(?:->\w+)?(?:\(\))?"
STATEMENT = r"^\s+(?!return\b|const\b|auto\b|using\b|break;|continue;|else\b|case\b|default\b)"


def argument(number):
    """Puts one argument of a call in the call's place."""
    return lambda call: call[call.index("(") + 1 : -1].split(", ")[number]


def drop(kind, pattern):
    return kind, pattern, lambda text: text[: len(text) - len(text.lstrip())] + ";"


# Whole statements that stand on one line.
STATEMENTS = [
    drop("lost error", r"^\s+if \([^;]*\) (?:return|throw|fail|refuse|continue|break)\b[^;]*;$"),
    drop("lost error", r"^\s+(?:throw\b|fail\(|refuse\(|require_|check_)[^;]*;$"),
    ("lost error", r"^\s+\w*error = [^;=]*;$", lambda text: re.sub(r"\w*error = ", "", text, count=1)),
    ("lost error", r"^\s+return (?:\w+_)?error\w*;$", lambda text: re.sub(r"return .*;", "return {};", text)),
    drop("dropped call", STATEMENT + r"[\w.:\->\[\]]+\((?!.*\) = )[^;]*\);$"),
    drop("dropped assignment", STATEMENT + r"[\w.\->\[\]*]+ [-+*/|&]?= [^;]*;$"),
    ("case", r"^\s+case [^:]*(?:::[^:]*)*:.*$", lambda text: text[: len(text) - len(text.lstrip())]),
    ("case", r"^\s+if \([^;{]*\) [^;]*;$", lambda text: re.sub(r"if \(.*\) ", "", text, count=1)),
]
# Faults that random changes seldom make, and that survived where people made them on purpose.
PAIRS = [("left", "right"), ("input", "output"), ("first", "second"), ("scale", "zero_point"), ("rows", "columns"),
         ("row", "column"), ("expected", "actual"), ("from", "to"), ("before", "after"), ("begin", "end")]
OTHERS = {word: other for pair in PAIRS for word, other in (pair, pair[::-1])}
NAMED = "|".join(sorted(OTHERS, key=len, reverse=True))
TERM = r"[\w.\[\]:>-]+(?:\([^(),]*\))?"
BOUND = rf"{TERM}(?: [-+*/] {TERM})*"
MIN_OR_MAX = r"\b(?:std::)?(?:min|max)(?:<[\w:]+>)?"
AIMED = [
    # The strides, offset or sizes of another tensor, or those along another axis.
    ("other tensor", rf"(?<![\w.])(?:{NAMED})(?=(?:_|\.|->)\w*(?:stride|offset|size|extent))", lambda word: OTHERS[word]),
    ("other tensor", r"(?<=strides\[)[01](?=\])", lambda axis: str(1 - int(axis))),
    ("other tensor", r"(?<=inputs\[)[01](?=\])", lambda number: str(1 - int(number))),
    ("loop", r"\bbreak;$", "continue;"), ("loop", r"\bcontinue;$", "break;"),
    drop("barrier", r"^\s+(?:\w*[Bb]arrier\w*)\([^;]*\);$"),
    ("clamp", rf"{MIN_OR_MAX}\({BOUND}, {BOUND}\)", argument(0)),
    ("clamp", rf"{MIN_OR_MAX}\({BOUND}, {BOUND}\)", argument(1)),
    ("clamp", rf"\b(?:std::)?clamp\({BOUND}, {BOUND}, {BOUND}\)", argument(0)),
]
SWAPPED = re.compile(rf"(?<=[\w>])\(({ARGUMENT}), ({ARGUMENT})(?=[,)])")

WORDS_FOR_PEOPLE = r'"(?:text|summary|source|reason|page|name|help|note|notes)": "(?:[^"\\]|\\.)*"'
JSON_CHANGES = [
    ("dropped element", r'"[A-Z][A-Z0-9_]*", ', ""), ("dropped element", r', "[A-Z][A-Z0-9_]*"(?=[\]}])', ""),
    ("dropped element", r"(?<=[\[ ])\d+, (?=\d)", ""),
    ("case", r'"optional": true', '"optional": false'),
    ("level", r'(?<="from": ")\d_\d', lambda level: "6_4" if level != "6_4" else "1_0"),
    ("constant", r"(?<![\w.])\d+(?![\w.])", lambda number: str(int(number) + 1)),
]
DROPPED_RULE = re.compile(r'^\s+"[^"]* [=<>!&|?][^"]*",$')


def masked(text, json):
    """The text with as many blanks instead of words that nothing depends on: a change is found in what is left."""
    if json:
        return re.sub(WORDS_FOR_PEOPLE, lambda found: " " * len(found[0]), text)
    hidden = r'//.*|"(?:[^"\\]|\\.)*"|(?<!\w)\'(?:[^\'\\]|\\.)\'|#include.*|^\s*(?:static_)?assert\(.*'
    return re.sub(hidden, lambda found: "\x01" * len(found[0]), text)


def places(line, mask, table):
    for kind, pattern, by in table:
        for found in re.finditer(pattern, mask):
            old = line[found.start() : found.end()]
            new = by(old) if callable(by) else by
            yield kind, line[: found.start()] + new + line[found.end() :]


def swaps(line, mask):
    for found in SWAPPED.finditer(mask):
        if found[1] != found[2]:
            yield "swapped arguments", line[: found.start(1)] + found[2] + ", " + found[1] + line[found.end(2) :]


def changes_of_line(line, json):
    mask = masked(line, json)
    if json:
        yield from places(line, mask, OPERATORS[:8] + OPERATORS[9:10] + OPERATORS[12:16] + JSON_CHANGES)
        if DROPPED_RULE.match(mask):
            yield "dropped rule", ""
        return
    is_declaration = re.match(r"^\s*(template|using|namespace|enum|struct|class|static_assert|#if|#end|#else)\b", line)
    if is_declaration:
        return
    operators = OPERATORS
    if "\x01" in mask or "string" in mask:  # texts are put together, and there is nothing else to do with them
        operators = [row for row in OPERATORS if row[0] != "arithmetic"]
    yield from places(line, mask, AIMED + operators + CONSTANTS + STATEMENTS)
    yield from swaps(line, mask)


def changes_of(path, text):
    """All changes of a file, in the order of its lines; none twice."""
    json = path.endswith(".json")
    for number, line in enumerate(text.split("\n"), 1):
        if json and line.startswith('  "example"'):
            return  # any numbers would do that the rules allow
        seen = {line}
        for kind, after in changes_of_line(line, json):
            if after in seen:
                continue
            seen.add(after)
            yield Change(number, kind, line, after)


def apply(text, change):
    """The text with the change made."""
    lines = text.split("\n")
    assert lines[change.line - 1] == change.before
    lines[change.line - 1] = change.after
    return "\n".join(lines)
