// Adds to the charts of a page what a pointer does with them, the other axis, and files of them; to panels the
// buttons that choose them, and to tables what is pasted elsewhere. All of it is there without a script.
// `fourcornersPart(part)` is called for each part of a page.
const fourcornersPart = (() => {
  "use strict";
  const AREA = 1000;
  // Of the height of a plot, what the name at a line's end takes.
  const LABEL_PERCENT = 7.5;
  // A picture has the size of those of `report --svg`.
  const WIDTH = 800, EDGE = 24, PLOT_HEIGHT = 320, LEFT = 84, ROW = 34;

  // Where a value stands between the ends of an axis, 0 to 1. What a logarithmic axis has no place for is at
  // its foot.
  function place({ log, range: [low, high] }, value) {
    const share = log
      ? (Math.log10(Math.max(value, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))
      : (value - low) / (high - low);
    return Math.min(1, Math.max(0, share));
  }

  const xOf = ({ x }, index) => (Array.isArray(x) ? x[index] : x.from + x.step * index);

  function format(value) {
    if (value === null || !Number.isFinite(value)) return "–";
    const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    return value.toLocaleString("en", { maximumFractionDigits: Math.min(digits, 6) });
  }

  function readLines(box) {
    const chart = JSON.parse(box.nextElementSibling.textContent);
    return { ...chart, box, plot: box.querySelector(".plot") };
  }

  // Draws the values of the chart against its axis.
  function draw(chart) {
    const { plot, up, lines, across } = chart;
    const units = (share) => Math.round(share * AREA);
    plot.querySelector(".grid").setAttribute("d",
      up.ticks.map(([value]) => `M0 ${units(1 - place(up, value))}H${AREA}`).join(""));
    for (const tick of plot.querySelectorAll(".y")) tick.remove();
    for (const [value, name] of up.ticks) {
      const tick = document.createElement("span");
      tick.className = "y";
      tick.textContent = name;
      tick.style.top = `${(1 - place(up, value)) * 100}%`;
      plot.append(tick);
    }
    const groups = plot.querySelectorAll("g");
    lines.forEach((line, at) => {
      const points = line.y.flatMap((y, index) =>
        (y === null ? [] : [[units(place(across, xOf(line, index))), units(1 - place(up, y))]]));
      groups[at].querySelector(".line")?.setAttribute("d",
        points.map(([x, y], index) => `${index ? "L" : "M"}${x} ${y}`).join(""));
      const dots = groups[at].querySelector(".dot");
      const dotted = dots?.classList.contains("last") ? points.slice(-1) : points;
      // Of several at one place, one.
      const apart = dotted.filter(([x, y], at) => !at || x !== dotted[at - 1][0] || y !== dotted[at - 1][1]);
      dots?.setAttribute("d", apart.map(([x, y]) => `M${x} ${y}h0`).join(""));
    });
    // Ends of lines follow; they may come close to one another then.
    const ends = Array.from(plot.querySelectorAll(".end"));
    for (const end of ends) {
      // By its number: two lines may have one name.
      const line = lines[Number(end.dataset.line)];
      end.style.top = `${(1 - place(up, line.y.at(-1))) * 100}%`;
    }
    ends.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
    // Down from the top, and what went over the foot up again, as they were drawn first.
    const tops = ends.map((end) => parseFloat(end.style.top));
    for (let at = 1; at < tops.length; at += 1) tops[at] = Math.max(tops[at], tops[at - 1] + LABEL_PERCENT);
    let most = 100;
    for (let at = tops.length - 1; at >= 0; at -= 1) {
      tops[at] = Math.min(tops[at], most);
      most = tops[at] - LABEL_PERCENT;
    }
    ends.forEach((end, at) => { end.style.top = `${tops[at].toFixed(2)}%`; });
  }

  // What the point nearest to the pointer says.
  function pointing(chart) {
    const { plot, box, across } = chart;
    const tip = document.createElement("span");
    tip.className = "tip";
    tip.hidden = true;
    plot.append(tip);
    plot.addEventListener("pointerleave", () => { tip.hidden = true; });
    plot.addEventListener("pointermove", (event) => {
      const area = plot.querySelector("svg").getBoundingClientRect();
      let nearest = null;
      for (const line of chart.lines) {
        line.y.forEach((y, index) => {
          if (y === null) return;
          const left = place(across, xOf(line, index)) * area.width;
          const top = (1 - place(chart.up, y)) * area.height;
          const away = Math.hypot(left - (event.clientX - area.left), top - (event.clientY - area.top));
          if (!nearest || away < nearest.away) nearest = { away, left, top, line, index };
        });
      }
      if (!nearest) return;
      const { line, index, left, top } = nearest;
      const said = line.says?.[index]
        ?? `${format(xOf(line, index))} ${across.name}: ${format(line.y[index])} ${box.dataset.unit}`;
      tip.textContent = chart.lines.length > 1 ? `${line.label}: ${said}` : said;
      tip.hidden = false;
      tip.style.left = `${Math.min(left, Math.max(0, area.width - tip.offsetWidth))}px`;
      tip.style.top = `${top < 40 ? top + 12 : top - tip.offsetHeight - 8}px`;
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

  function saveBlob(name, blob) {
    const url = URL.createObjectURL(blob);
    save(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  // A picture stands alone: it has what the page says around the drawing, and its colours.
  function picture(figure, chart) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [paper, ink] = ["--paper", "--ink"].map(colour);
    const text = (x, y, words, more = "") => `<text x="${x}" y="${y}" fill="${ink}" ${more}>${escaped(words)}</text>`;
    const box = figure.querySelector(".chart");
    const title = figure.querySelector("summary .unseen").textContent.replace(/^: /, "");
    const parts = [text(EDGE, 38, title, 'font-size="18" font-weight="700"')];
    let height;
    if (!chart) {
      parts.push(text(EDGE, 62, box.dataset.unit, 'font-size="14"'));
      const rows = Array.from(box.querySelectorAll(".row"));
      const left = WIDTH * 0.4;
      rows.forEach((row, at) => {
        const y = 78 + at * ROW;
        const bar = row.querySelector("i");
        const length = Math.max(1, parseFloat(bar.style.getPropertyValue("--share")) * (WIDTH - left - 110));
        const weight = row.classList.contains("tested") ? 'font-weight="700" ' : "";
        parts.push(text(left - 10, y + 17, row.querySelector(".of").textContent, `${weight}font-size="14" text-anchor="end"`));
        parts.push(`<rect x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="18" fill="${getComputedStyle(bar).backgroundColor}"/>`);
        // A bar that is longer than there is room for is broken near its end.
        if (bar.classList.contains("cut")) {
          parts.push(`<path d="M${(left + length - 26).toFixed(1)} ${y + 23}l8 -22m6 0l-8 22" stroke="${paper}" stroke-width="4"/>`);
        }
        parts.push(text(left + length + 6, y + 17, row.querySelector("b").textContent, 'font-size="14"'));
      });
      height = 78 + rows.length * ROW + EDGE;
      if (box.querySelector(".cut")) {
        parts.push(text(EDGE, height - 8, "Bars with a break are longer than there is room for.", 'font-size="12"'));
      }
    } else {
      const { up, across, lines, plot } = chart;
      const width = WIDTH - LEFT - EDGE, top = 84;
      parts.push(text(EDGE, 66, up.name, 'font-size="12"'));
      for (const [value, name] of up.ticks) {
        const y = (top + (1 - place(up, value)) * PLOT_HEIGHT).toFixed(1);
        parts.push(`<path d="M${LEFT} ${y}h${width}" stroke="${colour("--grid")}"/>`);
        parts.push(text(LEFT - 8, Number(y) + 4, name, 'text-anchor="end"'));
      }
      for (const [value, name] of across.ticks) {
        parts.push(text((LEFT + place(across, value) * width).toFixed(1), top + PLOT_HEIGHT + 20, name, 'text-anchor="middle"'));
      }
      parts.push(text(WIDTH - EDGE, top + PLOT_HEIGHT + 40, across.name, 'text-anchor="end"'));
      const strokes = Array.from(plot.querySelectorAll("svg .line, svg .dot"), (path) => {
        const { stroke, strokeWidth, strokeDasharray } = getComputedStyle(path);
        return `<path d="${path.getAttribute("d")}" fill="none" stroke="${stroke}" stroke-width="${strokeWidth}" `
          + `stroke-dasharray="${strokeDasharray}" stroke-linecap="round" vector-effect="non-scaling-stroke"/>`;
      });
      parts.push(`<svg x="${LEFT}" y="${top}" width="${width}" height="${PLOT_HEIGHT}" viewBox="0 0 ${AREA} ${AREA}" `
        + `preserveAspectRatio="none" overflow="visible">${strokes.join("")}</svg>`);
      height = top + PLOT_HEIGHT + 56;
      if (lines.length > 1) {
        const groups = plot.querySelectorAll("g");
        lines.forEach(({ label }, at) => {
          const { stroke } = getComputedStyle(groups[at]);
          parts.push(`<path d="M${LEFT} ${height - 5}h30" stroke="${stroke}" stroke-width="2.5"/>`);
          parts.push(text(LEFT + 40, height, label, 'font-size="13"'));
          height += 22;
        });
      }
      height += EDGE;
    }
    return { height, svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" `
      + `font-family="system-ui, sans-serif" font-size="12"><rect width="100%" height="100%" fill="${paper}"/>${parts.join("")}</svg>` };
  }

  function saveSvg(figure, chart) {
    const { svg } = picture(figure, chart);
    saveBlob(`${figure.querySelector(".chart").dataset.name}.svg`, new Blob([svg], { type: "image/svg+xml" }));
  }

  function savePng(figure, chart) {
    const { svg, height } = picture(figure, chart);
    const image = new Image();
    image.onload = () => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 2 * WIDTH, height: 2 * height });
      const drawing = canvas.getContext("2d");
      drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
      save(`${figure.querySelector(".chart").dataset.name}.png`, canvas.toDataURL("image/png"));
    };
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  }

  // The numbers that are drawn, a column for each line.
  function saveCsv(figure, chart) {
    const box = figure.querySelector(".chart");
    const rows = [];
    if (!chart) {
      rows.push(["", box.dataset.unit]);
      for (const row of box.querySelectorAll(".row")) {
        const value = row.querySelector("b").dataset.value;
        rows.push([row.querySelector(".of").textContent, value === undefined ? "" : Number(value)]);
      }
    } else {
      const places = new Map();
      chart.lines.forEach((line, column) => line.y.forEach((y, index) => {
        const x = xOf(line, index);
        if (!places.has(x)) places.set(x, []);
        places.get(x)[column] = y;
      }));
      rows.push([chart.across.column ?? chart.across.name, ...chart.lines.map(({ label }) => label)]);
      for (const [x, values] of Array.from(places).sort((a, b) => a[0] - b[0])) {
        rows.push([x, ...chart.lines.map((_, column) => values[column])]);
      }
    }
    const cell = (value) => {
      let text = value === undefined || value === null ? "" : String(value);
      // A name that begins as a formula does is text to a spreadsheet.
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const text = rows.map((row) => row.map(cell).join(",") + "\n").join("");
    saveBlob(`${box.dataset.name}.csv`, new Blob([text], { type: "text/csv" }));
  }

  const savers = { svg: saveSvg, png: savePng, csv: saveCsv };

  // Of the panels of a switch, one is shown: that of the buttons that are pressed.
  function switching(all) {
    const groups = Array.from(all.querySelectorAll(":scope > .switch"));
    const panels = Array.from(all.querySelectorAll(":scope > .panel"));
    const choose = () => {
      const pressed = (group) => group.querySelector("[aria-pressed=true]").dataset.value;
      const chosen = groups.map(pressed).join(" ");
      for (const panel of panels) panel.hidden = panel.dataset.choices !== chosen;
    };
    for (const group of groups) {
      const buttons = Array.from(group.querySelectorAll("button"));
      group.hidden = group.hasAttribute("data-single");
      for (const button of buttons) {
        button.addEventListener("click", () => {
          for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
          choose();
        });
      }
    }
    choose();
  }

  // What a cell says; what stands in it on a line of its own is a word of its own.
  function wordsOf(cell) {
    const copy = cell.cloneNode(true);
    for (const apart of copy.querySelectorAll("br, small, code, div, p, span")) apart.before(" ");
    return copy.textContent.replace(/\s+/g, " ").trim();
  }

  // The cells of a table in their columns. A heading of several rows is joined, and stands over all of its columns; any
  // other cell is said once.
  function cellsOf(table) {
    const grid = [];
    Array.from(table.rows).forEach((row, at) => {
      let column = 0;
      for (const cell of row.cells) {
        while (grid[at]?.[column] !== undefined) column += 1;
        const text = wordsOf(cell);
        const isHeading = row.parentElement === table.tHead;
        for (let down = 0; down < cell.rowSpan; down += 1) {
          for (let across = 0; across < cell.colSpan; across += 1) {
            (grid[at + down] ??= [])[column + across] = down || (across && !isHeading) ? "" : text;
          }
        }
        column += cell.colSpan;
      }
    });
    const heads = grid.splice(0, table.tHead?.rows.length ?? 0);
    const head = Array.from(grid[0] ?? [], (_, column) =>
      heads.map((row) => row[column] ?? "").filter(Boolean).join(" "));
    return { head, rows: grid.map((row) => Array.from(row, (cell) => cell ?? "")) };
  }

  const pasted = {
    Markdown(table) {
      const { head, rows } = cellsOf(table);
      const plain = (cell) => cell.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll("<", "&lt;");
      const line = (cells) => `| ${cells.map(plain).join(" | ")} |\n`;
      return line(head) + line(head.map((_, at) => (at ? "---:" : "---"))) + rows.map(line).join("");
    },
    BBCode(table) {
      const { head, rows } = cellsOf(table);
      const line = (cells, tag) =>
        `[tr]${cells.map((cell) => `[${tag}]${cell.replaceAll("[", "(").replaceAll("]", ")")}[/${tag}]`).join("")}[/tr]\n`;
      return `[table]\n${line(head, "th")}${rows.map((row) => line(row, "td")).join("")}[/table]\n`;
    },
  };

  // Buttons below a table that copy it.
  function copying(holder) {
    const table = holder.querySelector("table");
    const tools = document.createElement("div");
    tools.className = "tools paste";
    for (const form of Object.keys(pasted)) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.paste = form;
      button.textContent = form;
      button.setAttribute("aria-label", `Copy as ${form}: ${holder.getAttribute("aria-label")}`);
      button.addEventListener("click", () => {
        const text = pasted[form](table);
        const told = (word) => {
          const says = (first) => `${first}: ${holder.getAttribute("aria-label")}`;
          button.textContent = word;
          button.setAttribute("aria-label", says(word));
          setTimeout(() => {
            button.textContent = form;
            button.setAttribute("aria-label", says(`Copy as ${form}`));
          }, 2000);
        };
        // Where the clipboard is closed to pages, a file is saved instead.
        const kept = () => {
          saveBlob("table.txt", new Blob([text], { type: "text/plain" }));
          told("Saved");
        };
        if (!navigator.clipboard) return kept();
        navigator.clipboard.writeText(text).then(() => told("Copied"), kept);
      });
      tools.append(button);
    }
    holder.after(tools);
  }

  return (part) => {
    part.querySelectorAll("[data-switch]").forEach(switching);
    // The table of a chart is saved as CSV.
    for (const holder of part.querySelectorAll(".wide:not(.data .wide)")) copying(holder);
    for (const figure of part.querySelectorAll("figure:has(> .chart)")) {
      const box = figure.querySelector(".chart");
      // Its data is read when somebody comes to the chart.
      let chart = null;
      const read = () => { chart ??= box.classList.contains("lines") ? readLines(box) : null; return chart; };
      if (box.classList.contains("lines")) {
        box.addEventListener("pointerenter", () => pointing(read()), { once: true });
      }
      const axis = figure.querySelector(".tools .axis");
      axis?.addEventListener("click", () => {
        read();
        [chart.up, chart.other] = [chart.other, chart.up];
        draw(chart);
        axis.setAttribute("aria-pressed", String(chart.up.log));
      });
      for (const button of figure.querySelectorAll("[data-save]")) {
        button.addEventListener("click", () => savers[button.dataset.save](figure, read()));
      }
      const tools = figure.querySelector(".tools");
      if (tools) tools.hidden = false;
    }
  };
})();
