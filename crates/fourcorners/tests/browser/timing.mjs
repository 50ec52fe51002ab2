// How long a person waits for pages in a browser that is open: the median of some times each, milliseconds,
// as JSON. Arguments: the browser, the address of a `fourcorners web`, the page of a report, two drives.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [browserPath, address, reportPath, ...drives] = process.argv.slice(2);
const TIMES = 5;

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const waited = {};

async function timed(what, once) {
  const times = [];
  for (let turn = 0; turn < TIMES; turn += 1) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(300000);
    await once(page, async (part, wait) => {
      const began = performance.now();
      await wait();
      times.push([`${what}, ${part}`, performance.now() - began]);
    });
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    times.push([`${what}, first paint`, paint]);
    await page.close();
  }
  for (const [part] of times) {
    const all = times.filter(([other]) => other === part).map(([, ms]) => ms).sort((a, b) => a - b);
    waited[part] = Math.round(all[Math.floor(all.length / 2)]);
  }
}

await timed("web", async (page, part) => {
  await part("ready", async () => {
    await page.goto(address);
    await page.waitForSelector("html[data-ready]");
  });
  await part("two drives chosen and drawn", async () => {
    await page.selectOption("#compare-method", "consistency");
    for (const drive of drives) await page.check(`#compare-drives input[value="${drive}"]`);
    await page.waitForSelector("#compare-part .ranking tbody tr:nth-child(2)");
  });
  await part("results listed", async () => {
    await page.click("nav a[data-view=results]");
    await page.waitForSelector("#results-table tbody tr");
  });
  await part("results filtered", async () => {
    await page.fill("#filter-drive", drives[0]);
    await page.waitForFunction((drive) => Array.from(document.querySelectorAll("#results-table tbody tr"))
      .every((row) => row.dataset.drive === drive), drives[0]);
  });
});
await timed("report", async (page, part) => {
  await part("open", () => page.goto(pathToFileURL(reportPath).href));
  await part("ready", () => page.waitForSelector("html[data-ready]"));
});
await browser.close();
console.log(JSON.stringify(waited));
