import { setTimeout as pause } from "node:timers/promises";
import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { DemoFleet, type DemoJob } from "../demo/demo-fleet.ts";

const demoAgents = ["tester", "fixer", "reporter"];
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const demoTimeoutMs = 120_000;
const dashboardTimeMs = 600_000;
const farewellText =
  "\nThe demo has removed its files. Next: run `herdctl init` in your own folder.";

/** Runs three agents on a scripted model, and kills the fleet process while they work. */
export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const abortController = new AbortController();
  const abort = () => abortController.abort();
  // Repeated signals must not skip the cleanup, which is quick.
  for (const signal of signals) process.on(signal, abort);
  const timer = setTimeout(abort, demoTimeoutMs);
  const fleet = await DemoFleet.open(context, abortController.signal);
  try {
    const jobs = await runDemo(fleet, context);
    clearTimeout(timer);
    if (terminal.isJson) terminal.printJson({ jobs, report: readReport(fleet) });
    else await printConclusion(jobs, fleet, context, abortController.signal);
    await fleet.close();
    if (!terminal.isJson) terminal.print(farewellText);
    return exitCodes.success;
  } catch (error) {
    const reason = abortController.signal.aborted ? "it was interrupted" : errorMessage(error);
    if (terminal.isJson) terminal.printJson({ errors: [{ code: "demo_failed", message: reason }] });
    else terminal.print(`\nThe demo failed: ${reason}.`);
    return exitCodes.jobFailed;
  } finally {
    clearTimeout(timer);
    await fleet.close();
    for (const signal of signals) process.off(signal, abort);
  }
}

async function runDemo(fleet: DemoFleet, { terminal }: CommandContext): Promise<DemoJob[]> {
  const printLine = (line: string) => (terminal.isJson ? undefined : terminal.print(line));
  printLine("A fleet of three agents works on a small project that has a bug. Each agent is a");
  printLine("real Claude Code session. Only the model is scripted: no key, no internet.\n");
  const first = await fleet.start();
  for (const agent of demoAgents) await fleet.runForJson("trigger", agent);
  await pause(1_500);

  printLine("\n⚡ Killing the fleet process (kill -9) while the agents work.");
  first.kill("SIGKILL");
  await pause(700);
  printLine("   The agents keep working. A new fleet process adopts them:\n");
  await fleet.start();
  const jobs = await fleet.waitForFinishedJobs(demoAgents.length);

  printLine("\nThe jobs on record:\n");
  await fleet.runVisible("jobs");
  const failed = jobs.find((job) => job.status !== "completed");
  if (failed)
    throw new Error(`${failed.agent}: ${failed.outcome?.message} ${failed.outcome?.hint}`);
  const isRunOnce = jobs.every((job) => job.attempts === 1);
  const isFixed = !fleet.readFile("project/price.mjs").includes("slice");
  if (!isRunOnce || !isFixed) throw new Error("a job ran twice or did not finish its work");
  return jobs;
}

async function printConclusion(
  jobs: DemoJob[],
  fleet: DemoFleet,
  { terminal }: CommandContext,
  signal: AbortSignal,
) {
  const cost = jobs.reduce((sum, job) => sum + (job.cost_usd ?? 0), 0);
  const fixer = jobs.find((job) => job.agent === "fixer");
  const { url }: { url: string } = JSON.parse(await fleet.runForJson("open"));
  const lines = [
    "\nEach of the three jobs ran exactly once. The bug is fixed, and the report says:",
    `  ${readReport(fleet)}`,
    `A real model would have cost about $${cost.toFixed(2)}.`,
    // Without a terminal the fleet is stopped and removed now.
    ...(terminal.isInteractive && fixer
      ? [`To resume one of the sessions, in another terminal:\n  ${fleet.resumeCommand(fixer)}`]
      : []),
    `\nDashboard (the link works once): ${url}`,
  ];
  for (const line of lines) terminal.print(line);
  if (terminal.isInteractive) {
    // Without a terminal the demo ends here, and the dashboard with it.
    terminal.print("The dashboard stays open until you press Ctrl-C, for at most ten minutes.");
    await pause(dashboardTimeMs, undefined, { signal }).catch(() => undefined);
  }
}

function readReport(fleet: DemoFleet): string {
  return fleet.readFile("project/report.md").trim();
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
}
