import { join, resolve } from "node:path";
import { openApiDocument } from "@herdctl/server";
import ts from "typescript";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkout } from "../cli/herdctl.ts";
import { type Block, blocksOf, filesOf, fleetsOf, pages, read } from "./blocks.ts";
import { problemOf } from "./known-command.ts";
import { loadFiles, readAsMeant } from "./shown-yaml.ts";

const blocks = pages.flatMap(blocksOf);
const inLanguage = (...languages: string[]) =>
  blocks.filter((block) => languages.includes(block.language));
const pagesWith = (...languages: string[]) => [
  ...new Set(inLanguage(...languages).map((block) => block.page)),
];

/** Checked here, run in sessions.test.ts, or of a kind that only another program could try. */
const checked = ["yaml", "sh", "console", "ts", "js", "json", ""];
const onlyShown = ["ini", "xml", "dockerfile", "diff"];

test("every block is of a language that somebody looks after", () => {
  expect(blocks.length).toBeGreaterThan(60);
  const languages = new Set([...checked, ...onlyShown]);
  expect(blocks.filter(({ language }) => !languages.has(language)).map(place)).toEqual([]);
});

test.each(pagesWith("yaml"))("the YAML of %s is read by what it is meant for", async (page) => {
  for (const files of fleetsOf(page)) expect(loadFiles(files).fleet.agents).not.toHaveLength(0);
  const loaded = new Set(fleetsOf(page).flatMap((files) => Object.values(files)));
  for (const { text } of blocksOf(page).filter(({ language }) => language === "yaml")) {
    if (!loaded.has(text)) await readAsMeant(text);
  }
});

test("a shown piece that nobody would read is noticed", async () => {
  await expect(readAsMeant("rules: [{ replly: no }]\n")).rejects.toThrow();
  await expect(readAsMeant("max_turns: many\n")).rejects.toThrow();
  await expect(readAsMeant("server: { prot: 1 }\n")).rejects.toThrow();
  expect(await readAsMeant("tools: [ask]\n")).toBe("agent");
  expect(await readAsMeant("server: { port: 1 }\n")).toBe("fleet");
});

test.each(pages)("herdctl knows every command that %s shows", (page) => {
  const typed = blocksOf(page).flatMap(typedLines);
  expect([...typed, ...namedInProse(page)].flatMap((line) => problemOf(line) ?? [])).toEqual([]);
});

test("a command that herdctl does not know is noticed", () => {
  expect(problemOf("herdctl strat --detach")).toMatch(/no such command/);
  expect(problemOf("cd x && herdctl start --detatch")).toMatch(/--detatch/);
  expect(problemOf('curl -H "Bearer $(herdctl tokn)" x')).toMatch(/no such command/);
  expect(problemOf('herdctl trigger coder "Fix it."')).toMatch(/not understood/);
  expect(problemOf("herdctl job one two three")).toMatch(/takes 1/);
  expect(problemOf('herdctl trigger coder -p "a | b" --wait   # see')).toBeUndefined();
});

test("the scripts of npm that pages name are there", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const named = inLanguage("sh").flatMap(({ text }) => [...text.matchAll(/npm run ([\w:]+)/g)]);
  expect(named.length).toBeGreaterThan(5);
  expect(named.map(([, name = ""]) => name).filter((name) => !(name in scripts))).toEqual([]);
});

test("what pages ask of the control API is in its own description", () => {
  const { paths } = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(openApiDocument());
  const known = Object.keys(paths).map(
    (path) => new RegExp(`^${path.replaceAll(/{\w+}/g, "[^/]+")}$`),
  );
  const asked = inLanguage("sh").flatMap(({ text }) => [
    ...text.matchAll(/http:\/\/(?:fleet|127\.0\.0\.1:3232)(\/[^\s"'?]*)/g),
  ]);
  const addresses = asked.map(([, path = ""]) => path).filter((path) => path !== "/mcp");
  expect(addresses.length).toBeGreaterThan(10);
  expect(addresses.filter((path) => !known.some((one) => one.test(path)))).toEqual([]);
});

test("JSON on pages is JSON", () => {
  for (const { text } of inLanguage("json")) JSON.parse(text);
});

test("programs on pages fit our packages, and one that does not is noticed", () => {
  const text = 'import { FleetManger } from "@herdctl/core";\nnew FleetManger();\n';
  const wrong: Block = { page: "none.md", line: 1, language: "ts", text };
  const shown = inLanguage("ts");
  expect(shown.length).toBeGreaterThan(2);
  const complaints = complaintsAbout([wrong, ...shown]);
  expect(complaints).toEqual([expect.stringMatching(/^none.md:1 ts: .*FleetManger/)]);
}, 120_000);

test("JavaScript stands only where a test runs it", () => {
  expect(pagesWith("js")).toEqual(["docs/embedding.md"]);
});

test("files that a page names at the head of a block are told apart", () => {
  expect(filesOf("docs/configuration.md").map(({ file }) => file)).toContain("agents/coder.yaml");
});

function typedLines({ language, text }: Block): string[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  if (language === "sh") return lines;
  return lines.filter((line) => /^\$ /.test(line)).map((line) => line.slice(2));
}

/** In a sentence an option may stand without its value, and what may be left out in brackets. */
function namedInProse(page: string): string[] {
  const named = [...read(page).matchAll(/`(herdctl [^`\n]+)`/g)].map(([, one = ""]) => one);
  const whole = named.map((one) => one.replaceAll(/[[\]]/g, "").replace("…", "<etc>"));
  return whole.map((one) => (problemOf(`${one} <value>`) ? one : `${one} <value>`));
}

function place({ page, line, language }: Block): string {
  return `${page}:${line} ${language}`;
}

/** As if they lay in the checkout, so that they find our packages as any file there does. */
function complaintsAbout(shown: Block[]): string[] {
  const files = new Map(
    shown.map((block, at) => [join(checkout, `test/docs/shown-${at}.ts`), block]),
  );
  const { config } = ts.readConfigFile(join(checkout, "tsconfig.json"), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, checkout);
  // By the types that are delivered, as whoever installs our packages has them.
  const options = { ...parsed.options, paths: {}, noUnusedLocals: false };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(resolve(file)) || fileExists(file);
  host.readFile = (file) => files.get(resolve(file))?.text ?? readFile(file);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([file, block]) =>
    problemsIn(program, file).map((problem) => `${place(block)}: ${problem}`),
  );
}

function problemsIn(program: ts.Program, file: string): string[] {
  const source = program.getSourceFile(file);
  if (!source) return ["is not part of the program"];
  const found = [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ];
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
