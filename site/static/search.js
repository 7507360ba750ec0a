// The search field of the pages. The index is a script of its own, which is loaded when the
// field is used first: its entries are [page, heading, address, text].
"use strict";

const form = document.getElementById("search");
const field = form.querySelector("input");
const found = document.getElementById("found");
const most = 12;

let loading;
function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "search-index.js";
    script.onload = () => resolve(searchIndex.map((entry) => ({ entry, lower: entry.map((s) => s.toLowerCase()) })));
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

// count returns how often a word is in a text, but at most 3.
function count(text, word) {
  return Math.min(3, text.split(word).length - 1);
}

// score is 0 if a word is missing. A word in a heading counts more than one in the text, the
// words next to each other count more.
function score({ lower: [title, heading, address, text] }, words) {
  const phrase = words.join(" ");
  let sum = (heading.includes(phrase) ? 10 : 0) + 2 * count(text, phrase);
  for (const word of words) {
    const points = (heading.includes(word) ? 8 : 0) + (title.includes(word) ? 3 : 0) + count(text, word);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

// excerpt returns the text around the words, or around the first one of them in it.
function excerpt(text, lower, words) {
  const places = [words.join(" "), ...words].map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const begin = places.length && places[0] > 50 ? text.indexOf(" ", places[0] - 50) + 1 : 0;
  const end = text.length > begin + 140 ? text.lastIndexOf(" ", begin + 140) : text.length;
  return (begin > 0 ? "… " : "") + text.slice(begin, end) + (end < text.length ? " …" : "");
}

function element(name, text, ...children) {
  const e = document.createElement(name);
  e.textContent = text;
  e.append(...children);
  return e;
}

async function search() {
  const query = field.value.trim().toLowerCase();
  found.hidden = query === "";
  if (query === "") return;
  const words = query.split(/\s+/);
  let sections;
  try {
    sections = await load();
  } catch {
    found.replaceChildren(element("p", "The index cannot be loaded."));
    return;
  }
  if (field.value.trim().toLowerCase() !== query) return; // a newer search has begun
  const hits = sections.map((s) => ({ ...s, points: score(s, words) })).filter((s) => s.points > 0);
  hits.sort((a, b) => b.points - a.points);
  const list = element("ul", "");
  for (const { entry: [title, heading, address, text], lower } of hits.slice(0, most)) {
    const link = element("a", address.includes("#") ? `${title}: ${heading}` : heading);
    link.href = address;
    list.append(element("li", "", link, element("p", excerpt(text, lower[3], words))));
  }
  const summary = hits.length === 0 ? "Nothing found." : hits.length > most ? `The best ${most} of ${hits.length} sections` : "";
  found.replaceChildren(element("p", summary), list);
}

form.hidden = false;
field.addEventListener("focus", load);
field.addEventListener("input", search);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    found.hidden = true;
  } else if (event.key === "/" && !["INPUT", "TEXTAREA"].includes(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target) || event.target.closest("#found a")) found.hidden = true;
});

// index.html?q=WORDS shows what was found, so a search can be linked to.
const asked = new URLSearchParams(location.search).get("q");
if (asked) {
  field.value = asked;
  search();
}
