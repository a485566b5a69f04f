/* The embedded document, unpacked. docs/page.md describes its shape. */

import { byId } from "./dom.js";

/* Categories from the bottom of the stack to its top: what stays for the whole run lies below what comes and goes. */
export const STACK = ["parameters", "buffers", "optimizer", "gradients", "activations", "inputs", "workspace", "temporaries",
  "communication", "other"];

function sums(deltas) {
  let value = 0;
  return deltas.map((delta) => (value += delta));
}

/* [unchanged, delta, unchanged, delta, …] in units → values. */
function unpack(pairs, length, unit) {
  const values = new Float64Array(length);
  let at = 0;
  let value = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    values.fill(value, at, at + pairs[i]);
    at += pairs[i];
    value += pairs[i + 1] * unit;
    values[at++] = value;
  }
  values.fill(value, at);
  return values;
}

function unpackPoints(lane, categories) {
  const packed = lane.points;
  const length = packed.at.length;
  const points = {
    length,
    at: sums(packed.at),
    us: sums(packed.us),
    phase: Array.from(packed.phase, Number),
    category: new Map(),
    reserved: unpack(packed.reserved, length, lane.unit),
    used: unpack(packed.used, length, lane.unit),
    allocated: new Float64Array(length),
  };
  categories.forEach((name, i) => points.category.set(name, unpack(packed.categories[i], length, lane.unit)));
  for (const values of points.category.values()) values.forEach((bytes, i) => (points.allocated[i] += bytes));
  return points;
}

/* Who holds what at a snapshot. Each is written as what changed since the one before it, so all of these are added up. */
export function holdersAt(page, lane, index) {
  const held = new Map();
  for (const { holders } of lane.snapshots.slice(0, index + 1)) {
    let key = 0;
    for (let i = 0; i < holders.length; i += 2) {
      key += holders[i];
      held.set(key, (held.get(key) ?? 0) + holders[i + 1]);
    }
  }
  const { module, category, op, line } = page.sites;
  return Array.from(held, ([site, units]) => ({ module: module[site], category: page.categories[category[site]], op: op[site], line: line[site], bytes: units * lane.unit }))
    .filter((holder) => holder.bytes);
}

/* Segments with their blocks, largest first. Blocks are listed segment by segment, each with the free space before it;
   `merged` tells which entries stand for several small blocks. */
export function segmentsOf(page, lane, snapshot) {
  const packed = snapshot.map;
  const { unit } = lane;
  const merged = new Map();
  let entry = 0;
  for (let i = 0; i < packed.merged.length; i += 3) {
    entry += packed.merged[i];
    merged.set(entry, { bytes: packed.merged[i + 1] * unit, count: packed.merged[i + 2] });
  }
  let next = 0;
  let address = 0;
  const segments = packed.bytes.map((size, i) => {
    const segment = { address: address + packed.address[i] * unit, bytes: size * unit, kind: packed.kind[i], blocks: [] };
    let offset = 0;
    for (const last = next + packed.blocks[i]; next < last; next++) {
      offset += packed.gap[next] * unit;
      const span = packed.span[next] * unit;
      segment.blocks.push({ offset, span, bytes: span, count: 1, ...merged.get(next), category: page.categories[Number(packed.category[next])],
        module: packed.module[next], op: packed.op[next] });
      offset += span;
    }
    address = segment.address + segment.bytes;
    return segment;
  });
  return segments.sort((a, b) => b.bytes - a.bytes || a.address - b.address);
}

function unpackSteps(lane) {
  const { each, count, allocated, reserved, end, peak } = lane.steps;
  return { each, count, list: allocated.map((bytes, i) => ({ allocated: bytes, reserved: reserved[i], end: end[i], peak: peak[i] })) };
}

/* The index of the last element that is <= value, at least 0. */
export function indexAt(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function indexNear(sorted, value) {
  const i = indexAt(sorted, value);
  return i + 1 < sorted.length && sorted[i + 1] - value < value - sorted[i] ? i + 1 : i;
}

export function loadDocument() {
  return unpackDocument(JSON.parse(byId("data").textContent));
}

export function unpackDocument(page) {
  page.foldOf = new Map(page.folds.flatMap((fold) => fold.modules.map((module) => [module, fold])));
  for (const lane of page.lanes) {
    lane.points = unpackPoints(lane, page.categories);
    lane.snapshotPoints = lane.snapshots.map((snapshot) => snapshot.point);
    lane.mapped = lane.snapshots.filter((snapshot) => snapshot.map);
    lane.mappedPoints = lane.mapped.map((snapshot) => snapshot.point);
    lane.steps = unpackSteps(lane);
  }
  return page;
}

/* The entry of lane.steps.list during which an event happened; what follows the last step is not part of one. */
export function stepIndex(lane, event) {
  return lane.steps.list.findIndex((step) => event <= step.end);
}

export function stepText(lane, event) {
  const i = stepIndex(lane, event);
  const { each, count, list } = lane.steps;
  if (!list.length) return "";
  if (i < 0) return "after the last step";
  return each === 1 ? `step ${i + 1}` : `steps ${i * each + 1}–${Math.min((i + 1) * each, count)}`;
}
