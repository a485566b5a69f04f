/* The page of `plimsoll diff --html`: two jobs over one another, each on the device that needs most (docs/page.md). */

import uPlot from "uplot";
import { capacityParts, drawCapacity } from "./capacity.js";
import { startCues } from "./cues.js";
import { byId, color, el, fill, fillTable, prose } from "./dom.js";
import { shortCommand, size } from "./format.js";
import { stepIndex, unpackDocument } from "./data.js";
import { VERDICTS, askedCard } from "./tables.js";
import { startTheme } from "./theme.js";
import { sizeTicks, tickText } from "./timeline.js";

const HEIGHT = 380;
const SIDES = ["Before", "After"];
const INKS = ["--ink-2", "--accent"];

const page = JSON.parse(byId("data").textContent);
const jobs = page.jobs.map(unpackDocument);
const lanes = jobs.map((job) => job.lanes[0]);
let chart;

const commandOf = (job) => shortCommand(job.job.command.length ? job.job.command : [job.record]);

/* Of the device that needs most afterwards; it is the first of both that has changes to tell. */
const device = page.devices.find((one) => one.rank === lanes[1].rank && one.device === lanes[1].device) ?? page.devices[0];

/* ---- the answer ---- */

function drawBars() {
  const card = askedCard(jobs[1]);
  const whole = 1.04 * Math.max(...lanes.map((lane) => lane.high), card?.usable ?? 0);
  fill(byId("bars"), ...jobs.map((job, i) => {
    const lane = lanes[i];
    const own = card && job.gpus.find((gpu) => gpu.id === card.id);
    const box = el("div", { role: "img" });
    drawCapacity(box, { need: lane.peak.device_used, low: lane.low, high: lane.high, parts: capacityParts(lane), card: own, whole });
    const verdict = own && el("span", { class: `pill ${own.verdict}` }, VERDICTS[own.verdict]);
    return el("div", { class: "side", "data-bytes": lane.peak.device_used }, el("p", { class: "verdict" }, el("strong", {}, SIDES[i]), ` ${size(lane.peak.device_used)}${own ? ` of ${size(own.usable)} usable on ${own.id} ` : ""}`, verdict),
      el("p", { class: "note" }, `${job.record}: ${commandOf(job)}`), box);
  }));
}

function drawAnswer() {
  const unknown = [page.before_known, page.after_known].map((one, i) => !one.known && `${SIDES[i]}: ${one.why}.`).filter(Boolean);
  fill(byId("command"), jobs.map((job) => job.record).join(" → "));
  fill(byId("facts"), commandOf(jobs[1]));
  fill(byId("growth"), page.growth.text);
  document.title = `${page.growth.text} – plimsoll`;
  byId("unknown").hidden = !unknown.length;
  fill(byId("unknown"), ...prose(`A peak is unknown. ${unknown.join(" ")}`));
  fill(byId("foot"), `plimsoll ${page.version}`);
}

/* ---- both over one another ---- */

/* Jobs make different numbers of events: what they have in common are their steps. A point lies in its step as far as its
   event does; what follows the last step is one more. */
function stepPlaces(lane) {
  const ends = lane.steps.list.map((step) => step.end);
  return lane.points.at.map((at) => {
    const found = stepIndex(lane, at);
    const k = found < 0 ? ends.length : found;
    const from = k ? ends[k - 1] : -1;
    const to = k < ends.length ? ends[k] : lane.events;
    return k + (at - from) / Math.max(to - from, 1);
  });
}

/* Points that share a place would be lost when both are joined. */
function apart(places) {
  let last = -Infinity;
  return places.map((place) => (last = place > last ? place : last + 1e-9));
}

function drawOverlay() {
  const box = byId("overlay");
  const axis = { stroke: color("--ink-2"), grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false }, font: `12px ${color("--font")}`, labelSize: 20, labelFont: `12px ${color("--font")}` };
  const stepped = uPlot.paths.stepped({ align: 1 });
  const data = uPlot.join(lanes.map((lane) => [apart(stepPlaces(lane)), Array.from(lane.points.allocated)]));
  const top = 1.05 * Math.max(...lanes.map((lane) => lane.peak.allocated), 1);
  chart?.destroy();
  chart = new uPlot({
    width: Math.max(box.clientWidth, 280), height: HEIGHT, legend: { show: false }, cursor: { y: false, points: { show: false } },
    scales: { x: { time: false }, y: { range: () => [0, top] } },
    axes: [{ ...axis, label: "steps", incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] }, { ...axis, label: "allocated memory", size: 66, splits: sizeTicks, values: (u, ticks) => ticks.map(tickText) }],
    series: [{}, ...SIDES.map((name, i) => ({ label: name, stroke: color(INKS[i]), width: 1.5, fill: i ? color("--accent-soft") : undefined, paths: stepped, spanGaps: true, points: { show: false } }))],
  }, data, box);
  box.dataset.peaks = lanes.map((lane) => Math.max(...lane.points.allocated)).join(" ");
  fill(byId("overlay-legend"), ...SIDES.map((name, i) => {
    const mark = el("i", {});
    mark.style.background = `var(${INKS[i]})`;
    return el("li", {}, mark, `${name}: peak ${size(lanes[i].peak.allocated)}`);
  }));
}

/* ---- what grew ---- */

const signed = (bytes) => (bytes ? `${bytes > 0 ? "+" : "−"}${size(Math.abs(bytes))}` : "=");
const changeRow = (name, change) => [name.replaceAll("_", " "), size(change.before), size(change.after), signed(change.change)];

function drawChanges() {
  const rows = device.modules_folded ?? device.lines ?? [];
  const categories = Object.entries(device.categories ?? {}).filter(([, change]) => change.before || change.after);
  fillTable(byId("categories"), ["Category", "Before", "After", "Change"], categories.map(([name, change]) => changeRow(name, change)), [1, 2, 3]);
  fill(byId("changes-title"), device.lines ? "Lines that changed" : "Modules that changed");
  fill(byId("changes-note"), rows.length ? "largest change first" : "nothing changed");
  fillTable(byId("changes"), [device.lines ? "Line" : "Module", "Before", "After", "Change"],
    rows.map((row) => [`${row.name || "(outside modules)"}${row.count > 1 ? ` × ${row.count}` : ""}`, size(row.before), size(row.after), signed(row.change)]), [1, 2, 3]);
}

startTheme(drawOverlay);
startCues();
drawAnswer();
drawBars();
drawChanges();
drawOverlay();
new ResizeObserver(() => chart.setSize({ width: Math.max(byId("overlay").clientWidth, 280), height: HEIGHT })).observe(byId("overlay"));
document.documentElement.dataset.ready = Math.round(performance.now());
