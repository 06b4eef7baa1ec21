import { loadDockerode } from "../../docker/engine.ts";
import { LineSplitter } from "../../lib/line-splitter.ts";
import type { RunnerAssignment } from "../contract/messages.ts";
import { preloadFlags } from "../contract/paths.ts";
import { KeepAliveSlot, prewarmClaude } from "../keep-alive/keep-alive-run.ts";
import { importSdk } from "../runtimes/sdk-runtime.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { runAttempt } from "./run-attempt.ts";

/*
 * The runner process: `main.mjs [--sdk] [--docker]`. It reads one assignment line from stdin, runs it
 * independently of the fleet process, and exits with the run. It also exits if stdin ends without a
 * line. If `claude` is kept alive after a turn, the runner waits for the next line. The flags name
 * libraries to preload while it waits.
 */
process.umask(0o077);
process.on("SIGHUP", () => undefined);
void loadLibraries(process.argv.slice(2));
const keepAliveSlot = new KeepAliveSlot();
const lines = readLines();
let nextLine = lines.next();
const neverResolves = new Promise<undefined>(() => undefined);
let lease = new LeaseWatch(undefined);
for (;;) {
  const next = await Promise.race([
    nextLine,
    keepAliveSlot.isIdle ? keepAliveSlot.gone : neverResolves,
    lease.ended,
  ]);
  if (!next?.value) break;
  lease.stop();
  // Not validated here: the fleet that started us has the same version and has validated it.
  const assignment = JSON.parse(next.value) as RunnerAssignment;
  const work = assignment.isPrewarm
    ? prewarmClaude(assignment, keepAliveSlot)
    : runAttempt(assignment, keepAliveSlot);
  await work.catch(() => process.exit(1));
  if (!keepAliveSlot.isIdle) break;
  lease = new LeaseWatch(assignment.lease);
  nextLine = lines.next();
}
await keepAliveSlot.end();
process.exit(0);

/** Ignores failures: the run that needs a missing library reports it. */
async function loadLibraries(flags: readonly string[]): Promise<void> {
  const loads = [
    flags.includes(preloadFlags.sdk) && importSdk(),
    flags.includes(preloadFlags.docker) && loadDockerode(),
  ];
  await Promise.allSettled(loads);
}

async function* readLines(): AsyncGenerator<string, undefined> {
  const reader = new LineSplitter();
  for await (const chunk of process.stdin) yield* reader.pushText(chunk);
}
