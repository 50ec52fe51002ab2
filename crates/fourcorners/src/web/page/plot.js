// What was done in each second, a line for each kind, as the charts of a report look.

import { element, format } from "./common.js";

export function plot(box, lines, unit) {
  const seconds = Math.max(...lines.map((line) => line.y.length));
  const highest = Math.max(1, ...lines.flatMap((line) => line.y));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of [["viewBox", "0 0 1000 1000"], ["preserveAspectRatio", "none"]]) svg.setAttribute(name, value);
  lines.forEach((line, at) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const place = (value, second) =>
      `${Math.round((second + 1) / seconds * 1000)} ${Math.round((1 - value / highest) * 1000)}`;
    path.setAttribute("class", "line");
    path.setAttribute("d", `M${line.y.map(place).join("L")}`);
    path.style.stroke = `var(--line-${at % 8})`;
    svg.append(path);
  });
  const tick = (kind, side, share, words) => {
    const made = element("span", words, { class: kind });
    made.style[side] = `${share}%`;
    return made;
  };
  const area = element("div", "", { class: "plot" });
  area.append(svg, tick("y", "top", 0, format(highest)), tick("y", "top", 100, "0"),
    tick("x", "left", 100, `${seconds} s`));
  const legend = element("ul", "", { class: "legend" });
  legend.append(...lines.map((line, at) => {
    const item = element("li", line.label);
    item.style.color = `var(--line-${at % 8})`;
    return item;
  }));
  box.replaceChildren(element("span", unit, { class: "unit" }), area, legend);
}
