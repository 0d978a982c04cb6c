"use strict";
(() => {
  const body = document.body;
  const panel = document.getElementById("panel");
  const bar = document.getElementById("only");
  const found = panel.querySelector(".found");
  const heading = panel.querySelector("h2");
  const runs = [...document.querySelectorAll("a.copy")];
  const ticks = [...document.querySelectorAll(".strip a")];
  const rows = [...document.querySelectorAll("tr[data-source]")];
  const sourceOf = new Map();
  for (const article of document.querySelectorAll("article.evidence")) {
    sourceOf.set(article.id.slice(1), article.dataset.source);
  }
  const passages = (link) => link.dataset.p.split(" ");
  const shows = (link, source) => passages(link).some((number) => sourceOf.get(number) === source);
  const narrow = () => window.matchMedia("(max-width: 1099px)").matches;
  let current = null;
  let only = null;

  // Everything in the panel is a copy of nodes that the page has already.
  const show = (run) => {
    const numbers = passages(run);
    current = run;
    found.replaceChildren();
    const sources = new Set(numbers.map((number) => sourceOf.get(number))).size;
    if (sources > 1) {
      const line = document.createElement("p");
      line.textContent = panel.dataset.here.replace("{count}", sources);
      found.append(line);
    }
    for (const number of numbers) {
      const article = document.getElementById("p" + number).cloneNode(true);
      article.removeAttribute("id");
      found.append(article);
    }
    for (const other of runs) {
      other.classList.toggle("now", passages(other).includes(numbers[0]));
    }
    panel.hidden = false;
    panel.scrollTop = 0;
    body.classList.add("open");
  };
  const go = (run) => {
    show(run);
    run.scrollIntoView({ block: narrow() ? "start" : "center" });
  };
  // The panel makes the text narrower; what the reader looks at stays where it is.
  const keeping = (run, change) => {
    const before = run.getBoundingClientRect().top;
    change();
    window.scrollBy(0, run.getBoundingClientRect().top - before);
  };
  const close = () => {
    if (panel.hidden) return;
    const inside = panel.contains(document.activeElement);
    keeping(current, () => {
      panel.hidden = true;
      body.classList.remove("open");
    });
    for (const run of runs) run.classList.remove("now");
    if (inside && current) current.focus({ preventScroll: true });
  };
  const step = (by) => {
    let at = runs.indexOf(current) + by;
    if (current === null && by < 0) at = runs.length - 1;
    while (at >= 0 && at < runs.length) {
      if (runs[at].id && (only === null || shows(runs[at], only))) return go(runs[at]);
      at += by;
    }
  };
  const highlight = (source) => {
    close();
    current = null;
    only = source;
    body.classList.toggle("only", source !== null);
    bar.hidden = source === null;
    for (const link of [...runs, ...ticks]) {
      link.classList.toggle("on", source !== null && shows(link, source));
    }
    for (const row of rows) {
      if (row.dataset.source !== source) {
        row.removeAttribute("aria-current");
        continue;
      }
      row.setAttribute("aria-current", "true");
      const look = getComputedStyle(row);
      body.style.setProperty("--only-deep", look.getPropertyValue("--deep"));
      body.style.setProperty("--only-tint", look.getPropertyValue("--tint"));
      bar.firstElementChild.textContent = bar.dataset.only.replace("{number}", source);
    }
  };

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = event.target;
    const action = target.closest("button[data-do]");
    if (action) {
      if (action.dataset.do === "close") close();
      if (action.dataset.do === "next") step(1);
      if (action.dataset.do === "previous") step(-1);
      if (action.dataset.do === "all") highlight(null);
      return;
    }
    const link = target.closest("a[data-p]");
    if (link) {
      event.preventDefault();
      if (link.classList.contains("copy")) {
        keeping(link, () => show(link));
        if (narrow()) link.scrollIntoView({ block: "start" });
        heading.focus({ preventScroll: true });
      } else {
        go(document.getElementById(link.getAttribute("href").slice(1)));
      }
      return;
    }
    const row = target.closest("tr[data-source]");
    if (row) {
      event.preventDefault();
      highlight(row.dataset.source === only ? null : row.dataset.source);
    }
  });
  document.addEventListener("focusin", (event) => {
    const run = event.target.closest("a.copy");
    if (run && !panel.hidden && run !== current) keeping(run, () => show(run));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (panel.hidden) highlight(null);
    else close();
  });
  // The overview of several papers links to a source.
  const linked = rows.find((row) => "#" + row.id === location.hash);
  if (linked) highlight(linked.dataset.source);
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
