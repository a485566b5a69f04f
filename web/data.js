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

/* Each snapshot is written as what changed since the one before it. */
function unpackSnapshots(lane, categories) {
  const held = new Map();
  return lane.snapshots.map((packed) => {
    let key = 0;
    for (let i = 0; i < packed.holders.length; i += 2) {
      key += packed.holders[i];
      const bytes = (held.get(key) ?? 0) + packed.holders[i + 1] * lane.unit;
      if (bytes) held.set(key, bytes);
      else held.delete(key);
    }
    const holders = Array.from(held, ([k, bytes]) => ({
      module: Math.floor(k / categories.length),
      category: categories[k % categories.length],
      bytes,
    }));
    return { point: packed.point, holders, segments: packed.segments && packed.segments.map((s) => unpackSegment(s, lane.unit, categories)) };
  });
}

function unpackSegment(packed, unit, categories) {
  const blocks = [];
  let offset = 0;
  packed.span.forEach((span, i) => {
    offset += packed.gap[i] * unit;
    blocks.push({
      offset,
      span: span * unit,
      bytes: (span - packed.free[i]) * unit,
      category: categories[Number(packed.category[i])],
      module: packed.module[i],
      op: packed.op[i],
      count: packed.count[i],
    });
    offset += span * unit;
  });
  return { address: packed.address, bytes: packed.bytes, kind: packed.kind, blocks };
}

function unpackSteps(lane) {
  const { each, allocated, reserved, end, peak } = lane.steps;
  return { each, list: allocated.map((bytes, i) => ({ allocated: bytes, reserved: reserved[i], end: end[i], peak: peak[i] })) };
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
  const page = JSON.parse(byId("data").textContent);
  for (const lane of page.lanes) {
    lane.points = unpackPoints(lane, page.categories);
    lane.snapshots = unpackSnapshots(lane, page.categories);
    lane.snapshotPoints = lane.snapshots.map((snapshot) => snapshot.point);
    lane.mapped = lane.snapshots.filter((snapshot) => snapshot.segments);
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
  const { each, list } = lane.steps;
  if (!list.length) return "";
  if (i < 0) return "after the last step";
  return each === 1 ? `step ${i + 1}` : `steps ${i * each + 1}–${(i + 1) * each}`;
}
