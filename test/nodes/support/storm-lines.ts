import { groupBy } from "./group-by.ts";
import type { NodesVerdict } from "./judge-nodes.ts";
import type { StormStory } from "./storm.ts";

/** What a storm came to, for whoever runs it. */
export function storyRows(
  { blows, long, took, fleet }: StormStory,
  { jobs, runs, wrong }: NodesVerdict,
): Record<string, string> {
  const attempts = jobs.flatMap((one) => one.attempts);
  const completed = jobs.filter(({ job }) => job.status === "completed").length;
  const times = (what: string) => runs.filter((run) => run.what === what).length;
  const begun = times("begin");
  const homes = new Map(fleet.nodes.map(({ own, name }) => [own.home, name]));
  const byNode = groupBy(
    runs.filter(({ what }) => what === "begin"),
    ({ home }) => homes.get(home) ?? home,
  );
  const shares = [...byNode].sort().map(([name, all]) => `${name} ${all.length}`);
  const most = Math.max(0, ...jobs.map(({ job }) => job.attempts));
  const struck = Object.entries(blows).map(([kind, count]) => `${kind} ${count}`);
  return {
    jobs: `${jobs.length}: ${completed} completed, ${jobs.length - completed} set aside`,
    took: `${Math.round(took / 1000)} s`,
    blows: `${struck.join(" · ")}; ${long} of them longer than 9 s`,
    attempts: `${attempts.length}: ${attempts.filter((one) => one.crashed).length} crashed, at most ${most} for one job`,
    runs: `${begun}: ${shares.join(" · ")}; two of one agent at once ${times("overlap")} times`,
    "model requests": String(fleet.on.rehearsal.ledger.main.length),
    wrong: String(wrong.length),
  };
}

export function asLines(rows: Record<string, string>): string[] {
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(15)} ${text}`);
}

export function asTable(rows: Record<string, string>): string[] {
  return ["| | |", "|---|---|", ...Object.entries(rows).map(([a, b]) => `| ${a} | ${b} |`)];
}
