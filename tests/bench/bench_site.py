"""How soon a page of the site can be used, what its loading costs a phone, how long a key of the widget takes.

`python -m tests.bench.bench_site` prints JSON and writes nothing. The site is built first, or is the one in the folder
that EVAL_SITE names. It is served by this machine; Chromium runs already, and has an empty cache for each load.

A page can be used when its deferred scripts have run (DOMContentLoaded has ended) and, where there is a widget, when
that says so. The widget holds three rankings of twenty documents; a key moves one of them by a rank. Key, style,
layout and paint run in one frame of the main thread: the clock starts in the frame's first callback and stops in the
first task after it was painted. A phone has a quarter of this processor's speed; its main thread is blocked by what a
task takes beyond 50 milliseconds.
"""

import json
import shutil
import statistics
from collections.abc import Sequence
from typing import Any

from notebooks.kit.notebooks import LANGUAGES
from tests.built_site import built, served
from tests.site.browser import FLAGS, PHONE, WIDE

PAGES = ("index", "01_evaluation", "02_metrics", "06_scaling_up", "try")
ROUNDS = 5
NOTE_READY = """new MutationObserver((_, seen) => {
  if (!document.querySelector('.try.ready')) return;
  window.widgetReady = performance.now();
  seen.disconnect();
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['class']});"""
READY = """new Promise(done => {
  const look = () => document.querySelector('.try.ready') ? done() : requestAnimationFrame(look);
  look();
})"""
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd > 0"
TIMES = """() => {
  const {domContentLoadedEventEnd} = performance.getEntriesByType('navigation')[0];
  return Math.max(domContentLoadedEventEnd, window.widgetReady || 0);
}"""
MOVES = """async count => {
  const key = name => document.activeElement.dispatchEvent(
    new KeyboardEvent('keydown', {key: name, shiftKey: true, bubbles: true, cancelable: true}));
  const frame = name => new Promise(done => requestAnimationFrame(() => {
    const start = performance.now(), channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - start);
    if (name) key(name);
    channel.port2.postMessage(0);
  }));
  document.querySelector('.try-retrieved button').focus();
  const times = {nothing: [], move: []};
  for (let i = 0; i < count; i += 1) {
    times.nothing.push(await frame(''));
    times.move.push(await frame(i % 2 ? 'ArrowLeft' : 'ArrowRight'));
  }
  return times;
}"""
NOTE_TASKS = """window.blocked = 0;
new PerformanceObserver(list => list.getEntries().forEach(task => { blocked += task.duration - 50; }))
  .observe({type: 'longtask', buffered: true});"""
TWENTY = "_".join(f"{number}.{number % 2}" for number in range(20))


def summary(values: list[float]) -> dict[str, float]:
    """Return median, nineteen of twenty, and highest, in milliseconds."""
    ordered = sorted(values)
    figures = {"median": statistics.median(values), "95 %": ordered[int(0.95 * len(ordered))], "highest": ordered[-1]}
    return {name: round(value, 1) for name, value in figures.items()}


def loaded(browser: Any, address: str, slower: int, script: str, result: str) -> float:
    """Load a page with an empty cache, a script running before its own; return what a JavaScript expression gives."""
    context = browser.new_context(viewport=WIDE if slower == 1 else PHONE)  # with a cache of its own
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.add_init_script(script)
    page.goto(address)
    page.wait_for_function(LOADED)
    page.wait_for_timeout(1000 if slower > 1 else 0)  # in which what is begun at load comes to its end
    value = float(page.evaluate(result))
    context.close()
    return value


def measure(pages: Sequence[str] = PAGES, rounds: int = ROUNDS) -> dict[str, dict[str, dict[str, float]]]:
    """Load each page several times with an empty cache, then move documents; milliseconds."""
    from playwright.sync_api import sync_playwright

    found: dict[str, dict[str, dict[str, float]]] = {"usable after": {}, "blocked on a phone": {}}
    with served(built()) as base, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS), headless=True)
        for path in ("404.html", *(f"{language}/{name}.html" for language in LANGUAGES for name in pages)):
            for name, call in (
                ("usable after", (1, NOTE_READY, TIMES)), ("blocked on a phone", (4, NOTE_TASKS, "blocked")),
            ):  # fmt: skip
                times = [loaded(browser, base + path, *call) for _ in range(rounds)]
                found[name][path] = summary(times)
        page = browser.new_page(viewport=WIDE)
        page.goto(f"{base}en/try.html?k=20&a={TWENTY}&b={TWENTY}&c={TWENTY}")
        page.evaluate(READY)
        page.evaluate(MOVES, 10)
        found["key to painted frame"] = {name: summary(times) for name, times in page.evaluate(MOVES, 100).items()}
        browser.close()
    return found


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
