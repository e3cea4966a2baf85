"""read_timeline.py - opens a timeline of bench run in catapult's trace viewer and in Perfetto's UI,
as read_trace.py does with exports, and says what they do not show as the file has it: slices with
their rows, lanes, times and lengths, and arrows.

    read_timeline.py VIEWERS TRACE     folder of the viewers, file of --timeline
"""
import collections
import json
import pathlib
import sys

from read_trace import CATAPULT, PERFETTO, viewing

# Arrows: how many catapult's model has; of Perfetto's the ends that are slices.
CATAPULT_FLOWS = """(() => {
    const model = new tr.Model();
    new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
    return model.flowEvents.length;
})()"""
PERFETTO_FLOWS = """(async () => {
    const result = await app.trace.engine.query(
        "select count(*) as n from flow join slice a on slice_out = a.id " +
        "join slice b on slice_in = b.id");
    return Number(result.iter({}).get("n"));
})()"""


def wanted(events):
    """The slices of EVENTS as process, thread, name, start and duration in ns."""
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    return collections.Counter(
        (processes[e["pid"]], threads[e["pid"], e["tid"]], e["name"], round(e["ts"] * 1000),
         round(e["dur"] * 1000)) for e in events if e["ph"] == "X")


def check(who, shown, scale, slices):
    assert shown["warnings"] == [], (who, shown["warnings"])
    found = collections.Counter((process, thread, name, round(start * scale), round(duration * scale))
                                for process, thread, name, start, duration, _ in shown["slices"])
    lost, more = slices - found, found - slices
    assert not lost and not more, (who, sum(lost.values()), list(lost)[:2], list(more)[:2])


def main(viewers, trace):
    text = pathlib.Path(trace).read_text()
    events = json.loads(text)["traceEvents"]
    slices, flows = wanted(events), sum(e["ph"] == "s" for e in events)
    assert sum(slices.values()) > 100 and flows > 20, (sum(slices.values()), flows)
    questions = {"catapult": (CATAPULT, CATAPULT_FLOWS, 1e6),
                 "Perfetto": (PERFETTO, PERFETTO_FLOWS, 1)}
    with viewing(viewers, text) as (opened, evaluate):
        for who in opened:
            question, of_flows, scale = questions[who]
            check(who, evaluate(question), scale, slices)
            drawn = evaluate(of_flows)
            assert drawn == flows, (who + "'s arrows", drawn, flows)


if __name__ == "__main__":
    main(*sys.argv[1:])
