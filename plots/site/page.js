// page.js - the pieces of the pages: loading data, elements, figures as words, tables, charts. The
// pages are in views.js, compare.js and timeline.js. All become one script. No figure is made here: bench
// has made those of a cell, and the words that show them.
//
// Data are scripts that call bench_data, since a page from the disk may load nothing else. Texts of
// records become text nodes. Only tables and pictures that bench made, and escaped, become markup.
"use strict";

const state = document.documentElement.dataset.state;
const main = document.getElementById("main");
const METRICS = ["wall", "device", "overhead", "trace", "compile"];
const METRIC_WORDS = {
  wall: "median step", device: "device time of a step", overhead: "overhead of an execution",
  trace: "tracing of a step", compile: "compilation of all graphs",
};
const OF_DEVICE = new Set(["device", "overhead"]);
const MOST_ROWS = 300;

// ---- data ------------------------------------------------------------------------------------

const loaded = new Map();
const loading = new Map();

function bench_data(name, value) {
  loaded.set(name, value);
}

// A promise of the data file NAME. A name from an address may lead nowhere else.
function load(name) {
  if (loaded.has(name)) return Promise.resolve(loaded.get(name));
  if (!/^[a-z]+(-[0-9a-fT]+)?$/.test(name)) return Promise.reject(new Error("there is no such page"));
  if (!loading.has(name)) {
    loading.set(name, new Promise((done, fail) => {
      const script = document.createElement("script");
      const end = (why) => {
        loading.delete(name);
        script.remove();
        if (loaded.has(name)) done(loaded.get(name));
        else fail(new Error(why));
      };
      script.src = "data/" + name + ".js?" + state;
      script.onload = () => end("data/" + name + ".js is not what it should be");
      script.onerror = () => end("data/" + name + ".js could not be loaded");
      document.head.append(script);
    }));
  }
  return loading.get(name);
}

// ---- elements -----------------------------------------------------------------------------------

function fill(element, children) {
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined && child !== "") element.append(child);
  }
  return element;
}

// el("a", {href: "#/"}, "text", node, [more]): an attribute that is a function listens.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  return fill(element, children);
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return fill(element, children);
}

function link(address, ...children) {
  return el("a", {href: address}, children);
}

function badge(text) {
  return el("span", {class: "badge"}, text);
}

// A table or picture that bench made. Its headings become those below a page's own, or none where
// TITLED already, and what is wide scrolls by itself.
function fragment(html, label, titled) {
  const box = el("div", {class: "fragment"});
  box.innerHTML = html;
  for (const heading of box.querySelectorAll("h1,h2")) {
    heading.replaceWith(titled ? "" : el("h3", null, heading.textContent));
  }
  for (const table of box.querySelectorAll("table")) {
    const scroll = el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label});
    table.replaceWith(scroll);
    table.prepend(el("caption", {class: "hidden"}, label));
    scroll.append(table);
  }
  return box;
}

// A part that readers open; its contents are made then.
function fold(title, make) {
  const box = el("details", null, el("summary", null, title));
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) fill(box, [make()]);
  });
  return box;
}

// ---- words -----------------------------------------------------------------------------------------

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

function known(value) {
  return value !== null && value !== undefined;
}

// "13.7 ms"
function time(ns) {
  if (!known(ns)) return "";
  const size = Math.abs(ns);
  const [unit, name] = UNITS.find((u) => size >= u[0]) || UNITS[3];
  const value = ns / unit;
  const digits = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
  return value.toFixed(digits) + " " + name;
}

// "+5.1 %" for 1.051; a little less than nothing is nothing.
function change(ratio) {
  if (!known(ratio)) return "";
  const percent = 100 * (ratio - 1), text = percent.toFixed(Math.abs(percent) < 99.95 ? 1 : 0);
  return (text === "-0.0" ? "+0.0" : (percent < 0 ? "" : "+") + text) + " %";
}

function range(low, high) {
  return known(low) && known(high) ? "[" + change(low) + ", " + change(high) + "]" : "";
}

function stamp(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}

function day(seconds) {
  return stamp(seconds).slice(0, 10);
}

function count(number, word, words) {
  return number + " " + (number === 1 ? word : words || word + "s");
}

// A figure is a time, the words that bench shows in place of one that is not significant ("< 1.2 ms"),
// or null: unknown.
function words(figure) {
  return typeof figure === "string" ? figure : known(figure) ? time(figure) : "-";
}

// The words in place of night I's value in a series, or the value.
function nightFigure(m, i) {
  const said = (m.said || []).find(([night]) => night === i);
  return said ? said[1] : m.value[i];
}

// ---- tables ---------------------------------------------------------------------------------------

// A cell is a text, a node, or {show, value}, which is sorted by its value.
function shown(cell) {
  return cell && cell.show !== undefined ? cell.show : cell;
}

function sortable(cell) {
  if (cell && cell.value !== undefined) return cell.value;
  return cell && cell.textContent !== undefined ? cell.textContent : cell;
}

// Unknown values come last in either direction.
function order(a, b, up) {
  const empty = [a, b].map((v) => !known(v) || v === "");
  if (empty[0] || empty[1]) return empty[0] - empty[1];
  return up * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
}

function fillRows(body, heads, rows, most) {
  body.replaceChildren(...rows.slice(0, most).map((row) => el("tr", null, row.map((cell, i) => {
    const text = shown(cell);
    const long = ((text && text.textContent) || String(text)).length > 36;
    const kind = heads[i].startsWith("#") ? "number" : long ? "long" : null;
    return el(i === 0 ? "th" : "td", {class: kind, scope: i === 0 ? "row" : null}, text);
  }))));
}

// A table that scrolls and is sorted by its heads. "#" before a head marks numbers.
function table(caption, heads, rows) {
  const body = el("tbody");
  const more = el("button", {class: "more", type: "button"}, "Show all " + rows.length + " rows");
  let most = MOST_ROWS;
  let sorted = rows;
  const show = () => {
    fillRows(body, heads, sorted, most);
    more.hidden = rows.length <= most;
  };
  const head = el("tr", null, heads.map((name, i) => {
    const cell = el("th", {scope: "col", class: name.startsWith("#") ? "number" : null});
    cell.append(el("button", {type: "button", click: () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of head.children) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      sorted = rows.slice().sort((a, b) => order(sortable(a[i]), sortable(b[i]), down ? -1 : 1));
      show();
    }}, name.replace("#", "")));
    return cell;
  }));
  more.addEventListener("click", () => {
    most = Infinity;
    show();
  });
  show();
  return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    el("table", null, el("caption", null, el("span", null, caption)), el("thead", null, head), body), more);
}

// ---- charts ------------------------------------------------------------------------------------------

const WIDE = 960, HIGH = 270, LEFT = 84, RIGHT = 16, TOP = 14, BOTTOM = 34;

// The ends of an axis for VALUES, with a SHARE of them on each side; LEAST is that where all are one.
function spread(values, share = 0.08, least = 0) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!known(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const pad = (high - low) * share || least || Math.abs(high) * 0.02 || 1;
  return [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
}

// A frame with axes; X and Y are the ends of both. Returns the element and the places of values.
function frame(x, y, ticks, words) {
  const atX = (v) => LEFT + (v - x[0]) / (x[1] - x[0] || 1) * (WIDE - LEFT - RIGHT);
  const atY = (v) => HIGH - BOTTOM - (v - y[0]) / (y[1] - y[0] || 1) * (HIGH - TOP - BOTTOM);
  const box = svg("svg", {viewBox: "0 0 " + WIDE + " " + HIGH, role: "img", class: "chart"},
    svg("title", {}, words));
  for (let i = 0; i <= 4; i++) {
    const value = y[0] + (y[1] - y[0]) * i / 4;
    const at = x[0] + (x[1] - x[0]) * i / 4;
    box.append(
      svg("path", {d: "M" + LEFT + " " + atY(value) + "H" + (WIDE - RIGHT), class: "grid"}),
      svg("text", {x: LEFT - 8, y: atY(value) + 4, "text-anchor": "end"}, time(value)),
      svg("text", {x: atX(at), y: HIGH - 10,
        "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle"}, ticks(at)));
  }
  return {box, atX, atY};
}

// The nights of a series in one metric: values, intervals, medians between changes, the changes.
// WENT is called with a night that is clicked on.
function chart(series, metric, buildName, went) {
  const m = series.metrics[metric];
  const nights = m.value.map((v, i) => i).filter((i) => known(m.value[i]));
  const changes = nights.length < 2 * site.least_nights ? "too few for a change"
    : count(m.stretches.length - 1, "change");
  const weak = m.said ? ", " + m.said.length + " not significant" : "";
  const title = series.title + ", " + METRIC_WORDS[metric] + ": " + count(nights.length, "night") + ", " + changes +
    weak + ". The table below says the same.";
  const {box, atX, atY} = frame(spread(series.time, 0.02, 86400), spread(m.value.concat(m.low || [], m.high || [])),
    day, title);
  const bars = [], dots = [];
  for (const i of nights) {
    dots.push("M" + atX(series.time[i]).toFixed(1) + " " + atY(m.value[i]).toFixed(1) + "h.01");
    if (m.low && known(m.low[i]) && known(m.high[i])) {
      bars.push("M" + atX(series.time[i]).toFixed(1) + " " + atY(m.low[i]).toFixed(1) + "V" +
        atY(m.high[i]).toFixed(1));
    }
  }
  const kind = nights.length > 120 ? "dots many" : "dots";
  box.append(svg("path", {d: bars.join(""), class: "bars"}), svg("path", {d: dots.join(""), class: kind}));
  m.stretches.forEach(([first, end, median], i) => {
    const from = atX(series.time[first]), to = atX(series.time[Math.min(end, series.time.length - 1)]);
    if (known(median)) box.append(svg("path", {d: "M" + from + " " + atY(median) + "H" + to, class: "level"}));
    if (i === 0) return;
    const late = from > WIDE * 0.75;
    box.append(svg("path", {d: "M" + from + " " + TOP + "V" + (HIGH - BOTTOM), class: "change"}),
      svg("text", {x: from + (late ? -5 : 5), y: TOP + 10 + 14 * (i % 4),
        "text-anchor": late ? "end" : "start"}, shortened(buildName(buildOf(series, first)), 24)));
  });
  const said = el("figcaption", {"aria-live": "off"}, "Point at a night to see its figures. A click opens it. " +
    "\"Nights as a table\" below has them all.");
  const nearest = (event) => {
    const x = (event.clientX - box.getBoundingClientRect().left) / box.getBoundingClientRect().width * WIDE;
    return nights.reduce((best, i) =>
      Math.abs(atX(series.time[i]) - x) < Math.abs(atX(series.time[best]) - x) ? i : best, nights[0]);
  };
  box.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    said.textContent = stamp(series.time[i]) + ": " + words(nightFigure(m, i)) + " " +
      interval(m, i) + ", " + buildName(buildOf(series, i));
  });
  box.addEventListener("click", (event) => went(series.time[nearest(event)]));
  return el("figure", null, el("div", {class: "picture", tabindex: 0}, box), said);
}

// TEXT in at most MOST letters; dots replace its end where it has more.
function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : text;
}

function interval(m, i) {
  return m.low && known(m.low[i]) && known(m.high[i])
    ? "[" + time(m.low[i]) + ", " + time(m.high[i]) + "]" : "";
}

// Builds stand where they begin: the key of that of night I, or "".
function buildOf(series, i) {
  let key = "";
  for (const [first, build] of series.builds) {
    if (first > i) break;
    key = build;
  }
  return key;
}

// The steps of one record, those of the warm-up first; lines between rounds.
function stepsChart(record) {
  // Next to steps that compile the others could not be read, so the scale is that of the others.
  const most = 2 * record.wall.reduce((a, b) => Math.max(a, b), 0);
  const above = record.warmup.filter((v) => v > most);
  const all = record.warmup.concat(record.wall).map((v) => Math.min(v, most));
  const {box, atX, atY} = frame([0, all.length], spread(all), (v) => "step " + Math.round(v),
    "Wall time of " + count(record.warmup.length, "warm-up step") + " and " +
    count(record.wall.length, "measured step"));
  const path = all.map((v, i) => (i ? "L" : "M") + atX(i).toFixed(1) + " " + atY(v).toFixed(1)).join("");
  box.prepend(svg("rect", {x: LEFT, y: TOP, width: atX(record.warmup.length) - LEFT,
    height: HIGH - TOP - BOTTOM, class: "shade"}));
  let end = record.warmup.length;
  const between = record.rounds.map((steps) => {
    end += steps;
    return "M" + atX(end).toFixed(1) + " " + TOP + "V" + (HIGH - BOTTOM);
  });
  box.append(svg("path", {d: between.slice(0, -1).join(""), class: "grid"}),
    svg("path", {d: path, class: "steps"}));
  const cut = record.steps > record.wall.length ? " Only the first " + record.wall.length + " of " +
    record.steps + " steps are drawn." : "";
  return el("figure", null, el("div", {class: "picture", tabindex: 0}, box), el("figcaption", null,
    "Wall time of each step. The warm-up is shaded; lines part the rounds." + (above.length ? " " +
    count(above.length, "warm-up step") + " of up to " + time(above.reduce((a, b) => Math.max(a, b))) +
    " end at the top." : "") + cut));
}
