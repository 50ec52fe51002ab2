// What is drawn: bars, lines over time, lines over anything else; in the colours of the style sheet.

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
// The same, as SVG has them.
const STROKES = ["", "9 5", "2 4", "9 4 2 4", "14 6"];
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

const BAR_ROW_PX = 48;
const BAR_SHARE = 0.4;

// Bars, the longest on top, each below its label: on a phone there is no room beside it.
// rows: {label, value, underTest, wall}.
export function bars(box, rows, unit) {
  const sorted = [...rows].sort((a, b) => a.value - b.value);
  const data = [{
    type: "bar",
    orientation: "h",
    y: sorted.map((_, place) => place),
    x: sorted.map((row) => row.value),
    width: BAR_SHARE,
    text: sorted.map((row) => `${format(row.value)} ${unit}`),
    textposition: "outside",
    cliponaxis: false,
    hoverinfo: "skip",
    marker: {
      color: sorted.map((row) => colour(row.underTest ? "--accent" : "--other")),
      pattern: { shape: sorted.map((row) => (row.wall ? "/" : "")) },
    },
  }];
  const longest = Math.max(...sorted.map((row) => row.value));
  return draw(box, data, layout({
    height: BAR_ROW_PX * sorted.length,
    margin: { l: 1, r: 4, t: 0, b: 0 },
    // Values stand right of their bars.
    xaxis: { visible: false, fixedrange: true, range: [0, (longest || 1) * 1.35] },
    yaxis: { visible: false, fixedrange: true, range: [-0.38, sorted.length - 0.38] },
    annotations: sorted.map((row, place) => ({
      text: row.underTest ? `<b>${plain(row.label)}</b>` : plain(row.label),
      showarrow: false,
      xref: "paper",
      x: 0,
      xanchor: "left",
      borderpad: 0,
      y: place,
      yanchor: "bottom",
      yshift: BAR_ROW_PX * BAR_SHARE / 2 + 2,
    })),
    showlegend: false,
  }));
}

// Which line is whose, below the chart: names are as long as they are, and break where they must.
function legend(box, all) {
  let list = box.nextElementSibling;
  if (!list?.classList.contains("legend")) {
    list = document.createElement("ul");
    list.className = "legend";
    list.setAttribute("aria-label", "Lines");
    box.after(list);
  }
  list.hidden = all.length < 2;
  list.replaceChildren(...all.map(({ label }, index) => {
    const drawing = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const { color, dash } = lineOf(index);
    const stroke = drawing("svg", { width: 34, height: 8, "aria-hidden": "true" });
    stroke.append(drawing("line", {
      x1: 0, y1: 4, x2: 34, y2: 4, stroke: color, "stroke-width": 2.5, "stroke-dasharray": STROKES[DASHES.indexOf(dash)],
    }));
    const item = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = label;
    item.append(stroke, name);
    return item;
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
  legend(box, all);
  return draw(box, data, layout({
    height: 340,
    xaxis: { title: { text: x } },
    yaxis: { title: { text: y }, type: log ? "log" : "linear", rangemode: log ? "normal" : "tozero" },
    showlegend: false,
  }));
}

// A time in the unit that suits it.
export function micros(us) {
  if (!Number.isFinite(us)) return "–";
  if (us < 999.5) return `${format(us)} µs`;
  return us < 999.5e3 ? `${format(us / 1e3)} ms` : `${format(us / 1e6)} s`;
}

export function format(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en", {
    minimumFractionDigits: 0,
    maximumFractionDigits: Math.min(digits, 6),
  });
}
