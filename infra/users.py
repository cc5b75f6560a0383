"""Who may ask: a Cognito user pool of our own, or an issuer that one already has."""

from dataclasses import dataclass

from aws_cdk import Aws, CfnOutput, Duration, RemovalPolicy
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.environments import Environment, OpenId, OwnUsers
from infra.places import Places
from infra.reasons import accept


@dataclass(frozen=True, kw_only=True)
class Issuer:
    """Whose tokens are believed."""

    url: str
    audience: str
    keys: str
    tenant_claim: str
    groups_claim: str

    @property
    def claims(self) -> dict[str, str]:
        """Settings of functions that read claims which somebody else has verified."""
        return {"FOOTNOTE_AUTH_TENANT_CLAIM": self.tenant_claim, "FOOTNOTE_AUTH_GROUPS_CLAIM": self.groups_claim}

    @property
    def variables(self) -> dict[str, str]:
        """Settings of functions that verify tokens."""
        return self.claims | {
            "FOOTNOTE_AUTH_ISSUER": self.url,
            "FOOTNOTE_AUTH_AUDIENCE": self.audience,
            "FOOTNOTE_AUTH_JWKS_URL": self.keys,
        }


class UserPool(Construct):
    """A pool whose users have a tenant that only an administrator gives them."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment, places: Places) -> None:
        super().__init__(scope, id_)
        pool = cognito.UserPool(
            self,
            "Pool",
            user_pool_name=f"footnote-{environment.name}",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(username=True, email=True),
            custom_attributes={"tenant": cognito.StringAttribute(mutable=True, min_len=1, max_len=64)},
            password_policy=cognito.PasswordPolicy(
                min_length=12, require_digits=True, require_lowercase=True, require_uppercase=True, require_symbols=True
            ),
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(sms=False, otp=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            deletion_protection=environment.retains_data,
            removal_policy=RemovalPolicy.RETAIN if environment.retains_data else RemovalPolicy.DESTROY,
        )
        client = pool.add_client(
            "Client",
            auth_flows=cognito.AuthFlow(user_srp=True, user_password=True),
            id_token_validity=Duration.hours(1),
            access_token_validity=Duration.hours(1),
            prevent_user_existence_errors=True,
            disable_o_auth=True,
            # every attribute is writable where nothing is said: a user could move to another tenant
            write_attributes=cognito.ClientAttributes().with_standard_attributes(email=True),
        )
        accept(pool, _ACCEPTED)
        CfnOutput(self, "PoolId", value=pool.user_pool_id).override_logical_id("UserPoolId")
        CfnOutput(self, "ClientId", value=client.user_pool_client_id).override_logical_id("UserPoolClientId")
        self.issuer = Issuer(
            url=f"https://cognito-idp.{Aws.REGION}.{Aws.URL_SUFFIX}/{pool.user_pool_id}",
            audience=client.user_pool_client_id,
            keys=places.keys(pool.user_pool_id),
            tenant_claim="custom:tenant",
            groups_claim="cognito:groups",
        )


def issuer_of(scope: Construct, id_: str, *, environment: Environment, places: Places) -> Issuer:
    """The issuer that an environment names."""
    match environment.users:
        case OwnUsers():
            return UserPool(scope, id_, environment=environment, places=places).issuer
        case OpenId() as known:
            return Issuer(
                url=known.issuer,
                audience=known.audience,
                keys=known.keys,
                tenant_claim=known.tenant_claim,
                groups_claim=known.groups_claim,
            )


_ACCEPTED = {
    "AwsSolutions-COG2": "A second factor is each user's choice; an organisation that demands one has an issuer of its own.",
    "AwsSolutions-COG3": "Threat protection costs per user and month; switch it on in the console where it is wanted.",
    "AwsSolutions-COG8": "As COG3: it comes with the pool's dearest plan.",
}
