/* The page of `plimsoll evaluate memory --html`: one document (docs/schema/evaluation-1.json), one family at a time. */

import { startCues } from "./cues.js";
import { byId, el, fill, fillTable } from "./dom.js";
import { plural, size } from "./format.js";
import { startTheme } from "./theme.js";
import { drawBoxes, drawCdf, drawChoice, drawFailures, drawMedians, drawScatter, percent } from "./plots.js";

const FIGURES = [
  ["mean", "Mean"], ["p95", "95th"], ["worst", "Worst"], ["under", "Too little"], ["oom_agreement", "Verdict right"],
  ["pef", "PEF"], ["pef_device", "PEF, process capped"],
];
const DRAWN_AT_FIRST = 8; /* lines that cross can be told apart up to about as many */

const page = JSON.parse(byId("data").textContent);
const names = page.families[0].estimators.map((estimator) => estimator.name);
const state = { family: page.families.at(-1).name, shown: new Set() };

const familyOf = () => page.families.find((item) => item.name === state.family);
const rowsOf = () => page.rows.filter((row) => state.family === "all" || row.family === state.family);
const view = () => ({ names, estimators: familyOf().estimators, rows: rowsOf(), shown: state.shown });
const seconds = (value) => (value === undefined ? "" : `${value.toFixed(value < 1 ? 3 : 1)} s`);

/* ---- figures ---- */

function nameOf(estimator) {
  const marks = `${estimator.other_kind ? " *" : ""}${estimator.outside ? " †" : ""}`;
  return el("span", { class: estimator.origin === "virtual" ? "strong" : "dim" }, estimator.name + marks);
}

function median(estimator) {
  if (estimator.median === undefined) return "";
  const { low, high } = estimator.median_interval;
  return el("span", {}, percent(estimator.median), el("span", { class: "dim" }, ` [${(100 * low).toFixed(2)}, ${(100 * high).toFixed(2)}]`));
}

function drawFigures() {
  const { estimators } = familyOf();
  const heads = ["Estimator", "Runs", "Median [95 %]", ...FIGURES.map(([, head]) => head), "MCP", "Range", "Time"];
  const rows = estimators.map((estimator) => [nameOf(estimator), String(estimator.compared), median(estimator),
    ...FIGURES.map(([key]) => percent(estimator[key])), estimator.mcp === undefined ? "" : size(estimator.mcp),
    percent(estimator.range_width), seconds(estimator.seconds)]);
  fillTable(byId("figures"), heads, rows, heads.map((_, i) => i).slice(1));
  const notes = [`${plural(rowsOf().length, "run")}; errors cover runs that neither ran out of memory nor were predicted to.`];
  if (estimators.some((estimator) => estimator.other_kind)) notes.push(`* estimates a different figure than ${page.truth}.`);
  if (estimators.some((estimator) => estimator.outside)) notes.push("† some runs are outside the method's scope.");
  fill(byId("figures-note"), notes.join(" "));
}

/* ---- published figures ---- */

function drawPublished() {
  const all = page.families.at(-1).estimators;
  const find = (name) => all.find((estimator) => estimator.name === name) ?? {};
  const three = (item) => [percent(item.median), percent(item.pef), seconds(item.seconds)];
  const heads = ["Tool", ...["Published", "Its columns here", "Ours here"].flatMap((where) => [`${where}: median`, "PEF", "Time"])];
  const rows = page.published.map((item) => [item.name, ...three(item), ...three(find(`${item.tool} (published)`)), ...three(find(item.method))]);
  rows.push(["plimsoll", "", "", "", "", "", "", ...three(find("plimsoll"))]);
  fillTable(byId("published"), heads, rows, heads.map((_, i) => i).slice(1));
  fill(byId("published-note"), `Published by the xMem paper about ${page.published[0].runs.toLocaleString("en-US")} runs of its own; here: all ${page.rows.length} runs of this page. PEF with PyTorch capped, as published.`);
}

/* ---- what errors depend on ---- */

function effect(factor) {
  if (!factor || factor.state !== "tested") return "";
  if (factor.f === undefined) return "no residual";
  const p = factor.p < 0.0001 ? "p < 0.0001" : `p = ${factor.p.toFixed(4)}`;
  return el("span", { class: factor.p < 0.05 ? "strong" : null }, `F = ${factor.f < 1000 ? factor.f.toPrecision(3) : Math.round(factor.f)}, ${p}, η² = ${factor.eta_squared.toFixed(3)}`);
}

function drawFactors() {
  const list = familyOf().estimators.filter((estimator) => estimator.anova && !estimator.name.includes("upper end"));
  byId("factors-section").hidden = !list.length;
  if (!list.length) return;
  const factors = list[0].anova.factors;
  const tested = factors.filter((factor) => list.some((estimator) => estimator.anova.factors.find((item) => item.name === factor.name).state === "tested"));
  const heads = ["Estimator", ...tested.map((factor) => `${factor.name}${factor.within.length ? ` in ${factor.within.join(", ")}` : ""}, df ${factor.freedom ?? "-"}`)];
  fillTable(byId("factors"), heads, list.map((estimator) => [estimator.name,
    ...tested.map(({ name }) => effect(estimator.anova.factors.find((factor) => factor.name === name)))]));
  const left = factors.filter((factor) => !tested.includes(factor)).map((factor) =>
    (factor.state === "constant" ? `${factor.name} does not vary` : `${factor.name} cannot be separated from ${factor.same_as ?? "the others"}`));
  fill(byId("factors-note"), `Analysis of variance of the ${page.response} error, main effects, type II. ${left.join("; ")}${left.length ? "." : ""}`);
}

/* ---- rows ---- */

function cell(estimate) {
  if (estimate.error !== undefined) return percent(estimate.error);
  if (estimate.verdict_right === undefined) return "";
  return estimate.verdict_right ? "verdict right" : "verdict wrong";
}

function drawRows() {
  const wanted = byId("rows-filter").value.toLowerCase();
  const rows = rowsOf().filter((row) => `${row.model} ${row.optimizer} ${row.batch_size} ${row.gpu}`.toLowerCase().includes(wanted));
  const heads = ["Model", "Optimizer", "Batch", "Card", "Measured", ...names];
  fillTable(byId("rows"), heads, rows.map((row) => [row.model, row.optimizer ?? "", String(row.batch_size), row.gpu,
    row.real_oom ? "out of memory" : `${size(row.ground)}${row.reference ? " (virtual)" : ""}`,
    ...row.estimates.map((estimate) => el("span", { title: estimate.note }, cell(estimate)))]), heads.map((_, i) => i).slice(4));
  fill(byId("rows-note"), plural(rows.length, "run"));
}

/* ---- all of it ---- */

/* plimsoll, then those with the smallest errors. */
function choose() {
  const list = familyOf().estimators.filter((estimator) => estimator.compared && !estimator.name.includes("upper end"));
  list.sort((a, b) => (b.origin === "virtual") - (a.origin === "virtual") || a.median - b.median);
  state.shown = new Set(list.slice(0, DRAWN_AT_FIRST).map((estimator) => estimator.name));
}

function drawCrossing() {
  drawChoice(view(), (name) => {
    if (!state.shown.delete(name)) state.shown.add(name);
    drawCrossing();
  });
  drawCdf(view());
  drawScatter(view());
}

function draw() {
  drawFigures();
  drawMedians(view());
  drawBoxes(view());
  drawFailures(view());
  drawCrossing();
  drawFactors();
  drawRows();
}

function facts() {
  const list = [plural(page.rows.length, "run"), `truth: ${page.truth}`];
  if (page.late_sample) list.push("late baseline sample modelled");
  if (page.design?.name === "grid") list.push("design: grid");
  if (page.design?.name === "montecarlo") list.push(`design: ${page.design.draws} draws, seed ${page.design.seed}`);
  if (page.design?.without_truth && !page.references) list.push(`${plural(page.design.without_truth, "run")} without truth not run`);
  if (page.references) list.push(`reference for ${plural(page.references, "run")}: the virtual GPU, not a measurement`);
  return list.join(" · ");
}

function start() {
  fill(byId("command"), `plimsoll evaluate memory ${page.truth_file?.split("/").at(-1) ?? ""}`);
  fill(byId("facts"), facts());
  fill(byId("family"), ...page.families.map((family) => el("option", { value: family.name }, family.name)));
  byId("family").value = state.family;
  byId("family-box").hidden = page.families.length < 2;
  byId("family").addEventListener("change", () => {
    state.family = byId("family").value;
    choose();
    draw();
  });
  startCues();
  startTheme(draw);
  byId("rows-filter").addEventListener("input", drawRows);
  addEventListener("resize", draw);
  fill(byId("foot"), `plimsoll ${page.version}`);
  choose();
  drawPublished();
  draw();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
