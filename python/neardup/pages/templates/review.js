"use strict";
// Pages of removals, only those with the words that are typed; and the ids chosen for --restore.
const PAGE = 50;
const articles = [...document.querySelectorAll("article")];
const boxes = articles.map((article) => article.querySelector("input"));
const pagers = [...document.querySelectorAll(".pager")];
const field = document.getElementById("search");
const lines = document.getElementById("lines");
let found = articles, page = 0, texts;
function show(wanted) {
  const last = Math.max(Math.ceil(found.length / PAGE) - 1, 0);
  page = Math.min(Math.max(wanted, 0), last);
  const shown = new Set(found.slice(page * PAGE, (page + 1) * PAGE));
  for (const article of articles) article.hidden = !shown.has(article);
  for (const pager of pagers) {
    const [before, after] = pager.querySelectorAll("button");
    pager.hidden = !last;
    before.disabled = !page;
    after.disabled = page === last;
    pager.querySelector("b").textContent = `${page + 1} / ${last + 1}`;
  }
  document.querySelector(".search b").textContent = found.length;
}
function search() {
  const words = field.value.toLowerCase().split(/\s+/);
  texts ??= articles.map((article) => article.textContent.toLowerCase());
  found = articles.filter((_, number) => words.every((word) => texts[number].includes(word)));
  show(0);
}
function follow() {
  const target = document.getElementById(location.hash.slice(1));
  const place = found.indexOf(target?.closest("article"));
  if (place < 0) return;
  show(Math.floor(place / PAGE));
  target.scrollIntoView();
}
function choose() {
  const chosen = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  lines.value = [...chosen].map((line) => line + "\n").join("");
  document.querySelector(".chosen b").textContent = chosen.size;
  document.getElementById("save").disabled = !chosen.size;
}
function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.value], { type: "text/plain" }));
  link.download = "ids.txt";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
for (const pager of pagers) {
  const [before, after] = pager.querySelectorAll("button");
  before.addEventListener("click", () => turn(page - 1));
  after.addEventListener("click", () => turn(page + 1));
}
function turn(wanted) {
  show(wanted);
  document.getElementById("removals").scrollIntoView();
}
field.addEventListener("input", search);
lines.addEventListener("focus", () => lines.select());
document.getElementById("save").addEventListener("click", save);
document.addEventListener("change", choose);
addEventListener("hashchange", follow);
document.body.classList.add("live");
show(0);
choose();
follow();
