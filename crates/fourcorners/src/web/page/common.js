// What all views use: questions to the server, elements, lists to choose from.

export const $ = (id) => document.getElementById(id);

// Asks the server; what it refuses is an error with its words.
export async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer: it may have been stopped.");
  }
  const content = await answer.json().catch(() => null);
  if (!answer.ok) {
    const said = content?.error ?? `The server answered ${answer.status}.`;
    throw Object.assign(new Error(said), { status: answer.status });
  }
  return content;
}

// What the server says in an error.
function sentence(content) {
  try {
    return JSON.parse(content).error;
  } catch {
    return undefined;
  }
}

// What the server made, as text.
export async function text(path) {
  let answer;
  try {
    answer = await fetch(path);
  } catch {
    throw new Error("The server does not answer: it may have been stopped.");
  }
  const content = await answer.text();
  if (!answer.ok) throw new Error(sentence(content) ?? `The server answered ${answer.status}: ${content.slice(0, 200)}`);
  return content;
}

export function trouble(error) {
  $("trouble").textContent = error ? error.message : "";
  $("trouble").hidden = !error;
}

// A cell or an item with text; nothing from a record is ever taken for markup.
export function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text ?? "";
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells.map((cell) => {
    if (cell instanceof HTMLTableCellElement) return cell;
    if (cell instanceof Node) {
      const holder = document.createElement("td");
      holder.append(cell);
      return holder;
    }
    return typeof cell === "number"
      ? element("td", format(cell), { class: "number" })
      : element("td", cell);
  }));
  return made;
}

export function format(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en", {
    minimumFractionDigits: 0,
    maximumFractionDigits: Math.min(digits, 6),
  });
}

// Check boxes with a search field above them. Order of choice is kept: the first is under test.
export class Choices {
  constructor(box, find, changed) {
    Object.assign(this, { box, find, chosen: [], changed });
    find?.addEventListener("input", () => this.filter(find.value));
  }

  show(entries) {
    this.chosen = this.chosen.filter((value) => entries.some((entry) => entry.value === value));
    this.box.replaceChildren(...entries.map(({ value, label }) => {
      const input = element("input", "", { type: "checkbox", value });
      input.checked = this.chosen.includes(value);
      input.addEventListener("change", () => {
        this.chosen = this.chosen.filter((other) => other !== value);
        if (input.checked) this.chosen.push(value);
        this.mark();
        this.changed?.();
      });
      const holder = document.createElement("label");
      holder.append(input, element("span", label));
      return holder;
    }));
    this.any = entries.length > 0;
    if (!entries.length) this.box.replaceChildren(element("p", "None.", { class: "hint" }));
    this.mark();
    if (this.find) this.filter(this.find.value);
  }

  choose(values) {
    this.chosen = [...values];
    for (const input of this.box.querySelectorAll("input")) {
      input.checked = this.chosen.includes(input.value);
    }
    this.mark();
  }

  mark() {
    for (const input of this.box.querySelectorAll("input")) {
      input.parentElement.classList.toggle("chosen", input.checked);
    }
  }

  filter(part) {
    const wanted = part.trim().toLowerCase();
    for (const holder of this.box.querySelectorAll("label")) {
      const value = holder.querySelector("input").value;
      holder.hidden = !`${holder.textContent} ${value}`.toLowerCase().includes(wanted);
      holder.style.display = holder.hidden ? "none" : "";
    }
  }
}
