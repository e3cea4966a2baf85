"""read_exports.py - reads tables and exports of one store, as check_exports.sh made it,
and says what is wrong with them.

    read_exports.py table FOLDER NAME     FOLDER/NAME.text, .md, .csv, .json, .latex, .html
    read_exports.py html FILE
    read_exports.py export PATH FORMAT
    read_exports.py odd FOLDER            FOLDER/FORMAT of two imported lines with odd texts
"""
import csv
import html.parser
import json
import pathlib
import re
import sys

STEPS = 3
GOOD = 3


class Page(html.parser.HTMLParser):
    """Tags that close in the order in which they open; the cells of the tables."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.cell = [], [], None
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        if tag in ("meta", "br"):
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = ""
            self.span = int(dict(attributes).get("colspan", 1))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
        if tag in ("td", "th"):
            self.rows[-1] += [self.cell.strip()] + [""] * (self.span - 1)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def markdown_rows(text):
    rows = []
    for line in text.splitlines():
        if line.startswith("|") and not re.fullmatch(r"[| :-]+", line):
            # A backslash before a sign says that it is no mark.
            line = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", line)
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def latex_rows(text):
    """Rows of the tabulars with markup undone; widths must be those declared."""
    rows = []
    for columns, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text,
                                    re.S):
        for line in body.splitlines():
            if line == r"\hline":
                continue
            assert line.endswith(r" \\"), line
            cells = line[:-3].split(" & ")
            span = re.match(r"\\multicolumn\{(\d+)\}\{l\}\{(.*)\}$", cells[-1])
            if span:
                cells[-1:] = [span[2]] + [""] * (int(span[1]) - 1)
            assert len(cells) == len(columns), line
            for cell in cells:
                bare = re.sub(r"\\(textless|textgreater|textbar)\{\}|\\[#$%&_{}]|\{[\[\]]\}|-\{\}",
                              "", cell)
                assert not set(bare) & set("#$%&_{}~^\\<>|"), cell
            rows.append([re.sub(r"\\([#$%&_])", r"\1", cell)
                         .replace(r"\textless{}", "<").replace("{[}", "[").replace("{]}", "]")
                         .replace("-{}", "-").strip() for cell in cells])
    return rows


def check_html(path):
    text = pathlib.Path(path).read_text()
    assert text.startswith("<!DOCTYPE html>\n"), text[:40]
    page = Page(text)
    assert page.rows
    return page


def check_table(folder, name):
    text = {f: (pathlib.Path(folder) / f"{name}.{f}").read_text()
            for f in ("text", "md", "csv", "json", "latex", "html")}
    page, rows = check_html(f"{folder}/{name}.html"), markdown_rows(text["md"])
    assert page.rows == rows, (page.rows[:2], rows[:2])
    assert latex_rows(text["latex"]) == rows, latex_rows(text["latex"])[:2]
    assert any("failed: " in cell for row in rows for cell in row), "no failure"
    for form in ("text", "md", "latex", "html"):
        assert "simulated" in text[form], form
    data = json.loads(text["json"])["rows"]
    lines = list(csv.DictReader(text["csv"].splitlines()))
    if name == "speedup":
        lines = [line for line in lines if line["kind"] == "row"]
    assert len(lines) == len(data) >= 2
    failed = [row for row in data if row["status"] != "ok"]
    assert len(failed) == 1 and failed[0]["status"] == "execute-error", failed
    assert failed[0]["left_out_failed"] == 1 and failed[0]["processes"] == 0, failed
    for line, row in zip(lines, data):
        assert row["simulated"] is True
        for key, value in row.items():
            said = "" if value is None else value if isinstance(value, str) else json.dumps(value)
            assert line[key] == said or float(line[key]) == float(said), (key, line[key], said)
    if name == "ledger":
        for row in (row for row in data if row["status"] == "ok"):
            parts = [value for key, value in row.items()
                     if key.endswith("_mean_ns") and key[:-8] not in ("sum", "wall")]
            assert len(parts) == 12 and abs(sum(parts) - row["wall_mean_ns"]) < 1, row


def google_benchmark(path):
    data = json.load(open(path))
    steps = [b for b in data["benchmarks"] if b["run_type"] == "iteration"]
    assert len(steps) == GOOD * STEPS
    for step in steps:
        assert step["label"] == "simulated" and step["time_unit"] == "ns"
        assert 0 < step["cpu_time"] <= step["real_time"]
    assert len({b["name"] for b in steps}) == 2
    assert len(data["failures"]) == 1 and len(data["context"]["records"]) == 4
    assert data["context"]["holds_simulated_results"] is True


def benchstat(path):
    names = []
    for line in open(path):
        if line.startswith("Benchmark"):
            name, count, *values = line.split()
            names.append(name)
            assert count == "1" and values[1] == "ns/op" and len(values) == 2 * 13, line
            assert sum(map(int, values[2::2])) == int(values[0])
        else:
            assert re.match(r"#|[a-z][^A-Z ]*:", line), line
    assert len(names) == GOOD * STEPS and len(set(names)) == 2
    assert all(name.startswith("BenchmarkResnet18/infer/") for name in names)


def asv(path):
    root = pathlib.Path(path)
    assert json.load(open(root / "asv.conf.json"))["results_dir"] == "results"
    benchmarks = json.load(open(root / "results/benchmarks.json"))
    [machine] = root.glob("results/*/machine.json")
    assert json.load(open(machine))["machine"] == machine.parent.name
    samples = {}
    for file in machine.parent.glob("*-bench.json"):
        data = json.load(open(file))
        assert data["version"] == 2 and data["params"]["machine"] == machine.parent.name
        for name, row in data["results"].items():
            assert benchmarks[name]["name"] == name
            named = dict(zip(data["result_columns"], row))
            if named["result"] != [None]:
                samples[name] = (data["commit_hash"], len(named["samples"][0]))
    assert sorted(samples.values()) == [("0123abcd", STEPS), ("0123abcd", 2 * STEPS)], samples


def hyperfine(path):
    data = json.load(open(path))
    assert [len(r["times"]) for r in data["results"]] == [STEPS] * GOOD
    for r in data["results"]:
        assert r["min"] == min(r["times"]) and r["max"] == max(r["times"])
        assert abs(r["mean"] - sum(r["times"]) / STEPS) < 1e-12
        assert r["exit_codes"] == [0] * STEPS and r["parameters"]["simulated"] == "true"


def pytorch_xla(path):
    lines = [json.loads(line) for line in open(path)]
    assert len(lines) == 4
    for line in lines:
        metrics = line["metrics"]
        assert ("error" in metrics) == (line["bench"]["experiment"]["phase"] == "train")
        if "error" not in metrics:
            assert len(metrics["total_time"]) == line["repeat"]
            assert line["repeat"] == STEPS + line["bench"]["warmup_steps"]
    assert {line["experiment"]["dynamo"] for line in lines} == {None, "openxla"}


def pytorch_benchmark(path):
    root = pathlib.Path(path)
    rows = [json.loads(line) for line in open(root / "database/bench.json")]
    steps = [r for r in rows if r["metric"]["name"] == "step_latency"]
    assert [len(r["metric"]["benchmark_values"]) for r in steps] == [STEPS] * GOOD
    assert all(r["benchmark"]["extra_info"]["not_measured_on_hardware"] for r in rows)
    [good] = root.glob("userbenchmark/0123abcd/metrics-*.json")
    data = json.load(open(good))
    form = "model=(.*), test=(.*), device=(.*), bs=(.*), extra_args=(.*), metric=(.*)"
    assert data["name"] == "test_bench" and len(data["metrics"]) == 2
    assert all(re.fullmatch(form, key) for key in data["metrics"])


def xla(path):
    root = pathlib.Path(path)
    baseline = json.load(open(root / "baseline.yml"))
    files = [json.load(open(f)) for f in root.glob("*/*/results.json")]
    assert len(files) == 4 and len(baseline) == 2
    for data in files:
        assert data["hardware_category"] == "SIMULATED"
        if data["run_status"] == "SUCCESS":
            assert data["config_id"] in baseline
            assert len(data["metrics"]["WALL_TIME"]["samples"]) == STEPS
        else:
            assert data["error_message"] and data["metrics"] == {}


def csv_rows(path):
    rows = list(csv.DictReader(open(path)))
    steps = [r for r in rows if r["sample"] == "step"]
    assert len(steps) == GOOD * STEPS and all(r["simulated"] == "true" for r in rows)
    for r in steps:
        parts = [int(v) for k, v in r.items() if k.endswith("_ns") and k not in
                 ("wall_ns", "trace_cost_ns")]
        assert sum(parts) == int(r["wall_ns"]), r
    assert [r for r in rows if r["status"] == "execute-error"], "no failure"


def chrome_trace(path):
    data = json.load(open(path))
    events = data["traceEvents"]
    names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    assert len(names) == GOOD and all(name.endswith("/simulated") for name in names)
    for pid in (e["pid"] for e in events if e["name"] == "process_name"):
        lanes = {lane: [e for e in events if e["ph"] == "X" and e["pid"] == pid and
                        e["tid"] == lane] for lane in (1, 2, 3)}
        steps = [e for e in lanes[1] if e["name"].startswith("step ")]
        assert len(steps) == STEPS and lanes[3]
        for step in steps:
            # Starts have three decimals; the sum of two of them may miss by less than one.
            start, end = step["ts"] - 5e-4, step["ts"] + step["dur"] - 5e-4
            inside = [e for e in lanes[2] if start <= e["ts"] < end]
            assert abs(sum(e["dur"] for e in inside) - step["dur"]) < 0.01
    assert len(data["otherData"]["failures"]) == 1


def xspace(path):
    """That they are messages is test_exports' matter; here where they lie."""
    files = sorted(pathlib.Path(path).glob("plugins/profile/*/bench.xplane.pb"))
    assert len(files) == GOOD
    for file in files:
        data = file.read_bytes()
        assert b"/host:CPU" in data and b"bench steps (simulated)" in data


def check_odd(folder):
    root = pathlib.Path(folder)
    for line in open(root / "benchstat"):
        assert line.startswith(("#", "BenchmarkA_", "cpu:", "platform: cuda", "not-m")), line
        assert len(line.split(" ")) == 4 or not line.startswith("B"), line
    assert json.load(open(root / "chrome-trace"))["otherData"]["failures"]
    [name] = [b["run_name"] for b in json.load(open(root / "google-benchmark"))["benchmarks"]
              if b["run_type"] == "iteration" and b["repetition_index"] == 0]
    assert " " not in name and "\u00a0" not in name, name
    rows = list(csv.DictReader(open(root / "csv", newline="")))
    assert {r["model"] for r in rows} == {'a "b" <c> ../d, e=\u00a0f', "alexnet"}
    assert any(" BenchmarkNo" in r["message"] for r in rows)
    for path in root.glob("**/*"):
        assert len(path.name.encode()) <= 210, path
    for name in json.load(open(root / "asv/results/benchmarks.json")):
        assert len(name.encode()) <= 200, name


if __name__ == "__main__":
    if sys.argv[1] == "table":
        check_table(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "html":
        check_html(sys.argv[2])
    elif sys.argv[1] == "odd":
        check_odd(sys.argv[2])
    else:
        reader = {"csv": csv_rows}.get(sys.argv[3]) or globals()[sys.argv[3].replace("-", "_")]
        reader(sys.argv[2])
