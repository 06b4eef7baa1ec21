import type { ClusterVerdict } from "./check-cluster.ts";
import type { JobChaosRun } from "./job-chaos.ts";

/** The results of a chaos run as rows of a report. */
export function reportRows(
  { faultCounts, longFaultCount, durationMs, fleet }: JobChaosRun,
  { jobs, runs, violations }: ClusterVerdict,
): Record<string, string> {
  const attempts = jobs.flatMap((one) => one.attempts);
  const completed = jobs.filter(({ job }) => job.status === "completed").length;
  const times = (what: string) => runs.filter((run) => run.event === what).length;
  const begun = times("begin");
  const homes = new Map(fleet.nodes.map(({ isolated, name }) => [isolated.home, name]));
  const byNode = Map.groupBy(
    runs.filter(({ event }) => event === "begin"),
    ({ home }) => homes.get(home) ?? home,
  );
  const shares = [...byNode].sort().map(([name, all]) => `${name} ${all.length}`);
  const most = Math.max(0, ...jobs.map(({ job }) => job.attempts));
  const faults = Object.entries(faultCounts).map(([kind, count]) => `${kind} ${count}`);
  return {
    jobs: `${jobs.length}: ${completed} completed, ${jobs.length - completed} set aside`,
    took: `${Math.round(durationMs / 1000)} s`,
    blows: `${faults.join(" · ")}; ${longFaultCount} of them longer than 9 s`,
    attempts: `${attempts.length}: ${attempts.filter((one) => one.crashed).length} crashed, at most ${most} for one job`,
    runs: `${begun}: ${shares.join(" · ")}; two of one agent concurrently ${times("overlap")} times`,
    "model requests": String(fleet.harness.rehearsal.ledger.main.length),
    wrong: String(violations.length),
  };
}

export function formatLines(rows: Record<string, string>): string[] {
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(15)} ${text}`);
}

export function formatTable(rows: Record<string, string>): string[] {
  return ["| | |", "|---|---|", ...Object.entries(rows).map(([a, b]) => `| ${a} | ${b} |`)];
}
