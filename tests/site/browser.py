"""A page of the built site in Debian's chromium, for the tests: what went wrong, what axe finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from notebooks.kit.notebooks import ROOT

AXE = ROOT / "build" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
STILL = "document.getAnimations().length === 0"
# Words in the same colour on the same ground, large or not, have the same contrast: axe looks at three of each kind.
CONTRAST = """async () => {
  const grounds = new Map([[null, '']]), kinds = new Map();
  const seeable = {opacityProperty: true, visibilityProperty: true};
  for (const e of document.querySelectorAll('html, body, body *')) {
    const {color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight} = getComputedStyle(e);
    const below = grounds.get(e.parentElement), clear = backgroundColor === 'rgba(0, 0, 0, 0)';
    const covers = backgroundColor.startsWith('rgb('), plain = backgroundImage === 'none' && opacity === '1';
    const ground = plain && covers ? '' : below;
    grounds.set(e, plain && clear ? below : [ground, backgroundColor, backgroundImage, opacity].join());
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility(seeable)) continue;
    const large = parseFloat(fontSize) >= (fontWeight >= 700 ? 56 / 3 : 24);
    const kind = [color, large, grounds.get(e)].join();
    kinds.set(kind, [...(kinds.get(kind) || []), e].slice(0, 3));
  }
  const options = {runOnly: ['color-contrast'], preload: false};
  const {violations} = await axe.run({include: [...kinds.values()].flat()}, options);
  return violations.flatMap(v => v.nodes.map(n => n.html.slice(0, 120)));
}"""
RULES = """async () => {
  const rules = {'color-contrast': {enabled: false}, 'target-size': {enabled: true}};
  const {violations} = await axe.run(document, {rules, preload: false, resultTypes: ['violations']});
  return violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120)));
}"""


@dataclass
class Site:
    """A browser page, the site's address and folder, what went wrong since `open`."""

    page: object
    base: str
    folder: Path
    wrong: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Take down errors of the console and requests that leave this machine."""
        page = self.page
        page.on(
            "console", lambda m: self.wrong.append(f"console: {m.text}") if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        page.on(
            "request",
            lambda r: None if self.base in r.url else self.wrong.append(f"request: {r.url}"),
        )
        page.on("requestfailed", self._failed)
        page.on("response", lambda r: self.wrong.append(f"{r.status}: {r.url}") if r.status >= 400 else None)

    def _failed(self, request: object) -> None:
        """Take down a request without answer, unless the page was left before it came."""
        if request.failure != "net::ERR_ABORTED":
            self.wrong.append(f"failed: {request.url}")

    def open(self, path: str) -> None:
        """Load a page of the site."""
        self.wrong.clear()
        self.page.goto(self.base + path)

    def until(self, condition: str, seconds: float = 20) -> None:
        """Wait until a JavaScript condition holds (playwright's own wait needs eval, which the policy forbids)."""
        for _ in range(int(seconds * 50)):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{self.page.url}: after {seconds} s still not {condition}")

    def axe(self, script: str) -> list[str]:
        """Run a script that calls axe in the page, where axe is put first; what that logs or fetches does not count."""
        if not self.page.evaluate("typeof axe !== 'undefined'"):
            before = list(self.wrong)
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
            self.wrong[:] = before
        return self.page.evaluate(script)

    def violations(self) -> list[str]:
        """Return what axe finds by all its rules but the one for contrast."""
        return self.axe(RULES)

    def faint(self) -> list[str]:
        """Return the words that axe finds too faint on their ground."""
        return self.axe(CONTRAST)

    def look(self, size: dict[str, int], scheme: str = "light") -> None:
        """Set the window's size and the reader's colours, and wait until the change is over."""
        self.page.set_viewport_size(size)
        self.page.emulate_media(color_scheme=scheme)
        self.page.evaluate(PAINTED)
        self.until(f"(document.documentElement.dataset.theme || '{scheme}') === '{scheme}' && {STILL}")

    def show(self, selector: str) -> None:
        """Scroll to the first thing that the selector finds."""
        self.page.evaluate(f"document.querySelector('{selector}').scrollIntoView({{behavior: 'instant'}})")
