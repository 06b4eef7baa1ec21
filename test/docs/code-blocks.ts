import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../cli/run-herdctl.ts";

/** A fenced block of a page with its language. */
export interface CodeBlock {
  page: string;
  line: number;
  language: string;
  text: string;
}

export const readPage = (path: string) => readFileSync(join(checkout, path), "utf8");

/** Every Markdown page for readers. */
export const pages = [
  ...readdirSync(checkout),
  ...readdirSync(join(checkout, "docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  ),
  "plugin/skills/herdctl/SKILL.md",
].filter((name) => name.endsWith(".md"));

export function codeBlocksOf(page: string): CodeBlock[] {
  const source = readPage(page);
  return [...source.matchAll(/^( *)```([\w-]*)\n([\s\S]*?)^\1```$/gm)].map((found) => {
    const [, indent = "", language = "", text = ""] = found;
    const line = source.slice(0, found.index).split("\n").length;
    return { page, line, language, text: text.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
  });
}

/** A fleet starts with a block headed `# herdctl.yaml` and includes the following headed blocks. */
export function fleetFilesOf(page: string): Record<string, string>[] {
  const fleets: Record<string, string>[] = [];
  for (const { file, text } of namedFilesOf(page)) {
    if (file === "herdctl.yaml") fleets.push({});
    Object.assign(fleets.at(-1) ?? {}, { [file]: text });
  }
  return fleets;
}

/** Blocks that start with the name of their file. */
export function namedFilesOf(page: string): { file: string; text: string }[] {
  return codeBlocksOf(page).flatMap(({ language, text }) => {
    const file = language === "yaml" ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
    return file === undefined ? [] : [{ file, text }];
  });
}
