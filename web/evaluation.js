/* The page of `plimsoll evaluate --html`: one document (docs/schema/evaluation-1.json), one family at a time. */

import uPlot from "uplot";
import { byId, color, el, fill, fillTable, forgetColors, pressed } from "./dom.js";
import { plural, size } from "./format.js";

const HUES = ["--accent", "--c-activations", "--c-optimizer", "--c-parameters", "--c-workspace", "--c-buffers", "--c-temporaries", "--c-other"];
const BOX_HEIGHT = 34;
const SCATTER_HEIGHT = 320;
const LEFT = 210; /* for the names beside the boxes */
const FIGURES = [
  ["median", "Median", "median"], ["mean", "Mean", "mean"], ["p95", "95th", "p95"], ["worst", "Worst", "worst"],
  ["under", "Too little", "under"], ["oom_agreement", "Verdict right", "oom_agreement"], ["pef", "PEF", "pef"], ["range_width", "Range", "range_width"],
];

const page = JSON.parse(byId("data").textContent);
const names = page.families[0].estimators.map((estimator) => estimator.name);
const state = { family: page.families.at(-1).name };
let cdfChart;

const hue = (name) => color(HUES[names.indexOf(name) % HUES.length]);
const percent = (share, digits = 2) => (share === undefined ? "" : `${(100 * share).toFixed(digits)} %`);
const rowsOf = () => page.rows.filter((row) => state.family === "all" || row.family === state.family);

function errorsOf(name) {
  return rowsOf().map((row) => row.estimates.find((estimate) => estimate.name === name)?.error)
    .filter((error) => error !== undefined).sort((a, b) => a - b);
}

function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  return below + 1 < sorted.length ? sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]) : sorted.at(-1);
}

/* ---- figures ---- */

function drawFigures() {
  const family = page.families.find((item) => item.name === state.family);
  const heads = ["Estimator", "Runs", ...FIGURES.map(([, head]) => head), "MCP"];
  const rows = family.estimators.map((estimator) => [
    el("span", { class: estimator.own ? "strong" : "dim" }, estimator.name), String(estimator.compared),
    ...FIGURES.map(([key]) => percent(estimator[key])), estimator.mcp === undefined ? "" : size(estimator.mcp)]);
  fillTable(byId("figures"), heads, rows, heads.map((_, i) => i).slice(1));
  fill(byId("figures-note"), `${plural(rowsOf().length, "run")}; errors are over the runs that neither ran out of memory nor were estimated to.`);
}

/* ---- drawings ---- */

const svg = (tag, properties, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

/* A linear scale with about `most` round ticks. */
function scale(low, high, from, to, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) ticks.push(value);
  return { ticks, at: (value) => from + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (to - from) };
}

function drawBoxes() {
  const box = byId("boxes");
  const width = Math.max(420, box.clientWidth);
  const lists = names.map((name) => [name, errorsOf(name)]).filter(([, list]) => list.length);
  if (!lists.length) return fill(box, el("p", { class: "empty" }, "No run can be compared."));
  const low = Math.min(-0.01, ...lists.map(([, list]) => quantile(list, 0.05)));
  const high = Math.max(0.01, ...lists.map(([, list]) => quantile(list, 0.95)));
  const { ticks, at } = scale(Math.max(low, -1), Math.min(high, 1), LEFT, width - 14, 6);
  const height = lists.length * BOX_HEIGHT + 28;
  const parts = ticks.flatMap((tick) => [
    svg("line", { x1: at(tick), x2: at(tick), y1: 0, y2: height - 22, stroke: color(Math.abs(tick) < 1e-9 ? "--ink-2" : "--grid") }),
    svg("text", { x: at(tick), y: height - 6, fill: color("--ink-2"), "font-size": 12, "text-anchor": "middle" }, `${Math.round(1000 * tick) / 10} %`)]);
  lists.forEach(([name, list], i) => {
    const y = i * BOX_HEIGHT + BOX_HEIGHT / 2;
    const [a, b, c, d, e] = [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => at(quantile(list, share)));
    parts.push(
      svg("text", { x: 0, y: y + 4, fill: color("--ink"), "font-size": 13 }, name),
      svg("line", { x1: a, x2: e, y1: y, y2: y, stroke: hue(name), "stroke-width": 1.5 }),
      svg("rect", { x: b, y: y - 8, width: Math.max(1, d - b), height: 16, fill: hue(name), "fill-opacity": 0.35, stroke: hue(name) }),
      svg("line", { x1: c, x2: c, y1: y - 8, y2: y + 8, stroke: color("--ink"), "stroke-width": 2 }));
  });
  fill(box, svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...parts));
}

/* ---- the distribution ---- */

function cdfData() {
  const lists = names.map((name) => errorsOf(name).map(Math.abs).sort((a, b) => a - b));
  const all = [...new Set(lists.flat())].sort((a, b) => a - b);
  const x = all.map((error) => Math.max(100 * error, 0.01));
  const share = (list, error) => {
    let n = 0;
    while (n < list.length && list[n] <= error) n++;
    return list.length ? (100 * n) / list.length : null;
  };
  return [x, ...lists.map((list) => all.map((error) => share(list, error)))];
}

function drawCdf() {
  const axis = { stroke: color("--ink-2"), grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false }, font: `12px ${color("--font")}` };
  cdfChart?.destroy();
  cdfChart = new uPlot({
    width: Math.max(420, byId("cdf").clientWidth), height: 300, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, distr: 3, log: 10 }, y: { range: [0, 100] } },
    axes: [{ ...axis, values: (u, ticks) => ticks.map((tick) => ([1, 10, 100, 0.1, 0.01].includes(tick) ? `${tick} %` : "")) },
      { ...axis, values: (u, ticks) => ticks.map((tick) => `${tick} %`), size: 60 }],
    series: [{}, ...names.map((name) => ({ label: name, stroke: hue(name), width: page.families[0].estimators[names.indexOf(name)].own ? 2 : 1.25, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }))],
  }, cdfData(), byId("cdf"));
  fill(byId("cdf-legend"), ...names.map((name) => {
    const key = el("i", {});
    key.style.background = hue(name);
    return el("li", {}, key, name);
  }));
}

/* ---- error against size ---- */

function drawScatter() {
  const box = byId("scatter");
  const width = Math.max(420, box.clientWidth);
  const shown = names.filter((name) => !name.includes("upper end"));
  const points = rowsOf().flatMap((row) => row.estimates.filter((estimate) => estimate.error !== undefined && shown.includes(estimate.name))
    .map((estimate) => ({ row, estimate })));
  if (!points.length) return fill(box, el("p", { class: "empty" }, "No run can be compared."));
  const across = scale(0, Math.max(...points.map((point) => point.row.ground)) / 2 ** 30, 56, width - 12, 8);
  const up = scale(-0.5, 0.5, SCATTER_HEIGHT - 26, 8, 6);
  const parts = [
    ...up.ticks.flatMap((tick) => [
      svg("line", { x1: 56, x2: width - 12, y1: up.at(tick), y2: up.at(tick), stroke: color(Math.abs(tick) < 1e-9 ? "--ink-2" : "--grid") }),
      svg("text", { x: 48, y: up.at(tick) + 4, fill: color("--ink-2"), "font-size": 12, "text-anchor": "end" }, `${Math.round(100 * tick)} %`)]),
    ...across.ticks.map((tick) => svg("text", { x: across.at(tick), y: SCATTER_HEIGHT - 6, fill: color("--ink-2"), "font-size": 12, "text-anchor": "middle" }, `${tick} GiB`)),
  ];
  for (const { row, estimate } of points) {
    const dot = svg("circle", { cx: across.at(row.ground / 2 ** 30), cy: up.at(estimate.error), r: 3.5, fill: hue(estimate.name), "fill-opacity": 0.7 });
    dot.addEventListener("mouseenter", () => fill(byId("scatter-detail"),
      `${row.model}, ${row.optimizer ?? ""}, batch ${row.batch_size}: ${estimate.name} says ${size(estimate.bytes)}, measured ${size(row.ground)}, ${percent(estimate.error)}`));
    parts.push(dot);
  }
  fill(box, svg("svg", { width, height: SCATTER_HEIGHT, viewBox: `0 0 ${width} ${SCATTER_HEIGHT}` }, ...parts));
}

/* ---- rows ---- */

function drawRows() {
  const wanted = byId("rows-filter").value.toLowerCase();
  const rows = rowsOf().filter((row) => `${row.model} ${row.optimizer} ${row.batch_size} ${row.gpu}`.toLowerCase().includes(wanted));
  const heads = ["Model", "Optimizer", "Batch", "Card", "Measured", ...names];
  fillTable(byId("rows"), heads, rows.map((row) => [row.model, row.optimizer ?? "", String(row.batch_size), row.gpu,
    row.real_oom ? "out of memory" : size(row.ground),
    ...row.estimates.map((estimate) => (estimate.error !== undefined ? percent(estimate.error) : estimate.verdict_right === undefined ? "" : estimate.verdict_right ? "verdict right" : "verdict wrong"))]),
  heads.map((_, i) => i).slice(4));
  fill(byId("rows-note"), plural(rows.length, "run"));
}

function draw() {
  drawFigures();
  drawBoxes();
  drawCdf();
  drawScatter();
  drawRows();
}

/* ---- light and dark ---- */

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const forced = document.documentElement.dataset.theme;
  return forced ? forced === "dark" : system.matches;
}

function repaint() {
  forgetColors();
  pressed(byId("theme"), isDark());
  draw();
}

function start() {
  fill(byId("command"), `plimsoll evaluate ${page.truth_file.split("/").at(-1)}`);
  fill(byId("facts"), `${plural(page.rows.length, "run")} · truth: ${page.truth}${page.late_sample ? " · late first sample modelled" : ""}`);
  fill(byId("family"), ...page.families.map((family) => el("option", { value: family.name }, family.name)));
  byId("family").value = state.family;
  byId("family-box").hidden = page.families.length < 2;
  byId("family").addEventListener("change", () => {
    state.family = byId("family").value;
    draw();
  });
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  byId("rows-filter").addEventListener("input", drawRows);
  system.addEventListener("change", repaint);
  addEventListener("resize", draw);
  fill(byId("foot"), `plimsoll ${page.version}`);
  repaint();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
