"""The README's picture of the graph is the graph."""

import re
from pathlib import Path

from graph.graph import build_graph

README = Path(__file__).parents[2] / "README.md"


def test_the_diagram_in_the_readme_is_what_the_graph_draws() -> None:
    drawn = build_graph().get_graph().draw_mermaid().strip()
    diagrams = [block.strip() for block in re.findall(r"^```mermaid\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)]
    assert drawn in diagrams, f"put this between mermaid fences in README.md:\n{drawn}"
