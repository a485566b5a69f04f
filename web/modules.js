/* Who holds the bytes: the tree of modules at the cursor, as a treemap or a flame graph. d3-hierarchy lays both out. */

import * as d3 from "d3-hierarchy";
import { byId, el, fill, fillTable, lazyTable, pressed } from "./dom.js";
import { percent, plural, size } from "./format.js";
import { STACK, holdersAt, indexNear } from "./data.js";
import { hitClass } from "./search.js";
import { whereText } from "./timeline.js";

const HEIGHT = 460;
const ROW = 26;
const SMALLEST = 3; /* css pixels; smaller cells are left to the table */
const MOST_CELLS = 1500;
const OUTSIDE = "(outside modules)";

let page;
let state;
let refreshTable;
let root;
let holders = [];
let shown; /* focusable cells, in document order */

/* "layer1.0.conv2" → three names. Dots inside brackets belong to a name, as in "(torch.nn.CrossEntropyLoss)". */
function splitPath(path) {
  if (!path) return [OUTSIDE];
  return path.match(/(\([^)]*\)|[^.(])+/g) ?? [path];
}

function child(node, name) {
  if (!node.inside.has(name)) node.inside.set(name, { name, inside: new Map(), held: [] });
  return node.inside.get(name);
}

/* Layers that repeat have one name if they are folded: "blocks.0…11.mlp.0". */
const foldOf = (module) => (state.folded ? page.foldOf.get(module) : undefined);
const moduleName = (module) => foldOf(module)?.name ?? page.modules[module];

const UNKNOWN = { op: "(unknown operator)", line: "(unknown line)" };
const LEVELS = ["category", "op", "line"];
const partName = { category: (holder) => holder.category, op: (holder) => page.ops[holder.op] || UNKNOWN.op, line: (holder) => page.lines[holder.line] || UNKNOWN.line };

/* What a module holds by category; within that by operator and by line of the program, where the reader has gone so deep. */
function parts(held, level, path, deep) {
  const groups = Map.groupBy(held, partName[LEVELS[level]]);
  return [...groups].map(([name, inner]) => {
    const key = `${LEVELS[level]}:${name}`;
    const here = [...path, key];
    const into = deep && level + 1 < LEVELS.length;
    return { name, key, part: LEVELS[level], category: inner[0].category, bytes: into ? 0 : inner.reduce((sum, holder) => sum + holder.bytes, 0),
      children: into ? parts(inner, level + 1, here, deep) : [] };
  });
}

/* Operators and lines are laid out for the module that is looked at, not for all of them. */
const isFocused = (path) => path.length > 0 && path.every((name, i) => state.focus[i] === name);

/* A module that holds nothing and has one child reads as one: "transformer.h". */
function squeeze(node, path) {
  let { name } = node;
  let at = node;
  while (at.inside.size === 1 && at.held.length === 0 && name) {
    [at] = at.inside.values();
    name += `.${at.name}`;
  }
  const here = name ? [...path, name] : path;
  const children = [...at.inside.values()].map((inner) => squeeze(inner, here));
  return { name, times: at.times, children: [...children, ...parts(at.held, 0, here, isFocused(here))] };
}

function buildTree() {
  const top = { name: "", inside: new Map(), held: [] };
  for (const holder of holders) {
    const node = splitPath(moduleName(holder.module)).reduce(child, top);
    node.times = foldOf(holder.module)?.modules.length;
    node.held.push(holder);
  }
  const tree = d3.hierarchy(squeeze(top, [])).sum((data) => data.bytes ?? 0).sort((a, b) => b.value - a.value);
  tree.eachAfter((node) => {
    node.shares = new Map();
    if (node.data.category && !node.children) node.shares.set(node.data.category, node.value);
    for (const inner of node.children ?? [])
      for (const [category, bytes] of inner.shares) node.shares.set(category, (node.shares.get(category) ?? 0) + bytes);
  });
  return tree;
}

const pathOf = (node) => node.ancestors().reverse().slice(1).map((one) => one.data.key ?? one.data.name);
const moduleOf = (node) => node.ancestors().reverse().slice(1).filter((one) => !one.data.part).map((one) => one.data.name).join(".");
const partsOf = (node) => node.ancestors().reverse().filter((one) => one.data.part).map((one) => one.data.name);
/* A subtree that is laid out by itself is a copy; its names begin at the root all the same. */
const original = (node) => node.original ?? node;
const nameOf = (node) => [moduleOf(original(node)) || (node.data.part ? "all" : "all modules"), ...partsOf(original(node))].join(", ");

/* The module that state.focus names, or the nearest one above it that exists at this moment. */
function focused() {
  let node = root;
  for (const name of state.focus) {
    const next = node.children?.find((one) => (one.data.key ?? one.data.name) === name);
    if (!next) break;
    node = next;
  }
  return node;
}

/* ---- layouts: each gives {node, x, y, width, height, kind} ---- */

function treemapCells(top, width) {
  const layout = d3.treemap().tile(d3.treemapSquarify.ratio(1.3)).size([width, HEIGHT]).round(true).paddingInner(1)
    .paddingOuter((node) => (node.x1 - node.x0 > 60 ? 2 : 1)).paddingTop((node) => (node.x1 - node.x0 > 46 && node.y1 - node.y0 > 38 ? 19 : 1));
  layout(top);
  return top.descendants().slice(1).map((node) => ({ node, x: node.x0, y: node.y0, width: node.x1 - node.x0, height: node.y1 - node.y0,
    kind: node.data.category ? (node.children ? "leaf outer" : "leaf") : "group" }));
}

function flameCells(top, width) {
  const rows = top.height + 1;
  d3.partition().size([width, rows * ROW])(top);
  return top.descendants().map((node) => ({ node, x: node.x0, y: node.depth * ROW, width: node.x1 - node.x0 - 1, height: ROW - 2,
    kind: node.data.category ? "leaf" : "bar" }));
}

function stripe(node) {
  const parts = [];
  let from = 0;
  for (const category of STACK) {
    const share = (100 * (node.shares.get(category) ?? 0)) / node.value;
    if (!share) continue;
    parts.push(`var(--c-${category}) ${from.toFixed(2)}% ${(from + share).toFixed(2)}%`);
    from += share;
  }
  return `linear-gradient(90deg, ${parts.join(", ")})`;
}

function cellElement({ node, x, y, width, height, kind }) {
  const text = node.data.category && node.parent.children.length === 1 ? node.data.category : node.data.name || "all";
  const roomy = width > 34 && height > 15;
  const cell = el("div", { class: `cell ${kind}${hitClass(nameOf(node))}`, role: "treeitem", tabindex: "-1", "aria-label": `${nameOf(node)}, ${size(node.value)}`,
    "aria-level": node.depth + 1, "data-bytes": node.value, "data-name": nameOf(node) });
  Object.assign(cell.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  if (node.data.category) {
    cell.style.background = `var(--c-${node.data.category})`;
    cell.style.color = `var(--i-${node.data.category})`;
  } else if (kind === "bar") {
    cell.style.setProperty("--stripe", stripe(node));
  }
  if (roomy) {
    cell.append(el("span", { class: "name" }, text));
    if (node.data.times) cell.firstChild.append(el("span", { class: "times" }, ` × ${node.data.times}`));
    if (width > 110) cell.append(el("span", { class: "bytes" }, size(node.value)));
  }
  cell.plmNode = node;
  return cell;
}

/* ---- drawing ---- */

function drawCrumbs(node) {
  const chain = node.ancestors().reverse();
  fill(byId("crumbs"), ...chain.flatMap((one, i) => {
    const last = i === chain.length - 1;
    const button = el("button", { type: "button", "aria-current": last ? "true" : null, click: () => focusOn(one) }, one.data.name || "all modules");
    return i ? [el("span", { "aria-hidden": "true" }, "›"), button] : [button];
  }), el("span", { class: "dim" }, `${size(node.value)}${node === root ? "" : `, ${percent(node.value, root.value)} of all`}`));
}

export function drawModules() {
  root = buildTree();
  const box = byId("tree");
  const width = box.clientWidth;
  if (!width) return;
  const node = focused();
  const top = node === root ? root : node.copy();
  const shares = new Map(node.descendants().map((one) => [one, one.shares]));
  if (top !== node) copyShares(node, top, shares);
  const cells = (state.tree === "flame" ? flameCells : treemapCells)(top, width)
    .filter((cell) => cell.width >= SMALLEST && cell.height >= SMALLEST).slice(0, MOST_CELLS);
  box.style.height = state.tree === "flame" ? `${(top.height + 1) * ROW}px` : `${HEIGHT}px`;
  box.className = state.tree;
  shown = cells.map(cellElement);
  fill(box, ...(root.value ? shown : [el("p", { class: "empty" }, "Nothing is allocated at this moment.")]));
  if (shown.length) shown[0].tabIndex = 0;
  drawCrumbs(node);
  fill(byId("tree-detail"), "Point at a module, or move with the arrow keys; Enter zooms in, down to operators and lines, Escape zooms out.");
}

/* node.copy() lays a subtree out without disturbing the whole; paths still lead to the root. */
function copyShares(from, to, shares) {
  to.shares = shares.get(from);
  to.original = from;
  (from.children ?? []).forEach((inner, i) => copyShares(inner, to.children[i], shares));
}

function focusOn(node) {
  const target = original(node.data.part === "line" ? node.parent ?? node : node);
  state.focus = pathOf(target);
  drawModules();
}

export function moveModules() {
  const lane = page.lanes[state.lane];
  if (!page.attributed) {
    fill(byId("modules-note"), "this record has no modules");
    return;
  }
  const index = indexNear(lane.snapshotPoints, state.point);
  const snapshot = lane.snapshots[index];
  holders = holdersAt(page, lane, index);
  root = undefined;
  const away = Math.abs(lane.points.at[snapshot.point] - lane.points.at[state.point]);
  fill(byId("modules-note"), `${whereText(snapshot.point)}${away ? ` — the nearest stored moment, ${plural(away, "event")} from the cursor` : ""}`);
  drawModules();
  refreshTable();
}

function describe(cell) {
  const node = original(cell.plmNode);
  const parts = [...node.shares].sort((a, b) => b[1] - a[1]).map(([category, bytes]) => `${category} ${size(bytes)}`);
  fill(byId("tree-detail"), el("strong", {}, nameOf(node)), ` ${size(node.value)}, ${percent(node.value, root.value)}`,
    node.data.category ? "" : el("span", { class: "dim" }, ` — ${parts.join(", ")}`));
}

function step(cell, key) {
  const node = cell.plmNode;
  const find = (wanted) => shown.find((one) => one.plmNode === wanted);
  const siblings = (node.parent?.children ?? [node]).map(find).filter(Boolean);
  const i = siblings.indexOf(cell);
  if (key === "ArrowRight") return siblings[i + 1];
  if (key === "ArrowLeft") return siblings[i - 1];
  if (key === "ArrowDown") return (node.children ?? []).map(find).find(Boolean);
  return node.parent && find(node.parent);
}

function onKey(event) {
  const cell = event.target.closest?.(".cell");
  if (!cell) return;
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    const next = step(cell, event.key);
    if (!next) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    focusOn(cell.plmNode);
    shown[0]?.focus();
  } else if (event.key === "Escape" || event.key === "Backspace") {
    event.preventDefault();
    state.focus = state.focus.slice(0, -1);
    drawModules();
    shown[0]?.focus();
  }
}

function table() {
  const modules = new Map();
  for (const { module, category, bytes } of holders) {
    const times = foldOf(module)?.modules.length;
    const name = `${moduleName(module) || OUTSIDE}${times ? ` × ${times}` : ""}`;
    if (!modules.has(name)) modules.set(name, new Map());
    modules.get(name).set(category, (modules.get(name).get(category) ?? 0) + bytes);
  }
  const total = (held) => [...held.values()].reduce((sum, bytes) => sum + bytes, 0);
  const used = STACK.filter((name) => [...modules.values()].some((held) => held.has(name)));
  const rows = [...modules].sort((a, b) => total(b[1]) - total(a[1])).map(([name, held]) =>
    [name, size(total(held)), ...used.map((category) => (held.has(category) ? size(held.get(category)) : ""))]);
  return fillTable(el("table", {}), ["Module", "All", ...used], rows, [1, ...used.map((name, i) => i + 2)]);
}

export function startModules(document_, state_) {
  page = document_;
  state = state_;
  refreshTable = lazyTable(byId("modules-table"), table);
  const box = byId("tree");
  box.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) focusOn(cell.plmNode);
  });
  box.addEventListener("mouseover", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) describe(cell);
  });
  box.addEventListener("focusin", (event) => describe(event.target));
  box.addEventListener("keydown", onKey);
  const kind = (name) => () => {
    state.tree = name;
    pressed(byId("as-treemap"), name === "treemap");
    pressed(byId("as-flame"), name === "flame");
    drawModules();
  };
  byId("fold").hidden = !page.folds.length;
  byId("fold").addEventListener("click", () => {
    state.folded = !state.folded;
    state.focus = [];
    pressed(byId("fold"), state.folded);
    drawModules();
    refreshTable();
  });
  byId("as-treemap").addEventListener("click", kind("treemap"));
  byId("as-flame").addEventListener("click", kind("flame"));
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== width) drawModules();
    width = box.clientWidth;
  }).observe(box);
}
