"""Questions in, answers out: an HTTP API, a WebSocket API, and the worker that runs the turns of both."""

import json
from collections.abc import Mapping

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda_destinations as destinations
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import bundling
from infra.environments import Environment
from infra.function import Function
from infra.places import STAGE, Places
from infra.reasons import accept
from infra.users import Issuer

_GATEWAY_S = 29
"""The gateway waits no longer."""
_WORKER_S = 180
"""A turn's 120 s (TURN_SECONDS), and what it takes to save it."""
_ACTIONS = ("ask", "resume", "cancel", "replay", "ping")
_PUBLIC = ("/health", "/openapi.json", "/docs")
_LOGGED = ("requestId", "requestTime", "routeKey", "status", "responseLatency", "integration.error", "authorizer.error")
"""Of each request; whose it is, and what it asks, is not logged."""
_METHODS = [method for method in gateway.HttpMethod if method not in (gateway.HttpMethod.ANY, gateway.HttpMethod.OPTIONS)]
"""All but that which browsers ask with before they have a token: the gateway answers it."""


class Worker(Construct):
    """``function`` runs turns; ``sweeper`` ends those whose worker is gone, each minute and whenever an invocation fails."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment, variables: Mapping[str, str]) -> None:
        super().__init__(scope, id_)
        self.function = Function(
            self,
            "worker",
            environment=environment,
            bundle=bundling.WORKER,
            handler="functions.worker.handler.handler",
            does="Runs a turn and sends its events to the turn's connection",
            variables=variables,
            memory_mb=1769,  # one processor
            timeout_s=_WORKER_S,
        )
        self.sweeper = Function(
            self,
            "sweeper",
            environment=environment,
            bundle=bundling.WORKER,
            handler="functions.worker.handler.handler",
            does="Ends turns whose worker is gone",
            variables=variables,
            memory_mb=512,
            timeout_s=60,
        )
        self.function.entry.configure_async_invoke(
            max_event_age=Duration.minutes(5),
            retry_attempts=1,
            on_failure=destinations.LambdaDestination(self.sweeper.function),
        )
        accept(
            self.function,
            {
                f"AwsSolutions-IAM5[Resource::<{_logical_id(self.sweeper)}.Arn>:*]":
                    "CDK lets a destination be invoked in any version; there is one."
            },
        )  # fmt: skip
        events.Rule(
            self,
            "EachMinute",
            rule_name=f"footnote-{environment.name}-sweep",
            schedule=events.Schedule.rate(Duration.minutes(1)),
            targets=[
                targets.LambdaFunction(
                    self.sweeper.function, event=events.RuleTargetInput.from_object({"do": "sweep"}), retry_attempts=0
                )
            ],
        )


def _logical_id(function: Function) -> str:
    return Stack.of(function).get_logical_id(function.function.node.default_child)  # type: ignore[arg-type]


class HttpDoor(Construct):
    """The HTTP API. The gateway verifies tokens; few paths need none."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        places: Places,
        issuer: Issuer,
        variables: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id_)
        self.function = Function(
            self,
            "api",
            environment=environment,
            bundle=bundling.API,
            handler="functions.api.handler.handler",
            does="Answers HTTP requests; turns are run by the worker",
            variables=issuer.claims | dict(variables),
            memory_mb=1769,
            timeout_s=_GATEWAY_S,
        )
        self.api = gateway.HttpApi(
            self,
            "Api",
            api_name=f"footnote-{environment.name}",
            create_default_stage=False,
            cors_preflight=_cors(environment.origins),
        )
        integration = integrations.HttpLambdaIntegration("Lambda", self.function.entry)
        signed = authorizers.HttpJwtAuthorizer("Tokens", issuer.url, jwt_audience=[issuer.audience])
        self.api.add_routes(path="/{path+}", methods=_METHODS, integration=integration, authorizer=signed)
        for path in _PUBLIC:
            for route in self.api.add_routes(path=path, methods=[gateway.HttpMethod.GET], integration=integration):
                accept(route, {"AwsSolutions-APIG4": "It says nothing of anybody: health, and how the API is used."})
        self._stage(environment)
        self.url = places.http(self.api.api_id)

    def _stage(self, environment: Environment) -> None:
        log = logs.LogGroup(
            self,
            "Access",
            log_group_name=f"/aws/apigateway/footnote-{environment.name}-http",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        stage = gateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=_throttle(environment),
            detailed_metrics_enabled=True,
        ).node.default_child
        assert isinstance(stage, gateway.CfnStage)
        stage.access_log_settings = gateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=log.log_group_arn, format=json.dumps({name: f"$context.{name}" for name in _LOGGED})
        )


class SocketDoor(Construct):
    """The WebSocket API: each action is a route, all of them of one function, which hands turns to the worker."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment, places: Places) -> None:
        super().__init__(scope, id_)
        self._environment = environment
        self.api = gateway.WebSocketApi(
            self, "Api", api_name=f"footnote-{environment.name}-ws", route_selection_expression="$request.body.action"
        )
        self._stage = gateway.WebSocketStage(
            self,
            "Stage",
            web_socket_api=self.api,
            stage_name=STAGE,
            auto_deploy=True,
            throttle=_throttle(environment),
            detailed_metrics_enabled=True,
        )
        accept(
            self._stage,
            {
                "AwsSolutions-APIG1":
                    "It needs a role in the account's own settings, which no environment owns; the function logs connections."
            },
        )  # fmt: skip
        self.url = places.socket(self.api.api_id)
        self.callback = places.callback(self.api.api_id)

    def open(self, *, issuer: Issuer, connecting: Mapping[str, str], authorizing: Mapping[str, str]) -> None:
        """Give it its routes: the functions' settings name this API and the worker, which has this API in its own."""
        self.function = Function(
            self,
            "websocket",
            environment=self._environment,
            bundle=bundling.WEBSOCKET,
            handler="functions.websocket.handler.handler",
            does="Takes the frames of WebSocket clients and hands turns to the worker",
            variables=issuer.claims | dict(connecting),
        )
        self.authorizer = Function(
            self,
            "authorizer",
            environment=self._environment,
            bundle=bundling.AUTHORIZER,
            handler="functions.authorizer.handler.handler",
            does="Lets a WebSocket client in by its token or ticket",
            variables=issuer.variables | dict(authorizing),
            timeout_s=10,
        )
        # no identity source: a request that lacks one of several would be refused before the function sees it
        lets_in = authorizers.WebSocketLambdaAuthorizer("TokenOrTicket", self.authorizer.entry, identity_source=[])
        for route in ("$connect", "$disconnect", "$default", *_ACTIONS):
            integration = integrations.WebSocketLambdaIntegration(f"To{route.strip('$').title()}", self.function.entry)
            made = self.api.add_route(
                route, integration=integration, authorizer=lets_in if route == "$connect" else None, return_response=False
            )
            if route != "$connect":
                accept(made, {"AwsSolutions-APIG4": "A connection is let in once, by $connect; its messages carry who it is."})


def _cors(origins: tuple[str, ...]) -> gateway.CorsPreflightOptions | None:
    if not origins:
        return None
    return gateway.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_headers=["authorization", "content-type", "prefer", "last-event-id"],
        allow_methods=[gateway.CorsHttpMethod.ANY],
        max_age=Duration.hours(1),
    )


def _throttle(environment: Environment) -> gateway.ThrottleSettings:
    rate = environment.requests_per_second
    return gateway.ThrottleSettings(rate_limit=rate, burst_limit=2 * rate)
