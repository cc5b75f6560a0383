"""Who may do what: each grant names its actions, and the least of a resource that they need."""

from collections.abc import Iterable

from aws_cdk import Aws, Stack
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from infra.environments import Embedder
from infra.function import Function
from infra.reasons import accept

READS_ROWS = ("dynamodb:GetItem", "dynamodb:Query")
ROWS = (*READS_ROWS, "dynamodb:PutItem", "dynamodb:DeleteItem")
ROWS_IN_BULK = (*ROWS, "dynamodb:BatchGetItem", "dynamodb:BatchWriteItem")
READS_OBJECTS = ("s3:GetObject", "s3:GetObjectVersion")
OBJECTS = (*READS_OBJECTS, "s3:PutObject", "s3:DeleteObject")
_BEDROCK = {
    "bedrock-titan-v2": "amazon.titan-embed-text-v2:0",
    "bedrock-cohere-multilingual": "cohere.embed-multilingual-v3",
}


def allow_rows(functions: Iterable[Function], actions: Iterable[str], table: dynamodb.Table) -> None:
    """Use a table's rows."""
    for function in functions:
        _allow(function, actions, [table.table_arn])


def allow_objects(function: Function, actions: Iterable[str], bucket: s3.Bucket, prefix: str) -> None:
    """Use a bucket's objects below a prefix, and find out that one is not there."""
    _allow(function, actions, [bucket.arn_for_objects(f"{prefix}*")])
    _allow(function, ["s3:ListBucket"], [bucket.bucket_arn], conditions={"StringLike": {"s3:prefix": [f"{prefix}*"]}})
    rule = f"AwsSolutions-IAM5[Resource::<{_id(bucket)}.Arn>/{prefix}*]"
    accept(function, {rule: "Objects have names that nobody knows before; the prefix is theirs alone."})


def allow_secret(functions: Iterable[Function], secret: str) -> None:
    """Read a secret's value."""
    for function in functions:
        _allow(function, ["secretsmanager:GetSecretValue"], [secret])


def allow_posts(functions: Iterable[Function], api: gateway.WebSocketApi, stage: str) -> None:
    """Send to connections, and close them."""
    arn = f"arn:{Aws.PARTITION}:execute-api:{Aws.REGION}:{Aws.ACCOUNT_ID}:{api.api_id}/{stage}/POST/@connections/*"
    rule = (
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:"
        f"<{_id(api)}>/{stage}/POST/@connections/*]"
    )
    for function in functions:
        _allow(function, ["execute-api:ManageConnections"], [arn])
        accept(function, {rule: "A connection has an id that the gateway gives it."})


def allow_invocation(functions: Iterable[Function], of: Function) -> None:
    """Invoke a function the way others are meant to."""
    for function in functions:
        _allow(function, ["lambda:InvokeFunction"], [of.entry.function_arn])


def allow_embedding(functions: Iterable[Function], embedder: Embedder) -> None:
    """Call the embedding model, where it is one of Bedrock's."""
    if embedder in _BEDROCK:
        arn = f"arn:{Aws.PARTITION}:bedrock:{Aws.REGION}::foundation-model/{_BEDROCK[embedder]}"
        for function in functions:
            _allow(function, ["bedrock:InvokeModel"], [arn])


def _allow(function: Function, actions: Iterable[str], resources: list[str], **more: object) -> None:
    statement = iam.PolicyStatement(actions=list(actions), resources=resources, **more)  # type: ignore[arg-type]
    function.function.add_to_role_policy(statement)


def _id(construct: IConstruct) -> str:
    return Stack.of(construct).get_logical_id(construct.node.default_child)  # type: ignore[arg-type]
