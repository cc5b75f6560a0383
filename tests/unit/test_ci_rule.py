"""The rule of tests/conftest.py."""

import pytest

pytest_plugins = ["pytester"]


def test_a_skip_fails_in_ci(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    pytester.makeconftest((request.config.rootpath / "tests" / "conftest.py").read_text())
    pytester.makepyfile("import pytest\ndef test_one():\n    pytest.skip('no such part')\n")
    monkeypatch.delenv("CI", raising=False)
    pytester.runpytest_inprocess("-p", "no:asyncio").assert_outcomes(skipped=1)
    monkeypatch.setenv("CI", "true")
    pytester.runpytest_inprocess("-p", "no:asyncio").assert_outcomes(failed=1)
