"""Metrics of files, as CloudWatch reads them from the log (EMF)."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from ingestion.settled import Settled


def emit(settled: Sequence[Settled]) -> None:
    """``Files`` by status, ``retried`` where another try may help, and ``IngestionLag``: from upload to ready, in seconds."""
    namespace = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Footnote")
    for one in settled:
        status = "retried" if one.error else one.record["status"] if one.record else None
        if status is None:
            continue
        with single_metric("Files", MetricUnit.Count, 1, namespace=namespace) as metric:
            metric.add_dimension("status", status)
        if status == "ready" and (lag := _lag_s(one.change.happened_at)) is not None:
            with single_metric("IngestionLag", MetricUnit.Seconds, lag, namespace=namespace):
                pass


def _lag_s(happened_at: str) -> float | None:
    try:
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(happened_at)).total_seconds())
    except (ValueError, TypeError):  # no time, or one that names no zone
        return None
