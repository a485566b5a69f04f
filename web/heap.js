/* The allocator map at the cursor: every segment with its blocks and the holes between them, to one scale. */

import { byId, color, el, fill, fillTable, lazyTable, placeTip } from "./dom.js";
import { count, hex, percent, plural, size } from "./format.js";
import { indexNear, segmentsOf } from "./data.js";
import { isMiss } from "./search.js";
import { whereText } from "./timeline.js";

const ROW = 20;
const BETWEEN = 5;
const APART = 3; /* css pixels between two segments */
const MOST_ROWS = 20;
const DIMMED = 0.18; /* what a search did not find */
const KINDS = ["cudaMalloc", "mapped", "pool", "library", "unknown"];

let page;
let state;
let refreshTable;
let segments = [];
let items = []; /* {segment, block or null for a hole, offset, bytes} in the order they are drawn */
let boxes = []; /* {item, x, y, width}: an item that continues in the next row has several */
let selected = -1;
let tip;
let hatch;

function listItems() {
  const list = [];
  for (const segment of segments) {
    let end = 0;
    for (const block of segment.blocks) {
      if (block.offset > end) list.push({ segment, block: null, offset: end, bytes: block.offset - end });
      list.push({ segment, block, offset: block.offset, bytes: block.span });
      end = block.offset + block.span;
    }
    if (end < segment.bytes) list.push({ segment, block: null, offset: end, bytes: segment.bytes - end });
  }
  return list;
}

/* Lays the items out like words: one scale for all, segments a little apart. */
function layOut(width) {
  const total = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const rows = Math.max(1, Math.min(MOST_ROWS, Math.ceil(total / (16 * 2 ** 20))));
  const scale = (rows * width - segments.length * APART) / total || 1;
  const perPixel = scale > 0 ? scale : (rows * width) / total;
  let x = 0;
  let row = 0;
  let before = null;
  boxes = [];
  for (const item of items) {
    if (before && before !== item.segment) x += APART;
    before = item.segment;
    let left = item.bytes * perPixel;
    while (left > 0) {
      if (x >= width - 0.01) {
        x = 0;
        row++;
      }
      const part = Math.min(left, width - x);
      boxes.push({ item, x, y: row * (ROW + BETWEEN), width: part });
      x += part;
      left -= part;
    }
  }
  return (row + 1) * (ROW + BETWEEN) - BETWEEN;
}

function makeHatch(context) {
  const tile = document.createElement("canvas");
  const edge = 6 * devicePixelRatio;
  tile.width = edge;
  tile.height = edge;
  const brush = tile.getContext("2d");
  brush.fillStyle = color("--hole");
  brush.fillRect(0, 0, edge, edge);
  brush.strokeStyle = color("--hole-line");
  brush.lineWidth = devicePixelRatio;
  brush.beginPath();
  for (const shift of [-edge, 0, edge]) {
    brush.moveTo(shift - 1, edge + 1);
    brush.lineTo(shift + edge + 1, -1);
  }
  brush.stroke();
  return context.createPattern(tile, "repeat");
}

export function drawHeap() {
  const box = byId("map");
  const canvas = box.querySelector("canvas");
  const width = box.clientWidth;
  if (!segments.length || !width) return;
  const height = layOut(width);
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round((height + 2) * devicePixelRatio);
  canvas.style.height = `${height + 2}px`;
  const context = canvas.getContext("2d");
  context.scale(devicePixelRatio, devicePixelRatio);
  context.translate(0, 1);
  hatch = makeHatch(context);
  hatch.setTransform(new DOMMatrix().scale(1 / devicePixelRatio));
  for (const one of boxes) {
    context.fillStyle = one.item.block ? color(`--c-${one.item.block.category}`) : hatch;
    context.globalAlpha = one.item.block && isMiss(blockText(one.item.block)) ? DIMMED : 1;
    context.fillRect(one.x, one.y, Math.max(one.width, 0.4), ROW);
  }
  context.globalAlpha = 1;
  context.fillStyle = color("--paper");
  for (const one of boxes) if (one.width > 3) context.fillRect(one.x + one.width - 0.6, one.y, 0.6, ROW);
  outline(context);
  if (selected >= 0) mark(context);
}

/* A frame around each segment's part of each row. */
function outline(context) {
  context.strokeStyle = color("--segment");
  context.lineWidth = 1;
  let from = null;
  boxes.forEach((one, i) => {
    from = from ?? one;
    const next = boxes[i + 1];
    if (next && next.item.segment === one.item.segment && next.y === one.y) return;
    context.strokeRect(from.x + 0.5, from.y + 0.5, Math.max(one.x + one.width - from.x - 1, 0.5), ROW - 1);
    from = null;
  });
}

function mark(context) {
  context.strokeStyle = color("--focus");
  context.lineWidth = 2.5;
  for (const one of boxes) if (one.item === items[selected]) context.strokeRect(one.x, one.y - 0.5, Math.max(one.width, 2), ROW + 1);
}

/* ---- words ---- */

const blockText = (block) => [block.category, page.modules[block.module], page.ops[block.op]].filter(Boolean).join(" · ");

function describe(item) {
  const { segment, block } = item;
  const place = `at ${hex(segment.address + item.offset)} in a segment of ${size(segment.bytes)}`;
  if (!block) return [el("strong", {}, `${size(item.bytes)} free`), el("span", { class: "dim" }, ` ${place}`)];
  const what = blockText(block);
  const many = block.count > 1 ? `${plural(block.count, "small block")} in ${size(block.span)}: ` : "";
  return [el("strong", {}, size(block.bytes)), ` ${many}${what}`, el("span", { class: "dim" }, ` ${place}`)];
}

function totals() {
  const sum = { reserved: 0, allocated: 0, blocks: 0, holes: 0, free: 0, largest: 0 };
  for (const segment of segments) sum.reserved += segment.bytes;
  for (const { block, bytes } of items) {
    if (block) {
      sum.allocated += block.bytes;
      sum.blocks += block.count;
    } else {
      sum.holes++;
      sum.free += bytes;
      sum.largest = Math.max(sum.largest, bytes);
    }
  }
  return sum;
}

export function moveHeap() {
  const lane = page.lanes[state.lane];
  const snapshot = lane.mapped[indexNear(lane.mappedPoints, state.point)];
  selected = -1;
  segments = snapshot ? segmentsOf(page, lane, snapshot) : [];
  items = listItems();
  if (!snapshot) {
    fill(byId("heap-note"), lane.snapshots.length ? "there are too many segments for a map" : "the record has no blocks");
    return;
  }
  const sum = totals();
  const away = Math.abs(lane.points.at[snapshot.point] - lane.points.at[state.point]);
  const box = byId("map");
  box.dataset.allocated = sum.allocated;
  box.dataset.reserved = sum.reserved;
  box.dataset.point = snapshot.point;
  fill(byId("heap-note"), `${whereText(snapshot.point)}${away ? ` — the nearest stored moment, ${plural(away, "event")} from the cursor` : ""}`);
  fill(byId("map-detail"), `${plural(segments.length, "segment")}, ${size(sum.reserved)}: ${size(sum.allocated)} in ${plural(sum.blocks, "block")}, ` +
    `${size(sum.reserved - sum.allocated)} free (${percent(sum.reserved - sum.allocated, sum.reserved)}), largest hole ${size(sum.largest)}`);
  drawHeap();
  refreshTable();
}

function boxAt(event) {
  const rect = byId("map").getBoundingClientRect();
  const x = event.clientX - rect.left;
  const y = event.clientY - rect.top;
  const inRow = boxes.filter((one) => y >= one.y && y < one.y + ROW + BETWEEN);
  return inRow.reduce((best, one) => (x >= one.x - 1 && x < one.x + Math.max(one.width, 1) + 1 && (!best || Math.abs(one.x + one.width / 2 - x) < Math.abs(best.x + best.width / 2 - x)) ? one : best), null);
}

function select(index) {
  selected = Math.max(0, Math.min(items.length - 1, index));
  fill(byId("map-detail"), ...describe(items[selected]));
  drawHeap();
}

/* The first item of the next or previous segment. */
function otherSegment(direction) {
  const here = segments.indexOf(items[Math.max(selected, 0)].segment) + direction;
  const wanted = segments[Math.max(0, Math.min(segments.length - 1, here))];
  return items.findIndex((item) => item.segment === wanted);
}

const KEYS_HERE = {
  ArrowRight: () => select(selected + 1),
  ArrowLeft: () => select(selected < 0 ? 0 : selected - 1),
  ArrowDown: () => select(otherSegment(1)),
  ArrowUp: () => select(otherSegment(-1)),
  Home: () => select(0),
  End: () => select(items.length - 1),
};

function segmentsTable() {
  const rows = (segments).map((segment) => {
    const used = segment.blocks.reduce((sum, block) => sum + block.bytes, 0);
    const holes = items.filter((item) => item.segment === segment && !item.block);
    const blocks = segment.blocks.reduce((sum, block) => sum + block.count, 0);
    return [hex(segment.address), KINDS[segment.kind] ?? "", size(segment.bytes), size(used), size(segment.bytes - used), count(blocks), count(holes.length),
      holes.length ? size(Math.max(...holes.map((hole) => hole.bytes))) : ""];
  });
  return fillTable(el("table", {}), ["Address", "Kind", "Size", "In blocks", "Free", "Blocks", "Holes", "Largest hole"], rows, [2, 3, 4, 5, 6, 7]);
}

export function startHeap(document_, state_) {
  page = document_;
  state = state_;
  refreshTable = lazyTable(byId("heap-table"), segmentsTable);
  const box = byId("map");
  tip = el("div", { class: "tip", hidden: true });
  box.append(tip);
  box.addEventListener("mousemove", (event) => {
    const found = boxAt(event);
    tip.hidden = !found;
    if (!found) return;
    fill(tip, ...describe(found.item));
    const rect = box.getBoundingClientRect();
    placeTip(tip, box, event.clientX - rect.left, event.clientY - rect.top);
  });
  box.addEventListener("mouseleave", () => (tip.hidden = true));
  box.addEventListener("click", (event) => {
    const found = boxAt(event);
    if (found) select(items.indexOf(found.item));
  });
  box.addEventListener("keydown", (event) => {
    const act = KEYS_HERE[event.key];
    if (!act || !items.length) return;
    event.preventDefault();
    act();
  });
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== width) drawHeap();
    width = box.clientWidth;
  }).observe(box);
}
