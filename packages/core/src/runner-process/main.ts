import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Launcher } from "../runner/runtime/launcher.ts";
import { currentProcess } from "../state/process-identity.ts";
import { carryOut } from "./carry-out.ts";
import type { RunnerAssignment } from "./contract.ts";
import { GettingReady } from "./getting-ready.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { LineReader } from "./line-reader.ts";
import { LiveRun } from "./live-run.ts";
import { goWord, librariesAhead } from "./program.ts";
import { warmClaude } from "./warm-claude.ts";
import { warmUp } from "./warm-up.ts";

/*
 * A runner: `main.mjs [SCRATCH [--sdk] [--docker]]`. It waits for one line on its standard input, needs nobody
 * from then on, and ends with its run; when the input ends without a line, so does it. What is held
 * is not begun before a second line. After a turn whose `claude` stays up it waits for the next line.
 */
process.umask(0o077);
process.on("SIGHUP", () => undefined);
const live = new LiveRun();
let launcher: Launcher | undefined;
const lines = readLines();
let given = lines.next();
await Promise.race([given, warmUpIfIdle()]);
const never = new Promise<undefined>(() => undefined);
let lease = new LeaseWatch(undefined);
for (;;) {
  const next = await Promise.race([given, live.isWaiting ? live.gone : never, lease.ended]);
  if (!next?.value) break;
  lease.stop();
  const begun = await whenOnRecord(next.value);
  if (!begun) break;
  const { assignment, ready } = begun;
  // After `claude` is on its way: nobody waits for it.
  if (!assignment.order.live && !assignment.ahead) setImmediate(letGoOfInput);
  const work = assignment.ahead ? warmClaude(assignment, live) : carryOut(assignment, live, ready);
  await work.catch(() => process.exit(1));
  if (!live.isWaiting) break;
  lease = new LeaseWatch(assignment.lease);
  given = lines.next();
}
await Promise.all([live.end(), launcher?.end()]);
process.exit(0);

/** Who was started for a job that already waits finds its line there and loses no time. */
async function warmUpIfIdle(): Promise<void> {
  const [, , scratch, ...flags] = process.argv;
  if (scratch === undefined) return void (await given);
  let isGiven = false;
  void given.then(() => {
    isGiven = true;
  });
  const isAwaited = await Promise.race([given.then(() => true), delay(10).then(() => false)]);
  if (isAwaited) return;
  const own = {
    scratch: join(scratch, String(process.pid)),
    sdk: flags.includes(librariesAhead.sdk),
    docker: flags.includes(librariesAhead.docker),
    isGiven: () => isGiven,
  };
  // Warming up may fail; what was wrong then shows in a run, where it can be told.
  await warmUp(own)
    .then(() => {
      if (isGiven) return;
      launcher = new Launcher(currentProcess());
      // What practice left would be collected in the middle of the run, on the processors that `claude` needs.
      globalThis.gc?.();
    })
    .catch(() => undefined);
}

interface BegunAssignment {
  assignment: RunnerAssignment;
  ready?: GettingReady;
}

/** Undefined when it never will be. What could not be recorded may come again, as something else. */
async function whenOnRecord(line: string): Promise<BegunAssignment | undefined> {
  // The edge: it comes from the fleet that started us, of this very version.
  const assignment = JSON.parse(line) as RunnerAssignment;
  if (!assignment.held) {
    void launcher?.end();
    return { assignment };
  }
  const ready = new GettingReady(assignment, launcher?.spawn);
  const next = await lines.next();
  if (next.value === goWord) return { assignment, ready };
  await ready.giveUp();
  return next.done ? undefined : whenOnRecord(next.value);
}

async function* readLines(): AsyncGenerator<string, undefined> {
  const reader = new LineReader();
  for await (const chunk of process.stdin) {
    // A fleet that was up before an update roused its spares by empty ones.
    for (const line of reader.push(chunk)) if (line !== "") yield line;
  }
}

/** Node itself never closes the first three; a file in its place keeps others from getting the number. */
function letGoOfInput(): void {
  process.stdin.destroy();
  closeSync(0);
  openSync("/dev/null", "r");
}
