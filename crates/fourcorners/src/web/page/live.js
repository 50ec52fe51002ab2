// Starting a review and watching it.

import { $, Choices, ask, element, row, trouble } from "./common.js";
import { plot } from "./plot.js";

const BETWEEN_LOOKS_MS = 400;
// To one that did not answer.
const BETWEEN_CALLS_MS = 2000;
const drives = new Choices($("review-drives"), $("review-find"));
const methods = new Choices($("review-methods"));
let watched = null;
let timer = null;
// What is told until it is over: "silent" that the server does not answer, "busy" that another review is under way.
let told = null;
let whenMeasured = async () => {};

export function showForm(catalogue, known, measured) {
  whenMeasured = measured;
  drives.show(catalogue);
  methods.show(known.map(({ name, words }) => ({ value: name, label: words })));
  methods.choose(known.filter((method) => method.default).map((method) => method.name));
  $("review-form").addEventListener("submit", start);
  $("live-stop").addEventListener("click", stop);
}

async function start(event) {
  event.preventDefault();
  const wanted = {
    drives: drives.chosen,
    methods: methods.chosen,
    quick: $("review-quick").checked,
    spare: Number($("review-spare").value),
    seed: Number($("review-seed").value),
  };
  try {
    if (!wanted.drives.length) throw new Error("Choose a drive to review.");
    if (!wanted.methods.length) throw new Error("Choose a method.");
    const started = await ask("/api/reviews", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(wanted),
    });
    told = null;
    trouble(null);
    watched = started.number;
    look();
  } catch (error) {
    // Started on another page: it is shown, and can be stopped.
    if (error.status === 409) {
      await follow();
      tell("busy", error);
    } else {
      told = null;
      trouble(error);
    }
  }
}

async function stop() {
  try {
    await ask(`/api/reviews/${watched}`, { method: "DELETE" });
    told = null;
    trouble(null);
  } catch (error) {
    if (error.status === 404) endWithServer();
    else trouble(error);
  }
}

function tell(what, error) {
  told = what;
  trouble(error);
}

function untell() {
  if (told) trouble(null);
  told = null;
}

// The server that runs now knows nothing of the review that is watched.
function endWithServer() {
  clearTimeout(timer);
  $("running").textContent = "";
  $("live-stop").hidden = true;
  $("live-words").textContent = "Ended with its server; what it saved is under Results";
  untell();
}

// Goes on watching what was started before the page was opened.
export async function follow() {
  try {
    const { read_only, reviews } = await ask("/api/reviews");
    $("review-read-only").hidden = !read_only;
    $("review-start").disabled = read_only;
    const last = reviews.at(-1);
    if (!last) return;
    watched = last.number;
    look();
  } catch (error) {
    trouble(error);
  }
}

async function look() {
  clearTimeout(timer);
  try {
    const review = await ask(`/api/reviews/${watched}`);
    showReview(review);
    if (told === "silent" || (told === "busy" && review.state !== "running")) untell();
    if (review.state === "running") timer = setTimeout(look, BETWEEN_LOOKS_MS);
    else await whenMeasured();
  } catch (error) {
    if (error.status === 404) {
      endWithServer();
      return;
    }
    tell("silent", error);
    $("running").textContent = `Review ${watched}: no answer`;
    timer = setTimeout(look, BETWEEN_CALLS_MS);
  }
}

function time(seconds) {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

const ENDS = {
  done: ["Done", ""],
  stopped: ["Stopped", "; what was measured is kept"],
  failed: ["Failed", ""],
};

function showReview(review) {
  const running = review.state === "running";
  const percent = Math.floor(review.done * 100);
  const left = review.remaining_s === null ? "" : `, ${time(review.remaining_s)} left`;
  const words = running
    ? `${percent} %${left}`
    : `${ENDS[review.state][0]} after ${time(review.elapsed_s)}${ENDS[review.state][1]}`;
  $("live").hidden = false;
  $("live-title").textContent = `Review ${review.number}: ${review.wanted.drives.join(", ")}`;
  $("live-progress").value = review.done;
  $("live-words").textContent = words;
  $("live-stop").hidden = !running;
  $("running").textContent = running ? `Review ${review.number}: ${words}` : "";
  $("live-said").replaceChildren(...review.said.map((line) => element("li", line)));
  // The rows are made anew; what has the focus keeps it.
  const focused = document.activeElement?.closest("#live-parts") ? document.activeElement.getAttribute("href") : null;
  $("live-parts").querySelector("tbody").replaceChildren(...review.parts.map((part) => {
    const now = part.record
      ? element("a", part.done < 1 ? "report, cut short" : "report", { href: `/report?id=${part.record}` })
      : running || part.done > 0 ? part.words : "not started";
    return row([part.target, part.method, `${Math.floor(part.done * 100)} %`, now]);
  }));
  if (focused) $("live-parts").querySelector(`a[href="${focused}"]`)?.focus();
  $("live-figures").querySelector("tbody").replaceChildren(...review.figures.map((figure) =>
    row([figure.target, `${figure.method}: ${figure.name}`, figure.mb_per_s, figure.iops])));
  const measured = review.parts.filter((part) => part.iops.length && !part.record);
  $("live-chart").closest("figure").hidden = !measured.length;
  if (measured.length) {
    plot($("live-chart"), measured.map((part) => ({
      label: `${part.target} ${part.method}: ${part.figure ?? part.words}`,
      y: part.iops,
    })), "I/Os per second");
  }
}
