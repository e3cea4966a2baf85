"""browser.py BROWSER SITE [SHOTS] - clicks through a site in a headless browser, from the disk and
from a web server, and says what is wrong, as TAP; SHOTS is a folder for pictures of the pages."""

import functools
import http.server
import json
import os
import sys
import tempfile
import threading
import time

import chromium
from chromium import complaints, report, resize, theme

browser, site = sys.argv[1], os.path.abspath(sys.argv[2])
shots = sys.argv[3] if len(sys.argv) > 3 else None


def go(b, address):
    """Goes to an address within the site and waits until its page is there."""
    b.value("location.hash = %s" % json.dumps(address))
    b.wait("document.documentElement.dataset.shown === %s" % json.dumps(address))


def click(b, selector):
    """Clicks the first element as a mouse does, and returns where that leads."""
    b.wait("!!document.querySelector(%s)" % json.dumps(selector))
    place = b.value("""(() => { const e = document.querySelector(%s); e.scrollIntoView({block: "center"});
        const r = e.getClientRects()[0]; return [r.left + Math.min(r.width, 40) / 2, r.top + r.height / 2]; })()"""
                    % json.dumps(selector))
    for kind in ("mousePressed", "mouseReleased"):
        b.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)


def opened(b, selector):
    """Clicks a link and waits for its page; says what is wrong with it."""
    target = b.value("(document.querySelector(%s) || {}).hash" % json.dumps(selector))
    if not target:
        return ["no " + selector]
    click(b, selector)
    b.wait("document.documentElement.dataset.shown === %s" % json.dumps(target))
    return page_faults(b)


# Whatever the page: a heading of each level below the one above, tables with captions, controls with
# names, nothing wider than the window, no error.
PAGE = """(() => {
    const faults = [], main = document.getElementById("main");
    const levels = [...document.querySelectorAll("h1,h2,h3,h4")].map((h) => +h.tagName[1]);
    if (!document.querySelector("main h2")) faults.push("no heading");
    if (levels[0] !== 1 || levels.some((l, i) => i && l > levels[i - 1] + 1)) faults.push("headings " + levels);
    if (main.querySelector("h2").textContent === "Not found") faults.push(main.textContent.slice(0, 200));
    if (main.querySelector("p.bad")) faults.push(main.querySelector("p.bad").textContent);
    for (const t of main.querySelectorAll("table")) {
        if (!t.caption || !t.caption.textContent) faults.push("a table without caption");
        if (!t.closest(".scroll[tabindex]")) faults.push("a table that does not scroll");
    }
    for (const c of main.querySelectorAll("select,input"))
        if (!c.closest("label") && !c.getAttribute("aria-label")) faults.push("a control without a name");
    for (const s of main.querySelectorAll("svg"))
        if (s.getAttribute("role") !== "img" || !s.querySelector("title")) faults.push("a picture without words");
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) faults.push("wider than the window: " + root.scrollWidth);
    return faults;
})()"""


# Of the picture with the first steps of a record: how wide its lanes are, steps and their parts. A slice that is
# too small to see is drawn a little wider than it is.
LANES = """(() => {
    const wide = {};
    for (const r of document.querySelectorAll("#main figure:nth-of-type(2) rect.slice"))
        wide[r.getAttribute("y")] = (wide[r.getAttribute("y")] || 0) + +r.getAttribute("width");
    return Object.values(wide);
})()"""


def page_faults(b):
    return b.value(PAGE) + complaints(b)


def rows(b):
    return b.value("document.querySelectorAll('#main tbody tr').length")


def shot(b, name, width, dark=False):
    theme(b, dark)
    if shots:
        chromium.shot(b, "%s/%s-%d%s.png" % (shots, name, width, "-dark" if dark else ""), width)


def walk(b, base, where):
    """From the first page through all kinds of pages by clicks alone."""
    resize(b, 1000)
    begun = time.time()
    b.call("Page.navigate", url=base + "/index.html")
    b.wait("location.href.startsWith(%s) && !!document.documentElement && "
           "document.documentElement.dataset.shown === '#/'" % json.dumps(base))
    took = time.time() - begun
    report("the site opens from %s (%.2f s)" % (where, took), page_faults(b))
    report("what was found comes first, then the newest tables", [] if b.value(
        "document.querySelector('main h2').textContent === 'What was found' && "
        "!!document.querySelector('main details[open] table')") else ["it does not"])
    report("a model", opened(b, 'nav a[href="#/models"]') + opened(b, '#main tbody a[href^="#/model/"]') + (
        [] if b.value("document.querySelectorAll('#main svg.chart').length > 0") else ["no chart"]))
    click(b, "#main details:nth-of-type(2) summary")
    b.wait("!!document.querySelector('#main details[open] table')")
    report("its nights as a table, and one of them",
           page_faults(b) + opened(b, '#main details[open] tbody a[href^="#/night/"]'))
    all_rows = rows(b)
    b.value("(() => { const s = document.querySelector('#main select[name=status]'); s.value = 'ok'; "
            "s.dispatchEvent(new Event('change')); })()")
    report("a filter is part of the address", ([] if 0 < rows(b) <= all_rows else ["%d rows" % rows(b)]) +
           ([] if b.value("location.hash.endsWith('?status=ok')") else ["the address does not say it"]))
    report("a record without details says which command gives them",
           opened(b, '#main tbody a[href^="#/record/"]') + ([] if b.value(
               "!!document.querySelector('#main dl') && (!!document.querySelector('#main pre') || "
               "!!document.querySelector('#main svg.chart'))") else ["neither details nor a command"]))
    newest = b.value("[...nights.keys()].pop()")
    go(b, "#/night/" + newest)
    report("a record of the newest night has ledger, timeline, steps and provenance",
           opened(b, '#main tbody a[href^="#/record/"]') + ([] if b.value(
               "document.querySelectorAll('#main .fragment table').length > 0 && "
               "document.querySelectorAll('#main svg.chart .slice').length > 10 && "
               "document.querySelectorAll('#main dl').length === 2") else ["not all is there"]))
    lanes = b.value(LANES)
    report("the parts of its first steps fill them", [] if len(lanes) == 2 and
           abs(lanes[0] - lanes[1]) < 0.05 * lanes[0] else ["lanes of %s" % lanes])
    click(b, "#main details:nth-of-type(2) summary")
    b.wait("!!document.querySelector('#main details[open] table')")
    report("and stand in a table", page_faults(b) + ([] if b.value(
        "document.querySelectorAll('#main details[open] tbody tr').length === 10") else ["not ten rows"]))
    report("changes", opened(b, 'nav a[href="#/changes"]') + ([] if rows(b) > 0 else ["none"]))
    heads = b.value("[...document.querySelectorAll('#main thead button')].map((b) => b.textContent).indexOf('change')")
    click(b, "#main thead th:nth-child(%d) button" % (heads + 1))
    report("a click on a head sorts", [] if b.value(
        "(() => { const v = [...document.querySelectorAll('#main tbody tr')].map((r) => "
        "parseFloat(r.cells[%d].textContent)); return v.every((x, i) => i === 0 || v[i - 1] <= x + 0.1); })()" % heads)
        else ["not in order"])
    report("a change leads to its series", opened(b, '#main tbody a[href^="#/model/"]') + ([] if b.value(
        "document.querySelectorAll('#main svg.chart .change').length > 0") else ["no change in the chart"]))
    report("builds", opened(b, 'nav a[href="#/builds"]'))
    b.wait("!!document.querySelector('#main a[href^=\"#/compare/\"]')")
    report("two builds of the matrix", page_faults(b) + opened(b, '#main a[href^="#/compare/"]') + ([] if b.value(
        "document.querySelector('#main').textContent.includes('This is not judged')") else ["it passes for judged"]))
    click(b, "nav li:nth-child(4) a")
    b.wait("document.documentElement.dataset.shown === '#/builds'")
    click(b, "#main form .go")
    b.wait("location.hash.startsWith('#/compare/') && document.documentElement.dataset.shown === location.hash")
    report("any two by the form", page_faults(b))
    report("one build", opened(b, '#main a[href^="#/build/"]'))
    b.value("history.back()")
    b.wait("location.hash.startsWith('#/compare/') && document.documentElement.dataset.shown === location.hash")
    report("back", page_faults(b))
    for wrong in ("#/nothing", "#/model/..%2F..%2Fx", "#/night/20990101T000000", "#/record/x/y", "#/constructor"):
        go(b, wrong)
        report("an address that leads nowhere: " + wrong, complaints(b) + ([] if b.value(
            "document.querySelector('main h2').textContent === 'Not found'") else ["it leads somewhere"]))
    go(b, "#/")
    click(b, "#theme")
    first = b.value("document.documentElement.dataset.theme")
    click(b, "#theme")
    report("light and dark", [] if {first, b.value("document.documentElement.dataset.theme")} == {"light", "dark"}
           else ["no change"])
    b.value("document.activeElement.blur()")
    for _ in range(2):
        for kind in ("keyDown", "keyUp"):
            b.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    report("keys reach what can be clicked", [] if b.value("document.activeElement !== document.body") else ["no"])
    return took


def look(b):
    """Each kind of page at three widths, light and dark."""
    newest = b.value("[...nights.keys()].pop()")
    first = b.value("[...nights.keys()][0]")
    detail = b.value("load('night-%s').then((n) => n.records.map((r) => r[1]).find((k) => details.has(k)))" % newest)
    pair = b.value("[...builds.keys()].slice(0, 2)")
    model = b.value("site.changes.length ? '#/model/' + site.changes[0].model : '#/model/' + [...models.keys()][0]")
    pages = {"newest": "#/", "models": "#/models", "model": model, "changes": "#/changes", "builds": "#/builds",
             "compare": "#/compare/%s/%s" % (pair[-1], pair[0]), "build": "#/build/" + pair[0], "nights": "#/nights",
             "night": "#/night/" + first, "record": "#/record/%s/%s" % (newest, detail)}
    b.value("delete document.documentElement.dataset.theme")
    for width in (400, 800, 1600):
        resize(b, width)
        faults = []
        for name, address in pages.items():
            go(b, address)
            if name == "builds":
                b.wait("!!document.querySelector('#main a[href^=\"#/compare/\"]')")
            b.wait(chromium.HINTS)
            faults += [name + ": " + str(f) for f in page_faults(b)]
            shot(b, name, width)
            if width != 800:
                shot(b, name, width, dark=True)
        report("all pages at %d px" % width, faults)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


if shots:
    os.makedirs(shots, exist_ok=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    base = "http://127.0.0.1:%d" % server.server_address[1]
    b = chromium.Browser(browser, profile, ["file://" + site, base])
    try:
        took = walk(b, "file://" + site, "the disk")
        took = max(took, walk(b, base, "a web server"))
        look(b)
    except RuntimeError as why:
        report("the pages", [why])
        took = 0
    finally:
        b.end()
server.shutdown()
print("# opened in %.2f s" % took)
chromium.plan()
