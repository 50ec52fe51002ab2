// What is done with a page beyond its parts: commands are copied, and paper has everything.
(() => {
  "use strict";
  fourcornersPart(document);

  function told(button, done) {
    const word = button.firstElementChild;
    const before = word.dataset.word ??= word.textContent;
    word.textContent = done ? "Copied" : "Selected";
    setTimeout(() => { word.textContent = before; }, 2000);
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

  // Paper has no buttons: what is folded is on it; tables of charts stay where they were opened.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = Array.from(document.querySelectorAll("details:not([open]):not(.data)"));
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));

  document.documentElement.dataset.ready = "yes";
})();
