"""One Lambda function, with everything that all of ours have in common."""

from collections.abc import Mapping

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundling import Bundle
from infra.environments import Environment
from infra.reasons import accept

MODEL = "model"
"""Where a bundle has the embedder's graph; a function's working directory is that of its bundle."""


class Function(Construct):
    """A function; ``entry`` is what others invoke: its alias where it is kept warm or starts from a snapshot."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        environment: Environment,
        bundle: Bundle,
        handler: str,
        does: str,
        variables: Mapping[str, str],
        memory_mb: int = 512,
        timeout_s: int = 30,
    ) -> None:
        super().__init__(scope, f"{name.title()}Function")
        self.name = name
        self.settings = _variables(environment, bundle) | dict(variables)
        self.timeout_s = timeout_s
        self.function = lambda_.Function(
            self,
            "Lambda",
            function_name=f"footnote-{environment.name}-{name}",
            description=does,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=self._code(bundle, environment),
            handler=handler,
            memory_size=memory_mb,
            timeout=Duration.seconds(timeout_s),
            environment=self.settings,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel[environment.log_level],
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            log_group=self._logs(environment),
            tracing=lambda_.Tracing.ACTIVE,
            reserved_concurrent_executions=environment.concurrency.get(name),
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if name in environment.snapshots else None,
        )
        self.entry = self._entry(environment)
        accept(self.function, _ACCEPTED)

    def _code(self, bundle: Bundle, environment: Environment) -> lambda_.Code:
        if self.node.try_get_context("bundle") == "no":
            return lambda_.Code.from_inline(f"# {bundle.group}: left out by -c bundle=no")
        return lambda_.Code.from_asset(str(bundle.archive(environment.platform)))

    def _logs(self, environment: Environment) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/footnote-{environment.name}-{self.name}",
            retention=_RETENTION[environment.log_days],
            removal_policy=RemovalPolicy.RETAIN if environment.retains_data else RemovalPolicy.DESTROY,
        )

    def _entry(self, environment: Environment) -> lambda_.IFunction:
        warm = environment.provisioned.get(self.name)
        if warm is None and self.name not in environment.snapshots:
            return self.function
        return lambda_.Alias(
            self, "Live", alias_name="live", version=self.function.current_version, provisioned_concurrent_executions=warm
        )


def _variables(environment: Environment, bundle: Bundle) -> dict[str, str]:
    """The settings of every function."""
    return {
        "FOOTNOTE_LOG_LEVEL": environment.log_level,
        "FOOTNOTE_EMBEDDER": environment.embedder,
        "FOOTNOTE_CACHE": MODEL if bundle.holds_model else "/tmp/footnote",  # noqa: S108  # a function's own
        "POWERTOOLS_SERVICE_NAME": "footnote",
        "POWERTOOLS_METRICS_NAMESPACE": "Footnote",
        **environment.variables,
    }


_RETENTION = {7: logs.RetentionDays.ONE_WEEK, 30: logs.RetentionDays.ONE_MONTH, 180: logs.RetentionDays.SIX_MONTHS}
_ACCEPTED = {
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]":
        "It lets a function write its own log, and nothing else.",
    "AwsSolutions-IAM5[Resource::*]": "Segments of traces belong to no resource that a policy could name.",
    "AwsSolutions-L1": "All functions run on Python 3.13, the version they are tested on; a newer one comes by a change here.",
}  # fmt: skip
