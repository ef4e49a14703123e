"""Eight pages in Firefox, where it is installed (Debian: firefox-esr), driven over WebDriver BiDi."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import websocket

from tests.built_site import built, served

pytestmark = pytest.mark.browser
PAGES = ("en/index", "en/01_evaluation", "zh/02_metrics", "en/differences", "zh/ask", "en/try", "en/score", "zh/search")
PREFERENCES = {  # Firefox itself reaches nothing but this machine: all else goes to a proxy that is not there
    "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "network.proxy.no_proxies_on": "127.0.0.1",
    "app.update.enabled": False,
}  # fmt: skip
UNTIL = "new Promise((done) => { const look = () => (%s ? done() : setTimeout(look, 20)); look(); })"


class Firefox:
    """A page of Firefox, and what it logged."""

    def __init__(self, address: str) -> None:
        """Begin a session."""
        self.line = websocket.create_connection(address + "/session", timeout=60, suppress_origin=True)
        self.ids, self.errors = count(1), list[str]()
        self.send("session.new", capabilities={})
        self.page = self.send("browsingContext.create", type="window")["context"]  # the first one never has the focus
        self.send("session.subscribe", events=["log.entryAdded"])

    def send(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and return its result; errors that the page logs meanwhile are kept."""
        number = next(self.ids)
        self.line.send(json.dumps({"id": number, "method": method, "params": params}))
        while (answer := json.loads(self.line.recv())).get("id") != number:
            if answer["method"] == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(answer["params"]["text"])
        assert answer["type"] == "success", answer
        return answer["result"]

    def run(self, script: str) -> Any:
        """Return what a script in the page gives, or the promise that it gives."""
        target = {"context": self.page}
        result = self.send("script.evaluate", expression=script, target=target, awaitPromise=True)
        assert result["type"] == "success", (script, result)
        return result["result"].get("value")

    def type(self, text: str) -> None:
        """Press keys."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.send("input.performActions", context=self.page, actions=[{"type": "key", "id": "keys", "actions": keys}])


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Firefox without a window, in a fresh profile."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if not program:
        pytest.skip("Firefox is not installed: apt install firefox-esr")
    profile = tmp_path_factory.mktemp("profile")
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        yield Firefox(next(found[0] for line in process.stderr if (found := re.search(r"ws://\S+", line))))
        process.terminate()


def test_pages_work_in_firefox(firefox: Firefox):
    """In Firefox a page would log an error, its search find nothing, or its colours not change."""
    with served(built()) as base:
        for page in PAGES:
            firefox.send("browsingContext.navigate", context=firefox.page, url=f"{base}{page}.html", wait="complete")
            firefox.run("document.querySelector('button.search-button-field').click()")
            firefox.type("nDCG")
            firefox.run(UNTIL % "document.querySelector('#search-results li a, dialog[open] .search-quick li a')")
            firefox.run("document.querySelector('dialog[open] .search-close')?.click()")
            for theme in ("dark", "light"):
                firefox.run(f"document.querySelector('.theme-change-button[data-mode={theme}]').click()")
                firefox.run(UNTIL % f"document.documentElement.dataset.theme === '{theme}'")
            assert firefox.errors == [], page
