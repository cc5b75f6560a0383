"""The environment ``local``, made by a real ``cdk deploy`` in a local AWS, beside a real OpenSearch and a stand-in for Groq."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

from graph.adapters import boto
from tests.e2e.client import Client
from tests.standins import aws as aws_standin
from tests.standins.groq import Latency, StandIn
from tests.standins.opensearch_program import Missing

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
STACK = "footnote-local"
_CDK = ROOT / "infra" / "node_modules" / ".bin" / "cdk"
_PASSWORD = "Correct-Horse-9-Battery"
_SYNTH_S, _DEPLOY_S = 600, 300
LATENCY = Latency(first_token_s=0.120, token_s=0.0042)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What is deployed, and the hands on it that an operator has."""

    folder: Path
    aws: Json
    """What ``boto3.client(service, **this)`` needs."""
    groq: StandIn

    @cached_property
    def outputs(self) -> dict[str, str]:
        """What the stack says at the end of a deploy."""
        outputs: dict[str, str] = json.loads((self.folder / "outputs.json").read_text())[STACK]
        return outputs

    def boto(self, service: str) -> Any:
        """A client of one of AWS's services."""
        return boto.build(service, **self.aws)

    def deploy(self) -> str:
        """Deploy what was synthesised; what the CDK's command says."""
        outputs = str(self.folder / "outputs.json")
        return self.cdk("deploy", "--all", "--require-approval", "never", "--outputs-file", outputs, seconds=_DEPLOY_S)

    def synthesise(self, opensearch_url: str) -> None:
        """Make the template and the functions' code."""
        app = f"{sys.executable} -m infra.app"
        context = {
            "env": "local",
            "emulator": self.aws["endpoint_url"].removeprefix("http://"),
            "opensearch-url": opensearch_url,
            "groq-url": self.groq.url,
        }
        flags = [part for name, value in context.items() for part in ("-c", f"{name}={value}")]
        self.cdk("synth", "--quiet", *flags, app=app, seconds=_SYNTH_S)

    def cdk(self, *arguments: str, app: str | None = None, seconds: float) -> str:
        """Run the CDK's command, on what was synthesised unless an app is named."""
        where = ["--output", str(self.folder / "cdk.out")] if app else []
        command = [str(_CDK), *arguments, "--app", app or str(self.folder / "cdk.out"), *where]
        ended = subprocess.run(  # noqa: S603  # ours
            command, cwd=ROOT, env=self._environment(), capture_output=True, text=True, timeout=seconds, check=False
        )
        said = ended.stdout + ended.stderr
        assert ended.returncode == 0, said
        return said

    def _environment(self) -> dict[str, str]:
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "FOOTNOTE_", "GROQ_"))}
        return bare | {
            "AWS_ENDPOINT_URL": self.aws["endpoint_url"],
            "AWS_ACCESS_KEY_ID": self.aws["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": self.aws["aws_secret_access_key"],
            "AWS_REGION": self.aws["region_name"],
            "CDK_DISABLE_VERSION_CHECK": "1",
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        }

    def token(self, user: str, tenant: str) -> str:
        """Sign a user of a tenant in, made if there is none."""
        pool, cognito = self.outputs["UserPoolId"], self.boto("cognito-idp")
        attributes = {"custom:tenant": tenant, "email": f"{user}@example.com", "email_verified": "true"}
        with suppress(cognito.exceptions.UsernameExistsException):
            cognito.admin_create_user(
                UserPoolId=pool,
                Username=user,
                MessageAction="SUPPRESS",
                UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
            )
        cognito.admin_set_user_password(UserPoolId=pool, Username=user, Password=_PASSWORD, Permanent=True)
        signed_in = cognito.initiate_auth(
            ClientId=self.outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": user, "PASSWORD": _PASSWORD},
        )
        token: str = signed_in["AuthenticationResult"]["IdToken"]
        return token

    @contextmanager
    def client(self, user: str = "ada", tenant: str = "acme") -> Iterator[Client]:
        """A client, signed in."""
        token = self.token(user, tenant)
        with Client.of(self.outputs["Url"], socket_url=self.outputs["SocketUrl"], token=token, seconds=120) as client:
            yield client

    def use_groq(self, key: str) -> None:
        """Put Groq's key where the functions look for it."""
        self.boto("secretsmanager").put_secret_value(SecretId=self.outputs["GroqSecret"], SecretString=key)

    @contextmanager
    def slow_groq(self) -> Iterator[None]:
        """Let answers take their time."""
        self.groq.latency = Latency(first_token_s=LATENCY.first_token_s, token_s=0.3)
        yield
        self.groq.latency = LATENCY

    @contextmanager
    def spoilt(self, document_id: str) -> Iterator[None]:
        """Let a document's row in the table be none that can be read."""
        dynamodb = self.boto("dynamodb")
        (table,) = (name for name in dynamodb.list_tables()["TableNames"] if "Checkpoints" not in name)
        rows = dynamodb.get_paginator("scan").paginate(TableName=table)
        (row,) = (row for page in rows for row in page["Items"] if row["sk"]["S"] == document_id)
        dynamodb.put_item(TableName=table, Item={name: row[name] for name in ("pk", "sk")} | {"value": {"M": {}}})
        yield
        dynamodb.put_item(TableName=table, Item=row)

    def retry_files_after(self, seconds: int) -> None:
        """Bring what failed again after so long, not after half an hour."""
        self.boto("sqs").set_queue_attributes(QueueUrl=self.outputs["Files"], Attributes={"VisibilityTimeout": str(seconds)})

    def redrive(self) -> None:
        """Put what failed for good back; the emulator has no task for that."""
        sqs, failed = self.boto("sqs"), self.outputs["FailedFiles"]
        while messages := sqs.receive_message(QueueUrl=failed, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                sqs.send_message(QueueUrl=self.outputs["Files"], MessageBody=message["Body"])
                sqs.delete_message(QueueUrl=failed, ReceiptHandle=message["ReceiptHandle"])

    def waiting(self, queue: str) -> int:
        """Messages of a queue, those included that are being worked on."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.boto("sqs").get_queue_attributes(QueueUrl=self.outputs[queue], AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)

    def log(self) -> list[str]:
        """Everything that the functions have logged."""
        logs, lines = self.boto("logs"), []
        for group in logs.describe_log_groups(logGroupNamePrefix=f"/aws/lambda/{STACK}")["logGroups"]:
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group["logGroupName"])
            lines += [event["message"] for page in pages for event in page["events"]]
        return lines

    def kill(self, function: str) -> int:
        """Kill the processes in which a function runs, as a crash would; how many there were."""
        program = str(self.folder / f"ministack-lambda-{STACK}-{function}-")
        found = [one for one in psutil.process_iter(["cmdline"]) if program in " ".join(one.info["cmdline"] or [])]
        for process in found:
            process.kill()
        return len(found)


@contextmanager
def deployed(folder: Path, opensearch_url: str) -> Iterator[Deployment]:
    """Deploy the environment; it goes with the local AWS.

    Raises:
        Missing: this machine lacks something that it takes.
    """
    if shutil.which("node") is None or not _CDK.exists():
        raise Missing("the CDK's command is not here, which needs node: make e2e")
    with ExitStack() as stack:
        aws = stack.enter_context(aws_standin.emulator(folder))
        groq = stack.enter_context(StandIn(latency=LATENCY))
        deployment = Deployment(folder=folder, aws=aws, groq=groq)
        deployment.synthesise(opensearch_url)
        deployment.cdk("bootstrap", f"aws://000000000000/{aws['region_name']}", seconds=_DEPLOY_S)
        deployment.deploy()
        yield deployment
