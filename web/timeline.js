/* The stacked timeline: uPlot draws the areas; marks, capacity lines and the cursor are drawn on top of it. */

import uPlot from "uplot";
import { byId, color, el, fill, fillTable, lazyTable, placeTip, pressed } from "./dom.js";
import { count, duration, percent, size, words } from "./format.js";
import { STACK, indexAt, indexNear, stepIndex, stepText } from "./data.js";

const HEIGHT = 430;
const STRIP = 15; /* css pixels of the phase strip, which lies above the plot */
const STEPS = 17; /* and of the line with the steps' numbers, above the strip */
const LABEL = 16; /* css pixels: the height of a card's label */
const FARTHEST_LINE = 1.35; /* a card with more than this multiple of what the job uses is told at the edge instead */

let chart;
let page;
let state;
let chosen;
let onCursor;
let onHover;
let moment;
let refreshTable;
let tip;
let pressAt;
let zoomed = false;

const lane = () => page.lanes[state.lane];
const points = () => lane().points;
const horizontal = () => (state.axis === "time" ? points().us : points().at);

/* Cumulative values for uPlot: x, reserved, used, then one series per category. Areas are drawn last: the peak often takes
   new memory from the card, and the rising line would hide it. */
const LINES = 2;
function series() {
  const p = points();
  const below = new Float64Array(p.length);
  const stacked = STACK.map((name) => {
    const values = p.category.get(name);
    return Float64Array.from(values, (bytes, i) => (below[i] += bytes));
  });
  return [Float64Array.from(horizontal()), p.reserved, p.used, ...stacked];
}

/* Where many points share a pixel, an area that is as wide as its points apart is not seen, peaks first of all. So each
   column of pixels shows the point that has most allocated, and behind it goes on with the last. [places on x, points] */
function columns(u) {
  const x = u.data[0];
  const { allocated } = points();
  const [first, last] = visible(u);
  const { left, width } = u.bbox;
  const { min, max } = u.scales.x;
  /* What is before the window stays before it, and what is at its right border is not drawn beyond it. */
  const lastColumn = (value) => (value < min ? left - 1 : value <= max ? left + width - 1 : Infinity);
  const columnOf = (i) => Math.min(Math.round(u.valToPos(x[i], "x", true)), lastColumn(x[i]));
  const places = [];
  const shown = [];
  for (let i = first; i <= last;) {
    const column = columnOf(i);
    let best = i;
    for (; i <= last && columnOf(i) === column; i++) if (allocated[i] > allocated[best]) best = i;
    places.push(u.posToVal(column, "x", true), u.posToVal(column + 1, "x", true));
    shown.push(best, i - 1);
  }
  return [places, shown];
}

let drawnColumns;

function areaPaths(stepped) {
  return (u, series) => {
    if (series === 1 + LINES) drawnColumns = columns(u);
    const [places, shown] = drawnColumns;
    const data = [...u.data];
    data[0] = places;
    data[series] = shown.map((i) => u.data[series][i]);
    return stepped(Object.create(u, { data: { value: data }, _data: { value: data } }), series, 0, places.length - 1);
  };
}

function highest() {
  const top = Math.max(lane().peak.reserved, lane().peak.device_used, lane().peak.allocated);
  const lines = [...chosen].map((id) => page.gpus.find((gpu) => gpu.id === id).usable);
  return Math.max(top, ...lines.filter((usable) => usable <= FARTHEST_LINE * top)) * 1.06;
}

export function sizeTicks(u, axis, low, high) {
  let step = 1024;
  while (high / step > 9) step *= 2;
  const ticks = [];
  for (let value = 0; value <= high; value += step) ticks.push(value);
  return ticks;
}

export const tickText = (value) => (value === 0 ? "0" : size(value, value % 2 ** 30 && value > 2 ** 30 ? 1 : 0));

function options(width) {
  const stepped = uPlot.paths.stepped({ align: 1 });
  const areas = areaPaths(stepped);
  const axis = { stroke: color("--ink-2"), grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false }, font: `12px ${color("--font")}` };
  const line = (name, dash) => ({ label: name, stroke: color(name), width: 1.5, dash, paths: stepped, points: { show: false } });
  return {
    width,
    height: HEIGHT,
    padding: [STRIP + STEPS + 4, 12, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: true }, bind: { dblclick: () => () => reset() } },
    scales: { x: { time: false }, y: { range: () => [0, highest()] } },
    axes: [
      { ...axis, label: state.axis === "time" ? "time since the record was made" : "allocator events", labelSize: 20, labelFont: axis.font, values: (u, ticks) => ticks.map((t) => (state.axis === "time" ? duration(t) : count(t))), space: 90, size: 34 },
      { ...axis, label: "memory of the card", labelSize: 20, labelFont: axis.font, splits: sizeTicks, values: (u, ticks) => ticks.map(tickText), size: width < 500 ? 58 : 66 },
    ],
    series: [
      {},
      line("--reserved"),
      line("--used", [3, 3]),
      ...STACK.map((name) => ({ label: name, width: 0, fill: color(`--c-${name}`), paths: areas, points: { show: false } })),
    ],
    bands: STACK.slice(1).map((name, i) => ({ series: [i + 2 + LINES, i + 1 + LINES] })),
    hooks: { drawAxes: [drawBehind], draw: [drawMarks], setScale: [noteZoom], setCursor: [hover], ready: [listen] },
  };
}

/* ---- marks ---- */

function clipped(u, draw) {
  const context = u.ctx;
  context.save();
  context.beginPath();
  context.rect(u.bbox.left, 0, u.bbox.width, u.bbox.top + u.bbox.height + pixels(8)); /* with the cursor's foot */
  context.clip();
  draw(context);
  context.restore();
}

/* Behind the areas: in front, the line of a step would hide a peak that is its last event. */
function drawBehind(u) {
  clipped(u, (context) => drawSteps(u, context, stepStride(u)));
}

function drawMarks(u) {
  clipped(u, (context) => drawInFront(u, context, stepStride(u)));
}

function drawInFront(u, context, steps) {
  /* Where many steps share a few pixels, a point's phase is that of the peak and says nothing about its neighbours. */
  if (steps.apart > 24 && points().phase.some(Boolean)) drawPhases(u, context);
  drawCapacities(u, context);
  drawCursor(u, context);
}

const pixels = (n) => n * devicePixelRatio;

function visible(u) {
  const x = u.data[0];
  let first = indexAt(x, u.scales.x.min);
  while (first && x[first - 1] === x[first]) first--; /* many points can have the same time */
  const last = Math.min(x.length - 1, indexAt(x, u.scales.x.max) + 1);
  return [first, last];
}

function drawPhases(u, context) {
  const [first, last] = visible(u);
  const phase = points().phase;
  const top = u.bbox.top - pixels(STRIP + 2);
  let start = first;
  context.font = `${pixels(10.5)}px ${color("--font")}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let i = first + 1; i <= last; i++) {
    if (i < last && phase[i] === phase[start]) continue;
    const from = Math.max(u.bbox.left, u.valToPos(u.data[0][start], "x", true));
    const to = Math.min(u.bbox.left + u.bbox.width, u.valToPos(u.data[0][i], "x", true));
    const name = words(page.phases[phase[start]]);
    context.fillStyle = color(`--p-${page.phases[phase[start]]}`);
    context.fillRect(from, top, Math.max(to - from, 0.5), pixels(STRIP));
    if (context.measureText(name).width + pixels(8) < to - from) {
      context.fillStyle = color("--p-ink");
      context.fillText(name, (from + to) / 2, top + pixels(STRIP / 2 + 0.5));
    }
    start = i;
  }
}

/* Where a step ended, on the axis that is shown. */
function stepEnd(step) {
  const p = points();
  return state.axis === "time" ? p.us[indexAt(p.at, step.end)] : step.end;
}

/* Numbers of steps that have room: every one, or every 2nd, 5th, 10th, … */
function stepStride(u) {
  const { list } = lane().steps;
  const ends = list.map(stepEnd);
  const seen = ends.filter((value) => value >= u.scales.x.min && value <= u.scales.x.max).length;
  const apart = u.bbox.width / devicePixelRatio / Math.max(seen, 1);
  let stride = 1;
  for (let i = 0; apart * stride < 48; i++) stride *= i % 3 === 1 ? 2.5 : 2;
  return { ends, apart, stride };
}

function drawSteps(u, context, { ends, stride }) {
  let last = -Infinity;
  context.setLineDash([]);
  context.strokeStyle = color("--step");
  context.fillStyle = color("--ink-2");
  context.lineWidth = pixels(1);
  context.font = `${pixels(11)}px ${color("--font")}`;
  context.textAlign = "right";
  context.textBaseline = "top";
  ends.forEach((value, i) => {
    if (value < u.scales.x.min || value > u.scales.x.max || (i + 1) % stride) return;
    const x = Math.round(u.valToPos(value, "x", true)) + 0.5;
    const text = stepText(lane(), lane().steps.list[i].end);
    context.beginPath();
    context.moveTo(x, u.bbox.top - pixels(STRIP + STEPS));
    context.lineTo(x, u.bbox.top + u.bbox.height);
    context.stroke();
    if (x - Math.max(last, u.bbox.left) > context.measureText(text).width + pixels(10)) {
      context.fillText(text, x - pixels(5), u.bbox.top - pixels(STRIP + STEPS - 1));
      last = x;
    }
  });
}

/* The place for a label nearest to its line that no other label has: above it or below, then further right, then further
   down. In css pixels, from the plot's top left. */
function freePlace(taken, width, y, room) {
  const overlaps = (x, top) => taken.some((one) => x < one.x + one.width + 6 && one.x < x + width + 6 && top < one.top + LABEL && one.top < top + LABEL);
  for (let away = 0; away < room.height; away += LABEL)
    for (const top of [y - LABEL - 2 - away, y + 2 + away])
      for (let x = 8; x + width <= room.width - 4; x += 12)
        if (top >= 0 && top + LABEL <= room.height && !overlaps(x, top)) return { x, top, width };
  return undefined; /* so many that there is no room: the table of cards has them all */
}

/* A card beyond the top of the chart is told at its edge. */
function drawCapacities(u, context) {
  const room = { width: u.bbox.width / devicePixelRatio, height: u.bbox.height / devicePixelRatio };
  const taken = [];
  context.font = `${pixels(11)}px ${color("--font")}`;
  context.textAlign = "left";
  context.lineWidth = pixels(1.5);
  context.strokeStyle = color("--capacity");
  for (const gpu of page.gpus.filter((candidate) => chosen.has(candidate.id))) {
    const beyond = gpu.usable > u.scales.y.max;
    const text = `${beyond ? "↑ " : ""}${gpu.id}  ${size(gpu.usable)}`;
    const y = beyond ? 0 : u.valToPos(gpu.usable, "y");
    if (!beyond) limitLine(u, context, u.bbox.top + pixels(y));
    const place = freePlace(taken, context.measureText(text).width / devicePixelRatio + 8, y, room);
    if (place) taken.push({ ...place, text });
  }
  for (const one of taken) label(context, one.text, u.bbox.left + pixels(one.x + 4), u.bbox.top + pixels(one.top + LABEL / 2));
  byId("chart").dataset.labels = JSON.stringify(taken);
}

function limitLine(u, context, y) {
  context.setLineDash([pixels(7), pixels(4)]);
  context.beginPath();
  context.moveTo(u.bbox.left, y);
  context.lineTo(u.bbox.left + u.bbox.width, y);
  context.stroke();
  context.setLineDash([]);
}

function label(context, text, x, y) {
  const width = context.measureText(text).width;
  context.textBaseline = "middle";
  context.fillStyle = color("--paper");
  context.globalAlpha = 0.88;
  context.fillRect(x - pixels(4), y - pixels(LABEL / 2), width + pixels(8), pixels(LABEL));
  context.globalAlpha = 1;
  context.fillStyle = color("--capacity");
  context.fillText(text, x, y + pixels(0.5));
}

/* Above what is allocated, and below the axis: a peak may be as narrow as the line and would lie behind it. */
function drawCursor(u, context) {
  const x = Math.round(u.valToPos(horizontal()[state.point], "x", true)) + 0.5;
  const y = u.valToPos(points().allocated[state.point], "y", true);
  const bottom = u.bbox.top + u.bbox.height;
  if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
  context.strokeStyle = context.fillStyle = color("--ink");
  context.lineWidth = pixels(1.5);
  context.beginPath();
  context.moveTo(x, u.bbox.top);
  context.lineTo(x, y - pixels(9));
  context.stroke();
  for (const [tip, base] of [[y - pixels(1), y - pixels(9)], [bottom, bottom + pixels(7)]]) {
    context.beginPath();
    context.moveTo(x, tip);
    context.lineTo(x - pixels(4.5), base);
    context.lineTo(x + pixels(4.5), base);
    context.fill();
  }
}

/* ---- hover, click, wheel, keys ---- */

function hover(u) {
  if (u.cursor.left < 0 || !points().length) {
    tip.hidden = true;
    onHover(undefined);
    return;
  }
  const i = indexNear(u.data[0], u.posToVal(u.cursor.left, "x"));
  const p = points();
  onHover(p.us[i]);
  const shown = STACK.filter((name) => p.category.get(name)[i]).reverse();
  fill(tip,
    el("strong", {}, size(p.allocated[i])), el("span", { class: "dim" }, whereText(i)),
    el("table", {}, el("tbody", {}, ...shown.map((name) => figureRow(name, p.category.get(name)[i])),
      el("tr", { class: "sum" }, el("td", {}, swatch("--reserved", true)), el("td", {}, "reserved"), el("td", { class: "n" }, size(p.reserved[i]))))));
  const rect = u.over.getBoundingClientRect();
  const box = byId("chart").getBoundingClientRect();
  placeTip(tip, byId("chart"), u.cursor.left + rect.left - box.left, u.cursor.top + rect.top - box.top);
}

const figureRow = (name, bytes) => el("tr", {}, el("td", {}, swatch(`--c-${name}`)), el("td", {}, name), el("td", { class: "n" }, size(bytes)));

export function swatch(name, line = false) {
  const mark = el("i", { class: line ? "swatch line" : "swatch", "aria-hidden": "true" });
  mark.style.background = `var(${name})`;
  return mark;
}

function whereParts(i) {
  const p = points();
  const where = [stepText(lane(), p.at[i]), words(page.phases[p.phase[i]])].filter(Boolean);
  return [where.join(", "), `event ${count(p.at[i] + 1)} · ${duration(p.us[i])}`];
}

export const whereText = (i) => whereParts(i).join(" · ");

function listen(u) {
  u.over.addEventListener("mousedown", (event) => (pressAt = event.clientX));
  u.over.addEventListener("click", (event) => {
    byId("chart").focus({ preventScroll: true });
    if (Math.abs(event.clientX - pressAt) < 4)
      onCursor(indexNear(u.data[0], u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x")));
  });
  u.over.addEventListener("wheel", (event) => {
    /* The wheel scrolls the page unless the reader has turned to the chart. */
    if (!event.ctrlKey && document.activeElement !== byId("chart")) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.75 : 1 / 0.75, u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
  }, { passive: false });
}

function limits() {
  const x = horizontal();
  return [x[0], x[x.length - 1] > x[0] ? x[x.length - 1] : x[0] + 1];
}

function show(min, max) {
  const [low, high] = limits();
  const width = Math.min(high - low, Math.max(max - min, (high - low) / 1e5, 4));
  const from = Math.min(Math.max(min, low), high - width);
  chart.setScale("x", { min: from, max: from + width });
}

function zoom(factor, around) {
  const { min, max } = chart.scales.x;
  show(around - (around - min) * factor, around + (max - around) * factor);
}

function reset() {
  chart.setScale("x", { min: limits()[0], max: limits()[1] });
}

function noteZoom(u, key) {
  if (key !== "x") return;
  zoomed = u.scales.x.min > limits()[0] || u.scales.x.max < limits()[1];
  byId("chart").dataset.from = u.scales.x.min;
  byId("chart").dataset.to = u.scales.x.max;
}

function zoomToStep() {
  const p = points();
  const { list } = lane().steps;
  const i = stepIndex(lane(), p.at[state.point]);
  if (i < 0) return;
  const from = i ? stepEnd(list[i - 1]) : limits()[0];
  show(from, stepEnd(list[i]));
}

function nextOf(sorted, direction) {
  const after = sorted.filter((point) => (direction > 0 ? point > state.point : point < state.point));
  if (!after.length) return state.point;
  return direction > 0 ? after[0] : after[after.length - 1];
}

const stepPeaks = () => lane().steps.list.map((step) => indexNear(points().at, step.peak));

const KEYS = {
  ArrowRight: (event) => onCursor(event.shiftKey ? state.point + 1 : nextOf(lane().snapshotPoints, 1)),
  ArrowLeft: (event) => onCursor(event.shiftKey ? state.point - 1 : nextOf(lane().snapshotPoints, -1)),
  PageDown: () => onCursor(nextOf(stepPeaks(), 1)),
  PageUp: () => onCursor(nextOf(stepPeaks(), -1)),
  Home: () => onCursor(0),
  End: () => onCursor(points().length - 1),
  p: () => onCursor(lane().at_peak.point),
  "+": () => zoom(0.6, horizontal()[state.point]),
  "=": () => zoom(0.6, horizontal()[state.point]),
  "-": () => zoom(1 / 0.6, horizontal()[state.point]),
  0: () => reset(),
};

/* The cursor that moves by keys stays in sight. */
function keepInSight() {
  const { min, max } = chart.scales.x;
  const x = horizontal()[state.point];
  if (!zoomed) return;
  if (x < min || x > max) show(x - (max - min) / 2, x + (max - min) / 2);
}

/* ---- what the rest of the page calls ---- */

/* Marks a moment of the recording that something else on the page is about: microseconds, or nothing. */
export function showMoment(us) {
  if (!moment) return;
  moment.hidden = true;
  if (us === undefined || !points().length) return;
  const i = indexAt(points().us, us);
  const x = chart.valToPos(state.axis === "time" ? us : points().at[i], "x");
  moment.dataset.point = i;
  moment.hidden = x < 0 || x > chart.over.clientWidth;
  moment.style.transform = `translateX(${Math.round(x)}px)`;
}

export function forgetZoom() {
  zoomed = false;
}

export function drawTimeline() {
  const box = byId("chart");
  const before = zoomed && { ...chart.scales.x };
  chart?.destroy();
  chart = new uPlot(options(Math.max(box.clientWidth, 320)), series(), box);
  tip = el("div", { class: "tip", hidden: true });
  moment = el("div", { class: "moment", hidden: true });
  box.append(tip);
  chart.over.append(moment);
  if (before) show(before.min, before.max);
  else reset();
  describe();
}

function describe() {
  const p = points();
  const exact = lane().events === p.length;
  fill(byId("timeline-note"), exact ? `all ${count(p.length)} allocator events` :
    `${count(lane().events)} allocator events in ${count(p.length)} points, each the peak of its interval`);
}

export function capacitiesChanged() {
  chart.setScale("y", { min: 0, max: highest() });
  chart.redraw(false);
}

export function moveTimeline() {
  const p = points();
  const i = state.point;
  keepInSight();
  chart.redraw(false);
  const [where, when] = whereParts(i);
  fill(byId("cursor-where"), el("strong", {}, where), el("span", { class: "dim" }, when));
  const rows = [...STACK].reverse().map((name) => {
    const bytes = p.category.get(name)[i];
    return el("tr", { "data-category": name, "data-bytes": bytes, class: bytes ? null : "none" },
      el("td", {}, swatch(`--c-${name}`)), el("th", { scope: "row" }, name),
      el("td", { class: "n" }, bytes ? size(bytes) : "–"), el("td", { class: "n dim" }, bytes ? percent(bytes, p.allocated[i]) : ""));
  });
  const sum = (id, name, mark, bytes) => el("tr", { class: "sum", id, "data-bytes": bytes }, el("td", {}, mark), el("th", { scope: "row" }, name),
    el("td", { class: "n" }, size(bytes)), el("td", {}));
  fill(byId("legend"), byId("legend").querySelector("caption"), el("tbody", {}, ...rows,
    sum("legend-allocated", "allocated", "", p.allocated[i]),
    sum("legend-reserved", "reserved", swatch("--reserved", true), p.reserved[i]),
    sum("legend-used", "device used", swatch("--used", true), p.used[i])));
  const slider = byId("chart");
  slider.setAttribute("aria-valuemin", 0);
  slider.setAttribute("aria-valuemax", p.length - 1);
  slider.setAttribute("aria-valuenow", i);
  slider.setAttribute("aria-valuetext", `${whereText(i)}: ${size(p.allocated[i])} allocated`);
  refreshTable();
}

/* Every kept moment, which is what the charts below can show too. */
function momentsTable() {
  const p = points();
  const used = STACK.filter((name) => p.category.get(name).some((bytes) => bytes));
  const heads = ["Event", "Step", "Phase", "Allocated", "Reserved", ...used];
  const rows = lane().snapshotPoints.map((i) => [count(p.at[i] + 1), stepText(lane(), p.at[i]), words(page.phases[p.phase[i]]), size(p.allocated[i]),
    size(p.reserved[i]), ...used.map((name) => size(p.category.get(name)[i]))]);
  return fillTable(el("table", {}), heads, rows, [0, ...heads.keys()].filter((i) => i === 0 || i > 2));
}

export function startTimeline(document_, state_, chosen_, moveTo, hovered) {
  page = document_;
  state = state_;
  chosen = chosen_;
  onCursor = moveTo;
  onHover = hovered;
  refreshTable = lazyTable(byId("timeline-table"), momentsTable);
  const box = byId("chart");
  box.addEventListener("keydown", (event) => {
    const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act(event);
  });
  const axis = (name) => () => {
    state.axis = name;
    pressed(byId("axis-time"), name === "time");
    pressed(byId("axis-events"), name === "events");
    forgetZoom();
    drawTimeline();
  };
  byId("axis-events").addEventListener("click", axis("events"));
  byId("axis-time").addEventListener("click", axis("time"));
  byId("to-peak").addEventListener("click", () => onCursor(lane().at_peak.point));
  byId("zoom-in").addEventListener("click", () => zoom(0.6, horizontal()[state.point]));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6, horizontal()[state.point]));
  byId("zoom-reset").addEventListener("click", reset);
  byId("zoom-step").addEventListener("click", zoomToStep);
  new ResizeObserver(() => {
    if (chart && Math.abs(box.clientWidth - chart.width) > 1) chart.setSize({ width: Math.max(box.clientWidth, 320), height: HEIGHT });
  }).observe(box);
}
