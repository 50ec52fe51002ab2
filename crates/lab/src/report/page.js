// Draws the charts in the colours of the style sheet, again when those change, and once more for
// paper. The page is complete without it but for the drawings.
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
    drawn: false,
  }));
  const chartOf = new Map(charts.map((chart) => [chart.figure, chart]));

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

  function draw(chart) {
    const { data, layout, config } = painted(chart);
    chart.drawn = true;
    return Plotly.newPlot(chart.box, data, layout, config);
  }

  const shown = (chart) => !chart.panel || !chart.panel.hidden;

  // Again in other colours or at another width.
  function drawAgain() {
    return Promise.all(charts.filter((chart) => chart.drawn).map(draw));
  }

  // One chart a task, so that the page answers while it draws, those on the screen first. What no button
  // shows waits for it.
  const onScreen = new Set();
  const watcher = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) onScreen.add(target);
      else onScreen.delete(target);
    }
  });
  const waits = (chart) => !chart.drawn && shown(chart);
  let next = 0;
  function drawNext() {
    while (next < charts.length && !waits(charts[next])) next += 1;
    if (next < charts.length) {
      draw(charts.find((chart) => onScreen.has(chart.box) && waits(chart)) ?? charts[next]);
      setTimeout(drawNext, 0);
    } else {
      watcher.disconnect();
      root.dataset.charts = "drawn";
    }
  }

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
        if (chart.drawn) Plotly.Plots.resize(chart.box);
        else if (root.dataset.charts) draw(chart);
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
    return Plotly.toImage({ data, layout }, { ...size, scale: format === "png" ? 2 : 1 }).then((url) =>
      format === "svg"
        ? saveText(`${chart.box.dataset.name}.svg`, "image/svg+xml", decodeURIComponent(url.slice(url.indexOf(",") + 1)))
        : save(`${chart.box.dataset.name}.png`, url));
  }

  // The numbers that are drawn, a column for each line.
  function saveNumbers(chart) {
    const { data, layout, names } = JSON.parse(chart.json);
    const cell = (value) => {
      const text = value === undefined || value === null ? "" : String(value);
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

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);

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

  for (const { box } of charts) watcher.observe(box);
  drawNext();
})();
