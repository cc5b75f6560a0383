"""Requests that CloudWatch takes traces by: signed with the credentials of the environment."""

from typing import Any

import requests
from boto3.session import Session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from requests.auth import AuthBase

_SERVICE = "xray"


class _Signature(AuthBase):
    """Signature version 4, with the credentials that are valid at the time."""

    def __init__(self) -> None:
        self._session = Session()

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        credentials: Any = self._session.get_credentials()
        signed = AWSRequest(request.method, request.url, {"content-type": request.headers["content-type"]}, request.body)
        SigV4Auth(credentials, _SERVICE, self._session.region_name).add_auth(signed)
        request.headers.update(dict(signed.headers.items()))
        return request


def signed_session() -> requests.Session:
    """A session all of whose requests are signed."""
    session = requests.Session()
    session.auth = _Signature()
    return session
