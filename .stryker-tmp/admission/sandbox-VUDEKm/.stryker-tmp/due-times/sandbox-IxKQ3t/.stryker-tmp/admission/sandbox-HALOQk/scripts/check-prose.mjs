// Counts wording that makes documentation, comments and messages hard to read, per 1,000 words.
// Fails if the documentation or the packages exceed the limit, and then lists every occurrence.
// `node scripts/check-prose.mjs FILE …` lists the occurrences in some files.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const limitPerThousandWords = 1;

/** At the start of a sentence. */
const start = "(?<=^[^\\w`]*|[.!?:;]\\s+)";
const isNoQuestion = "(?![^.!?]*\\?)";

const rules = [
  {
    name: "clause instead of a noun",
    pattern: new RegExp(
      `${start}(?:What(?! (?:to|happens)\\b)|Who(?!se\\b)|All that|That which)(?: [\\w'-]+){6}${isNoQuestion}`,
      "g",
    ),
  },
  {
    name: "fragment that begins with “Of”",
    pattern: new RegExp(
      `${start}Of (?:an?|all|any|each|its|one|other|the|these|those) [^.,!?]*[.:]`,
      "g",
    ),
  },
  { name: "unnamed person", pattern: /\b(?:nobody|somebody|who(?:m)?ever)\b/gi },
  { name: "“go on” for continue or resume", pattern: /\b(?:go(?:es|ing|ne)?|went) on\b/gi },
  { name: "“at once” for immediately or concurrently", pattern: /\bat once\b/gi },
  {
    name: "program that speaks or knows",
    pattern:
      /\b(?:is|are|was|were|been) (?:asked(?! to\b)|heard|told)\b|\b(?:hears?|tells?) (?:of|from)\b|\b(?:its|their) (?:last )?word\b|\bknows (?:no|nothing|of)\b/gi,
  },
  { name: "“so” with an unstated amount", pattern: /\bso (?:long|many|much|often)\b(?! that\b)/gi },
  {
    name: "place of a thing as “lies” or “stands”",
    pattern: /\b(?:lay|lies?|stands?|stood) (?:at|behind|beside|in|on|there|under)\b/gi,
  },
  {
    name: "dated or unusual word",
    pattern:
      /\b(?:anew|but for|for want of|gist|heed(?:s|ed)?|hence|in vain|mend(?:s|ed)?|seldom|thereby|therein|upon|wherein)\b/gi,
  },
  { name: "“of its own”", pattern: /\bof (?:its|one's|their) own\b/gi },
  {
    name: "double negation",
    pattern:
      /\b(?:no|none|nothing)(?: \w+){0,2} but\b|\bnot un(?:common|known|like|limited|usual)\w*/gi,
  },
];

const commentOrString =
  /\/\*([\s\S]*?)\*\/|\/\/(.*)|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
const threeWords = /[A-Za-z]+ [A-Za-z]+ [A-Za-z]+/;

const given = process.argv.slice(2);
if (given.length > 0) {
  for (const place of given.flatMap((path) => check(resolve(path)).places)) print(place);
} else {
  const rootPages = readdirSync(root).filter((name) => name.endsWith(".md"));
  const sources = readdirSync(join(root, "packages")).map((name) => `packages/${name}/src`);
  report("docs", [...rootPages.map((name) => join(root, name)), ...filesBelow("docs")]);
  report("packages", sources.flatMap(filesBelow));
}

function report(title, files) {
  const results = files.map(check);
  const places = results.flatMap((one) => one.places);
  const words = results.reduce((sum, one) => sum + one.words, 0);
  const rate = (places.length * 1_000) / words;
  if (rate > limitPerThousandWords) {
    places.forEach(print);
    process.exitCode = 1;
  }
  print(
    `${title}: ${places.length} in ${words} words, ${rate.toFixed(2)} per 1,000 (limit ${limitPerThousandWords})`,
  );
}

/** The words in a file, and a line for each match of a rule. */
function check(file) {
  const text = readFileSync(file, "utf8");
  const fragments = extname(file) === ".md" ? markdownFragments(text) : sourceFragments(text);
  const words = fragments.reduce(
    (sum, one) => sum + (one.text.match(/[A-Za-z']+/g)?.length ?? 0),
    0,
  );
  const places = fragments.flatMap(({ text: prose, line }) =>
    rules.flatMap(({ name, pattern }) =>
      [...prose.matchAll(pattern)].map(({ index }) => {
        const excerpt = prose.slice(Math.max(0, index - 20), index + 60).replaceAll(/\s+/g, " ");
        const position = `${relative(root, file)}:${line + countLines(prose.slice(0, index))}`;
        return `${position}: ${name}: …${excerpt.trim()}…`;
      }),
    ),
  );
  return { words, places };
}

/** Paragraphs, list items and table cells without code. Headings and table headers are left out. */
function markdownFragments(text) {
  const prose = text
    .replaceAll(/^(`{3,})[\s\S]*?^\1/gm, keepLines)
    .replaceAll(/<!--[\s\S]*?-->/g, keepLines)
    .replaceAll(/`[^`\n]*`/g, "X")
    .replaceAll(/\]\([^)\s]*\)/g, "]");
  const fragments = [];
  let isInBlock = false;
  prose.split("\n").forEach((line, index, lines) => {
    if (line.startsWith("|")) {
      const isHeader = /^\|[-: |]+$/.test(lines[index + 1] ?? "");
      for (const cell of isHeader ? [] : line.split("|"))
        fragments.push({ text: cell.trim(), line: index + 1 });
    }
    const isProse = line.trim() !== "" && !/^[#|]/.test(line);
    if (isProse && isInBlock && !/^\s*(?:[-*>]|\d+\.) /.test(line))
      fragments.at(-1).text += `\n${line}`;
    else if (isProse) fragments.push({ text: line, line: index + 1 });
    isInBlock = isProse;
  });
  return fragments;
}

/** Comments, and strings of at least three words. */
function sourceFragments(text) {
  const fragments = [];
  let line = 1;
  let end = 0;
  for (const match of text.matchAll(commentOrString)) {
    line += countLines(text.slice(end, match.index));
    end = match.index;
    const [, block, comment, ...strings] = match;
    const string = strings.find((one) => one !== undefined);
    const prose = (block ?? comment ?? string)
      .replaceAll(/\n\s*\* ?/g, "\n")
      .replaceAll(/\$\{[^}]*\}|`[^`\n]*`/g, "X");
    if (string === undefined || threeWords.test(prose))
      fragments.push({ text: prose.replace(/^\*/, ""), line });
  }
  return fragments;
}

function keepLines(text) {
  return "\n".repeat(countLines(text));
}

function countLines(text) {
  return text.split("\n").length - 1;
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.(?:md|tsx?)$/.test(name))
    .map((name) => join(root, folder, name))
    .sort();
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
