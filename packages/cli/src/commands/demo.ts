import { setTimeout as pause } from "node:timers/promises";
import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { DemoFleet, type DemoJob } from "../demo/demo-fleet.ts";

const agents = ["tester", "fixer", "reporter"];
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const longest = 120_000;
const lookAround = 600_000;
const farewell = "\nNothing is left behind. Next: herdctl init in a folder of yours.";

/** A fleet of three agents at work, killed in the middle, with no key and no internet. */
export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const ending = new AbortController();
  const end = () => ending.abort();
  // However often it is asked: it goes once nothing is left of it, and that does not take long.
  for (const signal of signals) process.on(signal, end);
  const late = setTimeout(end, longest);
  const fleet = await DemoFleet.open(call, ending.signal);
  try {
    const jobs = await work(fleet, call);
    clearTimeout(late);
    if (terminal.json) terminal.printJson({ jobs, report: reportOf(fleet) });
    else await conclude(jobs, fleet, call, ending.signal);
    await fleet.close();
    if (!terminal.json) terminal.print(farewell);
    return exitCodes.success;
  } catch (error) {
    const why = ending.signal.aborted ? "it was interrupted" : messageOf(error);
    if (terminal.json) terminal.printJson({ errors: [{ code: "demo_failed", message: why }] });
    else terminal.print(`\nThe demo failed: ${why}.`);
    return exitCodes.jobFailed;
  } finally {
    clearTimeout(late);
    await fleet.close();
    for (const signal of signals) process.off(signal, end);
  }
}

async function work(fleet: DemoFleet, { terminal }: Call): Promise<DemoJob[]> {
  const say = (line: string) => (terminal.json ? undefined : terminal.print(line));
  say("A fleet of three agents looks after a small project that has a bug. Each is a real");
  say("Claude Code session; only the model is rehearsed: no key, no internet.\n");
  const first = await fleet.start();
  for (const agent of agents) await fleet.ask("trigger", agent);
  await pause(1_500);

  say("\n⚡ Now the fleet process is killed (kill -9), in the middle of the work.");
  first.kill("SIGKILL");
  await pause(700);
  say("   The agents go on by themselves. A new fleet process finds them:\n");
  await fleet.start();
  const jobs = await fleet.finished(agents.length);

  say("\nWhat the fleet has on record:\n");
  await fleet.show("jobs");
  const failed = jobs.find((job) => job.status !== "completed");
  if (failed)
    throw new Error(`${failed.agent}: ${failed.outcome?.message} ${failed.outcome?.hint}`);
  const once = jobs.every((job) => job.attempts === 1);
  const isFixed = !fleet.file("project/price.mjs").includes("slice");
  if (!once || !isFixed) throw new Error("the work was not done once and whole");
  return jobs;
}

async function conclude(jobs: DemoJob[], fleet: DemoFleet, { terminal }: Call, left: AbortSignal) {
  const cost = jobs.reduce((sum, job) => sum + (job.cost_usd ?? 0), 0);
  const fixer = jobs.find((job) => job.agent === "fixer");
  const { url }: { url: string } = JSON.parse(await fleet.ask("open"));
  const lines = [
    "\nThree triggers, three jobs, each run once: nothing lost, nothing doubled. The bug is",
    `fixed, and the report says: ${reportOf(fleet)}`,
    `A real model would have cost about $${cost.toFixed(2)}. To go on with one of them:`,
    `  herdctl trigger fixer --resume ${fixer?.id} -p "…"`,
    `\nIts dashboard, for one sign-in: ${url}`,
  ];
  for (const line of lines) terminal.print(line);
  if (terminal.interactive) {
    // Elsewhere it is told of and goes with the fleet.
    terminal.print("It stays up until you press Ctrl-C, for ten minutes at most.");
    await pause(lookAround, undefined, { signal: left }).catch(() => undefined);
  }
}

function reportOf(fleet: DemoFleet): string {
  return fleet.file("project/report.md").trim();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
}
