"""read_site.py SITE - reads a site as a browser would, without one, and says what is wrong: files
that are no call of bench_data, keys that lead nowhere, markup that is not whole, addresses that lead
elsewhere. With --hostile, texts of records must be there, and steer nothing. With --words, some night
has words in place of a figure. With --table FILE, which bench table --format json made of the same
store, both must show the same of each cell."""

import json
import os
import re
import sys
from html.parser import HTMLParser

site, hostile = sys.argv[1], "--hostile" in sys.argv
faults = []
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Fragment(HTMLParser):
    """Markup from bench: whole, without scripts, and all within the page."""

    def __init__(self, name):
        super().__init__()
        self.name, self.open, self.ids, self.tables, self.pictures = name, [], [], 0, 0

    def handle_starttag(self, tag, attrs):
        self.tables += tag == "table"
        self.pictures += tag == "svg"
        if tag in ("script", "iframe", "object", "embed", "form", "base"):
            faults.append("%s has a %s" % (self.name, tag))
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name.startswith("on") or "javascript:" in (value or ""):
                faults.append("%s: %s has %s" % (self.name, tag, name))
            if name in ("src", "href", "xlink:href") and not value.startswith("#"):
                faults.append("%s: %s=%s leads elsewhere" % (self.name, name, value))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            faults.append("%s: %s ends where it should not" % (self.name, tag))


def fragment(name, html):
    f = Fragment(name)
    f.feed(html)
    f.close()
    if f.open:
        faults.append("%s: never ended: %s" % (name, f.open))
    if len(f.ids) != len(set(f.ids)):
        faults.append(name + ": an id is there twice")
    return f


def steers(text):
    # Ends of lines and, in gnuplot's pictures, tabs are of bench.
    return [c for c in text if ord(c) < 32 and c not in "\n\t" or 0x7F <= ord(c) <= 0x9F
            or 0x200B <= ord(c) <= 0x200F or 0x2028 <= ord(c) <= 0x202E or 0x2060 <= ord(c) <= 0x206F]


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)


def data():
    files = {}
    for name in sorted(os.listdir(site + "/data")):
        with open(site + "/data/" + name, "rb") as f:
            raw = f.read()
        try:
            text = raw.decode("ascii")
            call = re.fullmatch(r'bench_data\("([a-zA-Z0-9-]+)",(.*)\);\n', text, re.S)
            files[name[:-3]] = json.loads(call.group(2))
            if call.group(1) + ".js" != name or "<" in text:
                faults.append(name + " has another name inside, or a loose <")
            if any(steers(t) for t in texts(files[name[:-3]])):
                faults.append(name + " has signs that steer")
        except (UnicodeDecodeError, AttributeError, ValueError) as why:
            faults.append("%s: %s" % (name, why))
    return files


def check(what, right):
    if not right:
        faults.append(what)


def is_words(value):
    """Words in place of a figure of which nothing is known but that it is not significant."""
    return isinstance(value, str) and value != "" and not any(c.isdigit() for c in value)


def is_shown(value):
    """A time, nothing, or the words in place of one that is not significant."""
    return value is None or is_words(value) or (
        value.startswith("< ") if isinstance(value, str) else isinstance(value, (int, float)))


def same(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-6 * abs(a)


# Members of a row of the speedup table: estimate, bounds, processes.
FIGURES = {"wall": ("wall_ns", "wall_low_ns", "wall_high_ns", "processes"),
           "device": ("device_per_step_ns", "device_low_ns", "device_high_ns", "device_processes"),
           "overhead": ("overhead_per_execution_ns", "overhead_low_ns", "overhead_high_ns"),
           "trace": ("trace_ns",), "compile": ("compile_ns", None, None, "compile_processes")}


def shows(row, metric):
    """What the table shows: the figure, words in its place, a bound, or nothing."""
    estimate, low, high = [row.get(name) for name in (FIGURES[metric] + (None, None))[:3]]
    if metric == "overhead" and row["overhead_refused"]:
        return "words"
    if estimate is None:
        return None
    return "<" if metric == "overhead" and low is not None and low <= 0 <= high else "figure"


def compare_tables(rows, cells):
    """Whether the site says of each cell what the tables say."""
    for row in rows:
        about = "%s %s %s: " % (row["model"], row["phase"], row["mode"])
        cell = cells.get(row["id"])
        if row["status"] != "ok" or cell is None:
            check(about + "no cell", row["status"] != "ok")
            continue
        for name in ("processes", "runs"):
            check(about + name, row[name] == cell[name])
        conditions, _, run = cell["left_out"]
        check(about + "left out", conditions == row["left_out_other_conditions"] and run == row["left_out_other_run"])
        check(about + "source", row["device_time_source"] == cell["source"])
        check(about + "a cut that is said",
              ("cut off" in lists["remarks"][cell["remark"]]) <= row["device_cut"])
        for metric, members in FIGURES.items():
            wanted, figure = shows(row, metric), cell["figures"].get(metric)
            if wanted is None or figure is None:
                check(about + metric + " is known", wanted is None and figure is None)
                continue
            for value, name in zip(figure, members):
                check(about + metric + ", " + str(name), name is None or same(row[name], value))
            words = figure[5]
            check(about + metric + " is " + wanted, (figure[4] == 1) == (wanted == "figure") and
                  is_words(words) == (wanted == "words") and words.startswith("< ") == (wanted == "<"))


files = data()
lists = files["site"]
models = {m[0] for m in lists["models"]}
builds = {b[0] for b in lists["builds"]}
nights = [n[0] for n in lists["nights"]]
check("models", {f[6:] for f in files if f.startswith("model-")} == models)
check("builds", {f[6:] for f in files if f.startswith("build-")} == builds)
check("nights", {f[6:] for f in files if f.startswith("night-")} == set(nights))
check("details", {f[7:] for f in files if f.startswith("record-")} == set(lists["details"]))
check("judged nights", {f[8:] for f in files if f.startswith("verdict-")} == {n[0] for n in lists["nights"] if n[5]})
check("nights are in order", nights == sorted(nights))

records, keys, series_keys, worded = 0, set(), set(), 0
for name in nights:
    night = files["night-" + name]
    for row in night["records"]:
        records += 1
        keys.add(row[1])
        check("a record's experiment", night["experiments"][row[0]][1] in models)
        check("a record's build", row[4] == "" or row[4] in builds)
        check("a row's width", len(row) == 12 or len(row) == 13 and 0 < row[12] < len(lists["remarks"]))
        check("a figure of a record", all(is_shown(value) for value in row[7:12]))
        worded += any(is_words(value) for value in row[7:12])
check("all records have a night", records == lists["records"])
check("words in place of a figure", worded > 0 or "--words" not in sys.argv)
check("details are of records", set(lists["details"]) <= keys)
cells, by_latest = set(), {}
for key in builds:
    for cell in files["build-" + key]["cells"]:
        cells.add(cell["cell"])
        by_latest[cell["newest"]] = cell
        check("a cell's model", cell["model"] in models)
        check("a cell's remark", 0 <= cell["remark"] < len(lists["remarks"]))
        check("a cell's step", cell["figures"]["wall"][0] > 0 and cell["processes"] > 0)
        check("a figure of a cell", all(len(f) == 7 and f[5] != "-" for f in cell["figures"].values()))
if "--table" in sys.argv:
    with open(sys.argv[sys.argv.index("--table") + 1], encoding="utf-8") as f:
        compare_tables(json.load(f)["rows"], by_latest)
for key in models:
    for series in files["model-" + key]["series"]:
        series_keys.add((key, series["key"]))
        for metric in series["metrics"].values():
            check("a value a night", len(metric["value"]) == len(series["time"]))
            check("words of a night", all(0 <= i < len(series["time"]) and is_shown(said) and isinstance(said, str)
                                          for i, said in metric.get("said", [])))
            check("stretches", metric["stretches"][-1][1] == len(series["time"]))
            check("a table of stretches", fragment("model-" + key, metric["words"]).tables == 1)
        check("builds of a series", all(b == "" or b in builds for _, b in series["builds"]))
for change in lists["changes"]:
    check("a change's series", (change[1], change[2]) in series_keys)
    check("a change's cell", change[4] in cells)
    check("a change's builds", {change[10], change[11]} <= builds | {""})
for key in lists["details"]:
    record = files["record-" + key]
    check("a record's tables", fragment("record-" + key, record["tables"]).tables > 0)
    phases = record["phases"]
    check("phases within the process", phases is None or min(phases.values()) >= 0 and
          2 * phases["wall"] >= sum(phases.values()) * (1 - 1e-9))
    check("a wall time a round", len(record["round_wall"]) == len(record["rounds"]))
    for step, *parts in record["parted"] + ([record["longest"]] if record["longest"] else []):
        check("parts of a step", len(parts) == len(record["parts"]) and 0 <= step < record["steps"])
        check("parts sum to the step", step >= len(record["wall"]) or sum(parts) == record["wall"][step])
for name, _, html in files["newest"]["tables"]:
    check("table " + name, fragment(name, html).tables > 0)
pictures = fragment("pictures", files["newest"]["pictures"])
check("pictures", pictures.pictures > 0 or lists["no_pictures"])

with open(site + "/index.html", encoding="ascii") as f:
    page = f.read()
check("the page is whole", page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n"))
for reference in re.findall(r'(?:href|src)="([^"#]*)"', page):
    check(reference + " is not there", os.path.isfile(site + "/" + reference.split("?")[0]))
for name in ("index.html", "page.js", "site.css"):
    with open(site + "/" + name, encoding="ascii") as f:
        text = f.read().replace("http://www.w3.org/2000/svg", "")
    for word in ("http:", "https:", "@import", "url(", "fetch(", "XMLHttpRequest", "eval("):
        check("%s has %s" % (name, word), word not in text)
if hostile:
    everything = " ".join(t for value in files.values() for t in texts(value)).lower()
    check("the text is nowhere", "ev?[" in everything)
for fault in sorted(set(faults))[:20]:
    print(fault)
