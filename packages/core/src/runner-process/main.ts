import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { carryOut } from "./carry-out.ts";
import type { RunnerAssignment } from "./contract.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { LineReader } from "./line-reader.ts";
import { LiveRun } from "./live-run.ts";
import { warmSdk } from "./program.ts";
import { warmClaude } from "./warm-claude.ts";
import { warmUp } from "./warm-up.ts";

/*
 * A runner: `main.mjs [SCRATCH [--sdk]]`. It waits for one line on its standard input, needs nobody
 * from then on, and ends with its run; when the input ends without a line, so does it. After a turn
 * whose `claude` stays up it waits for the next line.
 */
process.umask(0o077);
process.on("SIGHUP", () => undefined);
const live = new LiveRun();
const assignments = readAssignments();
let given = assignments.next();
await Promise.race([given, warmUpIfIdle()]);
const never = new Promise<undefined>(() => undefined);
let lease = new LeaseWatch(undefined);
for (;;) {
  const next = await Promise.race([given, live.isWaiting ? live.gone : never, lease.ended]);
  if (!next?.value) break;
  lease.stop();
  if (!next.value.order.live && !next.value.ahead) letGoOfInput();
  const work = next.value.ahead ? warmClaude(next.value, live) : carryOut(next.value, live);
  await work.catch(() => process.exit(1));
  if (!live.isWaiting) break;
  lease = new LeaseWatch(next.value.lease);
  given = assignments.next();
}
await live.end();
process.exit(0);

/** Who was started for a job that already waits finds its line there and loses no time. */
async function warmUpIfIdle(): Promise<void> {
  const [, , scratch, ...flags] = process.argv;
  if (scratch === undefined) return void (await given);
  const isAwaited = await Promise.race([given.then(() => true), delay(10).then(() => false)]);
  if (isAwaited) return;
  const own = { scratch: join(scratch, String(process.pid)), sdk: flags.includes(warmSdk) };
  // Warming up may fail; what was wrong then shows in a run, where it can be told.
  await warmUp(own).catch(() => undefined);
}

async function* readAssignments(): AsyncGenerator<RunnerAssignment, undefined> {
  const reader = new LineReader();
  for await (const chunk of process.stdin) {
    for (const line of reader.push(chunk)) {
      // The edge: it comes from the fleet that started us, of this very version.
      if (line !== "") yield JSON.parse(line) as RunnerAssignment;
    }
  }
}

/** Node itself never closes the first three; a file in its place keeps others from getting the number. */
function letGoOfInput(): void {
  process.stdin.destroy();
  closeSync(0);
  openSync("/dev/null", "r");
}
