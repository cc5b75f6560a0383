"""Why a rule of cdk-nag does not hold somewhere, said where it does not."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def accept(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Accept findings in a construct and all below it, each by its id, as ``AwsSolutions-IAM5[Resource::*]``."""
    Validations.of(construct).acknowledge(*(Acknowledgment(id=rule, reason=reason) for rule, reason in reasons.items()))
