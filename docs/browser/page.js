"use strict";

const part = (id) => document.getElementById(id);
const words = JSON.parse(part("words").textContent);
const defaults = JSON.parse(part("defaults").textContent);
const MOST_BYTES = 20 << 20, MOST_ROWS = 200, MOST_SHOWN = 160;

// The engine, once it is started; after a fault it is started again.
let engine = null;

async function start() {
  const bytes = Uint8Array.from(atob(part("engine").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await new Response(stream).arrayBuffer();
  return (await WebAssembly.instantiate(module)).instance.exports;
}

async function ask(task, texts) {
  engine ??= await start();
  const at = (length) => {
    // The address comes first: finding it may move the memory.
    const address = engine.buffer(length);
    return new Uint8Array(engine.memory.buffer, address, length);
  };
  try {
    const question = new TextEncoder().encode(JSON.stringify({ ...defaults, texts }));
    at(question.length).set(question);
    const length = engine[task]();
    const answer = JSON.parse(new TextDecoder().decode(at(length)));
    if (answer.error) throw new Error(answer.error);
    return answer;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
      engine = null;
      throw new Error(words.too_much);
    }
    throw error;
  }
}

function said(name, values = {}) {
  return words[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

function made(kind, content = [], settings = {}) {
  const element = Object.assign(document.createElement(kind), settings);
  element.append(...[content].flat());
  return element;
}

const number = (value) => value.toLocaleString(words.language);
const share = (value) => value.toFixed(4);

// A text in which what the other one lacks is marked.
function marked(text, places) {
  const parts = [];
  let done = 0;
  for (const [begin, end] of [...places, [text.length, text.length]]) {
    // Punctuation and white space do not count: none is marked at the ends of a gap.
    const gap = /^([^\p{L}\p{N}]*)(.*?)([^\p{L}\p{N}]*)$/su.exec(text.slice(done, begin));
    parts.push(gap[1], ...(gap[2] ? [made("em", gap[2], { className: "differs" })] : []), gap[3]);
    parts.push(text.slice(begin, end));
    done = end;
  }
  return made("p", parts);
}

function pane(name, text, places) {
  const paper = made("div", marked(text, places), { className: "paper copy c1", dir: "auto" });
  const scroll = made("div", paper, { className: "scroll", tabIndex: 0 });
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", name);
  return made("section", [made("header", made("h3", name)), scroll], { className: "pane" });
}

async function compare() {
  const texts = [part("a").value, part("b").value];
  if (!texts.every((text) => text.trim())) throw new Error(words.empty);
  const found = await ask("compare", texts);
  const verdict = found.identical ? "identical" : found.duplicate ? "similar" : "different";
  const rows = ["resemblance", "containment_a", "containment_b"].map((name) => [name, share(found[name])]);
  rows.push(...["agree", "replaced"].map((name) => [`numbers_${name}`, number(found[`numbers_${name}`])]));
  const sides = [0, 2].map((from) => found.places.map((place) => place.slice(from, from + 2)));
  return [
    made("h3", words[verdict]),
    made("div", [
      made("p", share(found.similarity), { className: `figure ${found.duplicate ? "yes" : ""}` }),
      made("p", said("bound", defaults), { className: "says" }),
    ], { className: "answer" }),
    made("dl", rows.flatMap(([name, value]) => [made("dt", words[name]), made("dd", value)]), { className: "facts wide" }),
    made("p", found.places.length ? words.marked : words.nothing, { className: "says" }),
    made("div", sides.map((places, side) => pane(words["ab"[side]], texts[side], places)), { className: "panes" }),
  ];
}

function lines(content, field) {
  return content.split("\n").flatMap((line, at) => {
    if (!line.trim()) return [];
    let text;
    try {
      text = JSON.parse(line)[field];
    } catch {
      throw new Error(said("not_json", { line: number(at + 1) }));
    }
    if (typeof text !== "string") throw new Error(said("no_text", { line: number(at + 1), field }));
    // The engine takes whole characters only, as the command does.
    if (/\p{Surrogate}/u.test(text)) throw new Error(said("damaged", { line: number(at + 1) }));
    return [{ line, at: at + 1, text }];
  });
}

function file(name, rows) {
  const content = new Blob(rows.map((row) => `${row}\n`), { type: "application/x-ndjson" });
  const link = made("a", said("save", { name, count: number(rows.length) }), { className: "button", download: name });
  link.href = URL.createObjectURL(content);
  return link;
}

function shortened(text) {
  const characters = [...text];
  return characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN).join("")}…` : text;
}

async function dedup() {
  const [input] = part("file").files;
  if (!input) throw new Error(words.no_file);
  if (input.size > MOST_BYTES) throw new Error(said("too_large", { size: MOST_BYTES >> 20 }));
  let content;
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(await input.arrayBuffer());
  } catch {
    throw new Error(words.not_utf8);
  }
  const records = lines(content, part("field").value);
  const { decisions } = await ask("dedup", records.map((record) => record.text));
  const kept = records.filter((_, document) => !decisions[document]);
  const removed = decisions.flatMap((decision, document) =>
    decision ? [{ record: records[document], kept: records[decision[0]], similarity: decision[1], identical: decision[2] }] : []);
  const columns = ["removed", "kept", "similarity"];
  const rows = removed.slice(0, MOST_ROWS).map(({ record, kept, similarity, identical }) => {
    const cells = [record, kept].map(({ at, text }) =>
      [made("small", said("line", { line: number(at) }), { className: "quiet" }), " ", made("bdi", shortened(text))]);
    cells.push([identical ? words.same : share(similarity)]);
    return made("tr", cells.map((content, column) => {
      const cell = made("td", content);
      cell.dataset.label = words[columns[column]];
      return cell;
    }));
  });
  const head = columns.map((name) => made("th", words[name], { scope: "col" }));
  const counts = { read: number(records.length), kept: number(kept.length), removed: number(removed.length), shown: MOST_ROWS };
  const table = made("table", [made("thead", made("tr", head)), made("tbody", rows)], { className: "stack" });
  const removals = removed.map(({ record, kept, similarity, identical }) =>
    JSON.stringify({ line: record.at, kept_line: kept.at, similarity, identical }));
  return [
    made("p", said("counts", counts), { className: "verdict" }),
    made("p", [file("kept.jsonl", kept.map((record) => record.line)), " ", file("removed.jsonl", removals)]),
    ...(rows.length ? [table] : []),
    ...(removed.length > MOST_ROWS ? [made("p", said("more", counts), { className: "says" })] : []),
  ];
}

function act(form, result, task) {
  part(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = part(form).querySelector("button");
    button.disabled = true;
    part(result).replaceChildren(made("p", words.working));
    // The browser shows this first: the engine holds it up until it is done.
    await new Promise((then) => setTimeout(then, 30));
    try {
      part(result).replaceChildren(...await task());
    } catch (error) {
      part(result).replaceChildren(made("p", error.message, { className: "problem" }));
    }
    button.disabled = false;
  });
}

act("compare", "compared", compare);
act("dedup", "cleaned", dedup);
