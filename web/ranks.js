/* Ranks by kind: the choice at the top, and the table of kinds. */

import { byId, el, fill, fillTable } from "./dom.js";
import { count, plural, size } from "./format.js";

/* "0-7" → "0–7", for people. */
const rangeText = (text) => text.replaceAll("-", "–");

const kindText = (kind) => `${kind.devices ? `rank ${kind.ranks}, device` : kind.count === 1 ? "rank" : "ranks"} ${rangeText(kind.devices ?? kind.ranks)}`;

const laneText = (lane) => `rank ${lane.rank}, device ${lane.device}: ${size(lane.peak.device_used)}`;
const bySize = (a, b) => b.peak.device_used - a.peak.device_used || a.rank - b.rank || a.device - b.device;

/* The lane that stands for a kind; -1 if it is not in the page. */
const laneOf = (page, kind) => page.lanes.findIndex((lane) => lane.kind === kind);

/* "1/64", "whole": as the text report says it. */
function partText({ local, whole }) {
  const parts = local ? whole / local : 0;
  const even = Math.round(parts);
  if (local === whole) return "whole";
  if (even >= 2 && Math.abs(parts - even) <= 0.02 * even) return `1/${even}`;
  return parts > 2 ? `1/${parts.toFixed(1)}` : `${(parts ? 100 / parts : 0).toFixed(0)} %`;
}

const shardsText = (kind) => Object.entries(kind.shards ?? {}).map(([category, shard]) => `${category} ${partText(shard)}`).join(", ");

/* Kinds first, the largest at the top; then the ranks that others stand for. */
export function startLanes(page, show) {
  const box = byId("lane");
  const kinds = page.ranks?.kinds ?? [];
  const option = (lane, text) => el("option", { value: page.lanes.indexOf(lane) }, text);
  const first = kinds.map((kind, k) => [page.lanes[laneOf(page, k)], kind]).filter(([lane]) => lane);
  const others = page.lanes.filter((lane) => lane.kind === undefined).sort(bySize);
  byId("lane-box").hidden = page.lanes.length < 2;
  if (!first.length) fill(box, ...[...page.lanes].sort(bySize).map((lane) => option(lane, laneText(lane))));
  else fill(box, el("optgroup", { label: "Kinds, largest first" }, ...first.map(([lane, kind]) => option(lane, `${kindText(kind)}: ${size(kind.device_used)}`))),
    others.length ? el("optgroup", { label: "Others, largest first" }, ...others.map((lane) => option(lane, laneText(lane)))) : null);
  box.addEventListener("change", () => show(Number(box.value)));
}

function kindRow(page, kind, k, shown, most, show) {
  const at = laneOf(page, k);
  const bar = el("i", { class: "bar" });
  bar.style.width = `${(100 * (kind.device_used ?? 0)) / most}%`;
  const name = at < 0 ? kindText(kind) : el("button", { type: "button", class: "link", "aria-label": `Show ${kindText(kind)}`, click: () => show(at) }, kindText(kind));
  const figures = ["allocated", "reserved", "device_used"].map((figure) => (kind[figure] === undefined ? "" : size(kind[figure])));
  return el("tr", { "aria-current": at === shown ? "true" : null }, el("th", { scope: "row" }, name), el("td", { class: "n" }, count(kind.count)), el("td", { class: "n" }, figures[0]),
    el("td", { class: "n" }, figures[1]), el("td", { class: "track" }, bar), el("td", { class: "n" }, figures[2]), el("td", { title: kind.why ?? null }, [kind.why, shardsText(kind)].filter(Boolean).join("; ")));
}

function worldText({ world, nodes, gpus_per_node: gpus, kinds }) {
  const ranks = plural(world ?? kinds.reduce((sum, kind) => sum + kind.count, 0), "rank");
  return nodes && gpus ? `${ranks}: ${plural(nodes, "node")} × ${plural(gpus, "GPU")}` : ranks;
}

/* `shown` is the lane that the rest of the page is about. */
export function drawRanks(page, shown, show) {
  const { ranks } = page;
  byId("ranks").hidden = !ranks;
  if (!ranks) return;
  const most = Math.max(...ranks.kinds.map((kind) => kind.device_used ?? 0), 1);
  const uneven = ranks.imbalance.device_used;
  fill(byId("ranks-note"), `${worldText(ranks)}, ${plural(ranks.kinds.length, "kind")}${ranks.kinds.length > 1 ? `; the largest uses ${uneven.ratio.toFixed(2)} times the mean of ${size(uneven.mean)}` : ""}`);
  fillTable(byId("ranks-table"), ["Ranks", "Count", "Allocated", "Reserved", "", "Device used", "Why they are identical; share of tensors held by each"],
    ranks.kinds.map((kind, k) => kindRow(page, kind, k, shown, most, show)), [1, 2, 3, 5]);
}
