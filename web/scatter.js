/* Thousands of points on a canvas: axes, a part enlarged, and the row under the pointer, which all charts of the page mark. */

import { byId, color, el, fill } from "./dom.js";
import { linear, logarithmic } from "./svg.js";

const HEIGHT = 380;
const TOP = 8;
const BELOW = 40;
const RIGHT = 14;
const REACH = 14; /* how far from a point the pointer may be */
const LEAST_DRAG = 6;

const charts = new Set();
let marked;

/* Round numbers within a decade too, if it is enlarged that far. */
function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) for (const n of [1, 2, 5]) ticks.push(n * 10 ** power);
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return inside.length > 8 ? inside.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9) : inside;
}

function scaleOf(log, [low, high], from, to, most) {
  if (!log) return linear(low, high, from, to, most);
  const scale = logarithmic(low, high, from, to);
  const ticks = logTicks(low, high);
  return { at: scale.at, ticks: ticks.length > 2 ? ticks : linear(low, high, from, to, most).ticks.filter((tick) => tick > 0) };
}

/* With a little room at both ends. */
function spread(values, log) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (log) return low < high ? [low / (high / low) ** 0.02, high * (high / low) ** 0.02] : [low / 2, high * 2];
  const room = low < high ? (high - low) * 0.03 : Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

/* What a row is, beside the pointer and within the window. */
export function showRow(nodes, x, y) {
  const tip = byId("row");
  tip.hidden = false;
  fill(tip, ...nodes);
  const left = x + 18 + tip.offsetWidth > innerWidth ? x - 18 - tip.offsetWidth : x + 18;
  tip.style.left = `${Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(y - tip.offsetHeight / 2, innerHeight - tip.offsetHeight - 4))}px`;
}

function markRow(row) {
  if (marked === row) return;
  marked = row;
  for (const chart of charts) chart.paint();
}

export function forgetCharts() {
  charts.clear();
  marked = undefined;
  byId("row").hidden = true;
}

/* `points`: {x, y, row}; `x`, `y`: {name, log, say, bare}, bare: without figures; `ink` and `tell` are asked about a row.
   `joined`: the points are steps of a line, from left to right. */
export class Scatter {
  constructor(title, label, { points, x, y, ink, tell, joined }) {
    Object.assign(this, { points, x, y, ink, tell, joined });
    this.whole = { x: spread(points.map((point) => point.x), x.log), y: spread(points.map((point) => point.y), y.log) };
    this.part = this.whole;
    this.canvas = el("canvas", { class: "scatter", tabindex: 0, role: "img", "aria-label": label });
    this.node = el("div", { class: "chart" }, el("p", { class: "label" }, title), this.canvas);
    this.listen();
    charts.add(this);
  }

  listen() {
    const at = (event) => {
      const place = this.canvas.getBoundingClientRect();
      return [event.clientX - place.left, event.clientY - place.top];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch" && event.button === 0) this.from = at(event);
      if (this.from) this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      this.to = at(event);
      if (this.from) this.paint();
      else this.point(this.to, event);
    });
    this.canvas.addEventListener("pointerup", () => this.enlarge());
    this.canvas.addEventListener("pointercancel", () => {
      this.from = undefined;
    });
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("blur", () => this.leave());
    this.canvas.addEventListener("dblclick", () => this.all());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  all() {
    this.part = this.whole;
    this.paint();
  }

  leave() {
    if (this.from) return;
    byId("row").hidden = true;
    markRow(undefined);
  }

  inside({ x, y }) {
    const { x: across, y: up } = this.part;
    return x >= across[0] && x <= across[1] && y >= up[0] && y <= up[1];
  }

  show(point, x, y) {
    markRow(point.row);
    showRow(this.tell(point.row), x, y);
  }

  point([x, y], event) {
    let [near, best] = [REACH ** 2, undefined];
    for (const point of this.points) {
      const distance = this.inside(point) ? (this.across.at(point.x) - x) ** 2 + (this.up.at(point.y) - y) ** 2 : Infinity;
      if (distance < near) [near, best] = [distance, point];
    }
    if (best) this.show(best, event.clientX, event.clientY);
    else this.leave();
  }

  /* Back from pixels to numbers. */
  number(axis, pixel) {
    const [low, high] = this.part[axis];
    const share = axis === "x" ? (pixel - this.left) / (this.width - RIGHT - this.left) : (this.height - BELOW - pixel) / (this.height - BELOW - TOP);
    const within = Math.min(1, Math.max(0, share));
    return this[axis].log ? low * (high / low) ** within : low + (high - low) * within;
  }

  enlarge() {
    const { from, to } = this;
    this.from = undefined;
    if (from && to && Math.abs(from[0] - to[0]) > LEAST_DRAG && Math.abs(from[1] - to[1]) > LEAST_DRAG) {
      const range = (axis, i) => [from[i], to[i]].map((pixel) => this.number(axis, pixel)).sort((a, b) => a - b);
      this.part = { x: range("x", 0), y: range("y", 1) };
    }
    this.paint();
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") this.all();
    if (!step) return;
    event.preventDefault();
    const list = this.points.filter((point) => this.inside(point)).sort((a, b) => a.x - b.x);
    if (!list.length) return;
    const next = list[(list.findIndex((point) => point.row === marked) + step + list.length) % list.length];
    const place = this.canvas.getBoundingClientRect();
    this.show(next, place.left + this.across.at(next.x), place.top + this.up.at(next.y));
  }

  /* As wide as its box is now. */
  draw() {
    this.width = Math.max(240, this.node.clientWidth);
    this.height = Math.min(HEIGHT, Math.max(260, this.width * 0.75));
    const ratio = devicePixelRatio || 1;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.paint();
  }

  axes() {
    const { pen } = this;
    const bottom = this.height - BELOW;
    this.up = scaleOf(this.y.log, this.part.y, bottom, TOP, 6);
    this.left = this.y.bare ? 12 : 14 + Math.max(...this.up.ticks.map((tick) => pen.measureText(this.y.say(tick)).width), 10);
    this.across = scaleOf(this.x.log, this.part.x, this.left, this.width - RIGHT, Math.max(4, Math.floor(this.width / 90)));
    pen.strokeStyle = color("--grid");
    pen.fillStyle = color("--ink-2");
    pen.lineWidth = 1;
    pen.beginPath();
    for (const tick of this.x.bare ? [] : this.across.ticks) {
      const at = Math.round(this.across.at(tick)) + 0.5;
      pen.moveTo(at, TOP);
      pen.lineTo(at, bottom);
    }
    for (const tick of this.y.bare ? [] : this.up.ticks) {
      const at = Math.round(this.up.at(tick)) + 0.5;
      pen.moveTo(this.left, at);
      pen.lineTo(this.width - RIGHT, at);
    }
    pen.stroke();
    if (this.x.bare) pen.strokeRect(this.left + 0.5, TOP + 0.5, this.width - RIGHT - this.left - 1, bottom - TOP - 1);
    this.figures(bottom);
  }

  figures(bottom) {
    const { pen } = this;
    let free = -Infinity;
    pen.textAlign = "center";
    for (const tick of this.x.bare ? [] : this.across.ticks) {
      const text = this.x.say(tick);
      const half = pen.measureText(text).width / 2;
      const at = Math.min(this.across.at(tick), this.width - half);
      if (at - half > free) {
        pen.fillText(text, at, bottom + 16);
        free = at + half + 8;
      }
    }
    pen.fillText(this.x.name, (this.left + this.width - RIGHT) / 2, bottom + (this.x.bare ? 18 : 34));
    pen.textAlign = "right";
    for (const tick of this.y.bare ? [] : this.up.ticks) pen.fillText(this.y.say(tick), this.left - 8, this.up.at(tick) + 4);
  }

  line(points) {
    const { pen } = this;
    pen.strokeStyle = color("--step");
    pen.beginPath();
    points.forEach(({ x, y }, i) => {
      if (i) pen.lineTo(this.across.at(x), this.up.at(points[i - 1].y));
      pen.lineTo(this.across.at(x), this.up.at(y));
    });
    pen.stroke();
  }

  dot(point, radius) {
    this.pen.beginPath();
    this.pen.arc(this.across.at(point.x), this.up.at(point.y), radius, 0, 2 * Math.PI);
  }

  paint() {
    if (!this.pen) return;
    const { pen } = this;
    pen.clearRect(0, 0, this.width, this.height);
    this.axes();
    const points = this.points.filter((point) => this.inside(point));
    if (this.joined) this.line(points);
    pen.globalAlpha = points.length > 600 ? 0.6 : 0.8;
    const radius = points.length > 600 ? 2.4 : 3.2;
    for (const point of points) {
      pen.fillStyle = this.ink(point.row);
      this.dot(point, radius);
      pen.fill();
    }
    pen.globalAlpha = 1;
    this.canvas.dataset.points = points.length;
    this.above(points.find((point) => point.row === marked));
  }

  /* The row that is marked, and what is being chosen. */
  above(point) {
    const { pen, from, to } = this;
    if (point) {
      pen.strokeStyle = color("--ink");
      pen.lineWidth = 2;
      this.dot(point, 6);
      pen.stroke();
    }
    if (!from || !to) return;
    pen.fillStyle = color("--accent-soft");
    pen.strokeStyle = color("--accent");
    pen.lineWidth = 1;
    for (const way of ["fillRect", "strokeRect"]) pen[way](Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.abs(from[0] - to[0]), Math.abs(from[1] - to[1]));
  }
}
