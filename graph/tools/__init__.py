"""The tools that a plan may use."""

from graph.reasoner import ToolSpec
from graph.tools.reread import REREAD
from graph.tools.search import SEARCH

TOOLS = (SEARCH, REREAD)
SPECS = [ToolSpec(name=tool.name, contract=tool.arguments.__doc__ or "") for tool in TOOLS]
