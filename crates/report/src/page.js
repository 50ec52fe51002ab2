// Draws the charts in the colours of the style sheet, again when those or the width change, and once more
// for paper. The page is complete without it but for the drawings. It runs before the chart library is
// read, so that all buttons are there with the text.
(() => {
  "use strict";
  const root = document.documentElement;
  const charts = Array.from(document.querySelectorAll(".chart"), (box) => ({
    box,
    json: box.nextElementSibling.textContent,
    figure: box.closest("figure"),
    panel: box.closest(".panel"),
    // Whether the values are on the other axis than the one they began with.
    switched: false,
    // Whether it is drawn as it would be now, and how wide it was then.
    drawn: false,
    width: 0,
  }));
  const chartOf = new Map(charts.map((chart) => [chart.figure, chart]));
  const library = new Promise((read) => { addEventListener("DOMContentLoaded", read); });

  // Colours are named in the data; only fields that hold a colour are looked at, so that a
  // drive's name is never taken for one.
  function painted(chart) {
    const style = getComputedStyle(root);
    const colour = (value) => {
      const name = typeof value === "string" && /^var\((--[a-z0-9-]+)\)$/.exec(value);
      return name ? style.getPropertyValue(name[1]).trim() : value;
    };
    const drawing = JSON.parse(chart.json, (key, value) => {
      if (!/color$/.test(key)) return value;
      return Array.isArray(value) ? value.map(colour) : colour(value);
    });
    if (chart.switched) drawing.layout.yaxis = drawing.other;
    for (const trace of drawing.data) {
      if (trace.type !== "bar") atTheFoot(trace, drawing.layout.yaxis);
    }
    return drawing;
  }

  // A logarithmic axis has no place for nothing at all: it is drawn at its foot, and still says 0.
  function atTheFoot(trace, axis) {
    trace.customdata = trace.y;
    if (axis.type !== "log") return;
    const foot = 10 ** axis.range[0];
    trace.y = trace.y.map((value) => (value < foot ? foot : value));
  }

  // Before the library is read, nothing: the chart goes on waiting.
  function draw(chart) {
    if (!window.Plotly) return;
    const { data, layout, config } = painted(chart);
    chart.drawn = true;
    chart.width = chart.box.clientWidth;
    Plotly.newPlot(chart.box, data, layout, config);
  }

  // What no button shows waits for it.
  const waits = (chart) => !chart.drawn && !(chart.panel && chart.panel.hidden);

  // Charts are drawn when they come near the window, one a task, so that the page answers meanwhile; those
  // further away when there is nothing else to do. Until then their place is kept, and what they say
  // is in their tables.
  const onScreen = within("0px");
  const near = within("150% 0px");
  function within(rootMargin) {
    const seen = new Set();
    const observer = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        if (isIntersecting) seen.add(target);
        else seen.delete(target);
      }
      drawWaiting();
    }, { rootMargin });
    for (const { box } of charts) observer.observe(box);
    return seen;
  }

  const nextNear = () =>
    charts.find((chart) => onScreen.has(chart.box) && waits(chart)) ??
    charts.find((chart) => near.has(chart.box) && waits(chart));
  // Not every browser says when it is idle.
  const whenIdle = window.requestIdleCallback ?? ((then) => setTimeout(then, 30));
  const expected = { near: false, idle: false };
  function drawWaiting() {
    if (!window.Plotly) return;
    if (nextNear()) drawLater("near", (then) => setTimeout(then, 0), nextNear);
    else if (charts.some(waits)) drawLater("idle", whenIdle, () => nextNear() ?? charts.find(waits));
    else root.dataset.charts = "drawn";
  }
  function drawLater(which, when, next) {
    if (expected[which]) return;
    expected[which] = true;
    when(() => {
      expected[which] = false;
      const chart = next();
      if (chart) draw(chart);
      drawWaiting();
    });
  }

  // In other colours or at another width; as at first, those on the screen before the others.
  function drawAgain(which = charts) {
    for (const chart of which) chart.drawn = false;
    delete root.dataset.charts;
    drawWaiting();
  }

  // The height of a window changes often on a phone, and no chart with it.
  let changing = 0;
  addEventListener("resize", () => {
    clearTimeout(changing);
    changing = setTimeout(() => drawAgain(charts.filter((chart) => chart.box.clientWidth !== chart.width)), 100);
  });

  // Of the panels of a switch, one is shown: that of the buttons that are pressed.
  const switches = Array.from(document.querySelectorAll("[data-switch]"), (all) => ({
    groups: Array.from(all.querySelectorAll(".switch")),
    panels: Array.from(all.querySelectorAll(".panel")),
  }));

  function choose({ groups, panels }) {
    const pressed = (group) => group.querySelector("[aria-pressed=true]").dataset.value;
    const chosen = groups.map(pressed).join(" ");
    for (const panel of panels) {
      panel.hidden = panel.dataset.choices !== chosen;
      if (panel.hidden) continue;
      for (const chart of charts) {
        if (chart.panel !== panel) continue;
        if (!chart.drawn) draw(chart);
      }
    }
  }

  for (const one of switches) {
    for (const group of one.groups) {
      const buttons = Array.from(group.querySelectorAll("button"));
      group.hidden = group.hasAttribute("data-single");
      for (const button of buttons) {
        button.addEventListener("click", () => {
          for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
          choose(one);
        });
      }
    }
    choose(one);
  }

  // What can be done with a chart.
  for (const button of document.querySelectorAll(".tools .axis")) {
    const chart = chartOf.get(button.closest("figure"));
    button.addEventListener("click", () => {
      chart.switched = !chart.switched;
      draw(chart);
      const log = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(log));
    });
  }

  function save(name, url) {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
  }

  function saveText(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    save(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  // A picture stands alone: it has what the page says around the drawing.
  function savePicture(chart, format) {
    const { data, layout, title, names } = painted(chart);
    const style = getComputedStyle(root);
    const bars = data[0] && data[0].type === "bar";
    layout.paper_bgcolor = layout.plot_bgcolor = style.getPropertyValue("--paper").trim();
    layout.title = { text: title, x: 0.02, xanchor: "left", font: { size: 16 } };
    layout.autosize = false;
    layout.width = 800;
    layout.margin.t = 48;
    if (bars) {
      layout.title.text = `${title} (${names[0]})`;
      layout.margin.l = layout.margin.r = layout.margin.b = 16;
      layout.height = chart.box.clientHeight + 64;
    } else {
      layout.height = 450;
      layout.xaxis.title = { text: names[0] };
      layout.yaxis.title = { text: names[1] };
      layout.showlegend = data.length > 1;
      layout.legend = { orientation: "h", y: -0.2 };
      layout.margin.l = 72;
      layout.margin.b = 64;
    }
    const size = { format, width: layout.width, height: layout.height };
    return library.then(() => Plotly.toImage({ data, layout }, { ...size, scale: format === "png" ? 2 : 1 })).then((url) =>
      format === "svg"
        ? saveText(`${chart.box.dataset.name}.svg`, "image/svg+xml", decodeURIComponent(url.slice(url.indexOf(",") + 1)))
        : save(`${chart.box.dataset.name}.png`, url));
  }

  // The numbers that are drawn, a column for each line.
  function saveNumbers(chart) {
    const { data, layout, names } = JSON.parse(chart.json);
    const cell = (value) => {
      let text = value === undefined || value === null ? "" : String(value);
      // A name that begins as a formula does is text to a spreadsheet.
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const plain = (text) => {
      const box = document.createElement("textarea");
      box.innerHTML = text;
      return box.value;
    };
    const rows = [];
    if (data[0] && data[0].type === "bar") {
      rows.push(["", names[0]]);
      layout.annotations.forEach((label, place) => {
        rows.push([plain(label.text).replace(/^<b>|<\/b>$/g, ""), data[0].x[place]]);
      });
    } else {
      const places = new Map();
      data.forEach((trace, line) => trace.x.forEach((x, point) => {
        if (!places.has(x)) places.set(x, []);
        places.get(x)[line] = trace.y[point];
      }));
      rows.push([names[0], ...data.map((trace) => plain(trace.name))]);
      for (const [x, values] of Array.from(places).sort((a, b) => a[0] - b[0])) {
        rows.push([x, ...data.map((_, line) => values[line])]);
      }
    }
    const text = rows.map((row) => row.map(cell).join(",") + "\n").join("");
    saveText(`${chart.box.dataset.name}.csv`, "text/csv", text);
  }

  for (const button of document.querySelectorAll("[data-save]")) {
    const chart = chartOf.get(button.closest("figure"));
    button.addEventListener("click", () => {
      const format = button.dataset.save;
      if (format === "csv") saveNumbers(chart);
      else savePicture(chart, format);
    });
  }
  for (const tools of document.querySelectorAll(".tools")) tools.hidden = false;

  function told(button, done) {
    const word = button.firstElementChild;
    word.textContent = done ? "Copied" : "Selected";
    setTimeout(() => { word.textContent = "Copy"; }, 2000);
  }

  for (const button of document.querySelectorAll(".command button")) {
    const code = button.parentElement.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", () => {
      // Where the clipboard is closed to pages, the command is left selected for the keyboard.
      const select = () => {
        getSelection().selectAllChildren(code);
        told(button, false);
      };
      if (!navigator.clipboard) return select();
      navigator.clipboard.writeText(code.textContent).then(() => told(button, true), select);
    });
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAgain());

  // Paper has no buttons: all panels are on it, and what was run; tables stay where they were opened.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = Array.from(document.querySelectorAll("details:not([open]):not(.data)"));
    closed.forEach((details) => { details.open = true; });
    root.classList.add("on-paper");
    for (const { panels } of switches) panels.forEach((panel) => { panel.hidden = false; });
    charts.forEach(draw);
  });
  addEventListener("afterprint", () => {
    closed.forEach((details) => { details.open = false; });
    root.classList.remove("on-paper");
    switches.forEach(choose);
    drawAgain();
  });

  library.then(drawWaiting);
})();
