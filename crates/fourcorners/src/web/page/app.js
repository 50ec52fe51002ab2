// The page over the database: what is compared, what there is, what is started.

import { $, Choices, ask, element, row, text, trouble } from "./common.js";
import { follow, showForm } from "./live.js";

// What the server puts into one report.
const MOST_OF_A_REPORT = 64;
const views = ["compare", "results", "review"];
// Of this version.
let methods = [];

function options(select, values, first) {
  const before = select.value;
  const entries = values.map(({ value, label }) => element("option", label, { value }));
  if (first !== undefined) entries.unshift(element("option", first, { value: "" }));
  select.replaceChildren(...entries);
  if (values.some(({ value }) => value === before)) select.value = before;
}

// ---- compare ----

// What is shown is what `fourcorners report` says of the same results: the server makes it. What is
// chosen is in the address, so that a link shows it again.
const compare = { asked: 0, unknown: [] };
const compared = new Choices($("compare-drives"), $("compare-find"), () => {
  compare.unknown = [];
  remember("");
  loadCompared();
});

const inAddress = () => new URLSearchParams(location.search);

function remember(figure) {
  const query = new URLSearchParams([
    ["method", $("compare-method").value],
    ...compared.chosen.map((drive) => ["drive", drive]),
    ...(figure ? [["figure", figure]] : []),
  ]);
  history.replaceState(history.state, "", `?${query}${location.hash}`);
}

async function loadCompared() {
  const turn = ++compare.asked;
  const method = $("compare-method").value;
  try {
    const query = new URLSearchParams([["method", method], ...compared.chosen.map((drive) => ["drive", drive])]);
    // Of each drive those that stand for it, as the command has them, with their repeats.
    const found = compared.chosen.length ? await ask(`/api/latest?${query}`) : [];
    const ids = found.flat().map((id) => `id=${id}`).join("&");
    const part = ids ? await text(`/part?${ids}`) : "";
    // A later choice may have been answered before.
    if (turn !== compare.asked) return;
    trouble(null);
    showCompared(found, ids, part);
  } catch (error) {
    // What is shown is not of what is chosen.
    if (turn === compare.asked) $("compare-shown").hidden = true;
    trouble(error);
  }
}

// Drives of a link that there are no results of.
function unknownWords() {
  const { length } = compare.unknown;
  if (!length) return "";
  const also = compared.chosen.length ? "also " : "";
  return `The link ${also}asks for ${compare.unknown.join(", ")}: there are no results of ${length > 1 ? "them" : "it"} here.`;
}

// A chart in the list of all: its chapter and its title, for a figure has a chart in several chapters.
function nameOf(chart) {
  const title = chart.closest("figure").querySelector("summary .unseen").textContent.replace(/^: /, "");
  return `${chart.closest("section").querySelector("h2").textContent}: ${title}`;
}

function showCompared(found, ids, part) {
  const missing = found.filter((ids) => !ids.length).length;
  const told = [
    missing ? `${missing} of the chosen drives have no results of this method.` : "",
    unknownWords(),
  ].filter(Boolean).join(" ");
  $("compare-shown").hidden = !ids;
  $("compare-none").hidden = Boolean(ids);
  $("compare-none").textContent = found.length
    ? "The chosen drives have no results of this method."
    : compared.any
      ? "Choose drives that have results; the first one chosen is the drive under test."
      : "There are no results yet. Review drives of the catalogue under Review, or any with `fourcorners review`.";
  $("compare-chosen").textContent = told;
  $("compare-chosen").hidden = !told;
  $("compare-report").href = $("compare-save").href = `/report?${ids}`;
  // Ours, with all that came from records escaped.
  $("compare-part").innerHTML = part;
  fourcornersPart($("compare-part"));
  const figures = Array.from($("compare-part").querySelectorAll(".chart"), (chart) => ({
    value: chart.dataset.name,
    label: nameOf(chart),
  }));
  options($("compare-figure"), figures, "the top");
  const wanted = inAddress().get("figure");
  if (figures.some(({ value }) => value === wanted)) {
    $("compare-figure").value = wanted;
    goToFigure();
  }
}

function goToFigure() {
  const name = $("compare-figure").value;
  const charts = Array.from($("compare-part").querySelectorAll(".chart"));
  const chart = charts.find((one) => one.dataset.name === name);
  for (let at = chart; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
    if (at.hidden && at.classList.contains("panel")) {
      const groups = at.parentElement.querySelectorAll(":scope > .switch");
      at.dataset.choices.split(" ").forEach((value, place) =>
        groups[place].querySelector(`[data-value="${value}"]`).click());
    }
  }
  (chart?.closest("figure") ?? $("compare")).scrollIntoView({ block: "start" });
}

// ---- results ----

// Those that are chosen stay so whatever is filtered. Both are kept with the address, so that they are there again after a report.
const results = { asked: 0, listed: [], chosen: new Set(history.state?.chosen) };

const filterOf = () => new URLSearchParams([...new FormData($("results-filter"))].filter(([, value]) => value));

function rememberResults() {
  const filter = `${filterOf()}`;
  const address = filter ? `#results?${filter}` : "#results";
  // From another view it leads back to the list as it is filtered.
  document.querySelector("nav a[data-view=results]").href = address;
  history.replaceState({ chosen: [...results.chosen] }, "", `${location.search}${address}`);
}

function fillFilter(query) {
  for (const field of $("results-filter").elements) {
    field.value = query.get(field.name) ?? "";
    // A list that lacks it.
    if (field.selectedIndex === -1) field.value = "";
  }
}

function showChosen() {
  const chosen = results.chosen.size;
  const elsewhere = chosen - results.listed.filter((id) => results.chosen.has(id)).length;
  $("results-chosen").textContent = chosen
    ? `${chosen} chosen${elsewhere ? `, ${elsewhere} of them not in this list` : ""}.`
    : "None is chosen.";
  $("results-report").disabled = !chosen;
  $("results-clear").hidden = !chosen;
}

async function loadResults() {
  const turn = ++results.asked;
  try {
    const { total, records } = await ask(`/api/records?${filterOf()}`);
    if (turn !== results.asked) return;
    trouble(null);
    $("results-count").textContent = total > records.length
      ? `${total.toLocaleString("en")} results; the latest ${records.length} are shown.`
      : `${total} results.`;
    results.listed = records.map(({ id }) => id);
    showChosen();
    $("results-table").querySelector("tbody").replaceChildren(...records.map((one) => {
      const box = element("input", "", { type: "checkbox", "aria-label": `${one.title}, ${one.method}` });
      box.checked = results.chosen.has(one.id);
      box.addEventListener("change", () => {
        if (box.checked) results.chosen.add(one.id);
        else results.chosen.delete(one.id);
        showChosen();
        rememberResults();
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

// Lists the methods of this version, and what else there are results of: plan files, replays, methods of other versions.
async function loadMethods() {
  const measured = await ask("/api/methods/measured");
  const listed = [...methods, ...measured.filter(({ name }) => methods.every((method) => method.name !== name))];
  const wanted = inAddress().get("method");
  if (wanted && listed.every(({ name }) => name !== wanted)) listed.push({ name: wanted, words: wanted });
  const entries = listed.map(({ name, words }) => ({ value: name, label: words }));
  options($("compare-method"), entries);
  options($("filter-method"), entries, "any");
}

async function loadDrives() {
  await loadMethods();
  const drives = await ask("/api/drives");
  const entry = ({ name, title }) => ({ value: name, label: title });
  compared.show(drives.filter((drive) => drive.measured).map(entry));
  compare.unknown = compare.unknown.filter((name) => !drives.some((drive) => drive.measured && drive.name === name));
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
  const [view, filter] = location.hash.slice(1).split("?");
  // The link over the head of the page leads to what is shown, if anything is yet.
  if (view === "main" && views.some((name) => !$(name).hidden)) return;
  if (view === "results") {
    fillFilter(new URLSearchParams(filter));
    rememberResults();
  }
  show(views.includes(view) ? view : "compare");
}

async function begin() {
  methods = await ask("/api/methods");
  const chosen = inAddress();
  compared.chosen = chosen.getAll("drive");
  const catalogue = await loadDrives();
  if (chosen.has("method")) $("compare-method").value = chosen.get("method");
  compare.unknown = chosen.getAll("drive").filter((drive) => !compared.chosen.includes(drive));
  showForm(catalogue, methods, loadDrives);
  $("compare-method").addEventListener("change", () => {
    remember("");
    loadCompared();
  });
  $("compare-figure").addEventListener("change", () => {
    remember($("compare-figure").value);
    goToFigure();
  });
  $("compare-link").addEventListener("click", () => {
    const button = $("compare-link");
    const told = (word) => {
      button.textContent = word;
      setTimeout(() => { button.textContent = "Copy the link"; }, 2000);
    };
    if (!navigator.clipboard) return told("It is in the address bar");
    navigator.clipboard.writeText(location.href).then(() => told("Copied"), () => told("It is in the address bar"));
  });
  for (const form of document.querySelectorAll(".choices, #results-filter")) {
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  $("results-filter").addEventListener("input", () => {
    rememberResults();
    loadResults();
  });
  $("results-clear").addEventListener("click", () => {
    results.chosen.clear();
    for (const box of $("results-table").querySelectorAll("tbody input")) box.checked = false;
    showChosen();
    rememberResults();
    // The button is gone.
    document.querySelector("#results .scroll").focus();
  });
  $("results-report").addEventListener("click", () => {
    const chosen = results.chosen.size;
    if (chosen > MOST_OF_A_REPORT) {
      trouble(new Error(`A report is of ${MOST_OF_A_REPORT} results at most: ${chosen} are chosen.`));
      return;
    }
    location.href = `/report?${[...results.chosen].map((id) => `id=${id}`).join("&")}`;
  });
  addEventListener("hashchange", route);
  route();
  follow();
  document.documentElement.dataset.ready = "yes";
}

begin().catch(trouble);
