import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { checkout, endOf } from "../cli/herdctl.ts";
import { folderWith, writeFiles } from "../support/folder.ts";
import type { Block } from "./blocks.ts";
import { isQuoteOf, unvarying } from "./unvarying.ts";

interface Step {
  typed: string;
  quoted: string[];
}

export interface Difference {
  typed: string;
  quoted: string[];
  shown: string[];
}

/** The port that pages give to a rehearsal of their own. */
const shownPort = "4141";

/**
 * Types what the `console` blocks of a page type, in one shell with an empty home, and tells where
 * it answers otherwise than the page says. Files that the page shows are there once it has shown them.
 */
export async function replay(blocks: Block[], env: Record<string, string>): Promise<Difference[]> {
  const home = folderWith({});
  const shell = new Shell(home, env);
  const port = String(await freePort());
  const same = new Map([[shownPort, port]]);
  const differences: Difference[] = [];
  for (const { language, text } of blocks) {
    const file = /^# (\S+\.yaml)\n/.exec(text)?.[1];
    if (language === "yaml" && file) writeFiles(await shell.folder(), { [file]: text });
    if (language !== "console") continue;
    for (const { typed, quoted } of stepsOf(text)) {
      const answer = await shell.type(renamed(typed, same));
      const shown = asOfSomebody(answer, home, port).trimEnd().split("\n");
      if (!isSame(quoted, shown, same)) differences.push({ typed, quoted, shown });
    }
  }
  await shell.leave();
  return differences;
}

/** With the home of nobody in particular, also where Claude Code makes a name of it. */
function asOfSomebody(answer: string, home: string, port: string): string {
  return answer
    .replaceAll(home, "/home/you")
    .replaceAll(home.replaceAll(/[^A-Za-z0-9]/g, "-"), "-home-you")
    .replaceAll(`:${port}`, `:${shownPort}`);
}

function stepsOf(text: string): Step[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [typed = "", ...quoted] = step.trimEnd().split("\n");
      return { typed, quoted: quoted.length > 0 ? quoted : [""] };
    });
}

/** What the page calls one way has another id here. */
function renamed(typed: string, same: Map<string, string>): string {
  return [...same].reduce((text, [there, here]) => text.replaceAll(there, here), typed);
}

/** Line by line; a `…` by itself stands for any number of lines. Ids that answer each other are noted. */
function isSame(quoted: string[], shown: string[], same: Map<string, string>): boolean {
  const [line, ...rest] = quoted;
  if (line === undefined) return shown.length === 0;
  if (line === "…" && rest.length === 0) return true;
  if (line === "…") return shown.some((_, at) => isSame(rest, shown.slice(at), same));
  const [first, ...others] = shown;
  if (first === undefined || !isQuoteOf(unvarying(line).trimEnd(), unvarying(first).trimEnd()))
    return false;
  noteIds(line, first, same);
  return isSame(rest, others, same);
}

function noteIds(quoted: string, shown: string, same: Map<string, string>): void {
  const id = /job-\d{4}-\d\d-\d\d-\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const here = shown.match(id) ?? [];
  for (const [at, there] of (quoted.match(id) ?? []).entries()) {
    const found = here[at];
    if (found !== undefined) same.set(there, found);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}

const endMark = "-- so far --";

class Shell {
  readonly #bash: ChildProcess;
  #said = "";
  #heard: () => void = () => undefined;

  constructor(home: string, env: Record<string, string>) {
    // No more of this machine than somebody new has; npm would put an unfinished `claude` there.
    const PATH = [join(checkout, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":");
    const own = { PATH, HOME: home, LANG: "C.UTF-8", TMPDIR: folderWith({}), ...env };
    this.#bash = spawn("bash", ["--norc"], { cwd: home, env: own });
    onTestFinished(() => void this.#bash.kill("SIGKILL"));
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        this.#said += text;
        this.#heard();
      });
    }
    this.#bash.stdin?.write("exec 2>&1\n");
  }

  async type(line: string): Promise<string> {
    this.#said = "";
    // What is typed next is for the shell, and not for a program that it runs.
    this.#bash.stdin?.write(`{ ${line}\n} < /dev/null\nprintf '%s\\n' '${endMark}'\n`);
    while (!this.#said.includes(`${endMark}\n`)) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
    return this.#said.slice(0, this.#said.indexOf(endMark));
  }

  async folder(): Promise<string> {
    return (await this.type("pwd")).trim();
  }

  /** With what it left in the background. */
  async leave(): Promise<void> {
    await this.type("kill $(jobs -p) 2>/dev/null; wait 2>/dev/null");
    const ended = endOf(this.#bash);
    this.#bash.stdin?.end();
    await ended;
  }
}
