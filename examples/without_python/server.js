// A small shop search: BM25, American words, typing errors. It needs Node 18 or later and no packages.
//
//   PORT=8080 node server.js
//   curl 'http://localhost:8080/search?q=hiking+boots&k=3'
//
// With BROKEN=1 it does not know the American words.
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

// The catalogue is written in British English.
const AMERICAN = {
  adapter: "adaptor", aluminum: "aluminium", backpack: "rucksack", beanie: "woolly hat", bug: "insect",
  can: "tin", carabiner: "karabiner", cell: "mobile", cooler: "cool box", cot: "camp bed", duffel: "holdall",
  "fanny pack": "bumbag", flashlight: "torch", gasoline: "petrol", gray: "grey", headlamp: "head torch",
  hiking: "walking", hoodie: "hooded top", kids: "children", "long johns": "thermal leggings", outlet: "plug",
  pad: "mat", pants: "trousers", propane: "gas", puffy: "down", "rain boots": "wellingtons",
  "rain jacket": "waterproof jacket", sneakers: "trainers", "snow pants": "salopettes", stakes: "pegs",
  sunscreen: "sun cream", sweater: "jumper", swimsuit: "swimming costume", thermos: "vacuum flask",
  trekking: "walking", vest: "gilet",
};
const TITLE_WEIGHT = 3;
const K1 = 1.2;
const B = 0.5;

const stem = (word) => (word.length > 3 ? word.replace(/s$/, "") : word);
const words = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem);
const spaced = (text) => ` ${words(text).join(" ")} `;

// --- the index -----------------------------------------------------------------------------------

const lines = fs.readFileSync(path.join(__dirname, "products.jsonl"), "utf8").trim().split("\n");
const products = lines.map((line) => {
  const product = JSON.parse(line);
  const counts = new Map();
  const count = (word, weight) => counts.set(word, (counts.get(word) ?? 0) + weight);
  words(product.title).forEach((word) => count(word, TITLE_WEIGHT));
  words(product.text).forEach((word) => count(word, 1));
  return { ...product, counts, length: [...counts.values()].reduce((a, b) => a + b) };
});
const meanLength = products.reduce((sum, { length }) => sum + length, 0) / products.length;
const productsWith = new Map(); // how many products have a word
for (const word of products.flatMap(({ counts }) => [...counts.keys()])) {
  productsWith.set(word, (productsWith.get(word) ?? 0) + 1);
}

// --- the query -----------------------------------------------------------------------------------

const translations = Object.entries(process.env.BROKEN ? {} : AMERICAN)
  .sort(([a], [b]) => b.length - a.length) // "snow pants" before "pants"
  .map(([american, british]) => [spaced(american), spaced(british)]);

function understood(text) {
  const british = translations.reduce((query, [from, to]) => query.replace(from, to), spaced(text));
  return new Set(words(british).map((word) => (productsWith.has(word) ? word : corrected(word))));
}

// The commonest word of the index that is one typing error away.
function corrected(word) {
  if (word.length < 5) return word;
  const near = [...productsWith.keys()].filter((other) => isOneErrorAway(word, other));
  return near.sort((a, b) => productsWith.get(b) - productsWith.get(a))[0] ?? word;
}

// One letter too many, missing, or replaced.
function isOneErrorAway(a, b) {
  const longer = Math.max(a.length, b.length);
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return longer - start - end <= 1;
}

function search(text, k) {
  const query = [...understood(text)];
  const score = ({ counts, length }) =>
    query.reduce((sum, word) => {
      const times = counts.get(word) ?? 0;
      const rarity = Math.log(1 + products.length / (productsWith.get(word) ?? 1));
      return sum + (rarity * times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / meanLength));
    }, 0);
  return products
    .map((product) => ({ id: product.id, title: product.title, score: score(product) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, k);
}

// --- the server ----------------------------------------------------------------------------------

const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const query = searchParams.get("q");
  const isSearch = pathname === "/search" && query !== null;
  const answer = isSearch
    ? { hits: search(query, Number(searchParams.get("k") ?? 10)) }
    : { error: "ask GET /search?q=...&k=10" };
  response.writeHead(isSearch ? 200 : 404, { "Content-Type": "application/json" });
  response.end(JSON.stringify(answer));
});
server.listen(Number(process.env.PORT ?? 8080), "localhost", () => {
  console.log(`${products.length} products at http://localhost:${server.address().port}`);
});
