"""Files in, passages out: the bucket tells a queue, the queue a function, and what fails three times waits in another queue."""

from collections.abc import Mapping

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import bundling
from infra.environments import Environment
from infra.function import Function
from infra.storage import UPLOADS, bucket_name

_TIMEOUT_S = 300
_TRIES = 3
_DEFAULT_AT_ONCE = 5
_AT_LEAST = 2
"""Fewer invocations at once than this an event source mapping does not take."""


class Ingestion(Construct):
    """``function``, and the queues ``files`` and ``failed``."""

    def __init__(
        self, scope: Construct, id_: str, *, environment: Environment, bucket: s3.Bucket, variables: Mapping[str, str]
    ) -> None:
        super().__init__(scope, id_)
        self.function = Function(
            self,
            "ingestion",
            environment=environment,
            bundle=bundling.INGESTION,
            handler="ingestion.handler.handler",
            does="Parses, embeds and indexes the files of a batch of S3 events",
            variables=variables,
            memory_mb=3008,
            timeout_s=_TIMEOUT_S,
        )
        self.failed = sqs.Queue(
            self,
            "Failed",
            queue_name=f"footnote-{environment.name}-files-failed",
            retention_period=Duration.days(14),
            enforce_ssl=True,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
        )
        self.files = sqs.Queue(
            self,
            "Files",
            queue_name=f"footnote-{environment.name}-files",
            visibility_timeout=Duration.seconds(6 * _TIMEOUT_S),  # AWS's advice: a batch that is throttled is tried again
            retention_period=Duration.days(4),
            enforce_ssl=True,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.failed, max_receive_count=_TRIES),
        )
        self._hear(bucket, environment)
        at_once = environment.concurrency.get("ingestion", _DEFAULT_AT_ONCE)
        self.function.function.add_event_source(
            sources.SqsEventSource(
                self.files,
                batch_size=10,
                max_batching_window=Duration.seconds(1),
                report_batch_item_failures=True,
                max_concurrency=max(_AT_LEAST, at_once),
            )
        )

    def _hear(self, bucket: s3.Bucket, environment: Environment) -> None:
        """Uploads and removals go to the queue.

        Said in the bucket itself: CDK's way there is a function that does it after the deploy.
        """
        self.files.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("s3.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self.files.queue_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": f"arn:{Aws.PARTITION}:s3:::{bucket_name(environment, 'files')}"},
                },
            )
        )
        resource = bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)
        of_uploads = s3.CfnBucket.NotificationFilterProperty(
            s3_key=s3.CfnBucket.S3KeyFilterProperty(rules=[s3.CfnBucket.FilterRuleProperty(name="prefix", value=UPLOADS)])
        )
        resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[
                s3.CfnBucket.QueueConfigurationProperty(event=event, queue=self.files.queue_arn, filter=of_uploads)
                for event in ("s3:ObjectCreated:*", "s3:ObjectRemoved:*")
            ]
        )
        resource.node.add_dependency(self.files)  # S3 tries the queue out when it is told
