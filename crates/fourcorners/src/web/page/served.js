// A drive that is served: the last report of `serve`, drawn each second.

import { $, ask, element, format, row, trouble } from "./common.js";
import { plot } from "./plot.js";

const BETWEEN_LOOKS_MS = 1000;
const PACING = {
  paced: "Paced: clients see this drive's times.",
  behind: "Behind: wall times of clients are not the drive's; the latencies below are.",
  real: "A real drive: clients see its own times, and the way here besides.",
  not_paced: "There are no wall times to judge: nothing was answered yet, or time is virtual.",
};

async function look() {
  try {
    show(await ask("/api/served"));
    trouble(null);
  } catch (error) {
    trouble(error);
  }
  setTimeout(look, BETWEEN_LOOKS_MS);
}

// A figure of the report, marked with where it is from.
function figure(key, value, unit = "") {
  const words = value === null || value === undefined ? "–" : typeof value === "number" ? format(value) : value;
  return element("span", `${words}${words === "–" ? "" : unit}`, { "data-figure": key });
}

function facts(table, lines) {
  table.querySelector("tbody").replaceChildren(...lines.map(([name, value]) => {
    const line = document.createElement("tr");
    const cell = document.createElement("td");
    cell.className = "number";
    cell.append(value);
    line.append(element("th", name, { scope: "row" }), cell);
    return line;
  }));
}

function show({ drive, report, seconds }) {
  document.title = `${drive.name} – fourcorners serve`;
  $("title").textContent = drive.title;
  $("where").textContent = `${drive.name}, ${drive.size}, at ${drive.uri}`;
  if (!report) return;
  $("running").textContent = `${format(Math.floor(report.seconds))} s, time ${report.time}`;
  $("pacing").textContent = PACING[report.pacing];
  const last = seconds.at(-1);
  const iops = last ? last.iops.reduce((sum, [, value]) => sum + value, 0) : 0;
  const late = report.lateness_us;
  tiles([
    ["I/Os per second", figure("seconds.iops", iops)],
    ["MB/s", figure("seconds.mb_per_s", last?.mb_per_s ?? 0)],
    ["Late, 99 %", figure("lateness_us.p99", late?.p99, " µs")],
    ["Below the floor", figure("below_floor", report.below_floor === null ? null : report.below_floor * 100, " %")],
    ["Write amplification", figure("write_amplification", report.write_amplification)],
    ["Not safe yet", figure("ledger.bytes", report.ledger ? report.ledger.bytes / 1e6 : null, " MB")],
    ["Connections", figure("connections.open", report.connections.open)],
    ["Stored", figure("stored_bytes", report.stored_bytes / 1e6, " MB")],
  ]);
  charts(seconds);
  $("operations").querySelector("tbody").replaceChildren(...report.operations.map((of) => {
    const { p50, p99, max } = of.latency_us;
    const at = (key) => `operations.${of.name}.${key}`;
    const cells = [["ios", of.ios], ["bytes", of.bytes / 1e6], ["p50", p50], ["p99", p99], ["max", max]];
    const made = row([of.name.replace("_", " "), ...cells.map(([key, value]) => figure(at(key), value))]);
    for (const cell of [...made.cells].slice(1)) cell.className = "number";
    return made;
  }));
  facts($("lateness"), [
    ["Median", figure("lateness_us.p50", late?.p50, " µs")],
    ["99 %", figure("lateness_us.p99", late?.p99, " µs")],
    ["99.9 %", figure("lateness_us.p999", late?.p999, " µs")],
    ["Longest", figure("lateness_us.max", late?.max, " µs")],
    ["The way to a client and back", figure("door_us", report.door_us, " µs")],
    ["Most requests that waited for the queue", figure("backlog_most", report.backlog_most)],
    ["Requests that failed", figure("failed", report.failed)],
    ["Power cuts", figure("power_cuts", report.power_cuts)],
  ]);
  const own = report.drive;
  facts($("drive"), own === null ? [["This drive tells nothing", element("span", "–")]] : [
    ["Host bytes written", figure("drive.host_bytes", own.host_bytes / 1e6, " MB")],
    ["NAND bytes programmed", figure("drive.nand_bytes", own.nand_bytes / 1e6, " MB")],
    ["Blocks erased", figure("drive.blocks_erased", own.blocks_erased)],
    ["Blocks retired", figure("drive.blocks_retired", own.blocks_retired)],
    ["Percentage used", figure("drive.percentage_used", own.percentage_used, " %")],
    ["Read-only", figure("drive.read_only", own.read_only ? "yes" : "no")],
    ["Power-on time", figure("drive.power_on_s", own.power_on_s, " s")],
  ]);
}

function tiles(of) {
  $("now").replaceChildren(...of.map(([name, value]) => {
    const tile = document.createElement("div");
    const shown = document.createElement("dd");
    shown.append(value);
    tile.append(element("dt", name), shown);
    return tile;
  }));
}

function charts(seconds) {
  if (!seconds.length) return;
  const names = [...new Set(seconds.flatMap((second) => second.iops.map(([name]) => name)))];
  const of = (second, name) => second.iops.find(([other]) => other === name)?.[1] ?? 0;
  const lines = names.map((name) => ({
    label: name.replace("_", " "),
    y: seconds.map((second) => of(second, name)),
  }));
  const none = [{ label: "nothing yet", y: seconds.map(() => 0) }];
  plot($("iops-chart"), lines.length ? lines : none, "I/Os per second");
  plot($("mb-chart"), [{ label: "all", y: seconds.map((second) => second.mb_per_s) }], "MB/s");
}

look();
