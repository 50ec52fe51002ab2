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
const SAVING_MS = 45000;
// Impacts that keep somebody from reading or using the page.
const SERIOUS = ["serious", "critical"];

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"],
});

// A page in a scheme and a width, with what it complains of and asks for.
async function opened(colorScheme, width) {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 900 },
    acceptDownloads: true,
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
  await page.goto(pathToFileURL(pagePath).href);
  await page.waitForFunction(() => document.documentElement.dataset.charts === "drawn", null);
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
          hold(await chart.locator("svg.main-svg").count() > 0, `"${word}" shows a chart that is not drawn`);
        }
      }
    }
  }
  return pressed;
}

// The axis of a chart's values as it is drawn.
const axisOf = (button) => button.evaluate((it) => it.closest("figure").querySelector(".chart")._fullLayout.yaxis.type);
const lowest = (button) => button.evaluate((it) => {
  const ticks = it.closest("figure").querySelectorAll(".ytick text");
  return Array.from(ticks, (tick) => tick.textContent).join(" ");
});

async function axes(page) {
  let pressed = 0;
  for (const button of await page.locator(".tools .axis:visible").all()) {
    const name = await button.getAttribute("aria-label");
    const [before, ticks] = [await axisOf(button), await lowest(button)];
    hold(await button.getAttribute("aria-pressed") === String(before === "log"), `${name}: it does not say which`);
    await button.click();
    pressed += 1;
    const after = await axisOf(button);
    hold(after !== before && ["log", "linear"].includes(after), `${name}: ${before} became ${after}`);
    hold(await button.getAttribute("aria-pressed") === String(after === "log"), `${name}: it is not pressed as it is drawn`);
    hold(await lowest(button) !== ticks, `${name}: the ticks stay ${ticks}`);
    await button.click();
    hold(await axisOf(button) === before && await lowest(button) === ticks, `${name}: it does not come back`);
  }
  return pressed;
}

async function bytes(download) {
  return readFileSync(await download.path());
}

async function saves(page) {
  let saved = 0;
  for (const button of await page.locator("[data-save]:visible").all()) {
    const format = await button.getAttribute("data-save");
    const name = await button.getAttribute("aria-label");
    const saving = page.waitForEvent("download", { timeout: SAVING_MS }).catch(() => null);
    await button.click();
    const download = await saving;
    if (!download) {
      // One is enough to know: each of the others would take as long.
      hold(false, `${name}: nothing is saved`);
      break;
    }
    const content = await bytes(download);
    saved += 1;
    const file = download.suggestedFilename();
    hold(/^[a-z0-9-]+\.(svg|png|csv)$/.test(file) && file.endsWith(`.${format}`), `${name}: it is called ${file}`);
    const text = content.toString("utf8");
    if (format === "svg") {
      hold(text.startsWith("<svg") && text.trimEnd().endsWith("</svg>"), `${name}: no SVG`);
      const heading = await button.evaluate((it) => it.closest("figure").querySelector("h3, h4").textContent);
      const told = await page.evaluate((svg) => {
        const picture = new DOMParser().parseFromString(svg, "image/svg+xml");
        return picture.querySelector("parsererror") ? null : picture.documentElement.textContent;
      }, text);
      hold(told !== null && told.includes(heading), `${name}: the SVG does not say "${heading}"`);
    } else if (format === "png") {
      hold(content.subarray(1, 4).toString() === "PNG" && content.readUInt32BE(16) === 1600, `${name}: no PNG of 1600 pixels`);
    } else {
      const rows = text.trimEnd().split("\n");
      const points = await button.evaluate((it) => {
        const { data } = it.closest("figure").querySelector(".chart");
        return Math.max(...data.map((trace) => trace.x.length));
      });
      hold(rows.length >= points + 1, `${name}: ${rows.length} rows of ${points} points`);
    }
  }
  return saved;
}

async function copies(page) {
  let pressed = 0;
  await page.locator("#run details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
  for (const button of await page.locator(".command button").all()) {
    // The word goes back after two seconds, which may be over before it can be asked for.
    await button.evaluate((it) => {
      it.told = new Promise((tell) => {
        const word = it.firstElementChild;
        const seen = new MutationObserver(() => tell(word.textContent));
        seen.observe(word, { childList: true, characterData: true, subtree: true });
      });
    });
    await button.click();
    pressed += 1;
    const word = await button.evaluate((it) => it.told);
    const command = await button.evaluate((it) => it.parentElement.querySelector("code").textContent);
    const got = word === "Copied"
      ? await page.evaluate(() => navigator.clipboard.readText())
      : await page.evaluate(() => String(getSelection()));
    hold(got.replace(/\s+/g, " ").trim() === command.trim(), `${word}: "${got.slice(0, 80)}"`);
  }
  return pressed;
}

async function folds(page) {
  let opened = 0;
  for (const summary of await page.locator("summary:visible").all()) {
    const isOpen = () => summary.evaluate((it) => it.parentElement.open);
    const before = await isOpen();
    await summary.click();
    hold(await isOpen() !== before, `"${await summary.textContent()}" does not open or close`);
    await summary.click();
    opened += 1;
  }
  return opened;
}

async function links(page) {
  for (const link of await page.locator("nav a, a.skip").all()) {
    const target = await link.getAttribute("href");
    hold(await page.locator(target).count() === 1, `${target} leads nowhere`);
  }
  const charts = page.locator(".chart:visible");
  for (const chart of await charts.all()) {
    hold(await chart.getAttribute("role") === "img" && (await chart.getAttribute("aria-label")).length > 20, "a chart without words");
    const figure = chart.locator("xpath=ancestor::figure");
    hold(await figure.locator("details.data table").count() === 1, "a chart without a table");
  }
  return charts.count();
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
    return there.length;
  });
  const came = [];
  for (let press = 0; press < wanted + 5; press += 1) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(() => document.activeElement.dataset.place);
    if (place === undefined) break;
    came.push(Number(place));
  }
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
  for (const chart of await page.locator(".chart").all()) {
    hold(await chart.locator("svg.main-svg").count() > 0, "a chart is not on paper");
  }
  const pdf = await page.pdf({ format: "A4", path: shots === "-" ? undefined : `${shots}/page.pdf` });
  hold(pdf.length > 50000, `a PDF of ${pdf.length} bytes`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ media: "screen" });
  hold(await page.locator("[data-switch]").count() === await page.locator(".panel:visible").count(), "after printing all panels stay");
}

const counts = {};
for (const scheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    const page = await opened(scheme, width);
    const where = `${scheme}, ${width} px`;
    await accessible(page, where);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    hold(wide <= width, `${where}: the page is ${wide} wide`);
    if (shots !== "-") await page.screenshot({ path: `${shots}/${scheme}-${width}.png`, fullPage: true });
    if (scheme === "light" && width === 1280) {
      const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
      const drawn = await page.evaluate(() => performance.now());
      console.log(`first paint ${paint.toFixed(0)} ms, all drawn before ${drawn.toFixed(0)} ms`);
      counts.links = await links(page);
      counts.switches = await switches(page);
      counts.axes = await axes(page);
      counts.saved = await saves(page);
      counts.folds = await folds(page);
      counts.copies = await copies(page);
      // Everything is open now: tables and commands, too.
      await page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
      await accessible(page, `${where}, all open`);
      counts.places = await keyboard(page);
      await paper(page);
    }
    await page.context().close();
  }
}
await browser.close();
console.log(JSON.stringify(counts));
for (const one of wrong) console.log(`wrong: ${one}`);
process.exit(wrong.length > 0 ? 1 : 0);
