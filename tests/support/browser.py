# SPDX-License-Identifier: Apache-2.0
"""A real Chromium, where there is one, and what its pages said."""

import shutil
from pathlib import Path

import pytest

from support.server import ROOT

SCREENSHOTS = ROOT / "build/screenshots"
AXE = ROOT / "build/js/node_modules/axe-core/axe.min.js"

SIZES = {"desktop": (1280, 800), "phone": (390, 780)}


def find_chromium(playwright):
    """The path of a browser, or None."""
    own = Path(playwright.chromium.executable_path)
    return shutil.which("chromium") or shutil.which("chromium-browser") or (own if own.exists() else None)


def launch():
    """(playwright, browser); skips the test that asked where there is no browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright = sync_api.sync_playwright().start()
    path = find_chromium(playwright)
    if path is None:
        playwright.stop()
        pytest.skip("there is no Chromium here (Debian's package is called chromium)")
    browser = playwright.chromium.launch(executable_path=str(path), args=["--no-sandbox"])
    return playwright, browser


class Tab:
    """A page of one server in a window of its own. `complaints` is what the console said of errors."""

    def __init__(self, browser, server, size="desktop", scheme="light"):
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme,
            reduced_motion="reduce", is_mobile=False)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.server = server
        self.complaints = []
        self.asked = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, page="now"):
        self.page.goto(f"{self.server.url}/#/{page}")
        self.page.get_by_text("Live", exact=True).wait_for()
        return self.page

    def shoot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def accessibility_faults(self):
        """What axe finds, as lines; nothing where axe is not installed."""
        if not AXE.exists():
            return []
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("""() => axe.run(document, {resultTypes: ['violations']}).then(
            (result) => result.violations.map((v) => v.id + ': ' + v.nodes.map(
                (n) => n.target.join(' ') + ' ' + n.failureSummary).join(' | ')))""")
        return found

    def overflow(self):
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.scrollingElement.scrollWidth - innerWidth")

    def close(self):
        self.context.close()
