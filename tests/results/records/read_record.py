"""read_record.py - reads a sample record and sample tables with programs that
are not ours, and says in TAP whether the values are those that were written.

    read_record.py RECORD.h5 SPEEDUP.csv SPEEDUP.json RECORD.csv

The record is what `test_records --write-sample` writes.
"""
import csv
import json
import sys

import h5py
import numpy

count = 0


def check(name, good):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def check_record(path):
    with open(path, "rb") as raw:
        check("first line names the format", raw.readline() == b"bench-record 1\n")
    with h5py.File(path, "r") as record:
        check("schema", record.attrs["schema"] == 3)
        check("status is text", record.attrs["status"] == "ok")
        check("truth values are booleans", record.attrs["simulated"].dtype == bool
              and not record.attrs["simulated"])
        experiment = record["experiment"].attrs
        check("experiment", (experiment["model"], experiment["mode"], experiment["graphs"],
                             experiment["seed"]) == ("resnet50", "lazy", 2, 2**64 - 1))
        wall, parts = record["steps/wall_ns"], record["steps/part_ns"]
        names = [text(name) for name in parts.attrs["parts"]]
        check("units", wall.attrs["unit"] == parts.attrs["unit"] == "ns")
        check("shapes", wall.shape == (50,) and parts.shape == (50, 12) and len(names) == 12)
        check("parts add up to the wall time", (parts[:].sum(axis=1) == wall[:]).all())
        check("parts are named", (parts[:, names.index("trace")] == 2900000).all())
        check("warm-up", record["warmup/wall_ns"].shape == (5,)
              and record["warmup"].attrs["stationary"])
        check("executions", record["executions"].attrs["count"] == 2
              and sorted(record["executions"]) == ["0", "1"])
        execution = record["executions/1"]
        check("execution", execution.attrs["graph"] == "backward"
              and execution.attrs["device_ns"] == 9e6
              and execution.attrs["device_time_source"] == "slope"
              and numpy.median(execution["pjrt_ns"]) == 11e6)
        check("counters", record["counters"].attrs["nodes_traced"] == 1309 * 55
              and record["step_counters"].attrs["nodes_traced"] == 1309 * 50)
        provenance = json.loads(text(record["provenance"][()]))
        check("provenance", provenance["host"] == "h\u00f6st")


def check_speedup(csv_path, json_path):
    with open(csv_path, newline="") as file:
        lines = list(csv.DictReader(file))
    with open(json_path) as file:
        table = json.load(file, parse_constant=lambda name: sys.exit(f"{name} in JSON"))
    objects = table["rows"] + table["geometric_means"]
    check("CSV and JSON have the same rows", len(lines) == len(objects) == 15)
    check("CSV and JSON have the same figures", all(
        float(line["speedup"]) == row["speedup"] if row["speedup"] is not None
        else line["speedup"] == "" for line, row in zip(lines, objects)))
    check("no cell is outside the columns", all(None not in line for line in lines))
    capture = [row for row in table["rows"] if row["runtime"] == "cpu" and row["graphs"] == 1
               and (row["model"], row["phase"], row["mode"]) == ("resnet50", "train", "capture")]
    check("capture is faster", len(capture) == 1 and 1.2 < capture[0]["speedup_low"]
          < capture[0]["speedup"] < capture[0]["speedup_high"] < 1.3)


def check_figures(path):
    with open(path, newline="") as file:
        figures = {(f["section"], f["item"], f["quantity"]): f["value"]
                   for f in csv.DictReader(file)}
    check("CSV of a record", figures["experiment", "", "mode"] == "capture"
          and float(figures["ledger", "lookup", "median_ns"]) == 1800
          and float(figures["executions", "4", "overhead_ns"]) == 2e6)


check_record(sys.argv[1])
check_speedup(sys.argv[2], sys.argv[3])
check_figures(sys.argv[4])
print(f"1..{count}")
