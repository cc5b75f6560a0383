"""What would be deployed, by its template: nothing here needs credentials, Docker or a network."""

import importlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from functions.worker.metrics import measures
from graph.settings import Settings
from tests.infra.templates import ENVIRONMENTS, Json, app, functions, resources, rights, template

pytest.importorskip("aws_cdk", reason="the CDK is not installed: make lint brings it")
if shutil.which("node") is None:
    pytest.skip("the CDK needs node, which is not on this machine", allow_module_level=True)

EVERY = pytest.mark.parametrize("environment", ENVIRONMENTS)
RIGHTS = Path(__file__).parent / "rights.txt"
INGESTED = ("Files", "IngestionLag")
TURN: Any = {"outcome": "answered", "timings_ms": {"total": 2.0, "first_token": 1.0, "by_node": {}}}
CALL: Any = {"attributes": {"gen_ai.request.model": "m"}}


def properties(environment: str, kind: str) -> list[Json]:
    return [resource["Properties"] for resource in resources(environment, kind)]


@EVERY
def test_every_environment_passes_cdk_nag(environment: str) -> None:
    assert len(template(environment)["Resources"]) > 100


@pytest.mark.parametrize("context", [{}, {"env": "production"}])
def test_an_unknown_environment_is_refused_with_those_there_are(context: dict[str, str]) -> None:
    with pytest.raises(SystemExit, match="dev, staging, prod, local"):
        app(context)


def test_an_environment_with_a_search_that_one_already_has_asks_where_it_is() -> None:
    with pytest.raises(SystemExit, match="opensearch-url"):
        app({"env": "local", "bundle": "no"})


def test_no_code_asks_which_environment_it_is() -> None:
    sources = Path(__file__).parents[2] / "infra"
    assert not [path for path in sources.glob("*.py") if re.search(r"\.name (==|!=|in|not in) [\"'({]", path.read_text())]


@EVERY
def test_handlers_are_there_and_settings_are_known_to_the_code(environment: str) -> None:
    for name, function in functions(environment).items():
        module, _, attribute = function["Handler"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute)), name
        variables = function["Environment"]["Variables"]
        values = {key: value if isinstance(value, str) else _deployed(key) for key, value in variables.items()}
        Settings.read(values)


def _deployed(variable: str) -> str:
    """What stands where the template has something that is known at deploy only."""
    return "https://host.example" if variable.endswith(("_URL", "_ISSUER", "_ENDPOINT")) else "name"


@EVERY
def test_every_function_has_what_all_have_in_common(environment: str) -> None:
    retained = {resource["Properties"]["LogGroupName"] for resource in resources(environment, "AWS::Logs::LogGroup")}
    assert set(functions(environment)) == {"api", "authorizer", "index", "ingestion", "sweeper", "websocket", "worker"}
    for name, function in functions(environment).items():
        assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert f"/aws/lambda/footnote-{environment}-{name}" in retained
    assert all(resource["RetentionInDays"] for resource in properties(environment, "AWS::Logs::LogGroup"))


@EVERY
def test_stores_are_encrypted_private_versioned_and_tidied(environment: str) -> None:
    for bucket in properties(environment, "AWS::S3::Bucket"):
        assert all(bucket["PublicAccessBlockConfiguration"].values())
        assert bucket["BucketEncryption"]
        assert bucket["LifecycleConfiguration"]["Rules"]
    assert [
        bucket["VersioningConfiguration"]
        for bucket in properties(environment, "AWS::S3::Bucket")
        if "LoggingConfiguration" in bucket
    ] == [{"Status": "Enabled"}]
    denied = [
        statement
        for policy in properties(environment, "AWS::S3::BucketPolicy")
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert (
        sum(one["Effect"] == "Deny" and one["Condition"] == {"Bool": {"aws:SecureTransport": "false"}} for one in denied) == 2
    )
    for table in properties(environment, "AWS::DynamoDB::Table"):
        assert table["TimeToLiveSpecification"]["Enabled"]
        assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        assert table["SSESpecification"]["SSEEnabled"]


@pytest.mark.parametrize(("environment", "kept"), [("dev", False), ("staging", False), ("prod", True)])
def test_data_outlives_the_stack_where_the_environment_says_so(environment: str, kept: bool) -> None:  # noqa: FBT001
    stores = ("AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::OpenSearchService::Domain")
    found = [one for kind in stores for one in resources(environment, kind)]
    assert len(found) >= 5
    assert {one["DeletionPolicy"] for one in found} == {"Retain" if kept else "Delete"}
    for table in properties(environment, "AWS::DynamoDB::Table"):
        assert table.get("DeletionProtectionEnabled", False) is kept


@EVERY
def test_what_fails_waits_in_another_queue(environment: str) -> None:
    files = next(queue for queue in properties(environment, "AWS::SQS::Queue") if "RedrivePolicy" in queue)
    assert files["RedrivePolicy"]["maxReceiveCount"] == 3
    assert files["VisibilityTimeout"] >= 6 * functions(environment)["ingestion"]["Timeout"]
    (mapping,) = properties(environment, "AWS::Lambda::EventSourceMapping")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@EVERY
def test_uploads_and_removals_are_told_of(environment: str) -> None:
    told = [
        (configuration["Event"], configuration["Filter"]["S3Key"]["Rules"][0]["Value"])
        for bucket in properties(environment, "AWS::S3::Bucket")
        for configuration in bucket.get("NotificationConfiguration", {}).get("QueueConfigurations", [])
    ]
    assert told == [("s3:ObjectCreated:*", "uploads/"), ("s3:ObjectRemoved:*", "uploads/")]


@EVERY
def test_every_way_in_asks_who_it_is(environment: str) -> None:
    routes = {route["RouteKey"]: route["AuthorizationType"] for route in properties(environment, "AWS::ApiGatewayV2::Route")}
    open_to_all = {"GET /health", "GET /openapi.json", "GET /docs"}
    of_sockets = {"$disconnect", "$default", "ask", "resume", "cancel", "replay", "ping"}
    assert {key for key, kind in routes.items() if kind == "NONE"} == open_to_all | of_sockets
    assert routes["$connect"] == "CUSTOM"
    assert {kind for key, kind in routes.items() if "{path+}" in key} == {"JWT"}


@EVERY
def test_rights_are_those_that_are_written_down(environment: str) -> None:
    written = [
        line.removeprefix(f"{environment} ") for line in RIGHTS.read_text().splitlines() if line.startswith(f"{environment} ")
    ]
    assert rights(environment) == written


@EVERY
def test_alarms_say_what_to_do(environment: str) -> None:
    alarms = properties(environment, "AWS::CloudWatch::Alarm")
    names = {alarm["AlarmName"].removeprefix(f"footnote-{environment}-") for alarm in alarms}
    watched = {f"{name}-{what}" for name in functions(environment) if name != "index" for what in ("errors", "throttles")}
    assert watched | {"files-failed", "files-late", "http-errors", "http-slow", "turns-slow", "turns-crashed"} <= names
    for alarm in alarms:
        assert alarm["AlarmActions"]
        assert len(alarm["AlarmDescription"]) > 60


@EVERY
def test_the_dashboard_shows_what_the_functions_tell(environment: str) -> None:
    (board,) = properties(environment, "AWS::CloudWatch::Dashboard")
    body = "".join(part for part in board["DashboardBody"]["Fn::Join"][1] if isinstance(part, str))
    shown = set(re.findall(r'MetricName=\\\\*"(\w+)', body)) | set(re.findall(r'"Footnote","(\w+)"', body))
    assert shown == {measure.name for measure in measures(TURN, [CALL])} | set(INGESTED)
    for function in functions(environment).values():
        assert function["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"] == "Footnote"


@pytest.mark.parametrize(("environment", "sent"), [("prod", True), ("local", False)])
def test_spans_are_sent_to_where_the_environment_says(environment: str, sent: bool) -> None:  # noqa: FBT001
    for name in ("worker", "sweeper", "ingestion"):
        assert ("OTEL_EXPORTER_OTLP_ENDPOINT" in functions(environment)[name]["Environment"]["Variables"]) is sent
