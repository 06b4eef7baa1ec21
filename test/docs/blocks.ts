import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../cli/herdctl.ts";

/** A fenced block of a page, with the word behind its fence. */
export interface Block {
  page: string;
  line: number;
  language: string;
  text: string;
}

export const read = (path: string) => readFileSync(join(checkout, path), "utf8");

/** Every page of ours that people read. */
export const pages = [
  ...readdirSync(checkout),
  ...readdirSync(join(checkout, "docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  ),
  "plugin/skills/herdctl/SKILL.md",
].filter((name) => name.endsWith(".md"));

export function blocksOf(page: string): Block[] {
  const source = read(page);
  return [...source.matchAll(/^( *)```([\w-]*)\n([\s\S]*?)^\1```$/gm)].map((found) => {
    const [, indent = "", language = "", text = ""] = found;
    const line = source.slice(0, found.index).split("\n").length;
    return { page, line, language, text: text.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
  });
}

/** A fleet begins with a block headed `# herdctl.yaml`; blocks headed by other files belong to it. */
export function fleetsOf(page: string): Record<string, string>[] {
  const fleets: Record<string, string>[] = [];
  for (const { file, text } of filesOf(page)) {
    if (file === "herdctl.yaml") fleets.push({});
    Object.assign(fleets.at(-1) ?? {}, { [file]: text });
  }
  return fleets;
}

/** Blocks that begin with the name of the file they show. */
export function filesOf(page: string): { file: string; text: string }[] {
  return blocksOf(page).flatMap(({ language, text }) => {
    const file = language === "yaml" ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
    return file === undefined ? [] : [{ file, text }];
  });
}
