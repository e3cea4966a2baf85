// views.js - the pages, one function each, and the addresses that lead to them: #/night/KEY?text=...
// Those of builds are in compare.js, the timeline of a record is in timeline.js.
// A page is a promise of its elements; the first is its heading.

let site;
const models = new Map(), builds = new Map(), nights = new Map(), details = new Set();

const RECENT_NIGHTS = 30; // whose changes the first page lists
const MOST_CHARTS = 12;

function takeSite(value) {
  site = value;
  for (const [key, name, good, failed, last, series, changes, comparable] of site.models) {
    models.set(key, {key, name, good, failed, last, series, changes, comparable});
  }
  for (const [key, runtime, label, sha256, version, simulated, first, last, good, failed] of site.builds) {
    builds.set(key, {key, runtime, label, sha256, version, simulated, first, last, good, failed});
  }
  for (const [key, first, last, good, failed, judged] of site.nights) {
    nights.set(key, {key, first, last, good, failed, judged});
  }
  site.changes = site.changes.map(([metric, model, series, title, cell, at, ratio, low, high, cause,
    before, build]) => ({metric, model, series, title, cell, at, ratio, low, high, cause, before, build}));
  for (const key of site.details) details.add(key);
}

function must(map, key, what) {
  if (!map.has(key)) throw new Error("this site has no such " + what + " (any more)");
  return map.get(key);
}

// ---- names and links --------------------------------------------------------------------------

function buildName(key) {
  const build = builds.get(key);
  return build ? build.label || build.sha256.slice(0, 12) || "unnamed build" : "unknown build";
}

function buildLink(key) {
  if (!builds.has(key)) return buildName(key);
  return el("span", null, link("#/build/" + key, buildName(key)),
    builds.get(key).simulated ? el("span", {class: "soft"}, " (simulated)") : null);
}

// The night that holds a time: the last that begins at or before it.
function nightAt(seconds) {
  let low = 0, high = site.nights.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (site.nights[middle][1] <= seconds) low = middle;
    else high = middle - 1;
  }
  return site.nights.length ? site.nights[low][0] : "";
}

function nightLink(seconds) {
  return {show: link("#/night/" + nightAt(seconds), day(seconds)), value: seconds};
}

function seriesLink(change) {
  return link("#/model/" + change.model + "?metric=" + change.metric + "&series=" + change.series,
    change.title);
}

function number(value, show) {
  return {show: show === undefined ? String(value) : show, value};
}

// Words in place of a figure are sorted as unknown.
function figureCell(figure) {
  return {show: words(figure), value: typeof figure === "number" ? figure : ""};
}

// ---- filters: their values are part of the address ------------------------------------------------

function select(label, name, values, query, changed) {
  const box = el("select", {name, change: () => changed(name, box.value)},
    values.map(([value, words]) => el("option", {value}, words)));
  box.value = query.get(name) || (values.length ? values[0][0] : "");
  return el("label", null, label + " ", box);
}

function search(query, changed) {
  const box = el("input", {type: "search", name: "text", value: query.get("text") || "",
    input: () => changed("text", box.value)});
  return el("label", null, "Contains ", box);
}

// A form of filters above what RESULT makes of the address' query, anew after each change.
function filtered(path, query, make, result) {
  const box = el("div", {class: "result"});
  const again = () => fill(box, [box.replaceChildren(), result(query)]);
  const changed = (name, value) => {
    if (value) query.set(name, value);
    else query.delete(name);
    const text = query.toString();
    history.replaceState(null, "", "#/" + path + (text ? "?" + text : ""));
    again();
  };
  again();
  return [el("form", {class: "filters", submit: (event) => event.preventDefault()}, make(changed)), box];
}

function contains(text, query) {
  return text.toLowerCase().includes((query.get("text") || "").toLowerCase());
}

function distinct(values) {
  return [...new Set(values)].sort();
}

function anyOf(values) {
  return [["", "all"], ...distinct(values).map((v) => [v, v])];
}

// ---- latest ------------------------------------------------------------------------------------------

function changesTable(caption, changes) {
  return table(caption,
    ["first night", "series", "figure", "#change", "95 %", "what else changed", "build before", "first build", ""],
    changes.map((c) => [nightLink(c.at), seriesLink(c), METRIC_WORDS[c.metric], number(c.ratio, change(c.ratio)),
      range(c.low, c.high), c.cause, buildLink(c.before), buildLink(c.build),
      c.before && c.build && c.before !== c.build
        ? link("#/compare/" + c.before + "/" + c.build + "?metric=" + c.metric, "compare") : ""]));
}

function counted(number, words, kind) {
  return el("li", {class: number ? kind : "none"}, el("strong", null, String(number)), words);
}

function lines(text) {
  return el("ul", null, text.split("\n").filter((line) => line).map((line) => el("li", null, line)));
}

function verdictOf(night) {
  return night && night.judged ? load("verdict-" + night.key) : Promise.resolve(null);
}

function judged(night, verdict) {
  return verdict ? [
    el("h3", null, "Verdict of bench nightly on ", link("#/night/" + night.key, day(night.first))),
    el("p", null, el("strong", null, verdict.headline)), lines(verdict.words)] : null;
}

function notes() {
  const said = [];
  if (site.failed) said.push(count(site.failed, "record") + " of failed runs");
  if (site.timeless) said.push(count(site.timeless, "record") + " left out: no time in their ids");
  if (site.misdates) said.push(site.misdates);
  if (site.no_pictures) said.push("no pictures: gnuplot was missing when the site was made");
  const list = said.map((text) => el("p", {class: "soft"}, text + "."));
  if (site.damaged_count) {
      const more = site.damaged_count - site.damaged.length;
      list.push(el("p", {class : "bad"},
                   count(site.damaged_count, "file") + " of the store could not be read as records:"),
                el("ul", null,
                   site.damaged.map(([ file, why ]) => el("li", null, file + ": " + why)),
                   more ? el("li", null, "and " + more + " more") : null));
  }
  return list;
}

// That there is no change point means something only where there could be one.
function points(n) {
  return n === 1 ? "change point" : "change points";
}

function counts(recent, last, verdict) {
  const worse = recent.filter((c) => c.ratio > 1).length, better = recent.filter((c) => c.ratio < 1).length;
  const over = count(Math.min(RECENT_NIGHTS, site.nights.length), "night");
  const list = [];
  if (verdict && verdict.told === false) {
    list.push(counted("?", "inconclusive whether the latest night is slower, see above", "unsure"));
  }
  if (site.comparable || recent.length) {
    const some = site.comparable < site.series ? ", in the " + site.comparable + " of " + site.series +
      " series that have enough nights for one" : "";
    list.push(counted(worse, points(worse) + " for the worse in " + over + some + (worse ? "" :
      "; a change is known after " + site.least_nights + " nights"), "slow"),
    counted(better, points(better) + " for the better", "fast"),
    counted(site.watched.length, "series out of line, to be watched", "unsure"));
  } else {
    list.push(counted("?", "changes: nothing to compare with in " + over + ", no series has the " +
      2 * site.least_nights + " that a change point needs", "unsure"));
  }
  list.push(counted(last ? last.failed : 0, "failed in the latest night", "bad"));
  return el("ul", {class: "counts"}, list);
}

function latestPage() {
  const last = site.nights.length ? nights.get(site.nights[site.nights.length - 1][0]) : null;
  const since = site.nights.length ? site.nights[Math.max(0, site.nights.length - RECENT_NIGHTS)][1] : 0;
  const recent = site.changes.filter((c) => c.at >= since);
  const found = [];
  if (recent.length) found.push(changesTable("Change points, the latest first", recent));
  if (site.watched.length) {
    found.push(table("Out of line in the latest nights; a change has " + site.least_nights + " or more",
      ["latest night", "series", "#from its level", "#nights in a row"],
      site.watched.map(([model, series, title, at, ratio, run]) => [nightLink(at),
        link("#/model/" + model + "?metric=wall&series=" + series, title), number(ratio, change(ratio)),
        number(run)])));
  }
  return Promise.all([load("newest"), verdictOf(last)]).then(([latest, verdict]) => [
    el("h2", null, "What was found"), judged(last, verdict), counts(recent, last, verdict), found, notes(),
    el("h2", null, "Latest results"),
    el("p", {class: "soft"}, "Of the latest build of each experiment: " + count(latest.records, "record") + "."),
    latest.tables.map(([, title, html], i) => {
      const part = fold(title, () => fragment(html, title));
      if (i === 0) part.open = true;
      return part;
    }),
    latest.pictures ? el("h2", null, "Pictures") : null,
    latest.pictures ? fragment(latest.pictures, "Pictures") : null]);
}

// ---- models --------------------------------------------------------------------------------------------

function modelsPage() {
  return [el("h2", null, "Models"), table("Models of the store",
    ["model", "#series", "#changes of the median step", "#records", "#failed", "last run"],
    [...models.values()].map((m) => [link("#/model/" + m.key, m.name), number(m.series),
      m.comparable ? number(m.changes) : figureCell(null),
      number(m.good + m.failed), number(m.failed), nightLink(m.last)]))];
}

// A metric that no night has a value of has failures and remarks alone.
function nightsOf(series, metric) {
  const m = series.metrics[metric] || {value: []};
  const failed = new Map(series.failed.map(([night, records, why]) =>
    [night, count(records, "record") + " failed" + (why ? ": " + why : "")]));
  const remarks = new Map(series.remarks.filter(() => OF_DEVICE.has(metric))
    .map(([night, code]) => [night, site.remarks[code]]));
  return table("Nights of " + series.title + ", " + METRIC_WORDS[metric],
    ["night", "#value", "95 % interval", "build", "remarks", "failures"],
    series.time.map((at, i) => [nightLink(at), figureCell(nightFigure(m, i)), interval(m, i),
      buildLink(buildOf(series, i)), remarks.get(i) || "", failed.get(i) || ""]).reverse());
}

// "12 records of 4 nights failed: crash in 3 nights, timeout in 1 night." A night in which some records are good
// has no class.
function failuresOf(series) {
  if (!series.failed.length) return null;
  const classes = new Map();
  for (const [, , why] of series.failed) if (why) classes.set(why, (classes.get(why) || 0) + 1);
  const classed = [...classes].map(([why, nights]) => why + " in " + count(nights, "night")).join(", ");
  return el("p", null, count(series.failed.reduce((sum, [, records]) => sum + records, 0), "record") + " of " +
    count(series.failed.length, "night") + " failed" + (classed ? ": " + classed : "") + ".");
}

function seriesPart(series, metric) {
  const parts = [el("h3", null, series.title, " ", series.simulated ? badge("SIMULATED DEVICE") : "",
    series.emulated ? badge("EMULATED FRONT END") : "")];
  if (!series.metrics[metric]) {
    parts.push(el("p", {class: "soft"}, "No night has the " + METRIC_WORDS[metric] + "."), failuresOf(series),
      fold("Nights as a table", () => nightsOf(series, metric)));
  } else {
    parts.push(chart(series, metric, buildName, (at) => { location.hash = "#/night/" + nightAt(at); }),
      fold("Levels and changes", () => fragment(series.metrics[metric].words,
        "Levels and changes of " + series.title, true)),
      fold("Nights as a table", () => nightsOf(series, metric)));
  }
  return el("section", null, parts);
}

function modelPage([key], query) {
  const model = must(models, key, "model");
  return load("model-" + key).then((value) => {
    const all = value.series;
    const one = all.find((s) => s.key === query.get("series"));
    const figures = METRICS.filter((m) => all.some((s) => s.metrics[m])); // none where all records failed
    return [el("h2", null, model.name), el("p", {class: "soft"},
      "Series over nights, of all builds. A dot is a night, a line the median between two changes, a dashed " +
      "line a change with the first build that has it. Bars are 95 % intervals over processes."),
    one ? el("p", null, link("#/model/" + key, "All " + all.length + " series of " + model.name)) : null,
    filtered("model/" + key, query, (changed) => [
      figures.length ? select("Figure", "metric", figures.map((m) => [m, METRIC_WORDS[m]]), query, changed) : null,
      one ? null : select("Phase", "phase", anyOf(all.map((s) => s.phase)), query, changed),
      one ? null : select("Mode", "mode", anyOf(all.map((s) => s.mode)), query, changed),
      one ? null : select("Runtime", "runtime", anyOf(all.map((s) => s.runtime)), query, changed)], (q) => {
      const metric = METRICS.includes(q.get("metric")) ? q.get("metric") : figures[0] || "wall";
      const wanted = one ? [one] : all.filter((s) => ["phase", "mode", "runtime"].every((name) =>
        !q.get(name) || q.get(name) === s[name]));
      const parts = wanted.slice(0, MOST_CHARTS).map((s) => seriesPart(s, metric));
      if (wanted.length > MOST_CHARTS) {
        const rest = wanted.slice(MOST_CHARTS);
        const more = el("button", {type: "button", class: "more", click: () => more.replaceWith(
          ...rest.map((s) => seriesPart(s, metric)))}, "Show " + rest.length + " more series");
        parts.push(more);
      }
      return parts.length ? parts : el("p", null, "No series matches all of these.");
    })];
  });
}

function changesPage(path, query) {
  const figures = [["", "all"], ...METRICS.map((m) => [m, METRIC_WORDS[m]])];
  const ways = [["", "all"], ["worse", "for the worse"], ["better", "for the better"]];
  return [el("h2", null, "Changes"), el("p", {class: "soft"},
    "All change points that bench found in the store's series. A change is known after " + site.least_nights +
    " nights."), filtered("changes", query, (changed) => [search(query, changed),
    select("Figure", "metric", figures, query, changed), select("Direction", "to", ways, query, changed)],
  (q) => changesTable("Change points, the latest first", site.changes.filter((c) =>
    (!q.get("metric") || c.metric === q.get("metric")) &&
    (!q.get("to") || (q.get("to") === "worse") === c.ratio > 1) &&
    contains(c.title + " " + buildName(c.build) + " " + c.cause, q))))];
}

// ---- nights and records ----------------------------------------------------------------------------------

function nightsPage(path, query) {
  return [el("h2", null, "Nights"), el("p", {class: "soft"}, "A night is what ran within " + site.night_hours +
    " hours of its first record. Times are UTC."), filtered("nights", query, (changed) => [search(query, changed)],
  (q) => table("Nights, the latest first", ["first record", "last record", "#records", "#failed", "judged"],
    [...nights.values()].reverse().filter((n) => contains(stamp(n.first), q)).map((n) => [
      {show: link("#/night/" + n.key, stamp(n.first)), value: n.first}, number(n.last, stamp(n.last)),
      number(n.good + n.failed), number(n.failed), n.judged ? "yes" : ""])))];
}

function rowOf(row) {
  const [experiment, key, id, at, build, status, steps] = row, from = 7, end = from + METRICS.length;
  return {experiment, key, id, at, build, status, steps, values: row.slice(from, end),
    remark: site.remarks[row[end] || 0]};
}

function nightPage([key], query) {
  const night = must(nights, key, "night");
  return Promise.all([load("night-" + key), verdictOf(night)]).then(([file, verdict]) => {
    const rows = file.records.map(rowOf);
    return [el("h2", null, "Night of " + stamp(night.first) + " UTC"), judged(night, verdict),
      filtered("night/" + key, query, (changed) => [search(query, changed), select("Status", "status",
        [["", "all"], ["failed", "failed"], ["ok", "good"]], query, changed)],
      (q) => table("Records of this night; a process is a record",
        ["record", "experiment", "build", "status", ...METRICS.map((m) => "#" + METRIC_WORDS[m]), "#steps", "remarks"],
        rows.filter((r) => (!q.get("status") || (q.get("status") === "ok") === !r.status) &&
          contains(file.experiments[r.experiment][0] + " " + buildName(r.build) + " " + r.status + " " + r.id, q))
          .map((r) => [{show: link("#/record/" + key + "/" + r.key, stamp(r.at).slice(11)), value: r.at},
            link("#/model/" + file.experiments[r.experiment][1], file.experiments[r.experiment][0]),
            buildLink(r.build), r.status || "ok", ...r.values.map(figureCell), number(r.steps),
            r.remark])))];
  });
}

function detailsOf(file) {
  return [file.message ? el("p", {class: "bad"}, file.message) : null,
    fragment(file.tables, "Ledger, executions and counters of the record"),
    el("h3", null, "Timeline"), timelineOf(file),
    el("h3", null, "Steps"), file.wall.length ? stepsChart(file) : el("p", null, "No step was measured."),
    el("h3", null, "Provenance"), about(file.provenance)];
}

function recordPage([nightKey, key]) {
  const night = must(nights, nightKey, "night");
  return Promise.all([load("night-" + nightKey), details.has(key) ? load("record-" + key) : null])
    .then(([file, detail]) => {
      const found = file.records.map(rowOf).find((r) => r.key === key);
      if (!found) throw new Error("this night has no such record (any more)");
      return [el("h2", null, "Record"), about([["id", found.id],
        ["experiment", link("#/model/" + file.experiments[found.experiment][1], file.experiments[found.experiment][0])],
        ["night", link("#/night/" + nightKey, stamp(night.first))], ["build", buildLink(found.build)],
        ["status", found.status || "ok"], ["steps", String(found.steps)],
        ...METRICS.map((m, i) => [METRIC_WORDS[m], known(found.values[i]) ? words(found.values[i]) : "unknown"]),
        ["remark", found.remark]]),
      detail ? detailsOf(detail) : [el("p", null, "Ledger, timeline, steps and provenance are kept for the latest " +
        "records and for those around a change. This adds them for this one:"), el("pre", {tabindex: 0},
        "bench report --store STORE --site SITE --record " + found.id)]];
    });
}

// ---- addresses --------------------------------------------------------------------------------------------

const pages = {
  "": latestPage, models: modelsPage, model: modelPage, changes: changesPage, builds: buildsPage, build: buildPage,
  compare: comparePage, nights: nightsPage, night: nightPage, record: recordPage,
};
// The entry of the navigation that a page belongs to.
const parents = {model: "models", build: "builds", compare: "builds", night: "nights", record: "nights"};
let turn = 0;

function show(first) {
  const [path, text] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const mine = ++turn, status = document.getElementById("status");
  const entry = "#/" + (parents[name] || name);
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.getAttribute("href") === entry) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  status.textContent = "Loading.";
  new Promise((done) => {
    if (!Object.hasOwn(pages, name)) throw new Error("there is no page " + name);
    done(pages[name](rest, new URLSearchParams(text || "")));
  }).catch((why) => [el("h2", null, "Not found"), el("p", {class: "bad"}, why.message + ".")]).then((parts) => {
    if (mine !== turn) return;
    fill(main, [main.replaceChildren(), parts]);
    const heading = main.querySelector("h2");
    document.title = (heading ? heading.textContent.trim() + " - " : "") + site.title;
    status.textContent = "";
    if (!first) {
      window.scrollTo(0, 0);
      main.focus();
    }
    document.documentElement.dataset.shown = location.hash || "#/";
  });
}

// ---- boxes wider than the window ----------------------------------------------------------------------------

function hint() {
  for (const box of document.querySelectorAll(".scroll,.picture")) {
    box.classList.toggle("wider", box.scrollWidth > box.clientWidth + 1);
  }
}

// Pages, folds and filters change the contents anywhere: each change is followed by one check.
function hints() {
  let due = false;
  const later = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      hint();
    });
  };
  new MutationObserver(later).observe(main, {childList: true, subtree: true});
  document.addEventListener("toggle", later, true);
  window.addEventListener("resize", later);
}

// ---- theme ---------------------------------------------------------------------------------------------------

function themes() {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
  try {
    const kept = localStorage.getItem("bench-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch (why) { /* a page from the disk may keep nothing */ }
  button.hidden = false;
  name();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
    try {
      localStorage.setItem("bench-theme", root.dataset.theme);
    } catch (why) { /* the same */ }
  });
}

themes();
hints();
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
load("site").then((value) => {
  takeSite(value);
  const ends = site.nights.length ? ", " + day(site.nights[0][1]) + " to " +
    day(site.nights[site.nights.length - 1][2]) + " UTC" : "";
  document.getElementById("about").textContent = count(site.records, "record") + " of " +
    count(site.nights.length, "night") + " and " + count(site.builds.length, "build") + ends;
  window.addEventListener("hashchange", () => show(false));
  show(true);
}, (why) => fill(main, [el("p", {class: "bad"}, why.message + ".")]));
