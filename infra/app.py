"""The CDK app: ``cdk deploy -c env=NAME --all``."""

import json
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.environments import environment
from infra.stack import Footnote


def app(context: Mapping[str, str] | None = None) -> App:
    """The app, with one stack: that of the environment which the context names."""
    flags = json.loads((Path(__file__).parents[1] / "cdk.json").read_text())["context"]  # there without the CLI, too
    made = App(context=flags | dict(context or {}))
    chosen = environment(made.node.try_get_context("env"))
    Footnote(made, f"footnote-{chosen.name}", environment=chosen)
    Validations.of(made).add_plugins(AwsSolutionsChecks(made))
    return made


if __name__ == "__main__":
    app().synth()
