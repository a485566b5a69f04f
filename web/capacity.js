/* The capacity bar: what a job needs of what a card has, with its range as whiskers and the card's memory as a limit. */

import { el, fill } from "./dom.js";
import { size } from "./format.js";

const BEYOND = 1.04; /* what lies behind the limit, or the need, stays visible as space */

/* What is used, from the bottom: tensors, what PyTorch holds beyond them, and the rest of the stack. */
export function capacityParts(lane) {
  const { allocated, reserved, device_used: used } = lane.peak;
  const held = Math.max(allocated, reserved);
  return [["tensors", allocated, "tensors"], ["cached", held - allocated, "cached but unused"], ["stack", Math.max(used - held, 0), "context and libraries"]];
}

function whiskers(low, high, place) {
  const node = el("i", { class: "whiskers", "data-low": low, "data-high": high, title: `between ${size(low)} and ${size(high)}` });
  node.style.left = place(low);
  node.style.width = `calc(${place(high)} - ${place(low)})`;
  return node;
}

function limitMark(card, place) {
  const node = el("i", { class: "limit", "data-bytes": card.usable });
  node.style.left = place(card.usable);
  return node;
}

/* `whole`: the end of the scale, if several bars share it. */
export function drawCapacity(box, { need, low, high, parts, card, whole }) {
  const end = whole ?? BEYOND * Math.max(high, need, card?.usable ?? 0, 1);
  const place = (bytes) => `${((100 * bytes) / end).toFixed(3)}%`;
  const state = card?.verdict ?? "unknown";
  const bar = el("div", { class: `capacity ${state}` });
  const free = el("i", { class: "room" });
  free.style.width = place(card?.usable ?? end);
  bar.append(free);
  let from = 0;
  for (const [name, bytes, label] of parts) {
    const part = el("i", { class: `part ${name}`, "data-bytes": bytes, title: `${label}: ${size(bytes)}` });
    part.style.left = place(from);
    part.style.width = place(bytes);
    bar.append(part);
    from += bytes;
  }
  if (card) bar.append(limitMark(card, place));
  bar.append(whiskers(low, high, place));
  const key = el("p", { class: "key" }, ...parts.filter(([, bytes]) => bytes).map(([name, bytes, label]) =>
    el("span", {}, el("i", { class: `swatch ${name}` }), `${label} ${size(bytes)}`)));
  box.setAttribute("aria-label", `Needs ${size(need)}, between ${size(low)} and ${size(high)}${card ? `, of ${size(card.usable)} usable on ${card.id}` : ""}`);
  fill(box, bar, key);
}
