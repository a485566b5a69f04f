/* The plots of an evaluation: boxes, medians with their intervals, failures, distribution, error against size. */

import { byId, color, el, fill } from "./dom.js";
import { size } from "./format.js";
import { across, label, linear, logarithmic, mark, show, svg, telling, upwards } from "./svg.js";

const HUES = ["--accent", "--c-activations", "--c-optimizer", "--c-parameters", "--c-workspace", "--c-buffers", "--c-temporaries", "--c-other"];
const DASHES = [undefined, "6 3", "2 3", "9 3 2 3"];
const LINE = 24; /* a line of a plot that has one for each estimator */
const NAMES = 236; /* for the names beside them */
const LEAST_WIDTH = 460;
const LONGEST_NAME = 33;
const HEIGHT = 330;
const EDGE = 28; /* half of the last figure of an axis */
const NEAR = 1e-4; /* the left end of logarithmic errors: 0.01 % */

export const percent = (share, digits = 2) => (share === undefined ? "" : `${(100 * share).toFixed(digits)} %`);
const roughly = (share) => `${Number((100 * share).toPrecision(3))} %`;
const widthOf = (box) => Math.max(LEAST_WIDTH, box.clientWidth);
const shorten = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, 16)}…${name.slice(-16)}` : name);

/* `view`: the estimators of the family that is shown, its rows, and which estimators are drawn where lines cross. */
export const hue = (view, name) => color(HUES[view.names.indexOf(name) % HUES.length]);
const style = (view, name) => Math.floor(view.names.indexOf(name) / HUES.length);
const isDrawn = (view, name) => view.shown.has(name);

export function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  return below + 1 < sorted.length ? sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]) : sorted.at(-1);
}

function errorsOf(view, name) {
  const at = view.names.indexOf(name);
  return view.rows.map((row) => row.estimates[at].error).filter((error) => error !== undefined).sort((a, b) => a - b);
}

function nothing(box, text) {
  fill(box, el("p", { class: "empty" }, text));
}

function names(view, list) {
  return list.map((estimator, i) => telling(label(0, i * LINE + LINE / 2 + 5, shorten(estimator.name), "start", 13, estimator.origin === "virtual" ? "--ink" : "--ink-2"), estimator.name));
}

/* ---- signed error ---- */

function drawBox(view, name, errors, y, at) {
  const [a, b, c, d, e] = [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => quantile(errors, share));
  const ink = hue(view, name);
  return telling(svg("g", {},
    svg("rect", { x: NAMES, y: y - LINE / 2, width: at(2) - NAMES, height: LINE, fill: "transparent" }),
    svg("line", { x1: at(a), x2: at(e), y1: y, y2: y, stroke: ink, "stroke-width": 1.5 }),
    svg("rect", { class: "box", x: at(b), y: y - 7, width: Math.max(1, at(d) - at(b)), height: 14, fill: ink, "fill-opacity": 0.35, stroke: ink }),
    svg("line", { x1: at(c), x2: at(c), y1: y - 7, y2: y + 7, stroke: color("--ink"), "stroke-width": 2 })),
  name, `${errors.length} runs, median ${percent(c)}`, `middle half ${percent(b)} to ${percent(d)}`, `5 % to 95 %: ${percent(a)} to ${percent(e)}`);
}

export function drawBoxes(view) {
  const box = byId("boxes");
  const list = view.estimators.filter((estimator) => estimator.compared);
  if (!list.length) return nothing(box, "No run can be compared.");
  const errors = list.map((estimator) => errorsOf(view, estimator.name));
  const low = Math.min(-0.02, ...errors.map((item) => quantile(item, 0.05)));
  const high = Math.max(0.02, ...errors.map((item) => quantile(item, 0.95)));
  const width = widthOf(box);
  const bottom = list.length * LINE;
  const scale = linear(Math.max(low, -1), Math.min(high, 1), NAMES, width - EDGE, Math.max(2, Math.floor((width - NAMES) / 80)));
  show(box, width, bottom + 24, [...across(scale, 0, bottom, roughly), ...names(view, list),
    ...list.map((estimator, i) => drawBox(view, estimator.name, errors[i], i * LINE + LINE / 2, scale.at))]);
}

/* ---- medians ---- */

export function drawMedians(view) {
  const box = byId("medians");
  const list = view.estimators.filter((estimator) => estimator.compared).sort((a, b) => a.median - b.median);
  if (!list.length) return nothing(box, "No run can be compared.");
  const width = widthOf(box);
  const bottom = list.length * LINE;
  const most = Math.max(1, ...list.map((estimator) => estimator.median_interval.high));
  const least = Math.min(0.01, ...list.map((estimator) => Math.max(NEAR, estimator.median_interval.low)));
  const scale = logarithmic(10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most) - 1e-9), NAMES, width - EDGE);
  show(box, width, bottom + 24, [...across(scale, 0, bottom, roughly), ...names(view, list), ...list.map((estimator, i) => {
    const y = i * LINE + LINE / 2;
    const { low, high } = estimator.median_interval;
    const ink = hue(view, estimator.name);
    return telling(svg("g", {},
      svg("rect", { x: NAMES, y: y - LINE / 2, width: width - NAMES, height: LINE, fill: "transparent" }),
      svg("line", { class: "interval", x1: scale.at(low), x2: scale.at(high), y1: y, y2: y, stroke: ink, "stroke-width": 5, "stroke-opacity": 0.4 }),
      svg("circle", { cx: scale.at(estimator.median), cy: y, r: 4.5, fill: ink })),
    estimator.name, `median ${percent(estimator.median)} over ${estimator.compared} runs`, `95 % interval ${percent(low)} to ${percent(high)}`);
  })]);
}

/* ---- failures ---- */

const FAILURES = [["pef", "--accent", "PyTorch capped"], ["pef_device", "--c-activations", "process capped"], ["wrong", "--c-other", "verdict wrong"]];

export function drawFailures(view) {
  const box = byId("failures");
  const list = view.estimators.filter((estimator) => estimator.judged);
  if (!list.length) return nothing(box, "No run has a verdict.");
  const width = widthOf(box);
  const tall = LINE + 6;
  const bottom = list.length * tall;
  const scale = linear(0, 1, NAMES, width - EDGE, Math.max(2, Math.floor((width - NAMES) / 90)));
  show(box, width, bottom + 24, [...across(scale, 0, bottom, roughly), ...list.flatMap((estimator, i) => {
    const values = { ...estimator, wrong: 1 - estimator.oom_agreement };
    const title = telling(label(0, i * tall + tall / 2 + 5, shorten(estimator.name), "start", 13, estimator.origin === "virtual" ? "--ink" : "--ink-2"), estimator.name);
    return [title, telling(svg("g", {},
      svg("rect", { x: NAMES, y: i * tall, width: width - NAMES, height: tall, fill: "transparent" }),
      ...FAILURES.map(([key, ink], k) => svg("rect", { class: "failure", x: NAMES, y: i * tall + 4 + 8 * k, width: Math.max(1.5, scale.at(values[key]) - NAMES), height: 6.5, fill: color(ink) }))),
    estimator.name, `${estimator.judged} runs have a verdict`, ...FAILURES.map(([key, , text]) => `${text}: ${percent(values[key])}`))];
  })]);
  fill(byId("failures-legend"), ...FAILURES.map(([, ink, text]) => {
    const key = el("i", {});
    key.style.background = color(ink);
    return el("li", {}, key, text === "verdict wrong" ? text : `fails, or verdict wrong: ${text}`);
  }));
}

/* ---- the distribution ---- */

function steps(errors, x, y) {
  let path = `M${x(NEAR)},${y(0)}`;
  errors.forEach((error, i) => {
    path += `H${x(error).toFixed(1)}V${y((i + 1) / errors.length).toFixed(1)}`;
  });
  return path;
}

export function drawCdf(view) {
  const box = byId("cdf");
  const width = widthOf(box);
  const list = view.estimators.filter((estimator) => estimator.compared && isDrawn(view, estimator.name));
  if (!list.length) return nothing(box, "No estimator with comparable runs is chosen.");
  const all = list.map((estimator) => errorsOf(view, estimator.name).map(Math.abs).sort((a, b) => a - b));
  const most = Math.max(1, ...all.map((errors) => errors.at(-1)));
  const x = logarithmic(NEAR, 10 ** Math.ceil(Math.log10(most) - 1e-9), 56, width - EDGE);
  const y = linear(0, 1, HEIGHT - 28, 10, 5);
  show(box, width, HEIGHT, [...upwards(y, 56, width - EDGE, roughly), ...across(x, 10, HEIGHT - 28, roughly),
    ...list.flatMap((estimator, i) => {
      const d = steps(all[i], x.at, y.at) + `H${width - EDGE}`;
      const seen = { d, fill: "none", stroke: hue(view, estimator.name), "stroke-dasharray": DASHES[style(view, estimator.name) % DASHES.length] };
      const within = (limit) => percent(all[i].filter((error) => error <= limit).length / all[i].length, 0);
      return [svg("path", { ...seen, class: "cdf", "stroke-width": estimator.origin === "virtual" ? 2.5 : 1.5 }),
        telling(svg("path", { d, fill: "none", stroke: "transparent", "stroke-width": 11 }), estimator.name,
          `within 1 %: ${within(0.01)} of runs`, `within 5 %: ${within(0.05)}`, `within 10 %: ${within(0.1)}`, `within 50 %: ${within(0.5)}`)];
    })]);
}

/* ---- error against size ---- */

export function drawScatter(view) {
  const box = byId("scatter");
  const width = widthOf(box);
  const points = view.rows.flatMap((row) => row.estimates.filter((estimate) => estimate.error !== undefined && isDrawn(view, estimate.name))
    .map((estimate) => ({ row, estimate })));
  if (!points.length) return nothing(box, "No estimator with comparable runs is chosen.");
  const furthest = Math.max(0.05, ...points.map(({ estimate }) => Math.abs(estimate.error)));
  const edge = Math.min(1, furthest * 1.05);
  const x = linear(0, Math.max(...points.map(({ row }) => row.ground)) / 2 ** 30, 64, width - EDGE, Math.floor(width / 110));
  const y = linear(-edge, edge, HEIGHT - 28, 10, 6);
  show(box, width, HEIGHT, [...upwards(y, 64, width - EDGE, roughly), ...x.ticks.map((tick) => label(x.at(tick), HEIGHT - 8, `${Number(tick.toPrecision(6))} GiB`)),
    ...points.map(({ row, estimate }) => telling(
      mark(style(view, estimate.name), x.at(row.ground / 2 ** 30), y.at(estimate.error), 3.5, { class: "point", fill: hue(view, estimate.name), "fill-opacity": 0.65 }),
      estimate.name, [row.model, row.optimizer, `batch ${row.batch_size}`, row.gpu].filter(Boolean).join(", "),
      `${size(estimate.bytes)}, ${row.reference ? "on the virtual GPU" : "measured"} ${size(row.ground)}: ${percent(estimate.error)}`))]);
}

/* ---- which estimators the two show ---- */

export function drawChoice(view, change) {
  fill(byId("choice"), ...view.estimators.filter((estimator) => estimator.compared).map((estimator) => {
    const key = svg("svg", { width: 26, height: 12, "aria-hidden": "true" },
      svg("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: hue(view, estimator.name), "stroke-width": 2, "stroke-dasharray": DASHES[style(view, estimator.name) % DASHES.length] }),
      mark(style(view, estimator.name), 13, 6, 3.5, { fill: hue(view, estimator.name) }));
    return el("li", {}, el("button", { type: "button", "aria-pressed": isDrawn(view, estimator.name) ? "true" : "false", click: () => change(estimator.name) }, key, ` ${estimator.name}`));
  }));
}
