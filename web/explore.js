/* The page of `plimsoll dataset --explore`: one document (docs/page.md). */

import { startCues } from "./cues.js";
import { byId, color, el, fill, fillTable, prose } from "./dom.js";
import { count, plural, size } from "./format.js";
import { startTheme } from "./theme.js";
import { Scatter, forgetCharts } from "./scatter.js";
import { across, label, linear, logarithmic, show, svg, telling, upwards } from "./svg.js";

const HUES = ["--accent", "--c-activations", "--c-optimizer", "--c-workspace", "--c-buffers", "--c-parameters", "--c-temporaries", "--c-other"];
const RAMP = ["--r-0", "--r-1", "--r-2", "--r-3", "--r-4", "--r-5"];
const BYTES = new Set(["allocated", "reserved", "device_used", "x_state"]);
const MIB = 2 ** 20;
const OOM = -2;
const SMALL = 270; /* width of a small plot */
const EDGE = 18; /* half of the last figure of its axis */
const TICKS = 4;
const LINE = 20;
const LEGEND = 16; /* entries that a legend names one by one */
const WORDS = 12;
const PART = 160;
const PART_LEVELS = 6;
const GROUPS = [["feature", "Features"], ["argument", "Arguments of the generator"], ["label", "Labels"], ["ran", "Run"]];

const page = JSON.parse(byId("data").textContent);
const shown = page.lines.length;

/* ---- numbers ---- */

const SUFFIX = ["", " k", " M", " G", " T", " P"];
function short(value) {
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit + 1 < SUFFIX.length) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))}${SUFFIX[unit]}`;
}

const isMib = (column) => column.name.endsWith("_mib");
const isMemory = (column) => BYTES.has(column.name) || isMib(column);
const inMib = (column, value) => (isMib(column) ? value : value / MIB);
const mib = (value) => `${count(Number(value.toPrecision(7)))} MiB`;

/* A number of a column as people read it; `brief`: three digits. */
function say(column, value, brief) {
  if (isMib(column)) return `${count(value)} MiB`;
  if (BYTES.has(column.name)) return brief ? size(value, 0) : `${size(value)}`;
  if (brief || Math.abs(value) >= 1e15) return short(value);
  return column.whole ? count(value) : String(Number(value.toPrecision(5)));
}

/* ---- cells of the shown rows: a number, the number of a word, or undefined ---- */

for (const column of page.columns) {
  if (!column.cells) continue;
  const empty = new Set(column.empty);
  let next = 0;
  column.value = Array.from({ length: shown }, (_, i) => (empty.has(i) ? undefined : column.cells[next++]));
}
const named = (name) => page.columns.find((column) => column.name === name && column.value);
const cell = (column, row) => {
  const value = column.value[row];
  if (value === undefined) return undefined;
  return column.kind === "category" ? column.words[value] : say(column, value);
};
const family = page.columns[page.family];

/* ---- colours ---- */

const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
function ramp(share) {
  const place = Math.min(1, Math.max(0, share)) * (RAMP.length - 1);
  const below = Math.min(RAMP.length - 2, Math.floor(place));
  const [a, b] = [parts(color(RAMP[below])), parts(color(RAMP[below + 1]))];
  return `rgb(${a.map((value, i) => Math.round(value + (place - below) * (b[i] - value))).join(",")})`;
}

const wordHue = (i, all) => (all <= HUES.length ? color(HUES[i]) : `hsl(${Math.round((360 * i) / all)} 60% 50%)`);
const classHue = (i) => (i >= 0 ? ramp(page.memory.classes.length > 1 ? i / (page.memory.classes.length - 1) : 0) : color(i === OOM ? "--ink" : "--c-other"));

/* Each way to colour: its name, the colour of a row, and its legend as [colour, text] or as a ramp from least to most. */
function byClass() {
  const { memory } = page;
  const entries = memory.classes.map((item, i) => [classHue(i), `${item.name} (${count(item.rows)})`]);
  if (memory.oom) entries.push([classHue(OOM), `out of memory (${count(memory.oom)})`]);
  if (memory.unclassed) entries.push([classHue(-1), `unknown (${count(memory.unclassed)})`]);
  return { ink: (row) => classHue(memory.of[row]), legend: () => entries, ramp: entries.length > LEGEND && [memory.classes[0].name, memory.classes.at(-1).name] };
}

function byWord(column) {
  const hues = column.words.map((_, i) => wordHue(i, column.words.length));
  return { ink: (row) => hues[column.value[row]] ?? color("--c-other"), legend: () => column.words.map((word, i) => [hues[i], `${word} (${count(column.counts[i])})`]) };
}

/* By rank, so that a few large ones do not make all others alike. */
function byNumber(column) {
  const sorted = column.value.filter((value) => value !== undefined).sort((a, b) => a - b);
  const ranks = new Map(sorted.map((value, i) => [value, i / Math.max(1, sorted.length - 1)]));
  return { ink: (row) => (column.value[row] === undefined ? color("--c-other") : ramp(ranks.get(column.value[row]))), ramp: [say(column, column.least), say(column, column.most)], legend: () => [] };
}

const choices = [
  ...(page.memory ? [["memory class", byClass]] : []),
  ...(family?.kind === "category" ? [["family", () => byWord(family)]] : []),
  ...page.columns.filter((column) => column.value && column !== family && column.distinct > 1 && column.name !== "row")
    .map((column) => [column.name, () => (column.kind === "category" ? byWord(column) : byNumber(column))]),
];
let hues;

function drawLegend() {
  const gradient = hues.ramp && el("li", {}, `${hues.ramp[0]} `, el("i", { class: "ramp" }), ` ${hues.ramp[1]}`);
  const entries = hues.ramp ? [] : hues.legend();
  if (gradient) gradient.querySelector("i").style.background = `linear-gradient(90deg, ${RAMP.map((name) => color(name)).join(",")})`;
  const rest = hues.ramp && hues.legend().filter(([, text]) => /^(out of|not known)/.test(text));
  fill(byId("hues"), gradient || undefined, ...[...entries, ...(rest || [])].map(([ink, text]) => {
    const key = el("i", {});
    key.style.background = ink;
    return el("li", {}, key, text);
  }));
}

/* ---- a row ---- */

function tell(row) {
  const title = [`line ${page.lines[row]}`, family && cell(family, row), page.memory && (page.memory.of[row] === OOM ? "out of memory" : page.memory.classes[page.memory.of[row]]?.name)];
  const groups = GROUPS.slice(0, 3).map(([role]) => page.columns.filter((column) => column.role === role && column.value?.[row] !== undefined && (role !== "feature" || column.value[row] !== 0)));
  return [el("div", { class: "strong" }, title.filter(Boolean).join(" · ")),
    el("div", { class: "cells" }, ...groups.flat().map((column) => el("div", {}, el("span", { class: "dim" }, column.name), el("span", {}, cell(column, row)))))];
}

/* ---- classes, thin places ---- */

function bars(box, entries, most, names) {
  const width = Math.max(SMALL, box.clientWidth);
  const figure = 8 + 8 * Math.max(...entries.map((entry) => count(entry.rows).length));
  const scale = (rows) => names + Math.max(rows ? 1.5 : 0, (rows / most) * (width - names - figure));
  show(box, width, entries.length * LINE + 4, entries.map((entry, i) => telling(svg("g", { class: "bar-line" },
    svg("rect", { x: 0, y: i * LINE, width, height: LINE, fill: "transparent" }),
    label(names - 8, i * LINE + 14, entry.name.length > names / 7 ? `${entry.name.slice(0, Math.floor(names / 7) - 1)}…` : entry.name, "end"),
    svg("rect", { x: names, y: i * LINE + 3, width: scale(entry.rows) - names, height: LINE - 6, rx: 2, fill: entry.ink ?? color("--accent") }),
    label(scale(entry.rows) + 6, i * LINE + 14, count(entry.rows), "start")),
  entry.name, plural(entry.rows, "row"), `${((100 * entry.rows) / page.rows).toFixed(1)} % of all`)));
}

function drawClasses() {
  const { memory } = page;
  if (!memory) return;
  const entries = memory.classes.map((item, i) => ({ ...item, ink: classHue(i) }));
  if (memory.oom) entries.push({ name: "out of memory", rows: memory.oom, ink: classHue(OOM) });
  bars(byId("classes"), entries, Math.max(...entries.map((entry) => entry.rows), 1), 110);
  fill(byId("classes-note"), `${page.columns[memory.column].name} in classes of ${memory.bin} GB, of 1000 MiB each${memory.unclassed ? `; ${plural(memory.unclassed, "row")} without` : ""}.`);
}

function drawThin() {
  fill(byId("thin"), ...(page.thin.length ? page.thin : ["Nowhere."]).map((text) => el("li", {}, text)));
}

/* ---- stairs ---- */

const AGAINST = [["x_parameters", "parameters"], ["x_activations", "activations"]];

function stairPoints(memory, column) {
  return memory.value.flatMap((value, row) => (value === undefined || column.value[row] === undefined || (column.histogram.logarithmic && column.value[row] <= 0) ? []
    : [{ x: column.value[row], y: inMib(memory, value), row }]));
}

function sortedPoints(memory) {
  return memory.value.flatMap((value, row) => (value === undefined ? [] : [{ y: inMib(memory, value), row }])).sort((a, b) => a.y - b.y || a.row - b.row)
    .map((point, i) => ({ ...point, x: i + 1 }));
}

/* Where the steps show best: the part of so many sorted rows that spans least, of those with a few levels. */
function flattest(points) {
  const level = []; /* how many steps there are up to each */
  points.forEach((point, i) => level.push(i ? level[i - 1] + (point.y !== points[i - 1].y) : 0));
  let best;
  for (let i = 0; i + PART <= points.length; i++) {
    const span = points[i + PART - 1].y - points[i].y;
    if (level[i + PART - 1] - level[i] >= PART_LEVELS && (best === undefined || span < best.span)) best = { i, span };
  }
  return best && points.slice(best.i, best.i + PART);
}

function stairCharts() {
  const stairs = page.stairs[byId("stairs-column").value];
  const memory = page.columns[stairs.column];
  const common = { y: { name: memory.name, log: byId("stairs-log").checked && memory.least > 0, say: mib }, ink: (row) => hues.ink(row), tell };
  const charts = AGAINST.map(([name, text]) => [named(name), text]).filter(([column]) => column && column.distinct > 1)
    .map(([column, text]) => new Scatter(`${memory.name} against ${text}`, `${memory.name} of each row against ${text}`,
      { ...common, points: stairPoints(memory, column), x: { name: column.name, log: column.histogram.logarithmic, say: short } }));
  const sorted = sortedPoints(memory);
  const part = flattest(sorted);
  const rows = { joined: true, x: { name: "rows", log: false, say: (value) => count(Math.round(value)) } };
  charts.push(new Scatter(`${memory.name}, sorted`, `${memory.name} of the rows, sorted`, { ...common, ...rows, points: sorted }));
  if (part) charts.push(new Scatter(`Of these, ${PART} rows`, `${memory.name} of a part of the rows, sorted`, { ...common, ...rows, y: { ...common.y, log: false }, points: part }));
  fill(byId("stairs-note"), ...prose(stairs.sentence ?? ""));
  return charts;
}

/* ---- components and the map ---- */

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const pairs = (places, rows) => rows.map((row, i) => ({ x: places[2 * i], y: places[2 * i + 1], row }));

function shapeCharts() {
  const { components, map } = page;
  if (!components) return [];
  const axis = (i) => ({ name: components.shares[i] === undefined ? "" : `component ${i + 1}: ${percent(components.shares[i])}`, log: false, say: (value) => String(Number(value.toPrecision(3))) });
  const common = { ink: (row) => hues.ink(row), tell };
  const bare = (name) => ({ name, log: false, bare: true, say: short });
  fill(byId("shapes-note"), ...prose(map.sentence ?? ""));
  return [new Scatter(`Principal components${components.shares[1] ? `: the second upwards, with ${percent(components.shares[1])}` : ""}`, "The rows on the first two principal components",
    { ...common, points: pairs(components.places, page.lines.map((_, i) => i)), x: axis(0), y: axis(1) }),
  new Scatter(`t-SNE of ${count(map.rows.length)} rows`, "The rows in the map of t-SNE", { ...common, points: pairs(map.places, map.rows), x: bare("close rows are similar; distances between groups mean little"), y: bare("") })];
}

function drawShares() {
  const box = byId("shares");
  const width = Math.max(SMALL, box.clientWidth);
  const list = page.components.shares.slice(0, 20);
  const bottom = 210;
  const y = linear(0, 1, bottom, 8, 4);
  const step = (width - 56) / list.length;
  let sum = 0;
  show(box, width, bottom + 22, [...upwards(y, 48, width, (tick) => `${Math.round(100 * tick)} %`), ...list.map((share, i) => {
    sum += share;
    const x = 52 + i * step;
    return telling(svg("g", {}, svg("rect", { x, y: 8, width: step, height: bottom - 8, fill: "transparent" }),
      svg("rect", { x: x + 1, y: y.at(share), width: Math.max(1, step - 3), height: bottom - y.at(share), fill: color("--accent") }),
      svg("line", { x1: x, x2: x + step, y1: y.at(sum), y2: y.at(sum), stroke: color("--c-activations"), "stroke-width": 2 }),
      ...(step > 22 ? [label(x + step / 2 - 1, bottom + 16, String(i + 1))] : [])), `component ${i + 1}`, percent(share), `${percent(sum)} cumulative`);
  })]);
}

const shade = (value, ink) => `color-mix(in srgb, var(${ink}) ${Math.round(Math.abs(value) * 62)}%, transparent)`;
function heat(value, digits = 2) {
  const node = el("td", { class: "n heat" }, value === undefined ? "" : value.toFixed(digits));
  if (value !== undefined) node.style.background = shade(value, value < 0 ? "--capacity" : "--accent");
  return node;
}

function drawComponents() {
  const { components } = page;
  if (!components) return;
  const most = components.weights.slice(0, 6);
  const order = components.columns.map((_, i) => i).sort((a, b) => Math.abs(most[0][b]) - Math.abs(most[0][a]));
  drawShares();
  fillTable(byId("weights"), ["Column", ...most.map((_, i) => `${i + 1}: ${percent(components.shares[i])}`)],
    order.map((i) => el("tr", {}, el("th", { scope: "row" }, page.columns[components.columns[i]].name), ...most.map((weights) => heat(weights[i])))), most.map((_, i) => i + 1));
  const logs = components.columns.filter((i) => page.columns[i].histogram.logarithmic).length;
  fill(byId("components-note"), `Of ${plural(components.columns.length, "column")}, centred and scaled${logs ? `; ${logs} of them on a log scale` : ""}. The line is cumulative.`);
}

/* ---- correlations ---- */

function drawCorrelations() {
  const labels = page.labels.map((i) => page.columns[i]);
  const first = Math.max(0, page.labels.indexOf(page.memory?.column ?? -1));
  const rows = page.correlations.map((item) => ({ name: page.columns[item.column].name, values: item.values.map((value, i) => (item.unknown.includes(i) ? undefined : value)) }))
    .sort((a, b) => Math.abs(b.values[first] ?? 0) - Math.abs(a.values[first] ?? 0));
  byId("correlations-section").hidden = !labels.length || !rows.length;
  fillTable(byId("correlations"), ["", ...labels.map((column) => column.name)],
    rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.name), ...row.values.map((value) => heat(value)))), labels.map((_, i) => i + 1));
  fill(byId("correlations-note"), `Spearman's rank correlation of features and arguments with labels${labels[first] ? `, ordered by ${labels[first].name}` : ""}. 1: they rise together; −1: one falls as the other rises.`);
}

/* ---- distributions ---- */

/* Both ends of each bin. */
function edges({ logarithmic: log, low, high, counts }) {
  const at = (i) => (log ? low * (high / low) ** (i / counts.length) : low + ((high - low) * i) / counts.length);
  return counts.map((_, i) => [at(i), at(i + 1)]);
}

/* Bytes have round numbers of their own. */
function binScale(column, from, to) {
  const { logarithmic: log, low, high } = column.histogram;
  const scale = log ? logarithmic(low, high, from, to) : linear(low, high, from, to, 3);
  if (!BYTES.has(column.name)) return scale;
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(high) / 10));
  const ticks = log ? Array.from({ length: 6 }, (_, i) => 1024 ** i) : linear(low / unit, high / unit, from, to, 3).ticks.map((tick) => tick * unit);
  return { at: scale.at, ticks: ticks.filter((tick) => tick >= low && tick <= high) };
}

function drawBins(box, column) {
  const { histogram } = column;
  const width = Math.max(SMALL, box.clientWidth);
  const [left, bottom] = [histogram.below ? 34 : 14, 96];
  const most = Math.max(...histogram.counts, histogram.below);
  const x = binScale(column, left, width - EDGE);
  const up = (rows) => bottom - (rows ? Math.max(1.5, (rows / most) * (bottom - 6)) : 0);
  const ticks = x.ticks.filter((_, i) => i % Math.ceil(x.ticks.length / TICKS) === 0);
  const bar = (from, to, rows, text) => telling(svg("g", {}, svg("rect", { x: from, y: 0, width: to - from, height: bottom, fill: "transparent" }),
    svg("rect", { class: "bin", x: from + 0.5, y: up(rows), width: Math.max(0.5, to - from - 1), height: bottom - up(rows), fill: color("--accent") })), text, plural(rows, "row"));
  const list = edges(histogram).map(([low, high], i) => bar(x.at(low), x.at(high), histogram.counts[i], `${say(column, low, true)} to ${say(column, high, true)}`));
  if (histogram.below) list.push(bar(4, 20, histogram.below, column.least < 0 ? `${short(column.least)}: unknown` : "0"), label(12, bottom + 16, short(column.least)));
  show(box, width, bottom + 22, [...across({ at: x.at, ticks }, 4, bottom, (tick) => say(column, tick, true)), ...list]);
}

const roughly = (column, value) => say(column, value, Math.abs(value) >= 1e6 && !isMemory(column));

function columnFacts(column) {
  const facts = [];
  if (column.kind === "number") facts.push(`${roughly(column, column.least)} to ${roughly(column, column.most)}, median ${roughly(column, column.median)}`);
  if (column.known < page.rows) facts.push(`${count(page.rows - column.known)} empty`);
  return facts.join("; ");
}

/* The words, or the few different numbers, with their rows; undefined for bins. */
function entriesOf(column) {
  const all = column.kind === "category" ? column.words.map((name, i) => ({ name, rows: column.counts[i] }))
    : column.histogram.values?.map((value, i) => ({ name: say(column, value), rows: column.histogram.counts[i] }));
  if (!all || all.length <= WORDS + 1) return all;
  return [...all.slice(0, WORDS), { name: `${all.length - WORDS} more`, rows: all.slice(WORDS).reduce((sum, entry) => sum + entry.rows, 0) }];
}

function drawColumn(card, column) {
  const entries = entriesOf(column);
  const box = card.querySelector(".plot");
  if (entries) bars(box, entries, Math.max(...entries.map((entry) => entry.rows)), 96);
  else drawBins(box, column);
}

function columnCard(column) {
  return el("div", { class: "column" }, el("p", { class: "label" }, column.name), el("div", { class: "plot", role: "img", "aria-label": `Rows by ${column.name}` }), el("p", { class: "facts" }, columnFacts(column)));
}

function drawColumns() {
  const drawn = page.columns.filter((column) => column.value && column.distinct > 1 && column.name !== "row");
  const cards = new Map(drawn.map((column) => [column, columnCard(column)]));
  const groups = GROUPS.map(([role, title]) => [title, drawn.filter((column) => column.role === role)]).filter(([, list]) => list.length);
  const same = page.columns.filter((column) => column.value && column.distinct === 1).map((column) => `${column.name} = ${cell(column, column.value.findIndex((value) => value !== undefined)) ?? "…"}`);
  const text = page.columns.filter((column) => column.kind === "text").map((column) => `${column.name} (${count(column.distinct)})`);
  const empty = page.columns.filter((column) => column.kind === "empty").map((column) => column.name);
  const notes = [[same, "Constant"], [text, "Too many values to draw"], [empty, "Empty"]].filter(([list]) => list.length).map(([list, title]) => `${title}: ${list.join(", ")}.`);
  fill(byId("columns"), ...groups.flatMap(([title, list]) => [el("h3", {}, title), el("div", { class: "columns" }, ...list.map((column) => cards.get(column)))]), ...notes.map((note) => el("p", { class: "keys" }, note)));
  for (const [column, card] of cards) drawColumn(card, column);
  fill(byId("columns-note"), `Of all ${plural(page.rows, "row")}. Columns that span two decades, with most rows at the low end, have a logarithmic axis.`);
}

/* ---- all of it ---- */

let charts = [];

function drawCharts() {
  forgetCharts();
  hues = choices[byId("hue").value]?.[1]() ?? { ink: () => color("--accent"), legend: () => [] };
  const stairs = page.stairs.length ? stairCharts() : [];
  const shapes = shapeCharts();
  fill(byId("stairs"), ...stairs.map((chart) => chart.node));
  fill(byId("shapes"), ...shapes.map((chart) => chart.node));
  charts = [...stairs, ...shapes];
  for (const chart of charts) chart.draw();
  drawLegend();
}

/* Colours change; what is enlarged stays so. */
function recolour() {
  hues = choices[byId("hue").value][1]();
  for (const chart of charts) chart.paint();
  drawLegend();
}

function draw() {
  drawClasses();
  drawThin();
  drawCharts();
  drawComponents();
  drawCorrelations();
  drawColumns();
}

function start() {
  fill(byId("command"), `plimsoll dataset --explore ${page.file}`);
  fill(byId("facts"), [plural(page.rows, "row"), plural(page.columns.length, "column"), family?.kind === "category" && family.words.map((word, i) => `${word} ${count(family.counts[i])}`).join(", "),
    shown < page.rows && `${count(shown)} rows are drawn`, `seed ${page.seed}`].filter(Boolean).join(" · "));
  fill(byId("hue"), ...choices.map(([name], i) => el("option", { value: i }, name)));
  fill(byId("stairs-column"), ...page.stairs.map(({ column }, i) => el("option", { value: i }, page.columns[column].name)));
  const reserved = page.stairs.findIndex(({ column }) => page.columns[column].name === "reserved");
  const setLog = () => {
    const column = page.columns[page.stairs[byId("stairs-column").value].column];
    byId("stairs-log").checked = column.least > 0 && column.most >= 100 * column.least;
  };
  if (page.stairs.length) {
    byId("stairs-column").value = Math.max(0, reserved);
    setLog();
  }
  byId("stairs-section").hidden = !page.stairs.length;
  byId("classes-section").hidden = !page.memory;
  byId("shapes-section").hidden = byId("components-section").hidden = !page.components;
  byId("stairs-column").addEventListener("change", () => {
    setLog();
    drawCharts();
  });
  byId("stairs-log").addEventListener("change", drawCharts);
  byId("hue").addEventListener("change", recolour);
  startCues();
  startTheme(draw);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
  fill(byId("foot"), `plimsoll ${page.version}`);
  draw();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
