// timeline.js - the process of one record, from its start to its end, and its steps, as lanes of slices. A record
// has durations and their order, not when each began. So slices follow each other, the parts of a step in the order
// of the ledger, and time for other experiments is left out.

const LANE = 36;

// Phases of a process in their order: members of the record's phases, and words.
const PHASES = [
  ["initialization", "plugin and client"], ["preparation", "model, weights, inputs"],
  ["compile", "compiling or loading"], ["warmup", "warm-up"], ["measuring", "rounds"], ["rest", "the end"],
];

function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}

// Slices, each {name, kind, ns}, with their begins: one after the other, the first at FROM.
function placed(from, slices) {
  return slices.map((slice) => {
    const at = from;
    from += slice.ns;
    return {...slice, at};
  }).filter((slice) => slice.ns > 0);
}

// A picture of LANES, each [name, placed slices], from 0 to END ns.
function lanesChart(lanes, end, title) {
  const high = TOP + lanes.length * LANE + BOTTOM;
  const atX = (ns) => LEFT + ns / (end || 1) * (WIDE - LEFT - RIGHT);
  const box = svg("svg", {viewBox: "0 0 " + WIDE + " " + high, role: "img", class: "chart"}, svg("title", {}, title));
  for (let i = 0; i <= 4; i++) {
    const x = atX(end * i / 4);
    box.append(svg("path", {d: "M" + x + " " + TOP + "V" + (high - BOTTOM), class: "grid"}),
      svg("text", {x, y: high - 10, "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle"},
        i === 0 ? "0" : time(end * i / 4)));
  }
  lanes.forEach(([name, slices], i) => {
    const top = TOP + i * LANE;
    box.append(svg("text", {x: LEFT - 8, y: top + 21, "text-anchor": "end"}, name));
    for (const slice of slices) {
      const left = atX(slice.at), wide = Math.max(atX(slice.at + slice.ns) - left, 0.6);
      box.append(svg("rect", {x: left.toFixed(2), y: top + 3, width: wide.toFixed(2), height: LANE - 8,
        class: "slice of-" + slice.kind}, svg("title", {}, slice.name + ": " + time(slice.ns))));
      if (wide > 8 * slice.name.length) {
        box.append(svg("text", {x: (left + wide / 2).toFixed(2), y: top + 21, "text-anchor": "middle", class: "within"},
          slice.name));
      }
    }
  });
  return box;
}

// A picture with its colours, [kind, name] each, and words.
function lanesFigure(box, keys, ...words) {
  return el("figure", null, el("div", {class: "picture", tabindex: 0}, box),
    el("div", {class: "keys"}, keys.map(([kind, name]) => el("span", null, el("i", {class: "of-" + kind}), name))),
    el("figcaption", null, words));
}

// The rounds of a record: the steps that are kept, and what else was done in the round.
function roundsOf(record) {
  let next = 0;
  return record.rounds.flatMap((count, i) => {
    const name = "round " + (i + 1), kept = record.wall.slice(next, next + count), wall = record.round_wall[i];
    next += count;
    if (kept.length < count) return [{name, kind: "measuring", ns: known(wall) ? wall : 0}];
    return [{name: name + ", steps", kind: "measuring", ns: sum(kept)},
      {name: name + ", probes and a step that is not kept", kind: "probes",
        ns: known(wall) ? Math.max(0, wall - sum(kept)) : 0}];
  });
}

function processFigure(record) {
  const phases = {...record.phases}, own = phases.wall - phases.others;
  const before = phases.initialization + phases.preparation + phases.compile + phases.warmup;
  phases.rest = Math.max(0, own - before - phases.measuring);
  const warmups = record.warmup.map((ns, i) => ({name: "warm-up step " + (i + 1), kind: "warmup", ns}));
  const lanes = [["process", placed(0, PHASES.map(([kind, name]) => ({name, kind, ns: phases[kind]})))],
    ["within it", [...placed(Math.max(0, before - sum(record.warmup)), warmups), ...placed(before, roundsOf(record))]]];
  const others = phases.others > 0 ? " Another " + time(phases.others) +
    " of the process were for the other experiments, and are left out." : "";
  return [lanesFigure(lanesChart(lanes, own, "The process of this record, " + time(own) +
    ": its phases, the steps of the warm-up, and the rounds. The table below says the same."),
  [...PHASES.filter(([kind]) => phases[kind] > 0), ...(record.rounds.length ? [["probes", "probes in rounds"]] : [])],
  "The process, from its start until it wrote the record. Compiling in steps of the warm-up counts as compiling. A " +
    "round has steps that are kept, and probes." + others),
  fold("Phases as a table", () => table("Phases of the process", ["phase", "#time", "#share"],
    PHASES.map(([kind, name]) => [name, number(phases[kind], time(phases[kind])),
      number(phases[kind] / own, (100 * phases[kind] / own).toFixed(1) + " %")])))];
}

// ROWS are steps with their parts: [number from 0, ns of each part].
function partsFigure(record, rows, what) {
  const steps = rows.map(([step, ...parts]) => ({name: "step " + (step + 1), kind: "step", ns: sum(parts)}));
  const parts = rows.flatMap(([, ...ns]) => record.parts.map((name, i) => ({name, kind: name, ns: ns[i]})));
  const used = record.parts.map((name, i) => [name, i]).filter(([, i]) => rows.some((row) => row[i + 1] > 0));
  const end = sum(steps.map((step) => step.ns));
  return [lanesFigure(lanesChart([["steps", placed(0, steps)], ["parts", placed(0, parts)]], end,
    "Parts of " + what + ", " + time(end) + " in all. The table below says the same."),
  used.map(([name]) => [name, name]),
  "Parts of " + what + ", in the order of the ledger."),
  fold("Parts as a table", () => table("Parts of " + what, ["step", "#wall", ...used.map(([name]) => "#" + name)],
    rows.map((row, i) => [{show: steps[i].name, value: row[0]}, number(steps[i].ns, time(steps[i].ns)),
      ...used.map(([, p]) => number(row[p + 1], time(row[p + 1])))])))];
}

function timelineOf(record) {
  const parts = [el("p", {class: "soft"}, "Durations are measured. A record does not say when each began: slices " +
    "follow each other. bench run --timeline notes when everything ran.")];
  if (record.phases) parts.push(processFigure(record));
  else parts.push(el("p", null, "This record has no phases of its process."));
  if (record.parted.length) {
    parts.push(partsFigure(record, record.parted, record.parted.length === 1 ? "the measured step"
      : "the first " + record.parted.length + " measured steps"));
  } else {
    parts.push(el("p", null, "This record has no steps with parts."));
  }
  if (record.longest) parts.push(partsFigure(record, [record.longest], "the longest step"));
  return parts;
}
