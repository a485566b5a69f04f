/* The answer at the top, the cards and the steps. */

import uPlot from "uplot";
import { capacityParts, drawCapacity } from "./capacity.js";
import { byId, color, el, fill, fillTable, prose } from "./dom.js";
import { count, plural, scriptName, shortCommand, size, words } from "./format.js";
import { indexNear } from "./data.js";
import { markRows } from "./search.js";
import { sizeTicks, tickText } from "./timeline.js";

export const VERDICTS = { fits: "fits", tight: "tight", no: "does not fit", unknown: "unknown" };
const ROWS_FIRST = 100; /* the others when they are asked for */
const CHART_FROM = 13; /* steps; fewer are read better in the table alone */

let stepsChart;

function factsLine(page) {
  const { job } = page;
  const parts = [plural(job.steps, "step")];
  if (job.launches) parts.push(plural(job.launches, "launch", "launches"));
  parts.push(`${job.seconds.toFixed(1)} s`);
  if (job.torch) parts.push(`PyTorch ${job.torch}${job.cuda ? `, CUDA ${job.cuda}` : ""}`);
  if (job.python) parts.push(`Python ${job.python}`);
  if (page.gpu) parts.push(page.gpu);
  parts.push(job.started.replace("T", " ").replace("Z", " UTC"));
  return parts.join(" · ");
}

export function drawAnswer(page, lane) {
  const command = page.job.command.length ? page.job.command : [page.record];
  fill(byId("command"), shortCommand(command));
  byId("command").title = command.join(" ");
  fill(byId("facts"), factsLine(page));
  byId("peak").dataset.bytes = lane.peak.allocated;
  fill(byId("peak"), size(lane.peak.allocated));
  fill(byId("peak-exact"), `${count(lane.peak.allocated)} bytes`);
  byId("unknown").hidden = page.job.known;
  fill(byId("unknown"), el("strong", {}, "The job's peak is unknown: "), ...prose(`${page.job.why ?? ""}. The figures cover what ran.`));
  drawNeed(page, lane, command);
  drawWhere(page, lane);
  drawLadder(lane);
  drawTrust(page);
}

/* The card that was asked about, or that of the run. */
export const askedCard = (page) => page.gpus.find((gpu) => gpu.id === (page.time.card ?? page.gpu)) ?? page.gpus.find((gpu) => gpu.id === page.gpu);

/* The smallest whole card that is enough: what to ask for if another was looked at. */
function smallestEnough(page) {
  return page.gpus.find((gpu) => !gpu.mig && !gpu.shared && !gpu.lacks && gpu.verdict === "fits");
}

/* What the job needs, of what the card has: of the rank that is shown; the verdict is that of the whole job. */
function drawNeed(page, lane, command) {
  const card = askedCard(page);
  const least = smallestEnough(page);
  const need = lane.peak.device_used;
  document.title = `${scriptName(command)}: ${page.job.known ? size(need) : "peak unknown"}${card ? `, ${VERDICTS[card.verdict]} on ${card.id}` : ""} – plimsoll`;
  byId("need").dataset.bytes = need;
  fill(byId("verdict"), card && el("span", { class: `pill ${card.verdict}` }, VERDICTS[card.verdict]));
  fill(byId("verdict-card"), card ? `on ${card.name}` : "needs");
  fill(byId("need"), size(need));
  fill(byId("need-of"), card ? `of ${size(card.usable)} usable` : "");
  fill(byId("range"), `between ${size(lane.low)} and ${size(lane.high)}${page.lanes.length > 1 ? `, rank ${lane.rank}, device ${lane.device}` : ""}`);
  fill(byId("fit-answer"), [card?.takes && `On this card it uses ${size(card.takes)}, and ${size(card.need)} where there is more.`,
    least && least !== card && `The smallest card that it fits on: ${least.id} (${size(least.usable)} usable).`].filter(Boolean).join(" "));
  drawCapacity(byId("capacity"), { need, low: lane.low, high: lane.high, parts: capacityParts(lane), card });
}

function drawWhere(page, lane) {
  const at = lane.at_peak;
  const rows = [["Step", at.after ? "after the last" : at.step ? `${count(at.step)} of ${count(lane.steps.count)}` : ""], ["Phase", at.phase && words(at.phase)], ["Module", at.module], ["Operator", at.op]];
  fill(byId("where"), ...rows.filter(([, text]) => text).flatMap(([name, text]) =>
    [el("dt", {}, name), el("dd", { id: `peak-${name.toLowerCase()}`, title: text }, text)]));
}

function drawLadder(lane) {
  const whole = Math.max(...lane.ladder.map((rung) => rung.bytes), 1);
  const rows = lane.ladder.map((rung) => {
    const bar = el("i", { class: `bar ${rung.sum ? "sum" : ""}` });
    bar.style.marginLeft = `${(100 * (rung.from ?? 0)) / whole}%`;
    bar.style.width = `${(100 * (rung.bytes - (rung.from ?? 0))) / whole}%`;
    const own = rung.from === undefined ? size(rung.bytes) : `+ ${size(rung.bytes - rung.from)}`;
    return el("tr", { class: rung.sum ? "sum" : null, title: rung.reason ?? null }, el("th", { scope: "row" }, rung.name), el("td", { class: "n" }, own),
      el("td", { class: "track" }, bar), el("td", { class: "dim" }, rung.how));
  });
  fill(byId("ladder"), byId("ladder").querySelector("caption"), el("tbody", {}, ...rows));
}

function drawTrust(page) {
  const { level, reasons, grounds } = page.confidence;
  fill(byId("confidence"), el("span", { class: `pill ${level}` }, level));
  fill(byId("reasons"), ...(reasons.length ? reasons : [grounds]).map((reason) => el("li", {}, ...prose(reason))));
}

/* ---- cards ---- */

function cardRemarks(gpu) {
  const remarks = [gpu.takes && `uses ${size(gpu.takes)}`, gpu.better && `${VERDICTS[gpu.then]} with ${gpu.better}`, gpu.lacks && `has no ${gpu.lacks}`, gpu.shared && "shares memory with the system"];
  return remarks.filter(Boolean).map((remark, i) => `${i ? "; " : " "}${remark}`).join("");
}

function cardRow(gpu, chosen, toggle) {
  const box = el("input", { type: "checkbox", "aria-label": `Show the capacity of ${gpu.id} in the timeline`, "data-gpu": gpu.id, change: () => toggle(gpu.id) });
  box.checked = chosen.has(gpu.id);
  const share = gpu.need === undefined ? undefined : gpu.need / gpu.usable;
  const bar = el("i", { class: `bar ${gpu.verdict}` });
  bar.style.width = `${Math.min(100, 100 * (share ?? 0))}%`;
  return el("tr", {}, el("td", {}, box), el("th", { scope: "row", title: gpu.name }, gpu.id), el("td", {}, el("span", { class: `pill ${gpu.verdict}` }, VERDICTS[gpu.verdict])),
    el("td", { class: "n" }, `${size(gpu.usable)}${gpu.assumed ? "*" : "\u2007"}`), el("td", { class: "n" }, share === undefined ? "" : `${(100 * share).toFixed(0)} %`), el("td", { class: "track" }, bar), el("td", { class: "remarks" }, cardRemarks(gpu).trim()));
}

/* Cards go from small to large: what is worth seeing is where they begin to be enough. */
export function scrollToEnough() {
  const rows = [...byId("fits-table").tBodies[0].rows];
  const first = rows.findIndex((row) => row.querySelector(".pill.fits, .pill.tight"));
  const box = byId("fits-table").parentElement;
  if (first > 3) box.scrollTop = rows[first - 3].offsetTop - box.querySelector("thead").offsetHeight;
}

export function drawCards(page, chosen, toggle) {
  const needle = byId("fits-filter").value.trim().toLowerCase();
  const mig = byId("fits-mig").checked;
  const shown = page.gpus.filter((gpu) => chosen.has(gpu.id) || ((mig || !gpu.mig) && (!needle || `${gpu.id} ${gpu.name}`.toLowerCase().includes(needle))));
  fillTable(byId("fits-table"), ["Line", "Card", "Verdict", "Usable", "Taken", "", "Remarks"], shown.map((gpu) => cardRow(gpu, chosen, toggle)), [3, 4]);
  markRows(byId("fits-table"));
  const need = Math.max(...page.lanes.map((lane) => lane.peak.device_used));
  const highest = Math.max(...page.lanes.map((lane) => lane.high));
  const lowest = Math.max(...page.lanes.map((lane) => lane.low));
  fill(byId("fits-note"), page.job.known ? `needs ${size(need)} (${size(lowest)} to ${size(highest)}). * usable memory is estimated` : "the job's peak is unknown. * usable memory is estimated");
}

/* ---- steps ---- */

function stepName(steps, i) {
  if (steps.each === 1) return String(i + 1);
  return `${i * steps.each + 1}–${Math.min((i + 1) * steps.each, steps.count)}`;
}

function stepRow(lane, i, most, moveTo) {
  const { steps } = lane;
  const step = steps.list[i];
  const bar = el("i", { class: "bar" });
  bar.style.width = `${(100 * step.allocated) / most}%`;
  const edge = el("i", { class: "edge" });
  edge.style.left = `${(100 * step.reserved) / most}%`;
  const more = i ? step.allocated - steps.list[i - 1].allocated : 0;
  const change = more ? `${more > 0 ? "+" : "−"}${size(Math.abs(more))}` : i ? "=" : "";
  const go = !lane.points.length ? stepName(steps, i) : el("button", { type: "button", class: "link", "aria-label": `Set the cursor to the peak of step ${stepName(steps, i)}`,
    click: () => moveTo(indexNear(lane.points.at, step.peak)) }, stepName(steps, i));
  return el("tr", {}, el("th", { scope: "row", class: "n" }, go), el("td", { class: "n" }, size(step.allocated)), el("td", { class: "n dim" }, change),
    el("td", { class: "track" }, bar, edge), el("td", { class: "n" }, size(step.reserved)));
}

export function drawSteps(lane, moveTo, all = false) {
  const { steps } = lane;
  const most = Math.max(...steps.list.map((step) => step.reserved), 1);
  const rows = steps.list.slice(0, all ? undefined : ROWS_FIRST).map((step, i) => stepRow(lane, i, most, moveTo));
  if (rows.length < steps.list.length) {
    const button = el("button", { type: "button", class: "link", click: () => drawSteps(lane, moveTo, true) }, `Show all ${count(steps.list.length)} rows`);
    rows.push(el("tr", {}, el("td", { colspan: "5" }, button)));
  }
  fillTable(byId("steps-table"), ["Step", "Allocated", "Change", "", "Reserved"], rows, [0, 1, 2, 4]);
  fill(byId("steps-note"), !steps.list.length ? "no optimizer step was seen" : lane.points.length ? "peaks; the number sets the cursor" : "peaks");
  drawStepsChart(steps);
}

function drawStepsChart(steps) {
  const box = byId("steps-chart");
  stepsChart?.destroy();
  stepsChart = null;
  box.hidden = steps.list.length < CHART_FROM;
  if (box.hidden) return;
  const axis = { stroke: color("--ink-2"), grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false }, font: `12px ${color("--font")}` };
  const x = steps.list.map((step, i) => i * steps.each + 1);
  stepsChart = new uPlot({
    width: Math.max(box.clientWidth, 200), height: 150, padding: [8, 8, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false }, y: { range: (u, low, high) => [0, high * 1.05] } },
    axes: [{ ...axis }, { ...axis, size: 72, splits: (u, side, low, high) => sizeTicks(u, side, low, high).filter((tick, i) => i % 2 === 0), values: (u, ticks) => ticks.map(tickText) }],
    series: [{}, { stroke: color("--accent"), width: 1.5, fill: color("--accent-soft"), points: { show: false } }, { stroke: color("--reserved"), width: 1.5, points: { show: false } }],
  }, [x, steps.list.map((step) => step.allocated), steps.list.map((step) => step.reserved)], box);
}
