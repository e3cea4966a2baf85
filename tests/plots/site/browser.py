"""browser.py BROWSER SITE FAILED [SHOTS] - clicks through a site in a headless browser, from the disk and
from a web server, and says what is wrong, as TAP; FAILED is a site of one model whose records all failed,
SHOTS is a folder for pictures of the pages."""

import functools
import http.server
import json
import os
import sys
import tempfile
import threading
import time
from urllib.parse import quote

import chromium
from chromium import complaints, report, resize, theme

browser, site = sys.argv[1], os.path.abspath(sys.argv[2])
failed_site = os.path.abspath(sys.argv[3])
shots = sys.argv[4] if len(sys.argv) > 4 else None


def go(b, address):
    """Goes to an address within the site and waits until its page is there."""
    b.value("location.hash = %s" % json.dumps(address))
    b.wait("document.documentElement.dataset.shown === %s" % json.dumps(address))


def click(b, selector):
    """Clicks the first element as a mouse does, and returns where that leads."""
    b.wait("!!document.querySelector(%s)" % json.dumps(selector))
    b.wait(chromium.HINTS)  # the line that says that a box goes on moves what is below it
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
# names, nothing wider than the window, text with enough contrast, no error.
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
    """ + chromium.LIGHT + """
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const colour = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$/.test(colour)) return light(colour);
        }
        return 1;
    };
    for (const kind of ["h1", "h2", "h3", "p", "a", "td", "th", "li", "summary", "label", "button", "select", "dt",
        "dd", "caption span", "figcaption", ".soft", ".badge"]) {
        const one = [...document.querySelectorAll(kind)].find((e) => e.getClientRects().length && e.textContent.trim());
        const ratio = one ? contrast(light(getComputedStyle(one).color), ground(one)) : 21;
        if (ratio < """ + chromium.LEAST_CONTRAST + """) faults.push("contrast of " + kind + ": " + ratio.toFixed(1));
    }
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


def shot(b, name, width, dark):
    if shots:
        chromium.shot(b, "%s/%s-%d%s.png" % (shots, name, width, "-dark" if dark else ""), width)


def afresh(b, base, address=""):
    """Opens an address of the site as a stranger does, to whom somebody sent it; returns the seconds."""
    b.call("Page.navigate", url="about:blank")
    b.wait("location.href === 'about:blank'")
    begun = time.time()
    b.call("Page.navigate", url=base + "/index.html" + address)
    b.wait("location.href.startsWith(%s) && !!document.documentElement && "
           "document.documentElement.dataset.shown === %s" % (json.dumps(base), json.dumps(address or "#/")))
    return time.time() - begun


def choose(b, name, value):
    """Chooses a value of a filter, as a hand does."""
    b.value("(() => { const s = document.querySelector('#main select[name=%s]'); s.value = %s; "
            "s.dispatchEvent(new Event('change')); })()" % (name, json.dumps(value)))


# What the page of a model shows: its series, the figures of their charts, and what its filters say.
SHOWN = """({series: [...document.querySelectorAll("#main section h3")].map((h) => h.textContent.trim()),
    figures: [...document.querySelectorAll("#main section svg.chart > title")].map((t) => t.textContent),
    filters: Object.fromEntries([...document.querySelectorAll("#main select")].map((s) => [s.name, s.value]))})"""


def shows_only(b, series, phase, mode):
    """Returns what the page of a model has next to the device time of those of SERIES that are of PHASE and MODE."""
    wanted = sorted(title for title, *about in series if about == [phase, mode])
    shown = b.value(SHOWN)
    words = ", " + b.value("METRIC_WORDS.device") + ": "
    return ([] if 0 < len(wanted) < len(series) else ["these filters leave nothing out, or everything"]) + \
        ([] if sorted(shown["series"]) == wanted else ["other series: %s" % shown["series"]]) + \
        ([] if len(shown["figures"]) == len(wanted) and all(words in f for f in shown["figures"])
         else ["other figures: %s" % shown["figures"]]) + \
        ([] if shown["filters"] == {"metric": "device", "phase": phase, "mode": mode, "runtime": ""}
         else ["the filters say %s" % shown["filters"]])


def addresses(b, base):
    """Filters are part of the address, and whoever opens that address sees the same."""
    key = b.value("site.changes[0].model")
    series = b.value("load('model-%s').then((m) => m.series.map((s) => [s.title, s.phase, s.mode]))" % key)
    phase, mode = series[-1][1:]
    wanted = "#/model/%s?metric=device&phase=%s&mode=%s" % (key, phase, mode)
    go(b, "#/model/" + key)
    for name, value in (("metric", "device"), ("phase", phase), ("mode", mode)):
        choose(b, name, value)
    report("a model by figure, phase and mode", page_faults(b) + shows_only(b, series, phase, mode) + (
        [] if b.value("location.hash") == wanted else ["the address is " + b.value("location.hash")]))
    afresh(b, base, wanted)
    report("the same by its address", page_faults(b) + shows_only(b, series, phase, mode))
    afresh(b, base, "#/changes?metric=wall&to=worse")
    some = b.value("[site.changes.filter((c) => c.metric === 'wall' && c.ratio > 1).length, site.changes.length]")
    cells = b.value("[...document.querySelectorAll('#main tbody tr')].map((r) => [r.cells[2].textContent, "
                    "r.cells[3].textContent])")
    report("changes for the worse by their address", page_faults(b) + (
        [] if 0 < some[0] < some[1] else ["this leaves nothing out, or everything"]) + (
        [] if len(cells) == min(some[0], b.value("MOST_ROWS")) else ["%d rows" % len(cells)]) + [
        "a row of %s" % cell for cell in cells if cell[0] != b.value("METRIC_WORDS.wall") or cell[1][0] != "+"])
    night, text = b.value("(() => { const n = [...nights.keys()][0]; return load('night-' + n).then((file) => "
                          "[n, file.experiments[0][0]]); })()")
    afresh(b, base, "#/night/%s?text=%s" % (night, quote(text)))
    cells = b.value("[...document.querySelectorAll('#main tbody tr')].map((r) => r.cells[1].textContent)")
    every = b.value("nights.get('%s').good + nights.get('%s').failed" % (night, night))
    report("records of a night by their text", page_faults(b) + (
        [] if 0 < len(cells) < every else ["%d rows of %d" % (len(cells), every)]) +
        ["a row of " + cell for cell in cells if text not in cell])


def failed_model(b, base):
    """The page of a model without a single figure says why it has none."""
    afresh(b, base)
    said = "1 record of 1 night failed: %s in 1 night." % b.value(
        "load('model-' + [...models.keys()][0]).then((m) => m.series[0].failed[0][2])")
    report("a model whose records all failed", opened(b, 'nav a[href="#/models"]') +
           opened(b, '#main tbody a[href^="#/model/"]') + ([] if b.value(
               "[...document.querySelectorAll('#main section p')].some((p) => p.textContent === %s)" % json.dumps(said))
               else ["it does not say: " + said]))
    click(b, "#main section details summary")
    b.wait("!!document.querySelector('#main details[open] table')")
    report("its night as a table", page_faults(b) + ([] if b.value(
        "document.querySelector('#main details[open] tbody tr').textContent.includes('1 record failed: ')")
        else ["no failure"]))


def walk(b, base, where):
    """From the first page through all kinds of pages by clicks alone."""
    resize(b, 1000)
    took = afresh(b, base)
    report("the site opens from %s (%.2f s)" % (where, took), page_faults(b))
    report("what was found comes first, then the latest tables", [] if b.value(
        "document.querySelector('main h2').textContent === 'What was found' && "
        "!!document.querySelector('main details[open] table')") else ["it does not"])
    report("a model", opened(b, 'nav a[href="#/models"]') + opened(b, '#main tbody a[href^="#/model/"]') + (
        [] if b.value("document.querySelectorAll('#main svg.chart').length > 0") else ["no chart"]))
    click(b, "#main details:nth-of-type(2) summary")
    b.wait("!!document.querySelector('#main details[open] table')")
    report("its nights as a table, and one of them",
           page_faults(b) + opened(b, '#main details[open] tbody a[href^="#/night/"]'))
    all_rows = rows(b)
    choose(b, "status", "ok")
    report("a filter is part of the address", ([] if 0 < rows(b) <= all_rows else ["%d rows" % rows(b)]) +
           ([] if b.value("location.hash.endsWith('?status=ok')") else ["the address does not say it"]))
    report("a record without details says which command gives them",
           opened(b, '#main tbody a[href^="#/record/"]') + ([] if b.value(
               "!!document.querySelector('#main dl') && (!!document.querySelector('#main pre') || "
               "!!document.querySelector('#main svg.chart'))") else ["neither details nor a command"]))
    latest = b.value("[...nights.keys()].pop()")
    go(b, "#/night/" + latest)
    report("a record of the latest night has ledger, timeline, steps and provenance",
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
    latest = b.value("[...nights.keys()].pop()")
    first = b.value("[...nights.keys()][0]")
    detail = b.value("load('night-%s').then((n) => n.records.map((r) => r[1]).find((k) => details.has(k)))" % latest)
    pair = b.value("[...builds.keys()].slice(0, 2)")
    model = b.value("site.changes.length ? '#/model/' + site.changes[0].model : '#/model/' + [...models.keys()][0]")
    pages = {"newest": "#/", "models": "#/models", "model": model, "changes": "#/changes", "builds": "#/builds",
             "compare": "#/compare/%s/%s" % (pair[-1], pair[0]), "build": "#/build/" + pair[0], "nights": "#/nights",
             "night": "#/night/" + first, "record": "#/record/%s/%s" % (latest, detail)}
    b.value("delete document.documentElement.dataset.theme")
    for width in (400, 800, 1600):
        resize(b, width)
        faults = []
        for name, address in pages.items():
            go(b, address)
            if name == "builds":
                b.wait("!!document.querySelector('#main a[href^=\"#/compare/\"]')")
            for dark in (False, True):
                theme(b, dark)
                b.wait(chromium.HINTS)
                faults += ["%s%s: %s" % (name, ", dark" if dark else "", f) for f in page_faults(b)]
                if not dark or width != 800:
                    shot(b, name, width, dark)
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
    b = chromium.Browser(browser, profile, ["file://" + site, "file://" + failed_site, base])
    took = None  # a site that was not opened has no time
    try:
        disk = walk(b, "file://" + site, "the disk")
        addresses(b, "file://" + site)
        took = max(disk, walk(b, base, "a web server"))
        addresses(b, base)
        look(b)
        failed_model(b, "file://" + failed_site)
    except RuntimeError as why:
        report("the pages", [why])
    finally:
        b.end()
server.shutdown()
if took is not None:
    print("# opened in %.2f s" % took)
chromium.plan()
