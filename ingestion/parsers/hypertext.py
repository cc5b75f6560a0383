"""HTML: the text of the page without what surrounds it, tables kept."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graph.metadata import typed
from ingestion.parsed import Builder, Parsed, first_heading
from ingestion.parsers.rows import clean, row_line

_STARTS = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.IGNORECASE | re.DOTALL
)
_NEVER_SHOWN = ["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select", "button"]
_MAIN = ("#mw-content-text", "main", '[role="main"]', "article", "#content")
_BOILERPLATE = (
    'nav, dialog, [hidden], [aria-hidden="true"], [style*="display:none"], [style*="display: none"], [role="navigation"],'
    '[role="search"], .navbox, .sidebar, .mw-editsection, .mw-jump-link, .toc, #toc, .noprint, .catlinks, .breadcrumbs,'
    " .headerlink"
)
_AROUND = 'body > header, footer, aside, form, [role="banner"], [role="contentinfo"], [role="complementary"]'
"""Boilerplate where the page does not say what its main part is; inside the main part these may be content."""
_FEWEST_CHARACTERS = 100
"""Text below which a part of the page is hardly the main one."""
_BREAKS = re.compile(
    "address|article|aside|blockquote|body|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|header"
    "|h[1-6r]|html|li|main|menu|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_OWN = re.compile(r"[A-Za-z][\w-]{0,63}")
_TECHNICAL = frozenset((
    "viewport", "generator", "robots", "googlebot", "referrer", "theme-color", "color-scheme", "format-detection",
    "description", "keywords", "title", "application-name", "msapplication-tilecolor", "csrf-token", "csrf-param", "progid",
))  # fmt: skip
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BREAK = "\0"
_LAID_OUT = "h1, h2, h3, h4, pre, p + p"
"""In a table that only lays the page out."""


def looks(head: str) -> bool:
    """Whether text is an HTML page."""
    return _STARTS.match(head) is not None


def parse(text: str) -> Parsed:
    """Parse HTML."""
    tree = LexborHTMLParser(text)
    title_node = tree.css_first("title")
    title = clean(title_node.text()) if title_node else ""
    meta, groups = typed(_named(tree))
    tree.strip_tags([*_NEVER_SHOWN, "title"])
    heading = tree.css_first("h1")  # often outside of the main part
    title = (clean(heading.text()) if heading else "") or title
    page = _Page()
    if tree.body is not None:
        page.read(_main(tree.body))
    built = page.built
    return Parsed(
        text=built.text, blocks=built.blocks, title=title or first_heading(built.blocks), meta=meta, groups=groups or None
    )


def _named(tree: LexborHTMLParser) -> dict[str, str]:
    """What the page says of itself by ``<meta name=… content=…>``, without what is meant for browsers and search engines."""
    pairs = ((node.attributes.get("name") or "", node.attributes.get("content") or "") for node in tree.css("meta"))
    return {
        name.lower(): content for name, content in pairs if content and _OWN.fullmatch(name) and name.lower() not in _TECHNICAL
    }


def _main(body: LexborNode) -> LexborNode:
    """The part of the page that is the page's own, cleared of what is not text to read."""
    candidates = (found[0] for selector in _MAIN if len(found := body.css(selector)) == 1)
    main = next((node for node in candidates if len(node.text()) >= _FEWEST_CHARACTERS), None)
    root = main or body
    selector = _BOILERPLATE if main else f"{_BOILERPLATE}, {_AROUND}"
    half = len(root.text()) / 2
    for node in reversed(root.css(selector)):  # inner ones first: what is inside a removed node is gone
        if len(node.text()) < half:  # some pages are one form
            node.decompose()
    return root


class _Page:
    """Walks the tree, with a stack of its own since pages nest deeper than Python's, and collects blocks."""

    def __init__(self) -> None:
        self.built = Builder()
        self._line: list[str] = []
        self._mark = ""

    def read(self, root: LexborNode) -> None:
        """Add all below the node."""
        stack = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if node.is_text_node:
                self._line.append(node.text_content or "")
            elif leaving:
                self._flush()
            elif self._enter(node):
                if _BREAKS.fullmatch(node.tag or ""):
                    stack.append((node, True))
                stack.extend((child, False) for child in reversed(list(node.iter(include_text=True))))
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        """Take note of the element; whether its children are still to be read."""
        tag = node.tag or ""
        if tag == "br":
            self._line.append(_BREAK)
        if _BREAKS.fullmatch(tag):
            self._flush()
        if tag in _HEADINGS:
            self.built.add("heading", clean(node.text()), level=int(tag[1]))
        elif tag == "pre":
            self.built.add("code", node.text().strip("\n").rstrip())
        elif tag == "table" and len(node.css("table")) == 1 and not node.css(_LAID_OUT):
            self._table(node)
        else:
            self._mark = "- " if tag == "li" else self._mark
            return True
        return False

    def _flush(self) -> None:
        lines = (clean(line) for line in "".join(self._line).split(_BREAK))
        text = "\n".join(line for line in lines if line)
        self._line.clear()
        if text:
            self.built.add("item" if self._mark else "paragraph", self._mark + text)
            self._mark = ""

    def _table(self, table: LexborNode) -> None:
        for caption in table.css("caption"):
            self.built.add("paragraph", clean(caption.text()))
        rows = [row for row in (_cells(row) for row in table.css("tr")) if any(text for _, text in row)]
        names = [text for _, text in rows.pop(0)] if len(rows) > 1 and all(is_head for is_head, _ in rows[0]) else []
        self.built.add("table", "\n".join(_row(names, row) for row in rows))


def _cells(row: LexborNode) -> list[tuple[bool, str]]:
    """Whether each cell is a header, and its text; a cell over several columns is followed by empty ones."""
    cells: list[tuple[bool, str]] = []
    for cell in row.iter():
        if cell.tag in ("td", "th"):
            span = cell.attributes.get("colspan") or ""
            wide = min(int(span), 100) - 1 if span.isdecimal() else 0
            cells += [(cell.tag == "th", clean(cell.text(separator=" "))), *[(cell.tag == "th", "")] * wide]
    return cells


def _row(names: list[str], row: list[tuple[bool, str]]) -> str:
    texts = [text for _, text in row]
    if names and sum(map(bool, texts)) > 1:
        return row_line(names, texts)
    label = row[0][1] if row[0][0] else ""
    rest = " | ".join(text for text in (texts[1:] if label else texts) if text)
    return f"{label}: {rest}" if label and rest else label or rest
