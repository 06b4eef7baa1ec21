import { readdirSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { outcomes } from "../../packages/protocol/src/outcome-table.ts";
import { checkout } from "../cli/run-herdctl.ts";
import { codeBlocksOf, pages, readPage } from "./code-blocks.ts";

const pagesWithQuotes = pages.filter((page) => quotedLines(page).length > 0);
const sources = readdirSync(`${checkout}/packages`, { recursive: true, encoding: "utf8" })
  .filter((name) => /^(protocol|config|core|cli|server|discord|slack)\/src\/.*\.ts$/.test(name))
  .map((name) => `packages/${name}`);
const messagePatterns = sources.flatMap((file) => messagePatternsIn(file));

test.each(pagesWithQuotes)("finds every quoted message of %s in the program", (page) => {
  expect(quotedLines(page).filter((line) => !isKnownMessage(line))).toEqual([]);
});

test("quotes many messages on the troubleshooting pages", () => {
  for (const about of ["paths", "containers"])
    expect(quotedLines(`docs/guides/troubleshooting-${about}.md`).length).toBeGreaterThan(12);
});

test("reports a message that does not exist", () => {
  expect(isKnownMessage("✗ The Docker engine is on holiday.")).toBe(false);
  expect(isKnownMessage("✗ no_such_code  The container ran out of memory.")).toBe(false);
  expect(isKnownMessage("✗ oom_killed  The container ran out of memory.")).toBe(true);
  expect(isKnownMessage("✗ The volume /anywhere does not exist.")).toBe(true);
});

/** Messages and hints, in sessions and standalone. The line of a job has no message of herdctl. */
function quotedLines(page: string): string[] {
  const blocks = codeBlocksOf(page).filter(({ language }) => ["console", ""].includes(language));
  const lines = blocks.flatMap(({ text }) => text.split("\n"));
  return lines.filter((line, at) => /^ *[✗!] (?!job-)/.test(line) || isHint(line, lines[at - 1]));
}

function isHint(line: string, before: string | undefined): boolean {
  return line.startsWith("  ") && (before ?? "").startsWith("✗ ");
}

function isKnownMessage(line: string): boolean {
  const message = line.trim().replace(/^[✗!] /, "");
  const [, code, rest] = /^(\w+) {2}(.*)$/.exec(message) ?? [];
  // The doctor's findings are indented below their group and start with the name of the check.
  const isFinding = line.startsWith("  ");
  if (code !== undefined && !isFinding && !(code in outcomes)) return false;
  const place = /^\S+:\d+:\d+ {2}[\w.[\]]+: (.*)$/.exec(message);
  return messagePatterns.some((saying) => saying.test(place?.[1] ?? rest ?? message));
}

/** Every long text in a source file; inserted values match anything. */
function messagePatternsIn(file: string): RegExp[] {
  const found: RegExp[] = [];
  const source = ts.createSourceFile(file, readPage(file), ts.ScriptTarget.ESNext);
  const visit = (node: ts.Node): void => {
    const parts = literalParts(node);
    if (parts.join("").length > 10) found.push(new RegExp(`^${parts.map(escaped).join(".*")}$`));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function literalParts(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  if (!ts.isBinaryExpression(node)) return [];
  const [left, [first, ...right]] = [literalParts(node.left), literalParts(node.right)];
  const last = left.pop();
  return last === undefined || first === undefined ? [] : [...left, `${last}${first}`, ...right];
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
