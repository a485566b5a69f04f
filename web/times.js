/* The page of `plimsoll evaluate time --html` for step times and utilization: one document (docs/schema/time-evaluation-1.json). */

import { startCues } from "./cues.js";
import { byId, color, el, fill, fillTable } from "./dom.js";
import { plural } from "./format.js";
import { startTheme } from "./theme.js";
import { across, label, linear, logarithmic, show, svg, telling, upwards } from "./svg.js";

const COLUMNS = [["r2", "R²", 4], ["spearman", "Spearman", 4], ["mae", "Mean error"], ["median", "Median, relative"], ["p90", "90th percentile, relative"]];
const TITLES = { step_ms: "Step time (ms)", gputl: "GPU utilization", gract: "Graphics engine active", smact: "SM active", smocc: "SM occupancy",
  fp32a: "FP32 pipe active", tenso: "Tensor cores active", drama: "Memory active" };
const SIDE = 370; /* of a plot, at most */
const LEFT = 64;
const BELOW = 44;
const TOP = 10;
const LONGEST_NAME = 44;
const ROWS_SHOWN = 500; /* a browser lays so many out without a pause */

const page = JSON.parse(byId("data").textContent);
const groupName = (group) => [group.family, group.mode, group.gpu].filter(Boolean).join(", ");
const state = { group: page.groups.at(-1), estimator: 0 };
const estimators = [...new Set(page.groups.flatMap((group) => group.agreements.map((item) => item.estimator)))];
const figures = [...new Set(page.groups.flatMap((group) => group.agreements.map((item) => item.figure)))];

const isStep = (figure) => figure === "step_ms";
const inGroup = (row) => state.group.family === "all" || (row.family === state.group.family && row.gpu === state.group.gpu && (row.mode ?? "") === (state.group.mode ?? ""));
const estimateOf = (row) => row.estimates.find((item) => item.name === estimators[state.estimator]) ?? {};
const judged = (row) => inGroup(row) && !row.trained && !row.failed;
const modelOf = (row) => row.model ?? row.family;
const shorten = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 13)}…${name.slice(-12)}` : name);

/* ---- figures ---- */

function figure(key, item, name, digits) {
  if (!item) return "";
  const say = (value) => {
    if (digits) return value.toFixed(digits);
    return key === "mae" && isStep(name) ? `${value.toPrecision(3)} ms` : `${(100 * value).toFixed(2)} %`;
  };
  const range = item.low === undefined ? "" : ` [${say(item.low)}, ${say(item.high)}]`;
  return el("span", {}, say(item.value), el("span", { class: "dim" }, range));
}

function drawFigures() {
  const heads = ["Figure", "Estimator", "Rows", ...COLUMNS.map(([, head]) => head)];
  fillTable(byId("figures"), heads, state.group.agreements.map((item) => [TITLES[item.figure] ?? item.figure, item.estimator, String(item.rows),
    ...COLUMNS.map(([key, , digits]) => figure(key, item[key], item.figure, digits))]), heads.map((_, i) => i).slice(2));
  const notes = [`${plural(state.group.rows, "row")} judged; in brackets 95 % intervals from 2,000 resamples.`];
  if (page.fit) notes.push(`${plural(page.fit.rows, "row")} chose ${page.fit.constants.map((item) => `${item.name} = ${item.value.toPrecision(4)}`).join(", ")} and are not judged.`);
  if (page.correction?.learned_here) notes.push(`The correction was learned from ${plural(page.correction.rows, "row")}, which are not judged.`);
  fill(byId("figures-note"), notes.join(" "));
}

/* ---- predicted against measured ---- */

function scalesOf(name, points, side) {
  const values = points.flatMap(({ x, y }) => [x, y]);
  if (!isStep(name)) {
    const most = Math.min(1, Math.max(0.05, ...values) * 1.03);
    return [linear(0, most, LEFT, side, 5), linear(0, most, side - BELOW + TOP, TOP, 5), (value) => `${Math.round(1000 * value) / 10} %`];
  }
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)) - 1e-9);
  return [logarithmic(low, high, LEFT, side), logarithmic(low, high, side - BELOW + TOP, TOP), (value) => String(Number(value.toPrecision(3)))];
}

function pointOf(name, { row, x, y }, across_, up) {
  const say = (value) => (isStep(name) ? `${value.toPrecision(4)} ms` : `${(100 * value).toFixed(2)} %`);
  return telling(svg("circle", { class: "point", cx: across_.at(x).toFixed(1), cy: up.at(y).toFixed(1), r: 3, fill: color("--accent"), "fill-opacity": 0.5 }),
    modelOf(row), [row.mode, row.batch_size && `batch ${row.batch_size}`, row.image_size && `${row.image_size} px`, row.gpu].filter(Boolean).join(", "),
    `measured ${say(x)}, predicted ${say(y)}${x > 0 ? `: ${(100 * (y / x - 1)).toFixed(1)} %` : ""}`);
}

function drawPlot(name) {
  const points = page.rows.filter(judged).map((row) => ({ row, x: row.measured[name], y: estimateOf(row)[name] }))
    .filter(({ x, y }) => x !== undefined && y !== undefined && (!isStep(name) || (x > 0 && y > 0)));
  const box = el("div", { class: "plot", role: "img", "aria-label": `${TITLES[name] ?? name}: predicted against measured; the table above has the figures` });
  const item = state.group.agreements.find((other) => other.figure === name && other.estimator === estimators[state.estimator]);
  const title = el("p", { class: "label" }, `${TITLES[name] ?? name}${item?.r2 ? `: R² ${item.r2.value.toFixed(3)}` : ""}`);
  const side = Math.max(260, Math.min(SIDE, document.documentElement.clientWidth - 60));
  if (!points.length) fill(box, el("p", { class: "empty" }, "No row is judged by this estimator."));
  else {
    const [x, y, say] = scalesOf(name, points, side - 18);
    const [low, high] = [x.ticks[0], x.ticks.at(-1)];
    show(box, side, side + 4, [...upwards(y, LEFT, side - 18, say), ...across(x, TOP, side - 18 - BELOW + TOP, say),
      svg("line", { class: "same", x1: x.at(low), y1: y.at(low), x2: x.at(high), y2: y.at(high), stroke: color("--ink-2"), "stroke-dasharray": "5 4" }),
      ...points.map((point) => pointOf(name, point, x, y)), label(LEFT + (side - LEFT) / 2, side - 6, "measured")]);
  }
  return el("div", {}, title, box);
}

function drawScatter() {
  fill(byId("scatter"), ...figures.map(drawPlot));
  fill(byId("scatter-note"), `${estimators[state.estimator]}. Vertical axis: predicted. On the line both are equal.${isStep(figures[0]) ? " The axes are logarithmic." : ""}`);
}

/* ---- rows ---- */

function cell(row, name) {
  const measured = row.measured[name];
  const value = estimateOf(row)[name];
  if (value === undefined || measured === undefined) return "";
  if (isStep(name)) return `${value.toPrecision(4)} of ${measured.toPrecision(4)} (${(100 * (value / measured - 1)).toFixed(1)} %)`;
  return `${(100 * value).toFixed(1)} of ${(100 * measured).toFixed(1)}`;
}

function drawRows() {
  const wanted = byId("rows-filter").value.toLowerCase();
  const rows = page.rows.filter((row) => inGroup(row) && `${modelOf(row)} ${row.batch_size} ${row.gpu}`.toLowerCase().includes(wanted));
  const heads = ["Model", "Batch", "Card", "Use", ...figures.map((name) => `${isStep(name) ? "Step, ms" : `${name}, %`}: predicted of measured`), "GPU, ms", "Host, ms"];
  fillTable(byId("rows"), heads, rows.slice(0, ROWS_SHOWN).map((row) => [el("span", { title: modelOf(row) }, shorten(modelOf(row))), String(row.batch_size ?? ""), row.gpu,
    row.failed ? el("span", { title: row.failed }, "failed") : row.trained ? "trained" : "judged", ...figures.map((name) => cell(row, name)),
    row.forecast?.busy_ms.toPrecision(4) ?? "", row.forecast?.host_ms.toPrecision(4) ?? ""]), heads.map((_, i) => i).slice(4));
  fill(byId("rows-note"), `${plural(rows.length, "row")}${rows.length > ROWS_SHOWN ? `, the first ${ROWS_SHOWN} of them here` : ""}`);
}

/* ---- all of it ---- */

function draw() {
  drawFigures();
  drawScatter();
  drawRows();
}

function options(id, names, chosen, change) {
  fill(byId(id), ...names.map((name, i) => el("option", { value: i }, name)));
  byId(id).value = chosen;
  byId(id).addEventListener("change", () => {
    change(Number(byId(id).value));
    draw();
  });
}

function start() {
  fill(byId("command"), `plimsoll evaluate time ${page.truth_file.split("/").at(-1)}`);
  fill(byId("facts"), [`truth: ${page.truth}`, plural(page.judged, "row") + " judged", page.trained && `${page.trained} trained on`, page.failed && `${page.failed} could not be run`]
    .filter(Boolean).join(" · "));
  state.estimator = Math.max(0, estimators.findIndex((name) => name.includes("corrected")), estimators.findIndex((name) => name.startsWith("plimsoll") && name.includes("fitted")));
  options("group", page.groups.map(groupName), page.groups.length - 1, (i) => {
    state.group = page.groups[i];
  });
  byId("group-box").hidden = page.groups.length < 2;
  options("estimator", estimators, state.estimator, (i) => {
    state.estimator = i;
  });
  startCues();
  startTheme(draw);
  byId("rows-filter").addEventListener("input", drawRows);
  addEventListener("resize", draw);
  fill(byId("foot"), `plimsoll ${page.version}`);
  draw();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
