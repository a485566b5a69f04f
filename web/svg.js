/* Drawings in SVG: nodes, scales, axes, and tips that follow the pointer or the focus. */

import { color, el, fill, placeTip } from "./dom.js";

const LABEL = 12; /* font size of axes */

export const svg = (tag, properties, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

const within = (value, low, high) => Math.min(high, Math.max(low, value));

/* With about `most` round ticks; values beyond the ends lie on them. */
export function linear(low, high, from, to, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
  const ticks = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step / 1e6; value += step) ticks.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return { ticks, at: (value) => from + ((within(value, low, high) - low) / (high - low)) * (to - from) };
}

/* A tick for each power of ten. */
export function logarithmic(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const ticks = [];
  for (let power = Math.ceil(a - 1e-9); power <= b + 1e-9; power++) ticks.push(10 ** power);
  return { ticks, at: (value) => from + ((Math.log10(within(value, low, high)) - a) / (b - a)) * (to - from) };
}

export const label = (x, y, text, anchor = "middle", size = LABEL, ink = "--ink-2") =>
  svg("text", { x, y, fill: color(ink), "font-size": size, "text-anchor": anchor }, text);

/* Lines for the ticks of an axis across, from `top` to `bottom`, with their figures below. */
export function across(scale, top, bottom, say) {
  return scale.ticks.flatMap((tick) => [
    svg("line", { x1: scale.at(tick), x2: scale.at(tick), y1: top, y2: bottom, stroke: color(tick === 0 ? "--ink-2" : "--grid") }),
    label(scale.at(tick), bottom + 16, say(tick))]);
}

/* The same upwards, figures to the left. */
export function upwards(scale, left, right, say) {
  return scale.ticks.flatMap((tick) => [
    svg("line", { x1: left, x2: right, y1: scale.at(tick), y2: scale.at(tick), stroke: color(tick === 0 ? "--ink-2" : "--grid") }),
    label(left - 8, scale.at(tick) + 4, say(tick), "end")]);
}

/* Puts a drawing into its box, with a tip. Nodes with a `tell` show what it returns, at the pointer. */
export function show(box, width, height, parts) {
  const tip = el("div", { class: "tip", hidden: true });
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...parts);
  const move = (event) => {
    const node = event.target.closest?.(".tells");
    if (!node?.tell) {
      tip.hidden = true;
      return;
    }
    const place = box.getBoundingClientRect();
    fill(tip, ...node.tell());
    placeTip(tip, box, event.clientX - place.left, event.clientY - place.top);
  };
  picture.addEventListener("pointermove", move);
  picture.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
  fill(box, picture, tip);
}

/* Marks a node as one that has something to say: lines for the tip, the first one strong. */
export function telling(node, ...lines) {
  node.classList.add("tells");
  node.tell = () => lines.map((line, i) => el("div", { class: i ? "dim" : "strong" }, line));
  return node;
}

/* A mark of one of four shapes. */
export function mark(shape, x, y, r, properties) {
  const paths = [null, `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`, `M${x},${y - 1.3 * r}l${1.2 * r},${2.2 * r}h${-2.4 * r}z`,
    `M${x},${y - 1.4 * r}l${1.4 * r},${1.4 * r}l${-1.4 * r},${1.4 * r}l${-1.4 * r},${-1.4 * r}z`];
  return shape % 4 === 0 ? svg("circle", { cx: x, cy: y, r, ...properties }) : svg("path", { d: paths[shape % 4], ...properties });
}
