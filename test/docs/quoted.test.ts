import { readdirSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { outcomes } from "../../packages/core/src/runner/outcomes.ts";
import { checkout } from "../cli/herdctl.ts";
import { blocksOf, pages, read } from "./blocks.ts";

const quoting = pages.filter((page) => quotedLines(page).length > 0);
const sources = readdirSync(`${checkout}/packages`, { recursive: true, encoding: "utf8" })
  .filter((name) => /^(core|cli|server|discord|slack)\/src\/.*\.ts$/.test(name))
  .map((name) => `packages/${name}`);
const sayings = sources.flatMap((file) => sayingsIn(file));

test.each(quoting)("every message that %s quotes is one that the program has", (page) => {
  expect(quotedLines(page).filter((line) => !isSaid(line))).toEqual([]);
});

test("the pages for trouble quote many", () => {
  for (const about of ["paths", "containers"])
    expect(quotedLines(`docs/troubleshooting-${about}.md`).length).toBeGreaterThan(12);
});

test("a message that nobody says is noticed", () => {
  expect(isSaid("✗ The Docker engine is on holiday.")).toBe(false);
  expect(isSaid("✗ no_such_code  The container ran out of memory.")).toBe(false);
  expect(isSaid("✗ oom_killed  The container ran out of memory.")).toBe(true);
  expect(isSaid("✗ The volume /anywhere does not exist.")).toBe(true);
});

/** Messages and hints, in sessions and by themselves. */
function quotedLines(page: string): string[] {
  const blocks = blocksOf(page).filter(({ language }) => ["console", ""].includes(language));
  const lines = blocks.flatMap(({ text }) => text.split("\n"));
  return lines.filter((line, at) => /^ *[✗!] /.test(line) || isHint(line, lines[at - 1]));
}

function isHint(line: string, before: string | undefined): boolean {
  return line.startsWith("  ") && (before ?? "").startsWith("✗ ");
}

function isSaid(line: string): boolean {
  const told = line.trim().replace(/^[✗!] /, "");
  const [, code, rest] = /^(\w+) {2}(.*)$/.exec(told) ?? [];
  // The doctor's findings stand below their group, each with the name of its check.
  const isFinding = line.startsWith("  ");
  if (code !== undefined && !isFinding && !(code in outcomes)) return false;
  const place = /^\S+:\d+:\d+ {2}[\w.]+: (.*)$/.exec(told);
  return sayings.some((saying) => saying.test(place?.[1] ?? rest ?? told));
}

/** Every text in a file of the source that is long enough to be told by; what is filled in may be anything. */
function sayingsIn(file: string): RegExp[] {
  const found: RegExp[] = [];
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ESNext);
  const visit = (node: ts.Node): void => {
    const parts = partsOf(node);
    if (parts.join("").length > 10) found.push(new RegExp(`^${parts.map(escaped).join(".*")}$`));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function partsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  if (!ts.isBinaryExpression(node)) return [];
  const [left, [first, ...right]] = [partsOf(node.left), partsOf(node.right)];
  const last = left.pop();
  return last === undefined || first === undefined ? [] : [...left, `${last}${first}`, ...right];
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
