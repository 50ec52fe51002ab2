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
    charts.forEach(draw);
  }

  // One chart a task, so that the page answers while it draws.
  let next = 0;
  function drawNext() {
    if (next < charts.length) {
      draw(charts[next++]);
      setTimeout(drawNext, 0);
    } else {
      root.dataset.charts = "drawn";
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

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

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
    drawAll();
  });

  drawNext();
})();
