import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { checkout, waitForExit } from "../cli/run-herdctl.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const endMark = "-- so far --";

/** A shell with what a new user has, into which commands are typed. */
export class TypedShell {
  readonly #bash: ChildProcess;
  #said = "";
  #heard: () => void = () => undefined;

  /** `folder` is the shell's first folder; default: its home. */
  constructor(home: string, env: Record<string, string>, folder = home) {
    // Only what a new user has; npm would put an incomplete `claude` there.
    const PATH = [join(checkout, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":");
    const own = { PATH, HOME: home, LANG: "C.UTF-8", TMPDIR: tempFolderWith({}), ...env };
    this.#bash = spawn("bash", ["--norc"], { cwd: folder, env: own });
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
    // Programs must not read the next command from standard input.
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

  /** Also ends the background jobs of the shell. */
  async close(): Promise<void> {
    await this.type("kill $(jobs -p) 2>/dev/null; wait 2>/dev/null");
    const ended = waitForExit(this.#bash);
    this.#bash.stdin?.end();
    await ended;
  }
}
