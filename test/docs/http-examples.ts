import { readdirSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../cli/run-herdctl.ts";
import { codeBlocksOf, pages, readPage } from "./code-blocks.ts";

/** A line of a shell block, or a command in prose. */
export interface ShellLine {
  page: string;
  command: string;
}

const exampleReadmes = readdirSync(join(checkout, "examples"), {
  recursive: true,
  encoding: "utf8",
})
  .filter((name) => name.endsWith("README.md"))
  .map((name) => `examples/${name}`);

/** The records of tests and reviews quote commands that are no examples. */
const readerPages = [...pages, ...exampleReadmes].filter((page) => !page.startsWith("docs/proof/"));

/** The lines of every block with a `curl` command, and the commands in prose, by page. */
export function httpExamplesByPage(): Map<string, ShellLine[]> {
  const found = readerPages.map((page) => [page, httpExamplesOf(page)] as const);
  return new Map(found.filter(([, lines]) => lines.length > 0));
}

function httpExamplesOf(page: string): ShellLine[] {
  const blocks = codeBlocksOf(page).filter(
    ({ language, text }) => language === "sh" && /^curl /m.test(text),
  );
  const lines = blocks.flatMap(({ text }) => text.replaceAll("\\\n", " ").split("\n"));
  const inProse = [...readPage(page).matchAll(/`(curl [^`\n]*http:[^`\n]*)`/g)];
  return [...lines, ...inProse.map(([, command = ""]) => command)]
    .filter((command) => command !== "")
    .map((command) => ({ page, command }));
}

export function isHttpRequest({ command }: ShellLine): boolean {
  return command.startsWith("curl ");
}

export function isOnSocket({ command }: ShellLine): boolean {
  return command.startsWith("curl --unix-socket $S");
}

/** The same request to the fleet's port, as a program sends it with a token. */
export function toPortRequest(command: string): string {
  return command
    .replace("--unix-socket $S", '-H "Authorization: Bearer $TOKEN"')
    .replace("http://fleet/", "http://127.0.0.1:3232/");
}
