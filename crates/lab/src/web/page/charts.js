// What is drawn: bars, lines over time, lines over anything else; in the colours of the style sheet.

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
const HUES = [211, 25, 145, 280, 0, 180, 50, 320];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function isDark() {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// The drive under test has the accent, the others hues that differ in light and dark alike.
function lineOf(index) {
  const light = isDark() ? 68 : 38;
  const hue = HUES[index % HUES.length];
  return {
    color: index === 0 ? colour("--accent") : `hsl(${hue}, 60%, ${light}%)`,
    dash: DASHES[Math.floor(index / HUES.length) % DASHES.length],
    width: index === 0 ? 2.5 : 1.5,
  };
}

function layout(more) {
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("--ink"), family: "system-ui, sans-serif", size: 13 },
    margin: { l: 60, r: 20, t: 10, b: 45 },
    ...more,
    xaxis: { ...axis, ...more.xaxis },
    yaxis: { ...axis, ...more.yaxis },
  };
}

const CONFIG = {
  responsive: true,
  displaylogo: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d"],
  toImageButtonOptions: { format: "svg", filename: "fourcorners" },
};

// Names of drives are text: they never become markup in a chart.
function plain(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

// A chart that was hidden while the window changed has still the width of before.
async function draw(box, data, look) {
  await Plotly.react(box, data, look, CONFIG);
  Plotly.Plots.resize(box);
}

// Bars, the longest on top. rows: {label, value, underTest, wall}.
export function bars(box, rows, unit) {
  const sorted = [...rows].sort((a, b) => a.value - b.value);
  const data = [{
    type: "bar",
    orientation: "h",
    y: sorted.map((_, place) => place),
    x: sorted.map((row) => row.value),
    text: sorted.map((row) => format(row.value)),
    textposition: "auto",
    hoverinfo: "x",
    marker: {
      color: sorted.map((row) => colour(row.underTest ? "--accent" : "--other")),
      pattern: { shape: sorted.map((row) => (row.wall ? "/" : "")) },
    },
  }];
  return draw(box, data, layout({
    height: 70 + 34 * sorted.length,
    xaxis: { title: { text: unit }, rangemode: "tozero" },
    yaxis: {
      tickvals: sorted.map((_, place) => place),
      ticktext: sorted.map((row) => plain(row.label)),
    },
    showlegend: false,
  }));
}

// Lines over something. lines: {label, x, y}.
export function lines(box, all, { x, y, log }) {
  const data = all.map((line, index) => ({
    type: "scatter",
    mode: "lines",
    name: plain(line.label),
    x: line.x,
    // A second without a completed I/O has no place on a logarithmic axis.
    y: log ? line.y.map((value) => (value > 0 ? value : null)) : line.y,
    line: lineOf(index),
  }));
  return draw(box, data, layout({
    height: 380,
    xaxis: { title: { text: x } },
    yaxis: { title: { text: y }, type: log ? "log" : "linear", rangemode: log ? "normal" : "tozero" },
    showlegend: all.length > 1,
    legend: { orientation: "h", y: -0.2 },
  }));
}

export function format(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en", {
    minimumFractionDigits: 0,
    maximumFractionDigits: Math.min(digits, 6),
  });
}
