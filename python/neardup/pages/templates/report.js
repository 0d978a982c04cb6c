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

  // What the reader sets aside: a source "s1", a passage "p1" or a section "c1".
  const changed = document.getElementById("changed");
  const counts = changed && JSON.parse(changed.dataset.counts);
  let kept = changed ? JSON.parse(changed.dataset.kept) : [];
  const added = new Set();

  // The rates, from the same runs as those of the check.
  const count = (aside) => {
    const { runs, sources, passages, sections } = counts;
    const characters = runs.map(Math.abs);
    const depth = new Uint16Array(runs.length);
    sections.forEach((span, number) => aside.has("c" + (number + 1)) && characters.fill(0, ...span));
    const copies = sources.map((spans, source) => {
      const inside = new Uint8Array(runs.length);
      if (aside.has("s" + (source + 1))) return inside;
      for (const span of spans) inside.fill(1, ...span);
      passages.forEach(([of, pieces], number) => {
        if (of === source && aside.has("p" + (number + 1))) for (const span of pieces) inside.fill(0, ...span);
      });
      inside.forEach((copied, run) => (depth[run] += copied));
      return inside;
    });
    const sum = (includes, begin = 0, end = runs.length) => {
      let total = 0;
      for (let run = begin; run < end; run++) if (includes(run)) total += characters[run];
      return total;
    };
    const total = sum(() => true);
    const share = (part, whole = total) => (whole ? part / whole : 0);
    const copied = sum((run) => depth[run]);
    // The last entry is of the sources that are not listed.
    const listed = copies.slice(0, -1).map((inside) => ({
      characters: sum((run) => inside[run]),
      only: sum((run) => inside[run] && depth[run] === 1),
    }));
    const largest = listed.reduce((best, one, source) => (one.characters > listed[best].characters ? source : best), 0);
    return {
      characters: total,
      copied,
      rates: {
        total: share(copied),
        without: share(sum((run) => depth[run] && runs[run] > 0)),
        largest: listed.length ? share(listed[largest].characters) : 0,
      },
      largest: largest + 1,
      sources: listed.map((one) => ({ ...one, rate: share(one.characters) })),
      sections: [[0, runs.length], ...sections].map((span) => {
        const [part, whole] = [sum((run) => depth[run], ...span), sum(() => true, ...span)];
        return { copied: part, characters: whole, rate: share(part, whole) };
      }),
    };
  };

  const original = changed && count(new Set());

  // Numbers as Python writes them: half of a last digit goes to the even one.
  const fixed = (number) => {
    const exact = number.toFixed(100);
    const end = exact.indexOf(".") + 2;
    const half = /^50*$/.test(exact.slice(end)) && "02468".includes(exact[end - 1]);
    return half ? exact.slice(0, end) : number.toFixed(1);
  };
  const whole = (number) => number.toLocaleString("en-US");
  const percent = (rate) => {
    if (rate === 0 || rate === 1) return 100 * rate + "%";
    if (rate < 0.001) return "<0.1%";
    return rate > 0.999 ? ">99.9%" : fixed(100 * rate) + "%";
  };
  const verdict = (rate) => {
    const [low, high] = counts.bounds;
    const between = low === null ? "pass" : high === null ? "reject" : "review";
    const result = low !== null && rate < low ? "pass" : high !== null && rate > high ? "reject" : between;
    return [result, (counts.verdicts[result] || "").replace("{rate}", percent(rate))];
  };
  const change = (part, now, was) => {
    part.querySelector(".now").textContent = now;
    part.querySelector("s").textContent = now === was ? "" : was;
  };
  const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const width = (part, rate) => part.querySelector(".bar rect").setAttribute("width", (100 * rate).toFixed(2) + "%");

  const showCounts = (now, was) => {
    for (const part of document.querySelectorAll("[data-number]")) {
      part.textContent = whole(now[part.dataset.number]);
    }
    for (const item of document.querySelectorAll("li[data-rate]")) {
      const [rate, before] = [now, was].map((result) => result.rates[item.dataset.rate]);
      change(item, percent(rate), percent(before));
      width(item, rate);
      const says = item.querySelector("[data-says]");
      const values = { characters: whole(now.characters), copied: whole(now.copied), number: now.largest };
      if (says) says.textContent = fill(says.dataset.says, values);
    }
    const line = document.querySelector(".verdict");
    if (line) {
      const [[result, sentence], [, before]] = [now, was].map((counted) => verdict(counted.rates.total));
      line.className = "verdict " + result;
      change(line, sentence, before);
    }
    for (const row of document.querySelectorAll("tr[data-section]")) {
      const { rate, copied, characters } = now.sections[row.dataset.section];
      const [first, second] = row.querySelectorAll(".number");
      width(row, rate);
      first.textContent = percent(rate);
      second.textContent = `${whole(copied)} / ${whole(characters)}`;
    }
    for (const row of rows) {
      const { rate, characters, only } = now.sources[row.dataset.source - 1];
      const cells = row.querySelectorAll(".number");
      cells[0].textContent = percent(rate);
      cells[1].textContent = whole(characters);
      cells[3].textContent = whole(only);
    }
  };

  // Text that is set aside loses its colour, or has that of the next passage at its place.
  const showMarks = (aside) => {
    const within = ([begin, end]) => counts.sections.some(
      ([first, last], number) => aside.has("c" + (number + 1)) && first <= begin && end <= last);
    const isAside = (number) => aside.has("p" + number) || aside.has("s" + sourceOf.get(number));
    counts.sections.forEach((span, number) => {
      const part = document.getElementById("s" + (number + 1));
      if (part) part.classList.toggle("out", within(span));
      document.querySelector(`tr[data-section="${number + 1}"]`)?.classList.toggle("out", within(span));
    });
    for (const row of rows) row.classList.toggle("out", aside.has("s" + row.dataset.source));
    for (const article of document.querySelectorAll("article.evidence")) {
      const button = article.querySelector("button[data-aside]");
      article.classList.toggle("out", isAside(button.dataset.aside.slice(1)));
    }
    for (const link of [...runs, ...ticks]) {
      const left = passages(link).filter((number) => !isAside(number));
      const number = left[0] || passages(link)[0];
      const look = document.getElementById("p" + number).className.match(/c\d u\d/)[0];
      link.setAttribute("class", link.getAttribute("class").replace(/c\d u\d/, look));
      const place = document.querySelector(link.getAttribute("href").replace("#p", "#t"));
      link.classList.toggle("out", !left.length || Boolean((place || link).closest("section.out")));
      if (link.dataset.n) {
        const others = new Set(left.map((other) => sourceOf.get(other))).size - 1;
        link.dataset.n = sourceOf.get(number) + (others > 0 ? " +" + others : "");
      }
    }
  };

  const nameOf = (key) => {
    const number = key.slice(1);
    const part = { s: `tr[data-source="${number}"] .name a`, p: `#p${number} h3`, c: `tr[data-section="${number}"] .name a` }[key[0]];
    const name = document.createElement("td");
    const shown = document.querySelector(part);
    name.className = "name " + (shown.closest("[data-source]")?.className.match(/c\d u\d/)[0] || "");
    if (key[0] === "s") name.append(shown.closest("tr").querySelector(".chip").cloneNode(true), " ");
    name.append(...[...shown.childNodes].map((node) => node.cloneNode(true)));
    return name;
  };
  const list = () => {
    const lines = kept.map((entry) => {
      const line = document.createElement("tr");
      const cells = ["reason", "by", "at"].map((name) => {
        const cell = document.createElement("td");
        cell.textContent = entry[name];
        return cell;
      });
      const reason = document.createElement("input");
      reason.setAttribute("value", entry.reason);
      reason.setAttribute("aria-label", changed.dataset.reason);
      reason.dataset.key = entry.key;
      cells[0].replaceChildren(reason);
      const undo = document.createElement("button");
      undo.type = "button";
      undo.dataset.aside = entry.key;
      undo.textContent = changed.dataset.undo;
      const last = document.createElement("td");
      last.className = "screen";
      last.append(undo);
      line.append(nameOf(entry.key), ...cells, last);
      return line;
    });
    changed.querySelector("tbody").replaceChildren(...lines);
  };
  const update = () => {
    const aside = new Set(kept.map((entry) => entry.key));
    const [now, was] = [count(aside), original];
    showCounts(now, was);
    showMarks(aside);
    list();
    for (const button of document.querySelectorAll("button[data-aside]")) {
      button.textContent = aside.has(button.dataset.aside) ? changed.dataset.undo : changed.dataset.aside;
    }
    changed.hidden = !kept.length;
    const head = document.getElementById("bar");
    head.hidden = !kept.length;
    head.firstElementChild.textContent = fill(head.dataset.bar, {
      count: kept.length, rate: percent(now.rates.total), was: percent(was.rates.total),
    });
  };
  const toggle = (key) => {
    const inList = changed.contains(document.activeElement);
    const left = kept.filter((entry) => entry.key !== key);
    if (left.length === kept.length) {
      const time = new Date(Date.now() - 60_000 * new Date().getTimezoneOffset()).toISOString();
      const by = changed.querySelector("[name=by]").value;
      left.push({ key, reason: "", by, at: time.slice(0, 16).replace("T", " ") });
      added.add(key);
    }
    kept = left;
    update();
    if (inList) document.querySelector(`main :not(td.screen) > button[data-aside="${key}"]`).focus();
  };
  // The page itself, as it is shown: a browser reads a line end of its text only by its number.
  const save = () => {
    close();
    highlight(null);
    changed.dataset.kept = JSON.stringify(kept);
    // Chromium writes an empty attribute, which the policy forbids, unless it is looked up first.
    if (body.hasAttribute("style")) body.removeAttribute("style");
    body.classList.remove("live");
    found.replaceChildren();
    const page = "<!DOCTYPE html>\n" + document.documentElement.outerHTML.replaceAll("\r", "&#13;");
    body.classList.add("live");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    const name = decodeURIComponent(location.pathname.split("/").pop()).replace(/(-changed)?(\.html?)?$/, "");
    link.download = (name || "report") + "-changed.html";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  document.addEventListener("input", (event) => {
    const { target } = event;
    target.setAttribute("value", target.value);
    for (const entry of kept) {
      if (entry.key === target.dataset.key) entry.reason = target.value;
      if (target.name === "by" && added.has(entry.key)) entry.by = target.value;
    }
    if (target.name === "by") list();
  });
  body.classList.add("live");
  if (kept.length) update();

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = event.target;
    const chosen = target.closest("button[data-aside]");
    if (chosen) return toggle(chosen.dataset.aside);
    const action = target.closest("button[data-do]");
    if (action) {
      if (action.dataset.do === "save") save();
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
