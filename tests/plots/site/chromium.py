"""chromium.py - a browser without a screen, for the tests of pages: its
commands, its errors, and pictures of its window.

It is driven by its debugging protocol over a pipe: JSON messages that end with a zero byte, to
descriptor 3 and from descriptor 4. https://chromedevtools.github.io/devtools-protocol/"""

import base64
import json
import os
import select
import subprocess
import sys
import time

LIMIT_S = int(os.environ.get("CHROMIUM_LIMIT_S", "60"))  # of any wait: a busy machine fails nothing
count = 0


class Browser:
    def __init__(self, browser, profile, allowed):
        """ALLOWED: how addresses begin that pages may ask for."""
        self.allowed = tuple(allowed) + ("about:", "data:")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # Descriptors 3 and 4 are the browser's ends.
        script = "exec 3<&%d 4>&%d; exec \"$@\"" % (to_read, back_write)
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                 "--user-data-dir=" + profile, "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update", "about:blank"]
        self.child = subprocess.Popen(["bash", "-c", script, "bash", browser] + flags,
                                      pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], LIMIT_S)[0]:
                raise SystemExit("Bail out! the browser says nothing")
            piece = os.read(self.back, 1 << 20)
            if not piece:
                raise SystemExit("Bail out! the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + json.dumps(answer["exceptionDetails"])[:300])
        return answer["result"].get("value")

    def wait(self, expression):
        end = time.time() + LIMIT_S
        while True:
            try:
                if self.value(expression):
                    return
            except RuntimeError:  # a page that is about to go
                pass
            if time.time() > end:
                raise RuntimeError("never: " + expression)
            time.sleep(0.02)

    def end(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (SystemExit, RuntimeError, OSError):
            self.child.kill()
        self.child.wait()


def report(what, faults):
    global count
    count += 1
    print("%s %d - %s" % ("not ok" if faults else "ok", count, what))
    for fault in faults:
        print("#   " + str(fault)[:300])
    sys.stdout.flush()


def complaints(b):
    """What the browser complained about since the last call."""
    said = []
    for event in b.events:
        name, values = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            said.append(values["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        if name == "Log.entryAdded" and values["entry"]["level"] == "error" and \
                "favicon" not in values["entry"].get("url", ""):
            said.append(values["entry"]["text"] + " " + values["entry"].get("url", ""))
        if name == "Network.requestWillBeSent":
            address = values["request"]["url"]
            if not address.startswith(b.allowed):
                said.append("asks for " + address)
    b.events = []
    return said


def plan():
    """The last line of the TAP."""
    print("1..%d" % count)


def resize(b, width):
    b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)


def theme(b, dark):
    b.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    b.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def shot(b, path, width):
    """A picture of the page's beginning, in a PNG file."""
    picture = b.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={
        "x": 0, "y": 0, "width": width, "scale": 1,
        "height": min(2600, b.value("document.documentElement.scrollHeight"))})
    with open(path, "wb") as f:
        f.write(base64.b64decode(picture["data"]))


# How light a colour is, from 0 to 1, and by how much two that are so light can be told apart (WCAG).
LIGHT = """const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((c) => c / 255)
        .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);"""
LEAST_CONTRAST = "4.5"


# A box that goes on beyond its edge says so, and no other does.
HINTS = """[...document.querySelectorAll(".scroll,.picture")].every((e) =>
    e.classList.contains("wider") === e.scrollWidth > e.clientWidth + 1)"""
