"use strict";
// Shows only the pairs that have the words which are typed.
const field = document.getElementById("search");
const pairs = [...document.querySelectorAll("article")].map((pair) => [pair, pair.textContent.toLowerCase()]);
const count = document.querySelector(".search b");
function search() {
  const words = field.value.toLowerCase().split(/\s+/);
  let shown = 0;
  for (const [pair, text] of pairs) {
    pair.hidden = !words.every((word) => text.includes(word));
    shown += !pair.hidden;
  }
  count.textContent = shown;
}
field.addEventListener("input", search);
field.closest("p").hidden = false;
search();
