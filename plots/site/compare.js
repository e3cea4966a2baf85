// compare.js - the pages of builds: one, any two side by side, the latest side by side.
//
// Figures, and the words that are shown of them, are made by bench, once for each build. Here is only
// what depends on which two builds a reader chooses: the ratio of two figures, or why there is none.

const MATRIX = 8; // builds that are set side by side at once
const NOT_JUDGED = "This is not judged: figures of different nights are set side by side as they were measured, " +
  "and the nights are part of every difference. bench compare judges two builds by processes in pairs.";
const NOT_IN_BOTH = "not known in both";

// [both, only A, only B]: cells are matched by experiment and settings, or, where each build has one
// setting of it, by experiment alone.
function matched(a, b) {
  const strict = [a, b].some((build) => new Set(build.cells.map((c) => c.cell)).size < build.cells.length);
  const keyOf = (c) => strict ? c.cell + " " + c.settings : c.cell;
  const left = new Map(a.cells.map((c) => [keyOf(c), c])), right = new Map(b.cells.map((c) => [keyOf(c), c]));
  const both = [...left].filter(([key]) => right.has(key)).map(([key, c]) => [c, right.get(key)]);
  return [both, left.size - both.length, right.size - both.length];
}

// A figure of a cell as bench wrote it, with what tables show of it; null: not known.
function figureOf(cell, metric) {
  if (!cell.figures[metric]) return null;
  const [estimate, low, high, processes, significant, shown, bounds] = cell.figures[metric];
  return {estimate, low, high, processes, significant: significant === 1, words: shown + (bounds ? " " + bounds : "")};
}

function cellFigure(cell, metric) {
  const figure = figureOf(cell, metric);
  return figure ? {show: figure.words, value: figure.significant ? figure.estimate : ""} : figureCell(null);
}

// B over A of two cells, by the figures of their pools; WHY there is no ratio.
function sideBySide(x, y, metric) {
  const a = figureOf(x, metric), b = figureOf(y, metric);
  if (!a || !b) return {a, b, why: NOT_IN_BOTH};
  if (OF_DEVICE.has(metric) && x.source !== y.source) {
    return {a, b, why: "no ratio: device times are of " + x.source + " and " + y.source};
  }
  if (!a.significant || !b.significant) {
    return {a, b, why: "no ratio: not significant in " + (a.significant ? "B" : b.significant ? "A" : "both")};
  }
  if (!(a.estimate > 0 && b.estimate > 0)) return {a, b, why: "no ratio: one is zero"};
  return {a, b, ratio: b.estimate / a.estimate};
}

// The geometric mean of B over A, of the experiments that have it in both. Which builds these are the
// reader chooses, so that it can be made here only; each ratio is of two figures that bench made.
function overall(a, b, metric) {
  const all = matched(a, b)[0].map(([x, y]) => sideBySide(x, y, metric));
  const ratios = all.filter((r) => r.ratio).map((r) => Math.log(r.ratio));
  return {ratio: ratios.length ? Math.exp(ratios.reduce((sum, v) => sum + v, 0) / ratios.length) : null,
    cells: ratios.length, excluded: all.filter((r) => r.why && r.why !== NOT_IN_BOTH).length,
    unknown: all.filter((r) => r.why === NOT_IN_BOTH).length};
}

function matrix(keys, files, metric) {
  const rows = keys.map((a, i) => [buildLink(a), ...keys.map((b, k) => {
    if (i === k) return {show: "\u2013", value: 0};
    const {ratio, cells} = overall(files[i], files[k], metric);
    if (!cells) return {show: "-", value: ""};
    return {show: link("#/compare/" + a + "/" + b + "?metric=" + metric, change(ratio)), value: ratio};
  })]);
  return table("Columns over rows, " + METRIC_WORDS[metric] + ", geometric mean of the experiments that both have. " +
    NOT_JUDGED, ["build", ...keys.map((key) => "#" + buildName(key))], rows);
}

function chooser(list) {
  const pick = (name) => el("select", {name, "aria-label": "Build " + name},
    list.map((b) => el("option", {value: b.key}, buildName(b.key) + ", " + b.runtime + ", " + day(b.first))));
  const a = pick("A"), b = pick("B");
  a.value = (list[1] || list[0]).key;
  return el("form", {class: "filters", submit: (event) => {
    event.preventDefault();
    location.hash = "#/compare/" + a.value + "/" + b.value;
  }}, el("label", null, "A ", a), el("label", null, "B ", b), el("button", {class: "go"}, "Compare"));
}

function buildsPage(path, query) {
  const all = [...builds.values()];
  if (!all.length) return [el("h2", null, "Builds"), el("p", null, "No record says its build.")];
  const kinds = distinct(all.map((b) => b.runtime));
  const box = el("div");
  let asked = 0;
  const parts = filtered("builds", query, (changed) => [
    select("Runtime", "runtime", [[all[0].runtime, all[0].runtime], ...kinds.filter((k) => k !== all[0].runtime)
      .map((k) => [k, k])], query, changed),
    select("Figure", "metric", METRICS.map((m) => [m, METRIC_WORDS[m]]), query, changed),
    search(query, changed)], (q) => {
    const runtime = q.get("runtime") || all[0].runtime;
    const metric = METRICS.includes(q.get("metric")) ? q.get("metric") : "wall";
    const list = all.filter((b) => b.runtime === runtime && contains(b.label + " " + b.sha256 + " " + b.version, q));
    const keys = list.slice(0, MATRIX).map((b) => b.key).reverse();
    const mine = ++asked;
    box.replaceChildren(el("p", {class: "soft"}, "Loading the builds."));
    Promise.all(keys.map((key) => load("build-" + key))).then((files) => {
      if (mine === asked) box.replaceChildren(matrix(keys, files, metric));
    }, (why) => box.replaceChildren(el("p", {class: "bad"}, why.message)));
    return [el("h3", null, "The latest " + count(keys.length, "build") + " side by side"), box,
      table("All builds, the latest first", ["build", "runtime", "version", "digest", "first run", "last run",
        "#records", "#failed"], list.map((b) => [buildLink(b.key), b.runtime, b.version, b.sha256.slice(0, 12),
        nightLink(b.first), nightLink(b.last), number(b.good + b.failed), number(b.failed)]))];
  });
  return [el("h2", null, "Builds"), el("h3", null, "Any two"), chooser(all), parts];
}

function about(pairs) {
  return el("dl", null, pairs.filter(([, value]) => value).map(([name, value]) =>
    [el("dt", null, name), el("dd", null, value)]));
}

function buildWords(b) {
  return about([["runtime", b.runtime + (b.simulated ? " (simulated)" : "")], ["label", b.label],
    ["digest", b.sha256], ["version", b.version], ["runs", day(b.first) + " to " + day(b.last)],
    ["records", b.good + b.failed + (b.failed ? ", " + b.failed + " of them failed" : "")]]);
}

function byTitle(cells) {
  return cells.slice().sort((x, y) => x.title.localeCompare(y.title));
}

function buildPage([key]) {
  const b = must(builds, key, "build");
  const before = [...builds.values()].filter((o) => o.runtime === b.runtime && o.last < b.last)[0];
  return load("build-" + key).then((file) => [el("h2", null, "Build " + buildName(key), " ",
    b.simulated ? badge("SIMULATED DEVICE") : ""), buildWords(b),
  before ? el("p", null, link("#/compare/" + before.key + "/" + key, "Compare with " + buildName(before.key) +
    ", the build before")) : null,
  table("Figures of its processes, with 95 % intervals, as in bench table. Overhead: PJRT time minus device time; " +
    "\"<\": indistinguishable from zero",
    ["experiment", "#processes", ...METRICS.map((m) => "#" + METRIC_WORDS[m]), "remarks"],
    byTitle(file.cells).map((c) => [link("#/model/" + c.model, c.title), number(c.processes, processesOf(c)),
      ...METRICS.map((m) => cellFigure(c, m)), remarksOf(c)]))]);
}

function processesOf(cell) {
  return cell.processes + (cell.runs > 1 ? " in " + cell.runs + " runs" : "");
}

function remarksOf(cell) {
  const [conditions, others, run] = cell.left_out;
  const left = (number, why) => number ? count(number, "process", "processes") + " of " + why + " left out" : "";
  return [site.remarks[cell.remark], left(conditions, "other conditions"), left(others, "unknown builds"),
    left(run, "another run")].filter((w) => w).join("; ");
}

// How the 95 % intervals of two figures lie. They are no test: the nights are part of the difference.
function apart({a, b, why}) {
  if (why) return why;
  if (!known(a.low) || !known(b.low)) {
    return "no interval of " + (known(a.low) ? "B" : known(b.low) ? "A" : "both") + ": too few processes or runs";
  }
  if (b.low > a.high) return "B's interval is above A's";
  if (b.high < a.low) return "B's interval is below A's";
  return "the intervals overlap";
}

// Change points in the store between the nights of both builds.
function foundBetween(a, b, cell, metric) {
  const from = Math.min(a.first, b.first), to = Math.max(a.last, b.last);
  return site.changes.filter((c) => c.cell === cell && c.metric === metric && c.at > from && c.at <= to &&
    builds.has(c.build) && builds.get(c.build).runtime === b.runtime)
    .map((c) => day(c.at) + ": " + change(c.ratio) + " " + range(c.low, c.high)).join("; ");
}

function comparison(a, b, fileA, fileB, metric) {
  const [both, onlyA, onlyB] = matched(fileA, fileB);
  both.sort(([x], [y]) => x.title.localeCompare(y.title));
  const rows = both.map(([x, y]) => [x, y, sideBySide(x, y, metric)])
    .filter(([, , r]) => r.a || r.b).map(([x, y, r]) => {
    const others = [x.host !== y.host ? "other machine" : x.conditions !== y.conditions ? "other conditions" : "",
      x.settings !== y.settings ? "other settings" : ""].filter((w) => w).join(", ");
    const remark = (name, cell) => OF_DEVICE.has(metric) && cell.remark ? name + ": " + site.remarks[cell.remark] : "";
    return [link("#/model/" + x.model, x.title), cellFigure(x, metric), cellFigure(y, metric),
      {show: known(r.ratio) ? change(r.ratio) : "-", value: known(r.ratio) ? r.ratio : ""},
      [apart(r), others, remark("A", x), remark("B", y)].filter((w) => w).join("; "),
      number(r.a ? r.a.processes : 0), number(r.b ? r.b.processes : 0), foundBetween(a, b, x.cell, metric)];
  });
  const {ratio, cells, excluded, unknown} = overall(fileA, fileB, metric);
  const lead = cells ? "B over A, geometric mean of " + count(cells, "experiment") + ": "
    : "No experiment has this figure in both.";
  return [el("p", null, lead, cells ? el("strong", null, change(ratio)) : null, cells ? "." : null,
    excluded ? " No ratio: " + count(excluded, "experiment") + "." : "",
    unknown ? " Unknown in one of them: " + count(unknown, "experiment") + "." : "",
    onlyA || onlyB ? " Only in A: " + onlyA + "; only in B: " + onlyB + "." : ""),
  table("B over A, " + METRIC_WORDS[metric] + ", with 95 % intervals, as in bench table. " + NOT_JUDGED + " The last " +
    "column has the change points that bench found in the store's series between both.", ["experiment", "#A", "#B",
    "#B over A", "intervals", "#processes of A", "#processes of B", "bench found"], rows)];
}

function comparePage([keyA, keyB], query) {
  const a = must(builds, keyA, "build"), b = must(builds, keyB, "build");
  return Promise.all([load("build-" + keyA), load("build-" + keyB)]).then(([fileA, fileB]) => [
    el("h2", null, buildName(keyB) + " against " + buildName(keyA), " ",
      a.simulated || b.simulated ? badge("SIMULATED DEVICE") : ""),
    el("div", {class: "sides"}, el("section", null, el("h3", null, "A: ", buildLink(keyA)), buildWords(a)),
      el("section", null, el("h3", null, "B: ", buildLink(keyB)), buildWords(b))),
    el("p", null, link("#/compare/" + keyB + "/" + keyA, "The other way round")),
    filtered("compare/" + keyA + "/" + keyB, query, (changed) => [
      select("Figure", "metric", METRICS.map((m) => [m, METRIC_WORDS[m]]), query, changed)],
    (q) => comparison(a, b, fileA, fileB, METRICS.includes(q.get("metric")) ? q.get("metric") : "wall"))]);
}
