/* One step in time: what the host and each stream of the card do, as modelled. The recording and this step have clocks of their
   own; a call is in both, so the cursor of one marks the same call in the other. */

import { byId, color, el, fill, fillTable, lazyTable, placeTip, pressed, prose } from "./dom.js";
import { count, percent, plural, size } from "./format.js";
import { indexAt, stepText } from "./data.js";
import { isMiss } from "./search.js";
import { swatch } from "./timeline.js";

const ROW = 30; /* css pixels of a lane */
const AXIS = 24;
const DIMMED = 0.18; /* what a search did not find */
const NARROWEST = 100; /* ns that a window shows at least */

/* Classes of work by what they have in common, for colours that can be told apart. */
const GROUPS = {
  "matrix products": ["gemm", "convolution", "depthwise", "rnn"], attention: ["attention"],
  "normalization and reductions": ["normalization", "softmax", "reduction"], elementwise: ["elementwise", "multi-tensor", "pooling"],
  "gather and sort": ["gather", "sort"], generated: ["generated"], copies: ["copy"], communication: ["collective"], other: ["other", "wait", "graph"],
};
const GROUP_COLORS = { "matrix products": "--c-parameters", attention: "--c-optimizer", "normalization and reductions": "--c-gradients",
  elementwise: "--c-activations", "gather and sort": "--c-communication", generated: "--c-temporaries", copies: "--c-buffers",
  communication: "--c-workspace", other: "--c-other" };
const BOUND_COLORS = { host: "--c-other", compute: "--c-parameters", bandwidth: "--c-activations", launches: "--c-inputs", copies: "--c-buffers",
  communication: "--c-workspace" };
const INK = (name) => name.replace("--c-", "--i-");
const METRICS = { gputl: "GPU util", gract: "graphics engine", smact: "SM active", smocc: "SM occupancy",
  fp32a: "FP32 active", tenso: "tensor active", drama: "DRAM active" };

let page;
let state;
let onCursor;
let onMoment;
let tracks = [];
let view = { from: 0, to: 1 };
let by = "bound";
let at; /* {track, index}: what the keys are at */
let marked; /* the same for the moment of the recording, or undefined */
let tip;
let refreshTable;
let queued = false;

const lane = () => page.lanes[state.lane];
const time = () => lane().time;
const canvas = () => byId("lanes").querySelector("canvas");
const box = () => byId("lanes");

/* ---- figures ---- */

export function nanoseconds(ns) {
  const sized = Math.abs(ns);
  if (sized < 1000) return `${Math.round(ns)} ns`;
  if (sized < 1e6) return `${(ns / 1e3).toFixed(sized < 1e4 ? 2 : 1)} µs`;
  if (sized < 1e9) return `${(ns / 1e6).toFixed(sized < 1e7 ? 2 : 1)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}

function unpackTrack(packed, name, host) {
  const length = packed.ns.length;
  const track = { name, host, length, begin: new Float64Array(length), end: new Float64Array(length), us: new Float64Array(length), kind: packed.kind,
    merged: new Map(), waits: new Map() };
  let at_ = 0;
  let us = 0;
  for (let i = 0; i < length; i++) {
    track.begin[i] = at_ += packed.gap[i];
    track.end[i] = at_ += packed.ns[i];
    track.us[i] = us += packed.us[i];
  }
  for (let i = 0, entry = 0; i < packed.merged.length; i += 3) {
    entry += packed.merged[i];
    track.merged.set(entry, { count: packed.merged[i + 1], busy: packed.merged[i + 2] });
  }
  for (let i = 0, entry = 0; i < (packed.waits?.length ?? 0); i += 2) {
    entry += packed.waits[i];
    track.waits.set(entry, packed.waits[i + 1]);
  }
  return track;
}

function kindOf(track, i) {
  const { kinds, names, classes, bounds } = page.time;
  const k = track.kind[i];
  return { name: names[kinds.name[k]] || "(others)", module: names[kinds.module[k]], kernel: names[kinds.kernel[k]], class: classes[kinds.class[k]],
    bound: bounds[kinds.bound[k]] };
}

function kindText(track, i) {
  const { name, module, kernel } = kindOf(track, i);
  return `${name} ${module} ${kernel}`;
}

const groupOf = (name) => Object.keys(GROUPS).find((group) => GROUPS[group].includes(name)) ?? "other";

function fillOf(track, i) {
  const { kinds, classes, bounds } = page.time;
  const k = track.kind[i];
  return by === "bound" ? BOUND_COLORS[bounds[kinds.bound[k]]] : GROUP_COLORS[groupOf(classes[kinds.class[k]])];
}

/* ---- drawing ---- */

const gutter = () => (box().clientWidth < 600 ? 74 : 104);
const plotWidth = () => Math.max(box().clientWidth - gutter(), 50);
const xOf = (ns) => gutter() + ((ns - view.from) / (view.to - view.from)) * plotWidth();
const nsOf = (x) => view.from + ((x - gutter()) / plotWidth()) * (view.to - view.from);
const whole = () => ({ from: Math.min(gpuBegin(), time().length), to: time().length });
const gpuBegin = () => Math.min(time().ahead, ...tracks.filter((track) => !track.host && track.length).map((track) => track.begin[0]));

function ticks() {
  const rough = (view.to - view.from) / Math.max(2, plotWidth() / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const first = Math.ceil((view.from - time().ahead) / step) * step;
  const list = [];
  for (let ns = first; ns + time().ahead <= view.to; ns += step) list.push(Math.round(ns));
  return list;
}

function drawAxis(context, height) {
  context.font = `12px ${color("--font")}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const tick of ticks()) {
    const x = Math.round(xOf(tick + time().ahead)) + 0.5;
    context.strokeStyle = color("--grid");
    context.beginPath();
    context.moveTo(x, AXIS);
    context.lineTo(x, height);
    context.stroke();
    context.fillStyle = color("--ink-2");
    if (x > gutter() + 12) context.fillText(tick === 0 ? "0" : nanoseconds(tick), Math.min(x, box().clientWidth - 30), AXIS / 2);
  }
}

function drawBox(context, track, i, from, to, top) {
  const left = Math.max(from, gutter());
  const fillName = fillOf(track, i);
  const wait = track.waits.get(i);
  const busyTo = wait ? Math.max(left, xOf(track.end[i] - wait)) : to;
  context.fillStyle = color(fillName);
  context.globalAlpha = isMiss(kindText(track, i)) ? DIMMED : 1;
  context.fillRect(left, top, Math.max(busyTo - left, 1), ROW - 6);
  context.globalAlpha = 1;
  if (wait) {
    context.fillStyle = color("--group-line");
    context.fillRect(Math.max(left, busyTo), top + (ROW - 6) / 2 - 2, Math.max(to - Math.max(left, busyTo), 0), 4);
  }
  const room = Math.min(busyTo, box().clientWidth) - left - 8;
  if (room < 24) return;
  const { name } = kindOf(track, i);
  context.fillStyle = color(INK(fillName));
  if (context.measureText(name).width <= room) context.fillText(name, left + 4, top + (ROW - 6) / 2 + 0.5);
}

/* What shares a pixel is drawn as the longest of it. */
function drawTrack(context, track, row) {
  const top = AXIS + row * ROW + 3;
  const first = indexAt(track.begin, view.from);
  let pixel = -1;
  let best = -1;
  const flush = () => {
    if (best >= 0) drawBox(context, track, best, pixel, pixel + 1, top);
    best = -1;
  };
  context.textAlign = "left";
  for (let i = first; i < track.length && track.begin[i] <= view.to; i++) {
    if (track.end[i] < view.from) continue;
    const from = xOf(track.begin[i]);
    const to = xOf(track.end[i]);
    if (to - from >= 1) {
      flush();
      drawBox(context, track, i, from, to, top);
      continue;
    }
    if (Math.floor(from) !== pixel) {
      flush();
      pixel = Math.floor(from);
    }
    if (best < 0 || track.end[i] - track.begin[i] > track.end[best] - track.begin[best]) best = i;
  }
  flush();
}

/* The host may have made all calls before the card began. */
function drawEarlier(context, track, row) {
  if (!track.length || track.end[track.length - 1] > view.from) return;
  context.fillStyle = color("--ink-2");
  context.textAlign = "left";
  const text = `◂ ${nanoseconds(view.from - track.end[track.length - 1])} earlier: the host runs ahead`;
  context.fillText(text, gutter() + 6, AXIS + row * ROW + ROW / 2);
}

function outline(context, { track, index }, ink) {
  const row = tracks.indexOf(track);
  const from = Math.max(gutter(), xOf(track.begin[index]));
  const to = Math.min(box().clientWidth, xOf(track.end[index]));
  if (to < gutter() || from > box().clientWidth) return;
  context.strokeStyle = color(ink);
  context.lineWidth = 2;
  context.strokeRect(from - 1, AXIS + row * ROW + 2, Math.max(to - from, 1) + 2, ROW - 4);
  context.lineWidth = 1;
}

function drawMark(context, height) {
  if (!marked) return;
  for (const one of marked) outline(context, one, "--ink");
  const { track, index } = marked.at(-1);
  const x = Math.round(xOf(track.begin[index])) + 0.5;
  if (x < gutter()) return;
  context.strokeStyle = color("--ink");
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, AXIS - 4);
  context.lineTo(x, height);
  context.stroke();
  context.lineWidth = 1;
}

function paint() {
  queued = false;
  if (!time()) return;
  const height = AXIS + tracks.length * ROW + 2;
  const picture = canvas();
  const scale = devicePixelRatio;
  picture.width = Math.round(box().clientWidth * scale);
  picture.height = Math.round(height * scale);
  picture.style.height = `${height}px`;
  const context = picture.getContext("2d");
  context.scale(scale, scale);
  drawAxis(context, height);
  context.font = `12px ${color("--font")}`;
  tracks.forEach((track, row) => {
    drawTrack(context, track, row);
    if (track.host) drawEarlier(context, track, row);
  });
  context.fillStyle = color("--paper");
  context.fillRect(0, 0, gutter() - 2, height);
  context.fillStyle = color("--ink-2");
  context.textAlign = "left";
  tracks.forEach((track, row) => context.fillText(track.name, 0, AXIS + row * ROW + ROW / 2));
  drawMark(context, height);
  if (at && document.activeElement === box()) outline(context, at, "--focus");
  box().dataset.from = view.from;
  box().dataset.to = view.to;
}

function redraw() {
  if (!queued) requestAnimationFrame(paint);
  queued = true;
}

/* ---- what is at a place ---- */

function pieceAt(x, y) {
  const track = tracks[Math.floor((y - AXIS) / ROW)];
  if (!track || !track.length || x < gutter()) return undefined;
  const ns = nsOf(x);
  const near = (view.to - view.from) / plotWidth(); /* a pixel */
  let i = indexAt(track.begin, ns + near);
  let best;
  for (; i >= 0 && track.end[i] >= ns - near; i--)
    if (best === undefined || track.end[i] - track.begin[i] > track.end[best] - track.begin[best]) best = i;
  return best === undefined ? undefined : { track, index: best };
}

function lines({ track, index }) {
  const kind = kindOf(track, index);
  const merged = track.merged.get(index);
  const wait = track.waits.get(index);
  const points = lane().points;
  const point = points.length ? indexAt(points.us, track.us[index]) : -1;
  return [
    merged ? `${plural(merged.count, track.host ? "call" : "piece")} together, longest: ${kind.name}` : kind.name,
    `${nanoseconds(track.end[index] - track.begin[index])}${merged ? ` in total, ${nanoseconds(merged.busy)} busy` : ""} at ${nanoseconds(track.begin[index] - time().ahead)}`,
    wait ? `waits ${nanoseconds(wait)} for the GPU` : undefined,
    track.host ? `host, ${kind.class === "wait" ? "a wait" : `call for ${kind.class}`}` : `${kind.class}, bound by ${kind.bound}`,
    kind.module ? `module ${kind.module}` : undefined,
    kind.kernel && kind.kernel !== kind.name ? kind.kernel : undefined,
    point >= 0 ? `in the recording: ${size(points.allocated[point])} allocated` : undefined,
  ].filter(Boolean);
}

function tell(piece) {
  const [first, ...rest] = lines(piece);
  return [el("strong", {}, first), ...rest.map((text) => el("span", { class: "dim" }, text))];
}

function leave() {
  tip.hidden = true;
  onMoment(undefined);
}

function hover(event) {
  const place = box().getBoundingClientRect();
  const [x, y] = [event.clientX - place.left, event.clientY - place.top];
  const piece = pieceAt(x, y);
  if (!piece) {
    leave();
    return;
  }
  fill(tip, ...tell(piece));
  placeTip(tip, box(), x, y);
  onMoment(piece.track.us[piece.index]);
}

function select(piece) {
  at = piece;
  fill(byId("lanes-detail"), lines(piece).join(" · "));
  const points = lane().points;
  if (points.length) onCursor(indexAt(points.us, piece.track.us[piece.index]));
  redraw();
}

/* ---- zoom, pan, keys ---- */

function show(from, to) {
  const width = Math.min(Math.max(to - from, NARROWEST), time().length);
  const left = Math.min(Math.max(from, 0), time().length - width);
  view = { from: left, to: left + width };
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

function reset() {
  const { from, to } = whole();
  show(from, to);
}

function startPointer() {
  let drag;
  box().addEventListener("pointermove", (event) => {
    if (!drag) {
      hover(event);
      return;
    }
    const moved = event.clientX - drag.x;
    if (Math.abs(moved) > 3) drag.moved = true;
    if (drag.moved) show(drag.from - (moved / plotWidth()) * (drag.to - drag.from), drag.to - (moved / plotWidth()) * (drag.to - drag.from));
  });
  box().addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, ...view };
    tip.hidden = true;
  });
  addEventListener("pointerup", (event) => {
    if (drag && !drag.moved && box().contains(event.target)) {
      const place = box().getBoundingClientRect();
      const piece = pieceAt(event.clientX - place.left, event.clientY - place.top);
      if (piece) select(piece);
    }
    drag = undefined;
  });
  box().addEventListener("pointerleave", leave);
  box().addEventListener("dblclick", reset);
  box().addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== box()) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.75 : 1 / 0.75, nsOf(event.clientX - box().getBoundingClientRect().left));
  }, { passive: false });
}

function moveInTrack(by_) {
  const from = at ?? { track: tracks.find((track) => track.length), index: -by_ };
  if (!from.track) return;
  select({ track: from.track, index: Math.min(Math.max(from.index + by_, 0), from.track.length - 1) });
  keepInSight();
}

function changeTrack(by_) {
  const from = at ?? { track: tracks[0], index: 0 };
  const rows = tracks.filter((track) => track.length);
  const track = rows[Math.min(Math.max(rows.indexOf(from.track) + by_, 0), rows.length - 1)];
  select({ track, index: indexAt(track.begin, from.track.begin[from.index]) });
  keepInSight();
}

function keepInSight() {
  const begin = at.track.begin[at.index];
  if (begin < view.from || begin > view.to) show(begin - (view.to - view.from) / 2, begin + (view.to - view.from) / 2);
}

const KEYS = {
  ArrowRight: () => moveInTrack(1),
  ArrowLeft: () => moveInTrack(-1),
  ArrowDown: () => changeTrack(1),
  ArrowUp: () => changeTrack(-1),
  "+": () => zoom(0.6, at?.track.begin[at.index]),
  "=": () => zoom(0.6, at?.track.begin[at.index]),
  "-": () => zoom(1 / 0.6, at?.track.begin[at.index]),
  0: () => reset(),
};

/* ---- around the lanes ---- */

function describe() {
  const t = time();
  const half = t.merged_below ? ` Drawn as ${count(tracks.reduce((sum, track) => sum + track.length, 0))} pieces: kernels within ${nanoseconds(t.merged_below)} are merged.` : "";
  const what = { optimizer: "the last optimizer step", backward: "the last backward pass", pass: "the last model call", whole: "the whole command" }[t.unit];
  const mean = t.averaged > 1 ? ` Figures are averages of ${t.averaged} steps.` : "";
  fill(byId("time-note"), `${what}: ${plural(t.spans, "kernel or copy", "kernels and copies")}, ${plural(t.calls, "host call")}.${half}${mean} Modelled, not measured.`);
}

/* The figure of `plimsoll time`, where this lane is not the one that it is about. */
const jobStep = (t) => (t.main || !page.time.step ? undefined : { step: page.time.step, of: `rank ${page.time.rank}, GPU ${page.time.device}: it makes the most calls` });

function drawFigures() {
  const t = time();
  const limit = Object.entries(t.bound).sort((a, b) => b[1] - a[1])[0][0];
  const entry = (name, value, more) => el("div", {}, el("dt", {}, name), el("dd", {}, value, more ? el("small", { class: "dim" }, ` ${more}`) : undefined));
  const job = jobStep(t);
  fill(byId("time-figures"),
    job ? entry("Step of the job", nanoseconds(job.step), job.of) : undefined,
    entry(job ? "Step here" : "Step", nanoseconds(t.step), `${nanoseconds(t.low)} to ${nanoseconds(t.high)}`),
    entry("GPU busy", nanoseconds(t.busy), percent(t.busy, t.step)),
    entry("Host", nanoseconds(t.host), percent(t.host, t.step)),
    entry("Bottleneck", limit === "host" ? "waiting for the host" : limit, percent(t.bound[limit], t.step)),
    t.samples_per_second ? entry("Samples", `${count(Number(t.samples_per_second.toPrecision(3)))} /s`, "on this GPU") : undefined,
    page.time.gpus > 1 && page.time.samples_per_second ? entry("Samples of the job", `${count(Number(page.time.samples_per_second.toPrecision(3)))} /s`, `on ${count(page.time.gpus)} GPUs together`) : undefined,
    t.mfu ? entry("MFU", percent(t.mfu, 1)) : undefined);
  fill(byId("time-metrics"), ...Object.entries(t.metrics).filter(([, value]) => value > 0).map(([name, value]) =>
    el("span", { title: `DCGM ${name.toUpperCase()}` }, el("b", {}, METRICS[name]), ` ${percent(value, 1) || "<1 %"}`)));
}

function drawLegend() {
  const used = new Map();
  for (const track of tracks) for (let i = 0; i < track.length; i++) {
    const kind = kindOf(track, i);
    const name = by === "bound" ? kind.bound : groupOf(kind.class);
    used.set(name, (used.get(name) ?? 0) + 1);
  }
  const colors = by === "bound" ? BOUND_COLORS : GROUP_COLORS;
  const said = (name) => (name === "host" ? "host: the program and its calls" : name);
  fill(byId("time-legend"), ...Object.keys(colors).filter((name) => used.has(name)).map((name) => el("li", {}, swatch(colors[name]), ` ${said(name)}`)),
    el("li", {}, swatch("--group-line", true), " host waits for the GPU"));
  for (const name of ["bound", "class"]) pressed(byId(`by-${name}`), by === name);
}

/* Pieces by operator, class and bound; of merged ones the longest stands for all. */
function operatorsTable() {
  const rows = new Map();
  for (const track of tracks.filter((candidate) => !candidate.host)) for (let i = 0; i < track.length; i++) {
    const kind = kindOf(track, i);
    const key = `${kind.name} ${kind.class} ${kind.bound}`;
    const merged = track.merged.get(i);
    const row = rows.get(key) ?? { kind, count: 0, ns: 0 };
    row.count += merged?.count ?? 1;
    row.ns += merged?.busy ?? track.end[i] - track.begin[i];
    rows.set(key, row);
  }
  const sorted = [...rows.values()].sort((a, b) => b.ns - a.ns);
  const all = sorted.reduce((sum, row) => sum + row.ns, 0);
  return fillTable(el("table", {}), ["Operator", "Class", "Bottleneck", "Calls", "Time", "Share"],
    sorted.map(({ kind, count: n, ns }) => [kind.name, kind.class, kind.bound, count(n), nanoseconds(ns), percent(ns, all)]), [3, 4, 5]);
}

/* ---- what the rest of the page calls ---- */

function elsewhere() {
  const points = lane().points;
  const step = points.length && stepText(lane(), points.at[indexAt(points.us, time().to_us - 1)]);
  return step ? `In the memory timeline above this is ${step}; the cursor is elsewhere.` : "";
}

/* A moment of the recording, in microseconds, or nothing: marks the call before it, and the newest work of the card. */
export function markMoment(us) {
  if (!time()) return;
  const before = marked?.map(({ track, index }) => track.us[index]).join();
  marked = undefined;
  if (us !== undefined && us >= time().from_us && us <= time().to_us) {
    const found = tracks.map((track) => ({ track, index: indexAt(track.us, us) })).filter(({ track, index }) => track.us[index] <= us);
    const host = found.find(({ track }) => track.host);
    const newest = found.filter(({ track }) => !track.host).sort((a, b) => b.track.us[b.index] - a.track.us[a.index])[0];
    if (host || newest) marked = [host, newest].filter(Boolean);
  }
  if (!at) fill(byId("lanes-detail"), marked ? lines(marked.at(-1)).join(" · ") : el("span", { class: "dim" }, elsewhere()));
  box().dataset.marked = marked ? marked.map(({ track, index }) => track.us[index]).join(" ") : "";
  if (before !== marked?.map(({ track, index }) => track.us[index]).join()) redraw();
}

export function drawTime() {
  byId("time-title").textContent = page.time.card ? `Time of one step (modelled on ${page.time.name})` : "Time of one step";
  for (const id of ["time-figures", "time-metrics", "time-legend", "lanes", "lanes-detail", "lanes-keys", "time-tools", "time-table"]) byId(id).hidden = !time();
  if (!time()) {
    fill(byId("time-note"), ...prose(page.time.why ?? "This GPU was not used."));
    return;
  }
  tracks = [unpackTrack(time().calls_of_host, "host", true),
    ...time().streams.map((stream) => unpackTrack(stream, `stream ${stream.stream}`, false)).sort((a, b) => b.length - a.length)];
  at = marked = undefined;
  fill(byId("lanes-detail"));
  describe();
  drawFigures();
  drawLegend();
  reset();
  refreshTable();
}

export function repaintTime() {
  if (time()) redraw();
}

export function startTime(document_, state_, moveTo, showMoment) {
  page = document_;
  state = state_;
  onCursor = moveTo;
  onMoment = showMoment;
  refreshTable = lazyTable(byId("time-table"), operatorsTable);
  tip = el("div", { class: "tip", hidden: true });
  box().append(tip);
  startPointer();
  box().addEventListener("keydown", (event) => {
    if (!time() || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  for (const name of ["focus", "blur"]) box().addEventListener(name, redraw);
  for (const name of ["bound", "class"])
    byId(`by-${name}`).addEventListener("click", () => {
      by = name;
      drawLegend();
      redraw();
    });
  byId("time-in").addEventListener("click", () => zoom(0.6));
  byId("time-out").addEventListener("click", () => zoom(1 / 0.6));
  byId("time-reset").addEventListener("click", reset);
  new ResizeObserver(repaintTime).observe(box());
}
