import { join, resolve } from "node:path";
import { createOpenApiDocument } from "@herdctl/server";
import ts from "typescript";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkout } from "../cli/run-herdctl.ts";
import { problemOfCommandLine } from "./check-command-line.ts";
import {
  type CodeBlock,
  codeBlocksOf,
  fleetFilesOf,
  namedFilesOf,
  pages,
  readPage,
} from "./code-blocks.ts";
import { loadExampleFiles, validateYamlExample } from "./yaml-examples.ts";

const blocks = pages.flatMap(codeBlocksOf);
const inLanguage = (...languages: string[]) =>
  blocks.filter((block) => languages.includes(block.language));
const pagesWith = (...languages: string[]) => [
  ...new Set(inLanguage(...languages).map((block) => block.page)),
];

/**
 * Checked here, run in shell-sessions.test.ts, or of a kind that only another program could check.
 */
const checkedLanguages = ["yaml", "sh", "console", "ts", "js", "json", ""];
const uncheckedLanguages = ["ini", "xml", "dockerfile", "diff"];

test("knows how to check the language of every block", () => {
  expect(blocks.length).toBeGreaterThan(60);
  const languages = new Set([...checkedLanguages, ...uncheckedLanguages]);
  expect(blocks.filter(({ language }) => !languages.has(language)).map(blockLocation)).toEqual([]);
});

test.each(pagesWith("yaml"))("validates the YAML of %s", async (page) => {
  for (const files of fleetFilesOf(page))
    expect(loadExampleFiles(files).fleet.agents).not.toHaveLength(0);
  const loaded = new Set(fleetFilesOf(page).flatMap((files) => Object.values(files)));
  for (const { text } of codeBlocksOf(page).filter(({ language }) => language === "yaml")) {
    if (!loaded.has(text)) await validateYamlExample(text);
  }
});

test("reports a YAML block that no program would read", async () => {
  await expect(validateYamlExample("rules: [{ replly: no }]\n")).rejects.toThrow();
  await expect(validateYamlExample("max_turns: many\n")).rejects.toThrow();
  await expect(validateYamlExample("server: { prot: 1 }\n")).rejects.toThrow();
  expect(await validateYamlExample("tools: [ask]\n")).toBe("agent");
  expect(await validateYamlExample("server: { port: 1 }\n")).toBe("fleet");
});

test.each(pages)("accepts every command of %s", (page) => {
  const typed = codeBlocksOf(page).flatMap(typedCommandLines);
  expect(
    [...typed, ...pathsNamedInProse(page)].flatMap((line) => problemOfCommandLine(line) ?? []),
  ).toEqual([]);
});

test("reports an unknown command", () => {
  expect(problemOfCommandLine("herdctl strat --detach")).toMatch(/no such command/);
  expect(problemOfCommandLine("cd x && herdctl start --detatch")).toMatch(/--detatch/);
  expect(problemOfCommandLine('curl -H "Bearer $(herdctl tokn)" x')).toMatch(/no such command/);
  expect(problemOfCommandLine("herdctl job one two three")).toMatch(/takes 1/);
  expect(problemOfCommandLine('herdctl trigger coder -p "a | b" --wait   # see')).toBeUndefined();
  expect(problemOfCommandLine('herdctl trigger coder "Fix it."')).toBeUndefined();
});

test("finds the npm scripts that pages name", () => {
  const { scripts } = JSON.parse(readPage("package.json"));
  const named = inLanguage("sh").flatMap(({ text }) => [...text.matchAll(/npm run ([\w:]+)/g)]);
  expect(named.length).toBeGreaterThan(5);
  expect(named.map(([, name = ""]) => name).filter((name) => !(name in scripts))).toEqual([]);
});

test("finds the control API endpoints of pages in its OpenAPI description", () => {
  const { paths } = z
    .object({ paths: z.record(z.string(), z.unknown()) })
    .parse(createOpenApiDocument());
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

test("parses the JSON of pages", () => {
  for (const { text } of inLanguage("json")) JSON.parse(text);
});

test("compiles the programs of pages against the packages, and reports one that fails", () => {
  const text = 'import { FleetManger } from "@herdctl/core/internal";\nnew FleetManger();\n';
  const wrong: CodeBlock = { page: "none.md", line: 1, language: "ts", text };
  const shown = inLanguage("ts");
  expect(shown.length).toBeGreaterThan(2);
  const complaints = typeErrorsIn([wrong, ...shown]);
  expect(complaints).toEqual([expect.stringMatching(/^none.md:1 ts: .*FleetManger/)]);
}, 120_000);

test("allows JavaScript only where a test runs it", () => {
  expect(pagesWith("js")).toEqual(["docs/guides/embedding.md"]);
});

test("separates the files that a page names at the start of a block", () => {
  expect(namedFilesOf("docs/guides/configuration.md").map(({ file }) => file)).toContain(
    "agents/coder.yaml",
  );
});

function typedCommandLines({ language, text }: CodeBlock): string[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  if (language === "sh") return lines;
  return lines.filter((line) => /^\$ /.test(line)).map((line) => line.slice(2));
}

/** In prose an option may have no value, and optional parts are in brackets. */
function pathsNamedInProse(page: string): string[] {
  const named = [...readPage(page).matchAll(/`(herdctl [^`\n]+)`/g)].map(([, one = ""]) => one);
  const whole = named.map((one) => one.replaceAll(/[[\]]/g, "").replace("…", "<etc>"));
  return whole.map((one) => (problemOfCommandLine(`${one} <value>`) ? one : `${one} <value>`));
}

function blockLocation({ page, line, language }: CodeBlock): string {
  return `${page}:${line} ${language}`;
}

/** Resolved as files of the checkout, so that they find the packages. */
function typeErrorsIn(shown: CodeBlock[]): string[] {
  const files = new Map(
    shown.map((block, at) => [join(checkout, `test/docs/shown-${at}.ts`), block]),
  );
  const { config } = ts.readConfigFile(join(checkout, "tsconfig.json"), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, checkout);
  // Uses the published type declarations, like an installed package.
  const options = { ...parsed.options, paths: {}, noUnusedLocals: false };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(resolve(file)) || fileExists(file);
  host.readFile = (file) => files.get(resolve(file))?.text ?? readFile(file);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([file, block]) =>
    problemsIn(program, file).map((problem) => `${blockLocation(block)}: ${problem}`),
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
