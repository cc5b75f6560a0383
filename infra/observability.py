"""What tells an operator how it goes: alarms, each with what to do, and one dashboard."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.chat import HttpDoor, SocketDoor, Worker
from infra.environments import Environment
from infra.function import Function
from infra.ingestion import Ingestion
from infra.storage import Storage

NAMESPACE = "Footnote"
_MINUTES_5 = Duration.minutes(5)


@dataclass(frozen=True, kw_only=True)
class _Alarm:
    name: str
    metric: cloudwatch.IMetric
    over: float
    periods: int
    then: str
    """What to do."""


class Observability(Construct):
    """Alarms go to a topic, and from there by mail where an environment names an address."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        storage: Storage,
        ingestion: Ingestion,
        worker: Worker,
        http: HttpDoor,
        socket: SocketDoor,
    ) -> None:
        super().__init__(scope, id_)
        self._environment = environment
        functions = [http.function, socket.function, socket.authorizer, worker.function, worker.sweeper, ingestion.function]
        self._topic = sns.Topic(self, "Alarms", topic_name=f"footnote-{environment.name}-alarms", enforce_ssl=True)
        if environment.alarm_email:
            self._topic.add_subscription(subscriptions.EmailSubscription(environment.alarm_email))
        for alarm in [*_of_functions(functions), *_of_ingestion(ingestion), *_of_doors(http, worker), *_of_table(storage)]:
            self._add(alarm)
        self._dashboard(functions, ingestion, http, socket)

    def _add(self, alarm: _Alarm) -> None:
        cloudwatch.Alarm(
            self,
            alarm.name.title().replace("-", ""),
            alarm_name=f"footnote-{self._environment.name}-{alarm.name}",
            alarm_description=alarm.then,
            metric=alarm.metric,
            threshold=alarm.over,
            evaluation_periods=alarm.periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        ).add_alarm_action(actions.SnsAction(self._topic))

    def _dashboard(self, functions: Sequence[Function], ingestion: Ingestion, http: HttpDoor, socket: SocketDoor) -> None:
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=f"footnote-{self._environment.name}")
        board.add_widgets(
            _graph("Turns by outcome", [_ours("Turns", "outcome")]),
            _graph("Time to first token and of a turn, p95 (ms)", [_ours("TimeToFirstToken"), _ours("TurnTime")]),
            _graph("Model calls and tokens", [_ours("ModelCalls", "model"), _ours("ModelTokens", "model")]),
        )
        board.add_widgets(
            _graph("Cost of models (US$)", [_ours("ModelCost", "model")]),
            _graph("Fallbacks and degraded searches", [_ours("Fallbacks"), _ours("DegradedSearches")]),
            _graph("Files by status", [_ours("Files", "status"), _ours("IngestionLag")]),
        )
        board.add_widgets(
            _graph("Errors", [_errors(function) for function in functions]),
            _graph("Throttles", [_throttles(function) for function in functions]),
            _graph("Duration, p95", [_p95(function) for function in functions]),
        )
        board.add_widgets(
            _graph("Files waiting", [ingestion.files.metric_approximate_number_of_messages_visible(period=_MINUTES_5)]),
            _graph("Files that failed", [ingestion.failed.metric_approximate_number_of_messages_visible(period=_MINUTES_5)]),
            _graph("Requests", [http.api.metric_count(period=_MINUTES_5), _frames(socket)]),
        )


def _of_functions(functions: Sequence[Function]) -> list[_Alarm]:
    errors = [
        _Alarm(
            name=f"{function.name}-errors",
            metric=_errors(function),
            over=0,
            periods=1,
            then=f"The {function.name} function failed. Read its log for level ERROR, and the trace that the line names. "
            "Clients were told an id only: it is in the line, too.",
        )
        for function in functions
    ]
    throttles = [
        _Alarm(
            name=f"{function.name}-throttles",
            metric=_throttles(function),
            over=0,
            periods=2,
            then=f"Invocations of the {function.name} function were refused. Raise its reserved concurrency in "
            "infra/environments.py, or the account's quota of concurrent executions.",
        )
        for function in functions
    ]
    return errors + throttles


def _of_ingestion(ingestion: Ingestion) -> list[_Alarm]:
    return [
        _Alarm(
            name="files-failed",
            metric=ingestion.failed.metric_approximate_number_of_messages_visible(period=_MINUTES_5, statistic="Maximum"),
            over=0,
            periods=1,
            then="An event of a file failed three times and waits in the queue of failed files. Read the ingestion function's "
            "log for its reason; then redrive the queue (SQS, Start DLQ redrive), or delete the message.",
        ),
        _Alarm(
            name="files-late",
            metric=ingestion.files.metric_approximate_age_of_oldest_message(period=_MINUTES_5),
            over=900,
            periods=2,
            then="Files wait for a quarter of an hour. Raise the ingestion function's concurrency in infra/environments.py; "
            "where it fails or is throttled, its own alarm says more.",
        ),
    ]


def _of_doors(http: HttpDoor, worker: Worker) -> list[_Alarm]:
    return [
        _Alarm(
            name="http-errors",
            metric=http.api.metric_server_error(period=_MINUTES_5),
            over=5,
            periods=1,
            then="The HTTP API answers 5xx. The api function's log has the reason; a 503 names the part that is down.",
        ),
        _Alarm(
            name="http-slow",
            metric=http.api.metric_latency(period=_MINUTES_5, statistic="p95"),
            over=28_000,
            periods=3,
            then="Requests take as long as the gateway waits, so chats end in 202. Look at the models' time on the dashboard.",
        ),
        _Alarm(
            name="turns-slow",
            metric=_p95(worker.function),
            over=90_000,
            periods=3,
            then="Turns take over a minute and a half. Compare model time and search time in a turn's trace "
            "(GET /turns/ID/trace): a model that is out of quota waits, an index that is too small searches long.",
        ),
        _Alarm(
            name="turns-crashed",
            metric=worker.sweeper.function.metric_invocations(period=Duration.minutes(1)),
            over=5,
            periods=2,
            then="The sweeper ran far oftener than each minute: workers crash or time out. Read the worker's log.",
        ),
    ]


def _of_table(storage: Storage) -> list[_Alarm]:
    return [
        _Alarm(
            name=f"table-{what.lower()}s-throttled",
            metric=cloudwatch.Metric(
                namespace="AWS/DynamoDB",
                metric_name=f"{what}ThrottleEvents",
                dimensions_map={"TableName": storage.table.table_name},
                statistic="Sum",
                period=_MINUTES_5,
            ),
            over=10,
            periods=2,
            then=f"The table refuses {what.lower()}s: traffic doubled within minutes, which retries cope with, or one key is "
            "asked for too often, which the traces of the slowest turns show.",
        )
        for what in ("Read", "Write")
    ]


def _errors(function: Function) -> cloudwatch.Metric:
    return function.function.metric_errors(period=_MINUTES_5)


def _throttles(function: Function) -> cloudwatch.Metric:
    return function.function.metric_throttles(period=_MINUTES_5)


def _p95(function: Function) -> cloudwatch.Metric:
    return function.function.metric_duration(period=_MINUTES_5, statistic="p95")


def _frames(socket: SocketDoor) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace="AWS/ApiGateway",
        metric_name="MessageCount",
        dimensions_map={"ApiId": socket.api.api_id},
        statistic="Sum",
        period=_MINUTES_5,
    )


def _ours(name: str, by: str | None = None) -> cloudwatch.IMetric:
    """A metric that the functions write themselves: summed up for each value of a dimension, or its p95."""
    if by is None:
        return cloudwatch.Metric(
            namespace=NAMESPACE, metric_name=name, dimensions_map={"service": "footnote"}, statistic="p95", period=_MINUTES_5
        )
    search = f"SEARCH('{{{NAMESPACE},service,{by}}} MetricName=\"{name}\"', 'Sum', 300)"
    return cloudwatch.MathExpression(expression=search, using_metrics={}, period=_MINUTES_5, label="")


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=8)
