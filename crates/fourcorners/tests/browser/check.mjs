// Uses a page as a person does, with the mouse and with the keyboard, and holds every control to what
// it says. Arguments: the browser, the page, a folder for screenshots (or "-").
//
// What is wrong is printed, one line each, and the exit code is 1 then.
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [browserPath, pagePath, shots] = process.argv.slice(2);
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const wrong = [];
const hold = (is, what) => { if (!is) wrong.push(what); };
const PATIENCE_MS = 180000;
// Impacts that keep somebody from reading or using the page.
const SERIOUS = ["serious", "critical"];

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"],
});

// A page in a scheme and a width, with what it complains of and asks for.
async function opened(colorScheme, width, { javaScriptEnabled = true } = {}) {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 900 },
    acceptDownloads: true,
    javaScriptEnabled,
    // Scripts of the tests are let in beside the page's own policy.
    bypassCSP: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  // Only what hangs is to end here: a busy machine takes minutes for what takes seconds.
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const where = `${colorScheme}, ${width} px`;
  page.on("console", (message) => hold(false, `${where}: console: ${message.text()}`));
  page.on("pageerror", (error) => hold(false, `${where}: ${error.message}`));
  page.on("request", (request) => {
    hold(/^(file|data|blob):/.test(request.url()), `${where}: it asked for ${request.url()}`);
  });
  await page.addInitScript(HELPERS);
  await page.goto(pathToFileURL(pagePath).href);
  if (javaScriptEnabled) await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null);
  return page;
}

async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of violations) {
    const at = violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ");
    hold(!SERIOUS.includes(violation.impact), `${where}: ${violation.id} (${violation.impact}): ${at}`);
  }
}

// Among the controls of a kind the first is used with the mouse, and all by what the mouse does: pressed
// where they are, if nothing lies over them. A look at the page from outside takes longer than what is
// looked at, so that all of a kind are used in one.
const HELPERS = () => {
  window.press = (control) => {
    control.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = control.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!control.contains(hit)) throw new Error(`something lies over "${control.textContent}"`);
    control.focus();
    control.click();
  };
};

// What a look at all of a kind found wrong.
function wrongs(found) {
  found.wrong.forEach((what) => hold(false, what));
  return found.count;
}

// Every button of every switch shows the panel it names, drawn, and no other.
async function switches(page) {
  let pressed = 0;
  for (const one of await page.locator("[data-switch]").all()) {
    const groups = await one.locator(".switch").all();
    for (const group of groups) {
      if (await group.isHidden()) continue;
      for (const button of await group.locator("button").all()) {
        await button.click();
        pressed += 1;
        const word = await button.textContent();
        hold(await button.getAttribute("aria-pressed") === "true", `"${word}" is not pressed when it is`);
        hold(await group.locator("[aria-pressed=true]").count() === 1, `"${word}" is pressed among others`);
        const panels = one.locator(".panel:visible");
        hold(await panels.count() === 1, `"${word}" shows ${await panels.count()} panels`);
        const heading = (await panels.locator("h3").first().textContent()).toLowerCase();
        for (const chosen of await one.locator(".switch:visible [aria-pressed=true]").all()) {
          const what = (await chosen.textContent()).toLowerCase();
          hold(heading.includes(what), `"${what}" is pressed and "${heading}" is shown`);
        }
        for (const chart of await panels.locator(".chart").all()) {
          hold(await chart.locator("path, i").count() > 0, `"${word}" shows a chart that is not drawn`);
        }
      }
    }
  }
  return pressed;
}

async function axes(page) {
  const first = page.locator(".tools .axis:visible").first();
  const before = await first.getAttribute("aria-pressed");
  await first.click();
  hold(await first.getAttribute("aria-pressed") !== before, "the mouse switches no axis");
  await first.click();
  return wrongs(await page.evaluate(() => {
    const wrong = [];
    const hold = (is, what) => { if (!is) wrong.push(what); };
    const buttons = Array.from(document.querySelectorAll(".tools .axis")).filter((it) => it.checkVisibility());
    for (const button of buttons) {
      const figure = button.closest("figure");
      // The axis of the chart's values as it is drawn: equal steps between its ticks, or equal factors.
      const lowest = () => Array.from(figure.querySelectorAll(".plot .y"), (tick) => tick.textContent).join(" ");
      const drawn = () => Array.from(figure.querySelectorAll(".plot g path"), (path) => path.getAttribute("d")).join(" ");
      const axis = () => (/^0 /.test(lowest()) || lowest() === "0" ? "linear" : "log");
      const says = () => button.getAttribute("aria-pressed");
      const name = button.getAttribute("aria-label");
      const names = () => Array.from(figure.querySelectorAll(".plot .end"), (end) => Math.round(parseFloat(end.style.top)));
      const [before, ticks, lines, ends] = [axis(), lowest(), drawn(), names().join(" ")];
      hold(says() === String(before === "log"), `${name}: it does not say which`);
      window.press(button);
      hold(axis() !== before && ["log", "linear"].includes(axis()), `${name}: ${before} became ${axis()}`);
      hold(says() === String(axis() === "log"), `${name}: it is not pressed as it is drawn`);
      hold(lowest() !== ticks, `${name}: the ticks stay ${ticks}`);
      hold(drawn() !== lines, `${name}: the lines stay`);
      window.press(button);
      hold(names().every((top) => top <= 100), `${name}: names stand below the axis`);
      hold(axis() === before && lowest() === ticks && drawn() === lines, `${name}: it does not come back`);
      hold(names().join(" ") === ends, `${name}: its names do not come back`);
    }
    return { wrong, count: buttons.length };
  }));
}

async function bytes(download) {
  return readFileSync(await download.path());
}

// The three files of the first chart come as downloads, each by a click of the mouse. Of all charts it is
// held what the page gives to the browser to save: many downloads soon after one another a browser holds
// back, unseen, until somebody allows them.
async function saves(page) {
  const figures = await page.locator("figure:has(.tools):visible").all();
  const downloads = [];
  for (const button of await figures[0].locator("[data-save]").all()) {
    const coming = page.waitForEvent("download");
    await button.click();
    const download = await coming;
    downloads.push({ name: download.suggestedFilename(), content: await bytes(download) });
  }
  await page.evaluate(() => {
    const click = HTMLAnchorElement.prototype.click;
    HTMLAnchorElement.prototype.click = function () {
      if (this.download === "") return click.call(this);
      const name = this.download;
      window.saving.push(fetch(this.href).then((got) => got.blob()).then((blob) => new Promise((then) => {
        const reader = new FileReader();
        reader.onload = () => then({ name, base64: reader.result.slice(reader.result.indexOf(",") + 1) });
        reader.readAsDataURL(blob);
      })));
    };
  });
  let saved = 0;
  for (const figure of figures) {
    const heading = await figure.locator("h3, h4").first().textContent();
    const [files, points] = await figure.evaluate(async (figure, patience) => {
      const end = Date.now() + patience;
      window.saving = [];
      const buttons = Array.from(figure.querySelectorAll("[data-save]"));
      buttons.forEach((button) => window.press(button));
      while (window.saving.length < buttons.length && Date.now() < end) await new Promise((then) => setTimeout(then, 5));
      const data = figure.querySelector("script");
      const points = data
        ? Math.max(...JSON.parse(data.textContent).lines.map((line) => line.y.length))
        : figure.querySelectorAll(".row").length;
      return [await Promise.all(window.saving), points];
    }, PATIENCE_MS);
    const of = (format) => files.find((it) => it.name.endsWith(`.${format}`));
    const missing = ["svg", "png", "csv"].filter((format) => !of(format));
    hold(missing.length === 0, `${heading}: no ${missing.join(", ")} is saved`);
    files.forEach((it) => hold(/^[a-z0-9-]+\.(svg|png|csv)$/.test(it.name), `${heading}: it is called ${it.name}`));
    saved += files.length;
    // One is enough to know: each of the others would take as long.
    if (missing.length > 0) break;
    const [svg, png, csv] = ["svg", "png", "csv"].map((format) => Buffer.from(of(format).base64, "base64"));
    if (figure === figures[0]) {
      const sent = (file) => downloads.find((it) => it.name === of(file).name)?.content;
      // Parts of a drawing are named anew each time.
      const alike = sent("png")?.equals(png) && sent("csv")?.equals(csv) && sent("svg")?.includes(heading);
      hold(alike, `${heading}: what is downloaded is not what the page gives`);
    }
    const text = svg.toString("utf8");
    hold(text.startsWith("<svg") && text.trimEnd().endsWith("</svg>"), `${heading}: no SVG`);
    const told = await page.evaluate((svg) => {
      const picture = new DOMParser().parseFromString(svg, "image/svg+xml");
      return picture.querySelector("parsererror") ? null : picture.documentElement.textContent;
    }, text);
    hold(told !== null && told.includes(heading), `the SVG does not say "${heading}"`);
    const cut = await figure.locator(".cut").count() > 0;
    hold(told?.includes("Bars with a break") === cut, `${heading}: ${cut ? "bars are cut, and its picture has them whole" : "no bar is cut"}`);
    hold(png.subarray(1, 4).toString() === "PNG" && png.readUInt32BE(16) === 1600, `${heading}: no PNG of 1600 pixels`);
    const rows = csv.toString("utf8").trimEnd().split("\n");
    hold(rows.length >= points + 1, `${heading}: ${rows.length} rows of ${points} points`);
  }
  return saved;
}

async function copies(page) {
  await page.locator("#run details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
  const first = page.locator(".command button").first();
  await first.click();
  const command = await first.evaluate((it) => it.parentElement.querySelector("code").textContent.trim());
  hold(await page.evaluate(() => navigator.clipboard.readText()).catch(() => command) === command, "the mouse copies nothing");
  return wrongs(await page.evaluate(async () => {
    const wrong = [];
    const plain = (text) => text.replace(/\s+/g, " ").trim();
    const buttons = Array.from(document.querySelectorAll(".command button"));
    for (const button of buttons) {
      const word = button.firstElementChild;
      // The word goes back after two seconds, which may be over before it can be asked for.
      const told = new Promise((tell) => {
        const seen = new MutationObserver(() => {
          if (word.textContent === "Copy") return;
          seen.disconnect();
          tell(word.textContent);
        });
        seen.observe(word, { childList: true, characterData: true, subtree: true });
      });
      window.press(button);
      const said = await told;
      const got = said === "Copied" ? await navigator.clipboard.readText() : String(getSelection());
      const command = button.parentElement.querySelector("code").textContent;
      if (plain(got) !== plain(command)) wrong.push(`${said}: "${got.slice(0, 80)}"`);
    }
    return { wrong, count: buttons.length };
  }));
}

// What a table is pasted as has the words of its cells, which no heading or number runs into.
async function pastes(page) {
  return wrongs(await page.evaluate(async () => {
    const wrong = [];
    const buttons = Array.from(document.querySelectorAll("[data-paste=Markdown]"));
    let copied = "";
    const write = navigator.clipboard.writeText;
    navigator.clipboard.writeText = async (text) => { copied = text; };
    for (const button of buttons) {
      button.click();
      const table = button.closest(".paste").previousElementSibling.querySelector("table");
      const cells = Array.from(table.querySelectorAll("th, td")).filter((cell) => cell.querySelector("br, small"));
      for (const cell of cells) {
        const parts = Array.from(cell.childNodes, (node) => node.textContent.replace(/\s+/g, " ").trim()).filter(Boolean);
        const run = parts.join("");
        const apart = parts.join(" ").replaceAll("|", "\\|").replaceAll("<", "&lt;");
        if (parts.length > 1 && !copied.includes(apart)) wrong.push(`"${apart}" is pasted otherwise, as "${run}" perhaps`);
      }
    }
    navigator.clipboard.writeText = write;
    return { wrong, count: buttons.length };
  }));
}

async function folds(page) {
  const first = page.locator("summary:visible").first();
  const isOpen = () => first.evaluate((it) => it.parentElement.open);
  const before = await isOpen();
  await first.click();
  hold(await isOpen() !== before, "the mouse opens nothing");
  await first.click();
  return wrongs(await page.evaluate(() => {
    const wrong = [];
    const summaries = Array.from(document.querySelectorAll("summary")).filter((it) => it.checkVisibility());
    for (const summary of summaries) {
      const before = summary.parentElement.open;
      window.press(summary);
      if (summary.parentElement.open === before) wrong.push(`"${summary.textContent}" does not open or close`);
      window.press(summary);
    }
    return { wrong, count: summaries.length };
  }));
}

async function links(page) {
  for (const link of await page.locator("nav a, a.skip").all()) {
    const target = await link.getAttribute("href");
    hold(await page.locator(target).count() === 1, `${target} leads nowhere`);
  }
  return wrongs(await page.evaluate(() => {
    const wrong = [];
    const charts = Array.from(document.querySelectorAll(".chart")).filter((it) => it.checkVisibility());
    for (const chart of charts) {
      if (chart.getAttribute("role") !== "img" || chart.getAttribute("aria-label").length <= 20) wrong.push("a chart without words");
      if (chart.closest("figure").querySelectorAll("details.data table").length !== 1) wrong.push("a chart without a table");
    }
    return { wrong, count: charts.length };
  }));
}

// With the Tab key alone, everything that can be used is come to, in the order it stands.
async function keyboard(page) {
  // The way begins where the last click was, unless something else was come to since.
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
  });
  const wanted = await page.evaluate(() => {
    const all = document.querySelectorAll("a[href], button, summary, [tabindex='0']");
    const there = Array.from(all).filter((it) => it.checkVisibility() || it.classList.contains("skip"));
    there.forEach((it, place) => { it.dataset.place = String(place); });
    window.came = [];
    addEventListener("focusin", ({ target }) => { window.came.push(Number(target.dataset.place ?? -1)); });
    return there.length;
  });
  for (let press = 0; press < wanted; press += 1) await page.keyboard.press("Tab");
  const came = await page.evaluate(() => window.came);
  hold(came.length === wanted, `Tab comes to ${came.length} of ${wanted} places`);
  hold(came.every((place, index) => place === index), "Tab does not go in order");
  // And what is come to is used: a switch by the space bar.
  const button = page.locator(".switch:visible [aria-pressed=false]").first();
  if (await button.count() > 0) {
    const handle = await button.elementHandle();
    await handle.focus();
    await page.keyboard.press("Space");
    hold(await handle.getAttribute("aria-pressed") === "true", "the space bar presses no button");
  }
  return wanted;
}

async function paper(page) {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  hold(await page.locator(".panel:visible").count() === await page.locator(".panel").count(), "not all panels are on paper");
  hold(await page.locator("button:visible").count() === 0, "there are buttons on paper");
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  hold(background === "rgb(255, 255, 255)", `paper is ${background}`);
  const blank = await page.evaluate(() =>
    Array.from(document.querySelectorAll(".chart")).filter((box) => box.checkVisibility() && !box.querySelector("path, i")).length);
  hold(blank === 0, `${blank} charts are not on paper`);
  const pdf = await page.pdf({ format: "A4", path: shots === "-" ? undefined : `${shots}/page.pdf` });
  hold(pdf.length > 50000, `a PDF of ${pdf.length} bytes`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ media: "screen" });
  hold(await page.locator("[data-switch]").count() === await page.locator(".panel:visible").count(), "after printing all panels stay");
}

// Without a script all charts are drawn, and all panels and tables are there.
async function scriptless(page) {
  const charts = await page.locator(".chart").all();
  for (const [place, chart] of charts.entries()) {
    const drawn = await chart.locator("g path, i").count();
    const named = await chart.getAttribute("aria-label");
    hold(drawn > 0, `without a script chart ${place} is empty: ${named}`);
  }
  hold(await page.locator(".panel[hidden], .switch:not([hidden])").count() === 0, "a panel needs a script");
  hold(await page.locator("button:visible").count() === 0, "there are buttons without a script");
  return charts.length;
}

// What the pointer comes to says its numbers, and stops when it leaves.
async function pointed(page) {
  const plot = page.locator(".chart.lines:visible .plot").first();
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.move(x + width / 3, y + height / 2);
  await page.mouse.move(x + width / 2, y + height / 2);
  const tip = plot.locator(".tip");
  hold(/[0-9]/.test(await tip.textContent()), `pointed at, it says "${await tip.textContent()}"`);
  await page.mouse.move(1, 1);
  hold(await tip.isHidden(), "what was said stays");
}

// The page as it is first seen, in each scheme and width.
async function looked(scheme, width) {
  const page = await opened(scheme, width);
  const where = `${scheme}, ${width} px`;
  await accessible(page, where);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  hold(wide <= width, `${where}: the page is ${wide} wide`);
  if (shots !== "-") await page.screenshot({ path: `${shots}/${scheme}-${width}.png`, fullPage: true });
  return page;
}

const counts = {};
const took = [];
async function timed(what, doing) {
  const began = performance.now();
  const count = await doing;
  took.push(`${what} ${((performance.now() - began) / 1000).toFixed(1)}`);
  return count;
}

const openAll = (page) => page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));

// Everything on it, by mouse and by keyboard, and on paper: as four people at once, each with a page of
// their own, because most of the time is waiting for what was clicked.
async function drawings() {
  const page = await timed("look", looked("light", 1280));
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  console.log(`first paint ${paint.toFixed(0)} ms`);
  await openAll(page);
  counts.links = await timed("links", links(page));
  counts.switches = await timed("switches", switches(page));
  await timed("pointed", pointed(page));
  counts.axes = await timed("axes", axes(page));
  counts.folds = await timed("folds", folds(page));
  await page.context().close();
}

async function files() {
  const page = await opened("light", 1280);
  await openAll(page);
  counts.saved = await timed("saves", saves(page));
  await timed("paper", paper(page));
  await page.context().close();
}

async function texts() {
  const page = await opened("light", 1280);
  counts.copies = await timed("copies", copies(page));
  counts.pastes = await timed("pastes", pastes(page));
  // Everything is open from here on: tables and commands, too.
  await openAll(page);
  await timed("axe", accessible(page, "light, 1280 px, all open"));
  counts.places = await timed("keyboard", keyboard(page));
  await page.context().close();
}

async function glances() {
  for (const [scheme, width] of [["light", 390], ["dark", 1280], ["dark", 390]]) {
    const page = await timed(`${scheme} ${width}`, looked(scheme, width));
    await page.context().close();
  }
  const page = await opened("light", 1280, { javaScriptEnabled: false });
  counts.scriptless = await timed("scriptless", scriptless(page));
  await page.context().close();
}

await Promise.all([drawings(), files(), texts(), glances()]);
await browser.close();
console.log(`seconds: ${took.join(", ")}`);
console.log(JSON.stringify(counts));
for (const one of wrong) console.log(`wrong: ${one}`);
process.exit(wrong.length > 0 ? 1 : 0);
