"""pages.py BROWSER FOLDER [SHOTS] - looks at each page NAME.html of FOLDER, or NAME/index.html, in a headless
browser at three widths, light and dark, and says what is wrong, as TAP; SHOTS is a folder for pictures."""

import glob
import os
import sys
import tempfile

import chromium
from chromium import complaints, report, resize, theme

browser, folder = sys.argv[1], os.path.abspath(sys.argv[2])
shots = sys.argv[3] if len(sys.argv) > 3 else None

# Nothing is wider than the window; text of pictures is whole, and none lies on another's badge; text has
# enough contrast.
PAGE = """(() => {
    const faults = [], root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) faults.push("wider than the window: " + root.scrollWidth);
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    for (const box of document.querySelectorAll("details")) box.open = true;
    for (const svg of document.querySelectorAll("svg")) {
        const all = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")];
        const about = svg.querySelector("title").textContent.slice(0, 40) + ": ";
        for (const text of texts) {
            const at = text.getBoundingClientRect();
            if (text.textContent.trim() && (at.left < all.left - 2 || at.right > all.right + 2 ||
                at.top < all.top - 2 || at.bottom > all.bottom + 2)) faults.push(about + "cut: " + text.textContent);
        }
        for (const badge of texts.filter((t) => /^(PARTLY )?(SIMULATED|EMULATED)/.test(t.textContent.trim())))
            for (const text of texts)
                if (text !== badge && text.textContent.trim() &&
                    !apart(badge.getBoundingClientRect(), text.getBoundingClientRect()))
                    faults.push(about + "under the badge: " + text.textContent);
    }
    """ + chromium.LIGHT + """
    const ground = light(getComputedStyle(document.body).backgroundColor);
    for (const kind of ["h1", "p", "a", "td", "th", "summary", "caption", "figcaption"]) {
        const one = document.querySelector(kind + ":not(.badge)");
        if (!one) continue;
        const ratio = contrast(light(getComputedStyle(one).color), ground);
        if (ratio < """ + chromium.LEAST_CONTRAST + """) faults.push("contrast of " + kind + ": " + ratio.toFixed(1));
    }
    return faults;
})()"""


def look(b, path, name):
    for width in (400, 800, 1600):
        resize(b, width)
        faults = []
        for dark in (False, True):
            b.call("Page.navigate", url="file://" + path)
            b.wait("document.readyState === 'complete' && location.pathname === %r" % path)
            theme(b, dark)
            if shots:
                chromium.shot(b, "%s/%s-%d%s.png" % (shots, name, width, "-dark" if dark else ""), width)
            faults += b.value(PAGE) + complaints(b)
            if not b.value("document.scripts.length === 0 || " + chromium.HINTS):
                faults.append("what is wide does not say so, or what is not does")
        report("%s at %d px" % (name, width), faults)


if shots:
    os.makedirs(shots, exist_ok=True)
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    b = chromium.Browser(browser, profile, ["file://" + folder])
    try:
        for path in sorted(glob.glob(folder + "/*.html") + glob.glob(folder + "/*/index.html")):
            look(b, path, os.path.relpath(path, folder).removesuffix(".html").removesuffix("/index"))
    except RuntimeError as why:
        report("the pages", [why])
    finally:
        b.end()
chromium.plan()
