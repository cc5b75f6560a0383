"""Templates of every environment, as plain JSON, and what they say of functions and their rights.

``python -m tests.infra.templates`` prints the rights anew, for ``tests/infra/rights.txt``.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

Json = dict[str, Any]
ENVIRONMENTS = ("dev", "staging", "prod", "local")
_CONTEXT = {"bundle": "no", "opensearch-url": "http://127.0.0.1:9200", "aws:cdk:enable-path-metadata": "true"}


@cache
def template(environment: str) -> Json:
    """The template of an environment. Synthesis fails where cdk-nag finds something that no reason accepts."""
    (stack,) = app(_CONTEXT | {"env": environment}).synth().stacks
    made: Json = stack.template
    return made


def app(context: dict[str, str]) -> Any:
    """The CDK app."""
    from infra import app  # noqa: PLC0415  # it starts node, which not every machine has

    return app.app(context)


def resources(environment: str, kind: str) -> list[Json]:
    """Resources of a type, ``AWS::SQS::Queue`` for example."""
    return [resource for resource in template(environment)["Resources"].values() if resource["Type"] == kind]


def functions(environment: str) -> dict[str, Json]:
    """Properties of the functions, by their names."""
    found = (resource["Properties"] for resource in resources(environment, "AWS::Lambda::Function"))
    return {one["FunctionName"].removeprefix(f"footnote-{environment}-"): one for one in found}


def rights(environment: str) -> list[str]:
    """``function action resource``, one line for each right."""
    roles = {function["Role"]["Fn::GetAtt"][0]: name for name, function in functions(environment).items()}
    lines = set()
    for policy in resources(environment, "AWS::IAM::Policy"):
        for role in policy["Properties"]["Roles"]:
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
                assert statement["Effect"] == "Allow"
                for action in _listed(statement["Action"]):
                    for resource in _listed(statement["Resource"]):
                        lines.add(f"{roles[role['Ref']]} {action} {_shown(environment, resource)}")
    return sorted(lines)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _shown(environment: str, value: Any) -> str:
    """A value as one text, with the paths of constructs in place of what is known at deploy only."""
    return "".join(_parts(environment, value)).replace(" ", "")


def _parts(environment: str, value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case {"Fn::Join": [_, pieces]}:
            for piece in pieces:
                yield from _parts(environment, piece)
        case {"Fn::GetAtt": [name, *_]} | {"Ref": name}:
            known = template(environment)["Resources"].get(name)
            path = known["Metadata"]["aws:cdk:path"].split("/") if known else [name]
            yield f"{{{'/'.join(part for part in path if part not in ('Resource', f'footnote-{environment}'))}}}"
        case _:
            raise AssertionError(value)


if __name__ == "__main__":
    for environment in ENVIRONMENTS:
        for line in rights(environment):
            print(environment, line)
