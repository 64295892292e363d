"""A report as one HTML page: no scripts, nothing from elsewhere, light or dark as the reader is."""

from __future__ import annotations

import re
from html import escape

from orchestration.report.blocks import Block, Code, Heading, Paragraph, Report, Table

_STYLE = """
:root { color-scheme: light dark; --ground: #fcfbf8; --text: #18181b; --second: #66645d;
  --line: #e4e1d9; --code: #f3f0e9; --added: #d9efe3; --removed: #f6dfe1; --failed: #b04d57; }
@media (prefers-color-scheme: dark) { :root { --ground: #161617; --text: #f2f2f3;
  --second: #b0b0b3; --line: #343437; --code: #202022; --added: #17382a; --removed: #472228;
  --failed: #f0808a; } }
body { background: var(--ground); color: var(--text); max-width: 60rem; margin: 2.5rem auto;
  padding: 0 1.5rem; font: 15px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1.2rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; padding-top: 1.1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .4rem 0; white-space: pre-wrap; }
p.problem { border-left: 3px solid var(--failed); padding-left: .8rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .38rem .8rem .38rem 0;
  border-bottom: 1px solid var(--line); white-space: pre-wrap; }
th { color: var(--second); font-weight: 600; }
table.facts th { width: 11rem; }
.wide { overflow-x: auto; }
pre { background: var(--code); border-radius: 8px; padding: .8rem 1rem; margin: .5rem 0;
  overflow-x: auto; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
pre span { display: block; }
.added { background: var(--added); }
.removed { background: var(--removed); }
footer { color: var(--second); font-size: .85rem; margin-top: 3rem; }
@media print { body { max-width: none; margin: 0; } }
"""
# What HTML has no place for, and what turns the direction of the text around it.
_STRANGE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def as_html(report: Report) -> str:
    """The whole page."""
    title = _text(report.title)
    body = "\n".join(map(_block, report.blocks))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{body}\n<footer>A report by OpenFlow</footer>\n</body>\n</html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        level = 2 if block.level <= 2 else 3
        return f"<h{level}>{_text(block.text)}</h{level}>"
    if isinstance(block, Paragraph):
        kind = ' class="problem"' if block.is_problem else ""
        return f"<p{kind}>{_text(block.text)}</p>"
    if isinstance(block, Table):
        return _table(block)
    return _code(block)


def _table(table: Table) -> str:
    if not table.titles:
        rows = "\n".join(
            f"<tr><th>{_text(row[0])}</th><td>{_text(row[1])}</td></tr>" for row in table.rows
        )
        return f'<table class="facts">\n{rows}\n</table>'
    head = "".join(f"<th>{_text(title)}</th>" for title in table.titles)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{rows}\n</table></div>'


def _code(code: Code) -> str:
    if code.language != "diff":
        # A line end right after the tag would be left out by readers.
        return f"<pre>\n{_text(code.text)}</pre>"
    return f"<pre>{''.join(map(_diff_line, code.text.splitlines()))}</pre>"


def _diff_line(line: str) -> str:
    kind = {"+": "added", "-": "removed"}.get(line[:1], "")
    shown = _text(line) or "&nbsp;"
    return f'<span class="{kind}">{shown}</span>' if kind else f"<span>{shown}</span>"


def _text(text: str) -> str:
    return escape(_STRANGE.sub("\ufffd", text), quote=True)
