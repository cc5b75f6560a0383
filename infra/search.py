"""Where passages are searched: a domain, a Serverless collection, or an OpenSearch that one already has."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

from aws_cdk import CustomResource, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_opensearchserverless as serverless
from aws_cdk import aws_opensearchservice as managed
from constructs import Construct

from infra.bundling import fingerprint
from infra.environments import Environment, ExternalSearch, ManagedSearch, ServerlessSearch
from infra.function import Function
from infra.reasons import accept

INDEX = "footnote"
_SCHEMA = ("ingestion/ensure_index.py", "graph/adapters/opensearch/schema.py")


class Search(Construct):
    """``url`` and ``variables`` are for functions that search; ``open_to`` lets them in."""

    url: str
    profile: Literal["managed", "serverless", "external"]
    engine: str = "faiss"

    @property
    def variables(self) -> dict[str, str]:
        """Settings of functions that search."""
        return {
            "FOOTNOTE_OPENSEARCH_URL": self.url,
            "FOOTNOTE_OPENSEARCH_INDEX": INDEX,
            "FOOTNOTE_OPENSEARCH_PROFILE": self.profile,
            "FOOTNOTE_OPENSEARCH_ENGINE": self.engine,
        }

    def open_to(self, functions: Sequence[Function], *, keeper: Function) -> None:
        """Let functions search and write, and have ``keeper`` make the index at deploy, or refuse one that does not fit."""
        for name, value in self.variables.items():
            keeper.function.add_environment(name, value)
        self._let_in([*functions, keeper])
        index = CustomResource(
            self,
            "Index",
            service_token=keeper.function.function_arn,
            resource_type="Custom::Index",
            # it runs again when one of these changes
            properties={
                "Index": INDEX,
                "Schema": fingerprint(_SCHEMA),
                "Settings": fingerprint((), *sorted(keeper.settings.values())),
                "Roles": [_role(function).role_arn for function in functions],
            },
            removal_policy=RemovalPolicy.RETAIN,
        )
        index.node.add_dependency(keeper, self)

    @abstractmethod
    def _let_in(self, functions: Sequence[Function]) -> None:
        """Allow requests."""


class Domain(Search):
    """An OpenSearch Service domain: requests are signed, and its own roles say who may do what."""

    profile = "managed"

    def __init__(self, scope: Construct, id_: str, *, environment: Environment, of: ManagedSearch, keeper: Function) -> None:
        super().__init__(scope, id_)
        self.engine = of.engine
        slow = self._logs(environment)
        self._domain = managed.Domain(
            self,
            "Domain",
            domain_name=f"footnote-{environment.name}",
            version=managed.EngineVersion.OPENSEARCH_3_5,
            capacity=managed.CapacityConfig(
                data_node_instance_type=of.instance_type,
                data_nodes=of.instances,
                master_nodes=of.masters or None,
                master_node_instance_type="m7g.medium.search" if of.masters else None,
                multi_az_with_standby_enabled=False,
            ),
            ebs=managed.EbsOptions(volume_size=of.volume_gb, volume_type=ec2.EbsDeviceVolumeType.GP3),
            zone_awareness=managed.ZoneAwarenessConfig(enabled=of.instances > 1, availability_zone_count=2)
            if of.instances > 1
            else None,
            encryption_at_rest=managed.EncryptionAtRestOptions(enabled=True),
            node_to_node_encryption=True,
            enforce_https=True,
            tls_security_policy=managed.TLSSecurityPolicy.TLS_1_2_PFS,
            fine_grained_access_control=managed.AdvancedSecurityOptions(master_user_arn=_role(keeper).role_arn),
            logging=managed.LoggingOptions(
                slow_search_log_enabled=True,
                slow_search_log_group=slow,
                slow_index_log_enabled=True,
                slow_index_log_group=slow,
            ),
            suppress_logs_resource_policy=True,  # CDK's own is made by a function in Node
            removal_policy=RemovalPolicy.RETAIN if environment.retains_data else RemovalPolicy.DESTROY,
        )
        self._domain.node.add_dependency(slow)
        accept(self._domain, _ACCEPTED_OF_DOMAIN)
        self.url = f"https://{self._domain.domain_endpoint}"

    def _logs(self, environment: Environment) -> logs.LogGroup:
        group = logs.LogGroup(
            self,
            "Slow",
            log_group_name=f"/aws/opensearch/footnote-{environment.name}",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        group.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("es.amazonaws.com")],
                actions=["logs:PutLogEvents", "logs:CreateLogStream"],
                resources=[group.log_group_arn],
            )
        )
        return group

    def _let_in(self, functions: Sequence[Function]) -> None:
        for function in functions:
            _role(function).add_to_principal_policy(
                iam.PolicyStatement(
                    actions=["es:ESHttpGet", "es:ESHttpHead", "es:ESHttpPost", "es:ESHttpPut", "es:ESHttpDelete"],
                    resources=[f"{self._domain.domain_arn}/*"],
                )
            )
            resource = Stack.of(self).get_logical_id(self._domain.node.default_child)  # type: ignore[arg-type]
            accept(
                function,
                {
                    f"AwsSolutions-IAM5[Resource::<{resource}.Arn>/*]":
                        "Searches of several indexes go to the domain's root; the domain's own role limits them to ours."
                },
            )  # fmt: skip


class Collection(Search):
    """An OpenSearch Serverless vector collection: its policies say who may do what."""

    profile = "serverless"

    def __init__(self, scope: Construct, id_: str, *, environment: Environment, of: ServerlessSearch) -> None:
        super().__init__(scope, id_)
        self._name = name = f"footnote-{environment.name}"
        encryption = self._policy("Encryption", "encryption", {"Rules": [_rule(name, "collection")], "AWSOwnedKey": True})
        network = self._policy(
            "Network", "network", [{"Rules": [_rule(name, "collection"), _rule(name, "dashboard")], "AllowFromPublic": True}]
        )
        self._collection = serverless.CfnCollection(
            self,
            "Collection",
            name=name,
            type="VECTORSEARCH",
            standby_replicas="ENABLED" if of.has_standby else "DISABLED",
        )
        self._collection.node.add_dependency(encryption, network)
        self._collection.apply_removal_policy(RemovalPolicy.RETAIN if environment.retains_data else RemovalPolicy.DESTROY)
        self.url = self._collection.attr_collection_endpoint

    def _policy(self, id_: str, type_: str, policy: object) -> serverless.CfnSecurityPolicy:
        return serverless.CfnSecurityPolicy(self, id_, name=self._name, type=type_, policy=json.dumps(policy))

    def _let_in(self, functions: Sequence[Function]) -> None:
        rules = [
            {
                "ResourceType": "index",
                "Resource": [f"index/{self._name}/{INDEX}*"],
                "Permission": [
                    "aoss:CreateIndex", "aoss:DescribeIndex", "aoss:UpdateIndex", "aoss:ReadDocument", "aoss:WriteDocument",
                ],
            },
            _rule(self._name, "collection") | {"Permission": ["aoss:DescribeCollectionItems", "aoss:CreateCollectionItems"]},
        ]  # fmt: skip
        roles = [_role(function).role_arn for function in functions]
        serverless.CfnAccessPolicy(
            self,
            "Access",
            name=self._name,
            type="data",
            policy=Stack.of(self).to_json_string([{"Rules": rules, "Principal": roles}]),
        )
        for function in functions:
            _role(function).add_to_principal_policy(
                iam.PolicyStatement(actions=["aoss:APIAccessAll"], resources=[self._collection.attr_arn])
            )


class External(Search):
    """An OpenSearch that one already has, and that lets the functions in."""

    profile = "external"

    def __init__(self, scope: Construct, id_: str, *, of: ExternalSearch) -> None:
        super().__init__(scope, id_)
        url = self.node.try_get_context("opensearch-url")
        if url is None:
            raise SystemExit("this environment uses an OpenSearch that one already has: add -c opensearch-url=https://HOST")
        self.url = url
        self.engine = of.engine

    def _let_in(self, functions: Sequence[Function]) -> None:
        """Nothing of ours decides."""


def search_of(scope: Construct, id_: str, *, environment: Environment, keeper: Function) -> Search:
    """The search that an environment names."""
    match environment.search:
        case ManagedSearch() as managed_search:
            return Domain(scope, id_, environment=environment, of=managed_search, keeper=keeper)
        case ServerlessSearch() as serverless_search:
            return Collection(scope, id_, environment=environment, of=serverless_search)
        case ExternalSearch() as external_search:
            return External(scope, id_, of=external_search)


def _rule(name: str, type_: str) -> dict[str, object]:
    return {"ResourceType": type_, "Resource": [f"collection/{name}"]}


def _role(function: Function) -> iam.IRole:
    role = function.function.role
    assert role is not None
    return role


_ACCEPTED_OF_DOMAIN = {
    "AwsSolutions-OS1": "Requests are signed and held to the domain's own roles; a VPC would cost an idle environment NAT.",
    "AwsSolutions-OS3": "As OS1: functions outside of a VPC have no addresses that a list could name.",
    "AwsSolutions-OS4": "An environment of one or two small nodes has no masters of its own; prod has three.",
    "AwsSolutions-OS5": "Without a policy of the domain only identities that are allowed by their own, and sign, get in.",
    "AwsSolutions-OS7": "An environment of one node has one zone; prod has two.",
}
