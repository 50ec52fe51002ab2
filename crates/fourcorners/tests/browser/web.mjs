// Uses the page of `fourcorners web` as a person does. Arguments: the browser, the address of a server
// that has results of two drives.
//
// What is wrong is printed, one line each, and the exit code is 1 then.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [browserPath, address] = process.argv.slice(2);
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const wrong = [];
const hold = (is, what) => { if (!is) wrong.push(what); };
const DRIVES = ["crucial-m4-128gb", "crucial-m4-64gb"];
// Full results of another, of a plan file's method among them.
const PLANNED = "crucial-m4-256gb";
const SERIOUS = ["serious", "critical"];

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
// Only what hangs is to end here: a busy machine takes minutes for what takes seconds.
page.setDefaultTimeout(300000);
page.on("console", (message) => {
  if (message.type() === "error") hold(false, `console: ${message.text()}`);
});
page.on("pageerror", (error) => hold(false, error.message));
page.on("request", (request) => {
  const url = request.url();
  hold(url.startsWith(address) || /^(data|blob):/.test(url), `it asked for ${url}`);
});
const settled = () => page.waitForLoadState("networkidle");
await page.goto(address);
await page.waitForSelector("html[data-ready]");

// Compare: what is chosen is shown, the first choice under test.
await page.selectOption("#compare-method", "consistency");
for (const drive of DRIVES) await page.check(`#compare-drives input[value="${drive}"]`);
await page.waitForSelector("#compare-part .ranking tbody tr:nth-child(2)");
hold((await page.textContent("#compare-part .ranking th strong")).includes("128 GB"), "not the first is under test");
const charts = () => page.locator("#compare-part .chart:visible").count();
hold(await charts() === 2, `${await charts()} charts of two drives in one part of their runs`);
const log = page.locator("#compare-part .tools .axis:visible").first();
const before = await log.getAttribute("aria-pressed");
await log.click();
hold(await log.getAttribute("aria-pressed") !== before, "the axis is not switched");
// A figure that is gone to is shown, whatever it is folded in, and is in the address with what was chosen.
const figures = await page.locator("#compare-figure option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
await page.selectOption("#compare-figure", figures.at(-1));
hold(await page.locator(`[data-name="${figures.at(-1)}"]`).isVisible(), "the figure gone to is not shown");
const link = page.url();
for (const part of ["method=consistency", ...DRIVES.map((drive) => `drive=${drive}`), `figure=${figures.at(-1)}`]) {
  hold(link.includes(part), `${part} is not in ${link}`);
}
const told = await page.textContent("#compare-part .ranking");
await page.goto(link);
await page.waitForSelector("#compare-part .ranking tbody tr:nth-child(2)");
hold(await page.textContent("#compare-part .ranking") === told, "the link shows something else");
hold(await page.locator(`[data-name="${figures.at(-1)}"]`).isVisible(), "the link does not show its figure");
const report = await page.getAttribute("#compare-report", "href");
hold(/id=[0-9a-f]{16}&id=[0-9a-f]{16}/.test(report), "no report of both");
const saving = page.waitForEvent("download");
await page.click("#compare-save");
const saved = readFileSync(await (await saving).path(), "utf8");
hold(saved.startsWith("<!DOCTYPE html>") && saved.includes("Content-Security-Policy"), "what is saved is no page");
await page.selectOption("#compare-method", "lba-pass");
await page.waitForSelector("#compare-part #lba-pass .chart.lines", { state: "attached" });
// What only a plan file has measured is listed as well; the drives that were chosen have nothing of it.
const unseen = (id) => page.waitForSelector(id, { state: "hidden" });
await page.selectOption("#compare-method", "queue-depth");
await page.waitForSelector("#compare-none:not([hidden])");
await page.check(`#compare-drives input[value="${PLANNED}"]`);
await unseen("#compare-none");
hold((await page.textContent("#compare-chosen")).startsWith("2 of the chosen drives have no results"), "the two are not told");
// No two charts are called the same in the list of them.
for (const [method, shown] of [["four-corners", "#placing"], ["consistency", "#consistency"]]) {
  await page.selectOption("#compare-method", method);
  await page.waitForSelector(`#compare-part ${shown}`);
  const labels = await page.locator("#compare-figure option").allTextContents();
  hold(labels.length > 1 && new Set(labels).size === labels.length, `some are called the same: ${labels.join("; ")}`);
}
await page.uncheck(`#compare-drives input[value="${PLANNED}"]`);
await page.fill("#compare-find", "128");
hold(await page.isHidden(`#compare-drives input[value="crucial-m4-64gb"]`), "Find hides nothing");
// Nor does what it hides come back while it says the same.
await page.click("nav a[data-view=results]");
await page.click("nav a[data-view=compare]");
await settled();
hold(await page.isHidden(`#compare-drives input[value="crucial-m4-64gb"]`), "Find hides nothing after another view");

// Results: filters leave what they say, and the chosen ones make a report.
await page.click("nav a[data-view=results]");
await page.waitForSelector("#results-table tbody tr");
const rows = () => page.locator("#results-table tbody tr").count();
const all = await rows();
await page.selectOption("#filter-method", "consistency");
await page.waitForFunction((all) => document.querySelectorAll("#results-table tbody tr").length < all, all);
hold(await rows() === 2, `${await rows()} results of consistency`);
await page.fill("#filter-drive", "nosuch");
await page.waitForFunction(() => document.querySelectorAll("#results-table tbody tr").length === 0);
await page.fill("#filter-drive", "");
await page.waitForSelector("#results-table tbody tr");
// One result is of firmware 0309 and of 1 March 2026, the others of today.
const left = (count) => page.waitForFunction((count) => document.querySelectorAll("#results-table tbody tr").length === count, count);
await page.selectOption("#filter-method", "");
await left(all);
await page.fill("#filter-firmware", "0309");
await left(1);
hold((await page.textContent("#results-table tbody tr")).includes("firmware 0309"), "the firmware is not said");
await page.fill("#filter-firmware", "");
await left(all);
await page.fill("#filter-since", "2026-03-02");
await left(all - 1);
await page.fill("#filter-since", "");
await page.fill("#filter-until", "2026-03-01");
await left(1);
await page.fill("#filter-until", "");
await left(all);
await page.selectOption("#filter-method", "consistency");
await left(2);
await page.check("#results-table tbody input >> nth=0");
hold(await page.isEnabled("#results-report"), "a report of the chosen ones cannot be made");

// The choice is kept whatever is filtered; filter and choice are there again after a report, and the filter after another view.
const chosen = (words) => page.waitForFunction((words) => document.getElementById("results-chosen").textContent === words, words);
const first = await page.getAttribute("#results-table tbody tr:first-child", "data-drive");
await page.selectOption("#filter-method", "");
await left(all);
await page.fill("#filter-firmware", "0309");
await left(1);
await chosen("1 chosen, 1 of them not in this list.");
await page.check("#results-table tbody input");
await chosen("2 chosen, 1 of them not in this list.");
await page.click("nav a[data-view=compare]");
await page.click("nav a[data-view=results]");
await left(1);
await chosen("2 chosen, 1 of them not in this list.");
await page.click("#results-report");
await page.waitForSelector("#run");
hold((await page.locator("#run details").count()) === 2, "the report is not of both");
await page.goBack();
await page.waitForSelector("html[data-ready]");
await left(1);
hold(await page.inputValue("#filter-firmware") === "0309" && page.url().endsWith("#results?firmware=0309"), "the filter is not kept");
hold(await page.isChecked("#results-table tbody input"), "the choice is not shown");
await chosen("2 chosen, 1 of them not in this list.");
await page.fill("#filter-firmware", "");
await left(all);
await chosen("2 chosen.");
hold(await page.locator(`#results-table tr[data-drive="${first}"] input:checked`).count() === 1, "what was chosen first is not shown");
await page.click("#results-clear");
await chosen("None is chosen.");
hold(await page.locator("#results-table input:checked").count() === 0 && await page.isDisabled("#results-report"), "some are chosen still");

// A link to drives that there is nothing of says so, be they all of its drives or some.
const asked = async (drives) => {
  await page.goto(`${address}?method=consistency&${drives}#compare`);
  await page.waitForSelector("html[data-ready]");
  await page.waitForSelector("#compare-chosen:not([hidden])");
  return page.textContent("#compare-chosen");
};
hold(await asked("drive=nosuch") === "The link asks for nosuch: there are no results of it here.", "nothing is told of an unknown drive");
hold(await asked(`drive=${DRIVES[0]}&drive=a&drive=b`) === "The link also asks for a, b: there are no results of them here.", "nothing is told of unknown drives");

// Review: started, watched, stopped. No seed is no seed.
await page.click("nav a[data-view=review]");
await page.fill("#review-seed", "");
hold(await page.locator("#review-form:invalid").count() === 1, "a review is started without a seed");
await page.fill("#review-seed", "1");
hold(await page.locator("#review-form:invalid").count() === 0, "a review with a seed is refused");
await page.click("#review-start");
await page.waitForSelector("#trouble:not([hidden])");
hold((await page.textContent("#trouble")).includes("Choose a drive"), "nothing chosen is not refused");
await page.check(`#review-drives input[value="intel-320-300gb"]`);
await page.click("#review-start");
await page.waitForSelector("#live-parts tbody tr");
await page.waitForSelector("#live-chart .plot .line");

// Another page watches it: it cannot start a second one, is told of a server that is silent and of one that is another, and no longer
// than that is so. It ends no review by that.
const other = await browser.newPage();
other.setDefaultTimeout(300000);
await other.goto(`${address}#main`);
await other.waitForSelector("html[data-ready]");
hold(await other.isVisible("#compare"), "a link to the content shows nothing");
await other.click("nav a[data-view=review]");
const said = (id) => other.textContent(`#${id}`);
const until = (id, words) => other.waitForFunction(([id, words]) => document.getElementById(id).textContent.includes(words), [id, words]);
await other.check(`#review-drives input[value="intel-320-300gb"]`);
await other.click("#review-start");
await until("trouble", "is under way");
hold(await other.isVisible("#live-stop"), "what is under way cannot be stopped");
hold(!(await said("running")).includes("no answer"), "a server that answers is called silent");
await other.route("**/api/reviews/*", (route) => route.abort());
await until("running", "no answer");
await until("trouble", "does not answer");
await other.unroute("**/api/reviews/*");
await until("running", " %");
await other.waitForSelector("#trouble", { state: "hidden" });
await other.route("**/api/reviews/*", (route) => route.fulfill({ status: 404, contentType: "application/json", body: `{"error":"none"}` }));
await until("live-words", "Ended with its server");
hold(await said("running") === "" && !await other.isVisible("#live-stop"), "it is shown as if it were running");
hold(!await other.isVisible("#trouble"), "it is told that a server is silent which answers");
await other.close();
await page.click("#live-stop");
await page.waitForFunction(() => /^(Stopped|Done)/.test(document.getElementById("live-words").textContent));

for (const view of ["compare", "results", "review"]) {
  await page.click(`nav a[data-view=${view}]`);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await settled();
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    for (const { id, impact, nodes } of violations) {
      hold(!SERIOUS.includes(impact), `${view}, ${colorScheme}: ${id} at ${nodes[0].target}`);
    }
  }
}
await page.setViewportSize({ width: 390, height: 800 });
for (const view of ["compare", "results", "review"]) {
  await page.click(`nav a[data-view=${view}]`);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  hold(width <= 390, `${view} is ${width} px wide on a phone`);
}
await browser.close();
wrong.forEach((line) => console.log(line));
process.exit(wrong.length ? 1 : 0);
