"use strict";
(() => {
  // What the page was made for comes first to the eye and to a screen reader.
  const focus = document.querySelector(".problem, [data-focus]");
  if (focus && !location.hash) {
    focus.focus({ preventScroll: true });
    if (focus.matches(".problem")) focus.scrollIntoView({ block: "center" });
  }

  // Times in the reader's zone. Sweden writes them as the page does.
  const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    time.textContent = local.format(new Date(time.dateTime));
  }

  // Passages: the other side comes to the height of the one that was followed.
  const runs = [...document.querySelectorAll("a.copy")];
  const inPanes = () => window.matchMedia("(min-width: 900px)").matches;
  const follow = (run) => {
    const target = document.getElementById(run.getAttribute("href").slice(1));
    if (!target) return;
    for (const other of runs) other.classList.toggle("now", other.dataset.p === run.dataset.p);
    const pane = target.closest(".scroll");
    if (inPanes() && pane.scrollHeight > pane.clientHeight) {
      const wanted = run.getBoundingClientRect().top - pane.getBoundingClientRect().top;
      const within = Math.min(Math.max(wanted, 0), pane.clientHeight / 2);
      pane.scrollTop += target.getBoundingClientRect().top - pane.getBoundingClientRect().top - within;
      target.scrollIntoView({ block: "nearest" });
    } else {
      target.scrollIntoView({ block: inPanes() ? "nearest" : "center" });
    }
    target.focus({ preventScroll: true });
  };
  document.addEventListener("click", (event) => {
    const run = event.target.closest && event.target.closest("a.copy");
    if (!run || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    follow(run);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const run of runs) run.classList.remove("now");
  });

  // One letter decides, where nothing is being typed; held down, it must not decide the next one.
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (button) button.click();
  });
  // The second click of two would undo the undoing.
  for (const form of document.querySelectorAll('form[action="/removals/decide"]')) {
    let isSent = false;
    form.addEventListener("submit", (event) => {
      if (isSent) event.preventDefault();
      isSent = true;
    });
    window.addEventListener("pageshow", () => { isSent = false; });
  }
  const all = document.getElementById("choose-all");
  if (all) {
    const boxes = [...document.querySelectorAll('input[form="chosen"][type="checkbox"]')];
    all.hidden = false;
    all.addEventListener("click", () => {
      const wanted = boxes.some((box) => !box.checked);
      for (const box of boxes) box.checked = wanted;
    });
  }

  // A file may be dropped on a field; it goes into the field's own input.
  for (const place of document.querySelectorAll("[data-drop]")) {
    const input = document.getElementById(place.dataset.drop);
    const text = place.querySelector("textarea");
    const hasFile = (event) => [...event.dataTransfer.types].includes("Files");
    place.addEventListener("dragover", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      place.classList.add("over");
    });
    place.addEventListener("dragleave", (event) => {
      if (!place.contains(event.relatedTarget)) place.classList.remove("over");
    });
    place.addEventListener("drop", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      place.classList.remove("over");
      const one = new DataTransfer();
      for (const file of [...event.dataTransfer.files].slice(0, input.multiple ? undefined : 1)) {
        one.items.add(file);
      }
      input.files = one.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
      input.focus();
    });
    // The file wins over what was typed; who types again wants the text.
    if (text) text.addEventListener("input", () => {
      input.value = "";
      input.setCustomValidity("");
    });
  }
  // Beside the fields a dropped file would replace the page.
  for (const kind of ["dragover", "drop"]) {
    window.addEventListener(kind, (event) => {
      if (document.querySelector("[data-drop]")) event.preventDefault();
    });
  }

  // Told before all of it was sent.
  for (const input of document.querySelectorAll("[data-most]")) {
    input.addEventListener("change", () => {
      const isLarge = [...input.files].reduce((sum, file) => sum + file.size, 0) > input.dataset.most;
      input.setCustomValidity(isLarge ? input.dataset.large : "");
      input.reportValidity();
    });
  }

  // With all of its texts, too: the answer to more is no page, and what was typed would be lost.
  const bytes = (value) => (typeof value === "string" ? new Blob([value]).size : value.size);
  for (const form of document.querySelectorAll("form[data-most-body]")) {
    const overhead = 4096;
    const texts = form.querySelectorAll("textarea");
    const clear = () => { for (const text of texts) text.setCustomValidity(""); };
    form.addEventListener("input", clear);
    form.addEventListener("submit", (event) => {
      let sum = overhead;
      for (const value of new FormData(form).values()) sum += bytes(value);
      if (sum <= Number(form.dataset.mostBody)) return;
      event.preventDefault();
      const longest = [...texts].reduce((a, b) => (b.value.length > a.value.length ? b : a));
      longest.setCustomValidity(form.dataset.large);
      longest.reportValidity();
    });
  }

  // What was typed is there again on the page in the other language. Files cannot be.
  const question = document.getElementById("question");
  const language = document.querySelector(".switch a[hreflang]");
  if (question && language) {
    const key = "typed:" + location.pathname;
    const fields = () => [...question.elements].filter(
      (one) => one.name && !["hidden", "file", "submit"].includes(one.type));
    try {
      const typed = JSON.parse(sessionStorage.getItem(key) || "{}");
      sessionStorage.removeItem(key);
      for (const one of fields()) if (Object.hasOwn(typed, one.name)) one.value = typed[one.name];
    } catch { /* The browser keeps nothing. */ }
    language.addEventListener("click", (event) => {
      // A page of its own is no other place for this text.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      const typed = Object.fromEntries(fields().map((one) => [one.name, one.value]));
      try {
        sessionStorage.setItem(key, JSON.stringify(typed));
      } catch { /* It keeps nothing, or not as much. */ }
    });
  }

  // A check: its progress, until there is something else to show.
  const job = document.querySelector("[data-job]");
  if (job) {
    const bar = job.querySelector("progress");
    const state = job.querySelector("#state");
    const say = (words) => { if (state.textContent !== words) state.textContent = words; };
    const ask = async () => {
      let wait = 700;
      try {
        const answer = await fetch("/v1/check/" + job.dataset.job, { headers: { Accept: "application/json" } });
        if (answer.status === 404 || answer.status === 401) return location.reload();
        if (!answer.ok) throw new Error();
        const found = await answer.json();
        if (found.state === "done" || found.state === "failed") return location.reload();
        bar.value = found.progress;
        say(job.querySelector(`[data-stage="${found.stage}"]`).textContent);
      } catch {
        say(job.dataset.failed);
        wait = 3000;
      }
      setTimeout(ask, wait);
    };
    setTimeout(ask, 300);
  }
})();
