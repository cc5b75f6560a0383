"""One environment, whole: what there is, and who may do what with it."""

from aws_cdk import CfnOutput, Stack, Tags
from aws_cdk import aws_secretsmanager as secrets
from constructs import Construct

from infra import bundling, grants
from infra.chat import HttpDoor, SocketDoor, Worker
from infra.environments import Environment
from infra.function import Function
from infra.ingestion import Ingestion
from infra.observability import Observability
from infra.places import STAGE, Places
from infra.reasons import accept
from infra.search import search_of
from infra.storage import CHECKPOINTS, UPLOADS, Storage
from infra.users import issuer_of


class Footnote(Stack):
    """An environment."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment) -> None:
        super().__init__(scope, id_, stack_name=f"footnote-{environment.name}", termination_protection=environment.retains_data)
        Tags.of(self).add("footnote", environment.name)
        places = Places(environment.addresses, self.node)

        self.storage = Storage(self, "Storage", environment=environment)
        self.issuer = issuer_of(self, "Users", environment=environment, places=places)
        self.groq = self._groq(environment)
        self.keeper = self._keeper(environment)
        self.search = search_of(self, "Search", environment=environment, keeper=self.keeper)
        self.socket = SocketDoor(self, "Socket", environment=environment, places=places)

        table = {"FOOTNOTE_TABLE": self.storage.table.table_name}
        stores = table | {"FOOTNOTE_BUCKET": self.storage.bucket.bucket_name} | self.search.variables
        traced = places.tracing()
        replies = {"FOOTNOTE_CALLBACK_URL": self.socket.callback}
        answers = {
            "FOOTNOTE_CHECKPOINTS_TABLE": self.storage.checkpoints.table_name,
            "FOOTNOTE_GROQ_SECRET": self.groq.ref,
            **self._groq_address(),
        }

        self.ingestion = Ingestion(
            self, "Ingestion", environment=environment, bucket=self.storage.bucket, variables=stores | traced
        )
        self.worker = Worker(self, "Worker", environment=environment, variables=stores | replies | answers | traced)
        worker = {"FOOTNOTE_WORKER": self.worker.function.entry.function_arn}
        self.http = HttpDoor(
            self, "Http", environment=environment, places=places, issuer=self.issuer, variables=stores | worker
        )
        self.socket.open(issuer=self.issuer, connecting=table | worker | replies, authorizing=table)

        self._grant(environment)
        Observability(
            self,
            "Observability",
            environment=environment,
            storage=self.storage,
            ingestion=self.ingestion,
            worker=self.worker,
            http=self.http,
            socket=self.socket,
        )
        self._say()

    def _groq(self, environment: Environment) -> secrets.CfnSecret:
        """A secret without a value: until somebody puts the key there, answers are extractive and say so."""
        secret = secrets.CfnSecret(self, "Groq", name=f"footnote-{environment.name}/groq", description="Groq's API key")
        accept(secret, {"AwsSolutions-SMG4": "Groq's keys are made in its console; a new value is used without a deploy."})
        return secret

    def _groq_address(self) -> dict[str, str]:
        """Another address that speaks Groq's API, if the context names one."""
        url = self.node.try_get_context("groq-url")
        return {"GROQ_BASE_URL": url} if url else {}

    def _keeper(self, environment: Environment) -> Function:
        return Function(
            self,
            "index",
            environment=environment,
            bundle=bundling.INGESTION,
            handler="ingestion.ensure_index.handler",
            does="Makes the passage index at deploy, or refuses one that does not fit",
            variables={},
            timeout_s=300,
        )

    def _grant(self, environment: Environment) -> None:
        """Every right that a function has, but those to its log, its trace and its queue."""
        storage, ingestion, worker, sweeper = self.storage, self.ingestion.function, self.worker.function, self.worker.sweeper
        api, websocket, authorizer = self.http.function, self.socket.function, self.socket.authorizer

        self.search.open_to([api, worker, sweeper, ingestion], keeper=self.keeper)
        grants.allow_rows([api, worker, sweeper, ingestion, websocket], grants.ROWS, storage.table)
        grants.allow_rows([authorizer], ("dynamodb:GetItem", "dynamodb:PutItem"), storage.table)
        grants.allow_rows([worker, sweeper], grants.ROWS_IN_BULK, storage.checkpoints)
        grants.allow_objects(api, grants.OBJECTS, storage.bucket, UPLOADS)
        grants.allow_objects(ingestion, grants.READS_OBJECTS, storage.bucket, UPLOADS)
        for function in (worker, sweeper):
            grants.allow_objects(function, grants.OBJECTS, storage.bucket, CHECKPOINTS)
        grants.allow_secret([worker, sweeper], self.groq.ref)
        grants.allow_posts([worker, sweeper, websocket], self.socket.api, STAGE)
        grants.allow_invocation([api, websocket], of=worker)
        grants.allow_embedding([api, worker, ingestion], environment.embedder)

    def _say(self) -> None:
        """What an operator needs to know, at the end of a deploy."""
        outputs = {
            "Url": self.http.url,
            "SocketUrl": self.socket.url,
            "Bucket": self.storage.bucket.bucket_name,
            "GroqSecret": self.groq.ref,
            "Files": self.ingestion.files.queue_url,
            "FailedFiles": self.ingestion.failed.queue_url,
            "Issuer": self.issuer.url,
        }
        for name, value in outputs.items():
            CfnOutput(self, f"Output{name}", value=value).override_logical_id(name)
