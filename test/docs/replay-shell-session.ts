import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";
import type { CodeBlock } from "./code-blocks.ts";
import { isQuotedFrom, normalizeOutput } from "./normalize-output.ts";
import { TypedShell } from "./typed-shell.ts";

interface SessionStep {
  command: string;
  expectedLines: string[];
}

export interface Difference {
  command: string;
  expectedLines: string[];
  actualLines: string[];
}

/** The port of a rehearsal on the pages. */
const documentedPort = "4141";

/**
 * Types the `console` blocks of a page into one shell with an empty home, and returns where the
 * answers differ from the page. Files that the page shows exist once it has shown them.
 */
export async function replaySession(
  blocks: CodeBlock[],
  env: Record<string, string>,
): Promise<Difference[]> {
  const home = tempFolderWith({});
  const shell = new TypedShell(home, env);
  const port = String(await freePort());
  const idMapping = new Map([[documentedPort, port]]);
  const differences: Difference[] = [];
  for (const { language, text } of blocks) {
    const file = /^# (\S+\.yaml)\n/.exec(text)?.[1];
    if (language === "yaml" && file) writeFiles(await shell.folder(), { [file]: text });
    if (language !== "console") continue;
    for (const { command, expectedLines } of parseSteps(text)) {
      const answer = await shell.type(withActualIds(command, idMapping));
      const actualLines = withGenericPaths(answer, home, port).trimEnd().split("\n");
      if (!matchesExpected(expectedLines, actualLines, idMapping))
        differences.push({ command, expectedLines, actualLines });
    }
  }
  await shell.close();
  return differences;
}

/** Uses a generic home, including in the project name that Claude Code derives from it. */
function withGenericPaths(answer: string, home: string, port: string): string {
  return answer
    .replaceAll(home, "/home/you")
    .replaceAll(home.replaceAll(/[^A-Za-z0-9]/g, "-"), "-home-you")
    .replaceAll(`:${port}`, `:${documentedPort}`);
}

function parseSteps(text: string): SessionStep[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = "", ...expectedLines] = step.trimEnd().split("\n");
      return { command, expectedLines: expectedLines.length > 0 ? expectedLines : [""] };
    });
}

/** Replaces the page's ids by the actual ones. */
function withActualIds(command: string, idMapping: Map<string, string>): string {
  return [...idMapping].reduce((text, [there, here]) => text.replaceAll(there, here), command);
}

/** Compares line by line; a line `…` matches any number of lines. Records which ids correspond. */
function matchesExpected(
  expectedLines: string[],
  actualLines: string[],
  idMapping: Map<string, string>,
): boolean {
  const [line, ...rest] = expectedLines;
  if (line === undefined) return actualLines.length === 0;
  if (line === "…" && rest.length === 0) return true;
  if (line === "…")
    return actualLines.some((_, at) => matchesExpected(rest, actualLines.slice(at), idMapping));
  const [first, ...others] = actualLines;
  if (
    first === undefined ||
    !isQuotedFrom(normalizeOutput(line).trimEnd(), normalizeOutput(first).trimEnd())
  )
    return false;
  recordIds(line, first, idMapping);
  return matchesExpected(rest, others, idMapping);
}

function recordIds(
  expectedLines: string,
  actualLines: string,
  idMapping: Map<string, string>,
): void {
  const id = /job-\d{4}-\d\d-\d\d-\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const here = actualLines.match(id) ?? [];
  for (const [at, there] of (expectedLines.match(id) ?? []).entries()) {
    const found = here[at];
    if (found !== undefined) idMapping.set(there, found);
  }
}
