"""Where everything is kept: files in a bucket; threads, turns and documents in a table; the graph's checkpoints in another."""

from typing import Literal

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.environments import Environment
from infra.reasons import accept

UPLOADS = "uploads/"
CHECKPOINTS = "checkpoints/"


class Storage(Construct):
    """``bucket``, ``table`` and ``checkpoints``."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment) -> None:
        super().__init__(scope, id_)
        self._retains = environment.retains_data
        self._removal = RemovalPolicy.RETAIN if self._retains else RemovalPolicy.DESTROY
        self.bucket = self._bucket("Bucket", environment, access_log=self._bucket("AccessLog", environment, keeps_days=90))
        self.table = self._table("Table", "pk", "sk", "expires_at")
        self.checkpoints = self._table("Checkpoints", "PK", "SK", "ttl")

    def _bucket(
        self, id_: str, environment: Environment, *, access_log: s3.Bucket | None = None, keeps_days: int | None = None
    ) -> s3.Bucket:
        name: Literal["files", "access"] = "files" if access_log else "access"
        bucket = s3.Bucket(
            self,
            id_,
            bucket_name=bucket_name(environment, name),
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=access_log is not None,
            server_access_logs_bucket=access_log,
            server_access_logs_prefix="files/" if access_log else None,
            cors=[_cors(environment.origins)] if access_log and environment.origins else None,
            removal_policy=self._removal,
            lifecycle_rules=_LIFECYCLE if access_log else [s3.LifecycleRule(expiration=Duration.days(keeps_days or 90))],
        )
        if access_log is None:
            accept(bucket, {"AwsSolutions-S1": "It holds the access log of the other bucket."})
        return bucket

    def _table(self, id_: str, partition: str, sort: str, expiry: str) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            id_,
            partition_key=dynamodb.Attribute(name=partition, type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name=sort, type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            time_to_live_attribute=expiry,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(point_in_time_recovery_enabled=True),
            deletion_protection=self._retains,
            removal_policy=self._removal,
        )


def bucket_name(environment: Environment, what: Literal["files", "access"]) -> str:
    """Known before there is a bucket: the queue's policy names it, and must be there first."""
    return f"footnote-{environment.name}-{what}-{Aws.ACCOUNT_ID}-{Aws.REGION}"


def _cors(origins: tuple[str, ...]) -> s3.CorsRule:
    """Browsers upload to a presigned address."""
    methods = [s3.HttpMethods.POST, s3.HttpMethods.GET]
    return s3.CorsRule(allowed_methods=methods, allowed_origins=list(origins), allowed_headers=["*"], max_age=3600)


_LIFECYCLE = [
    s3.LifecycleRule(
        id="what was replaced or deleted",
        noncurrent_version_expiration=Duration.days(30),
        abort_incomplete_multipart_upload_after=Duration.days(1),
    ),
    s3.LifecycleRule(id="markers of what was deleted", expired_object_delete_marker=True),
    # the rows that point here expire by themselves after 90 days (THREAD_TTL_DAYS)
    s3.LifecycleRule(id="large checkpoints", prefix=CHECKPOINTS, expiration=Duration.days(120)),
]
