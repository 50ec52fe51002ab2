// The page over the database: what is compared, what there is, what is started.

import { bars, format, lines, micros } from "./charts.js";
import { $, Choices, ask, element, number, row, trouble } from "./common.js";
import { follow, showForm } from "./live.js";

const views = ["compare", "results", "review"];

function options(select, values, first) {
  const before = select.value;
  const entries = values.map(({ value, label }) => element("option", label, { value }));
  if (first !== undefined) entries.unshift(element("option", first, { value: "" }));
  select.replaceChildren(...entries);
  if (values.some(({ value }) => value === before)) select.value = before;
}

// ---- compare ----

const compare = { shown: [], scale: "linear", asked: 0 };
const compared = new Choices($("compare-drives"), $("compare-find"), loadCompared);

async function loadCompared() {
  const turn = ++compare.asked;
  const method = $("compare-method").value;
  try {
    const found = await Promise.all(compared.chosen.map(async (name) => {
      const query = new URLSearchParams({ name, method, limit: 1 });
      const { records } = await ask(`/api/records?${query}`);
      return records.length ? ask(`/api/records/${records[0].id}`) : null;
    }));
    // A later choice may have been answered before.
    if (turn !== compare.asked) return;
    compare.shown = found.filter(Boolean);
    trouble(null);
    showCompared();
  } catch (error) {
    trouble(error);
  }
}

function labelOf({ record }) {
  const wall = record.clock === "wall" ? ", wall time" : "";
  return `${record.target.title}${wall}${record.quick ? ", quick" : ""}`;
}

function showCompared() {
  const { shown } = compare;
  const missing = compared.chosen.length - shown.length;
  $("compare-shown").hidden = !shown.length;
  $("compare-none").hidden = shown.length > 0;
  $("compare-none").textContent = compared.chosen.length
    ? "The chosen drives have no results of this method."
    : compared.any
      ? "Choose drives that have results; the first one chosen is the drive under test."
      : "There are no results yet. Review drives of the catalogue under Review, or any with `fourcorners review`.";
  if (!shown.length) return;
  $("compare-chosen").textContent = `Under test: ${labelOf(shown[0])}.`
    + (missing ? ` ${missing} of the chosen drives have no results of this method.` : "");
  const words = new Map(shown.flatMap((one) => Object.entries(one.words)));
  const names = [...new Set(shown.flatMap((one) => [
    ...Object.keys(one.record.figures), ...Object.keys(one.record.curves ?? {})]))];
  options($("compare-figure"), names.map((value) => ({ value, label: words.get(value) ?? value })));
  const ids = shown.map((one) => `id=${one.record.id}`).join("&");
  $("compare-report").href = `/report?${ids}`;
  drawCompared();
}

// Within 10 % makes no difference, as `fourcorners compare` has it.
function ratioWords(ratio) {
  if (!Number.isFinite(ratio)) return "–";
  return `${ratio >= 1 / 1.1 && ratio <= 1.1 ? "≈ " : ""}${format(ratio)}`;
}

function drawCompared() {
  const { shown, scale } = compare;
  if (!shown.length) return;
  const name = $("compare-figure").value;
  const having = shown.filter((one) => one.record.figures[name]);
  const rows = having.map((one) => ({
    label: labelOf(one),
    value: one.record.figures[name].mb_per_s,
    underTest: one === shown[0],
    wall: one.record.clock === "wall" && shown.some((other) => other.record.clock === "virtual"),
  }));
  $("bars-title").textContent = $("compare-figure").selectedOptions[0]?.textContent ?? "";
  $("bars").closest("figure").hidden = !rows.length;
  if (rows.length) bars($("bars"), rows, "MB/s");
  $("compare-table").querySelector("tbody").replaceChildren(...having.map((one) => {
    const figure = one.record.figures[name];
    const { mean, p99, p999, max } = figure.latency_us;
    const ratio = one === having[0] ? "" : ratioWords(figure.mb_per_s / having[0].record.figures[name].mb_per_s);
    const times = [mean, p99, p999, max].map((us) => number(micros(us)));
    const made = row([labelOf(one), one.record.clock, figure.mb_per_s, number(ratio), figure.iops, ...times]);
    made.classList.toggle("under-test", one === shown[0]);
    return made;
  }));
  const seconds = shown.filter((one) => one.record.series[name]?.iops.length);
  $("seconds-figure").hidden = !seconds.length;
  $("compare-scale").hidden = !seconds.length;
  if (seconds.length) {
    lines($("seconds"), seconds.map((one) => {
      const y = one.record.series[name].iops;
      return { label: labelOf(one), x: y.map((_, second) => second + 1), y };
    }), { x: "seconds", y: "I/Os per second", log: scale === "log" });
  }
  const curves = shown.filter((one) => one.record.curves?.[name]);
  $("curve-figure").hidden = !curves.length;
  if (curves.length) {
    const { x, y } = curves[0].record.curves[name];
    lines($("curve"), curves.map((one) => {
      const { points } = one.record.curves[name];
      return { label: labelOf(one), x: points.map((p) => p[0]), y: points.map((p) => p[1]) };
    }), { x, y, log: false });
  }
  $("compare-verdicts").replaceChildren(...shown.flatMap((one) => {
    const list = document.createElement("ul");
    list.append(...one.conclusions.map((text) => element("li", text)));
    return one.conclusions.length ? [element("h3", labelOf(one)), list] : [];
  }));
}

// ---- results ----

const results = { asked: 0, chosen: new Set() };

async function loadResults() {
  const turn = ++results.asked;
  const filter = new FormData($("results-filter"));
  const query = new URLSearchParams([...filter].filter(([, value]) => value));
  try {
    const { total, records } = await ask(`/api/records?${query}`);
    if (turn !== results.asked) return;
    trouble(null);
    $("results-count").textContent = total > records.length
      ? `${total.toLocaleString("en")} results; the latest ${records.length} are shown.`
      : `${total} results.`;
    results.chosen.clear();
    $("results-report").disabled = true;
    $("results-table").querySelector("tbody").replaceChildren(...records.map((one) => {
      const box = element("input", "", { type: "checkbox", "aria-label": `${one.title}, ${one.method}` });
      box.addEventListener("change", () => {
        if (box.checked) results.chosen.add(one.id);
        else results.chosen.delete(one.id);
        $("results-report").disabled = !results.chosen.size;
      });
      const link = element("a", one.id.slice(0, 7), { href: `/report?id=${one.id}` });
      const firmware = one.firmware ? `, firmware ${one.firmware}` : "";
      const made = row([box, one.title + (one.set_up ? ` (${one.set_up})` : "") + firmware,
        one.method + (one.quick ? ", quick" : ""), one.clock, one.figures, one.ended,
        one.started_at.replace("T", " ").replace("Z", ""), link]);
      made.dataset.drive = one.drive;
      return made;
    }));
  } catch (error) {
    trouble(error);
  }
}

// ---- all ----

async function loadDrives() {
  const drives = await ask("/api/drives");
  const entry = ({ name, title }) => ({ value: name, label: title });
  compared.show(drives.filter((drive) => drive.measured).map(entry));
  return drives.filter((drive) => drive.kind).map(entry);
}

function show(view) {
  for (const name of views) $(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${$(view).querySelector("h1").textContent} – fourcorners`;
  if (view === "results") loadResults();
  if (view === "compare") {
    loadDrives().then(loadCompared).catch(trouble);
  }
}

function route() {
  const view = location.hash.slice(1);
  if (view === "main") return;
  show(views.includes(view) ? view : "compare");
}

async function begin() {
  const methods = await ask("/api/methods");
  const entries = methods.map(({ name, words }) => ({ value: name, label: words }));
  options($("compare-method"), entries);
  options($("filter-method"), entries, "any");
  const catalogue = await loadDrives();
  showForm(catalogue, methods, loadDrives);
  $("compare-method").addEventListener("change", loadCompared);
  $("compare-figure").addEventListener("change", drawCompared);
  for (const button of $("compare-scale").querySelectorAll("button")) {
    button.addEventListener("click", () => {
      compare.scale = button.dataset.scale;
      for (const other of $("compare-scale").querySelectorAll("button")) {
        other.setAttribute("aria-pressed", String(other === button));
      }
      drawCompared();
    });
  }
  for (const form of document.querySelectorAll(".choices, #results-filter")) {
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  $("results-filter").addEventListener("input", loadResults);
  $("results-report").addEventListener("click", () => {
    location.href = `/report?${[...results.chosen].map((id) => `id=${id}`).join("&")}`;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCompared);
  addEventListener("hashchange", route);
  route();
  follow();
  document.documentElement.dataset.ready = "yes";
}

begin().catch(trouble);
