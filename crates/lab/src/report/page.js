// Draws the charts in the colours of the style sheet, again when those change, and once more for
// paper. The page is complete without it but for the drawings.
(() => {
  "use strict";
  const root = document.documentElement;
  const charts = Array.from(document.querySelectorAll(".chart"), (box) => ({
    box,
    json: box.nextElementSibling.textContent,
  }));

  // Colours are named in the data; only fields that hold a colour are looked at, so that a
  // drive's name is never taken for one.
  function painted(json) {
    const style = getComputedStyle(root);
    const colour = (value) => {
      const name = typeof value === "string" && /^var\((--[a-z0-9-]+)\)$/.exec(value);
      return name ? style.getPropertyValue(name[1]).trim() : value;
    };
    return JSON.parse(json, (key, value) => {
      if (!/color$/.test(key)) return value;
      return Array.isArray(value) ? value.map(colour) : colour(value);
    });
  }

  function draw({ box, json }) {
    const { data, layout, config } = painted(json);
    return Plotly.newPlot(box, data, layout, config);
  }

  function drawAll() {
    openSwitches();
    return Promise.all(charts.map(draw));
  }

  // One chart a task, so that the page answers while it draws.
  let next = 0;
  function drawNext() {
    if (next < charts.length) {
      draw(charts[next++]);
      setTimeout(drawNext, 0);
    } else {
      closeSwitches();
      root.dataset.charts = "drawn";
    }
  }

  // Of the panels of a switch, one is shown: that of the buttons that are pressed. Panels stay open
  // until their charts were drawn, because a closed one has no width to draw in.
  const switches = Array.from(document.querySelectorAll("[data-switch]"), (all) => ({
    groups: Array.from(all.querySelectorAll(".switch")),
    panels: Array.from(all.querySelectorAll(".panel")),
  }));

  function choose({ groups, panels }) {
    const chosen = groups.map((group) => [
      group.dataset.key,
      group.querySelector("[aria-pressed=true]").dataset.value,
    ]);
    for (const panel of panels) {
      const shown = chosen.every(([key, value]) => panel.dataset[key] === value);
      if (shown && panel.hidden) {
        panel.hidden = false;
        for (const chart of panel.querySelectorAll(".chart")) Plotly.Plots.resize(chart);
      }
      panel.hidden = !shown;
    }
  }

  for (const one of switches) {
    for (const group of one.groups) {
      const buttons = Array.from(group.querySelectorAll("button"));
      for (const button of buttons) {
        button.addEventListener("click", () => {
          for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
          choose(one);
        });
      }
    }
  }

  function openSwitches() {
    for (const { panels } of switches) panels.forEach((panel) => { panel.hidden = false; });
  }

  function closeSwitches() {
    for (const one of switches) {
      one.groups.forEach((group) => { group.hidden = false; });
      choose(one);
    }
  }

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

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawAll().then(closeSwitches);
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = Array.from(document.querySelectorAll("details:not([open])"));
    closed.forEach((details) => { details.open = true; });
    root.classList.add("on-paper");
    drawAll();
  });
  addEventListener("afterprint", () => {
    closed.forEach((details) => { details.open = false; });
    root.classList.remove("on-paper");
    drawAll().then(closeSwitches);
  });

  drawNext();
})();
