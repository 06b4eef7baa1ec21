import { closeSync, openSync } from "node:fs";
import { warmUp } from "../runner/warm-up.ts";
import { carryOut } from "./carry-out.ts";
import type { RunnerAssignment } from "./contract.ts";
import { LineReader } from "./line-reader.ts";
import { warmSdk } from "./program.ts";

/*
 * A runner. It waits for one line on its standard input, needs nobody from then on, and ends with
 * its run; when the input ends without a line, so does it.
 */
process.umask(0o077);
process.on("SIGHUP", () => undefined);
// Warming up may fail; what was wrong then shows in a run, where it can be told.
await warmUp({ sdk: process.argv.includes(warmSdk) }).catch(() => undefined);
const assignment = await readAssignment();
if (assignment) await carryOut(assignment).catch(() => process.exit(1));
process.exit(0);

async function readAssignment(): Promise<RunnerAssignment | undefined> {
  const reader = new LineReader();
  for await (const chunk of process.stdin) {
    const [line] = reader.push(chunk);
    if (line === undefined) continue;
    letGoOfInput();
    // The edge: it comes from the fleet that started us, of this very version.
    return JSON.parse(line) as RunnerAssignment;
  }
  return undefined;
}

/** Node itself never closes the first three; a file in its place keeps others from getting the number. */
function letGoOfInput(): void {
  process.stdin.destroy();
  closeSync(0);
  openSync("/dev/null", "r");
}
