import { expect, test } from "vitest";
import { consultOracle, type OracleVerdict } from "../invariants/check-invariants.ts";
import { type ProcessKillRun, runProcessKills } from "./run-process-kills.ts";
import { SeededRandom } from "./seeded-random.ts";

const readNumber = (name: string, defaultValue: number) =>
  Number(process.env[`HERDCTL_LONG_${name}`] ?? defaultValue);

const seed = readNumber("SEED", Date.now() % 1_000_000);
const rounds = readNumber("ROUNDS", 40);
const seconds = readNumber("SECONDS", 300);
const plan = {
  agents: 12,
  maxConcurrentJobs: 8,
  jobs: 36,
  maxJobsPerKill: 8,
  rounds,
  maxDurationMs: seconds * 1000,
};

test(
  "ends every job once and leaves nothing behind while fleet and runners are killed repeatedly",
  async () => {
    printLine(`seed ${seed}, up to ${rounds} rounds in ${seconds} s`);
    const began = Date.now();
    const run = await runProcessKills({ random: new SeededRandom(seed), ...plan });
    const verdict = await consultOracle(run);
    for (const line of renderTable(run, verdict, Date.now() - began)) printLine(line);
    expect(verdict.violations).toEqual([]);
  },
  600_000 + seconds * 2_000,
);

function renderTable(
  { kills, harness }: ProcessKillRun,
  { cases, violations }: OracleVerdict,
  took: number,
): string[] {
  const jobs = cases.map(({ job }) => job);
  const attempts = cases.flatMap((one) => one.attempts);
  const completed = jobs.filter(({ status }) => status === "completed").length;
  const crashed = attempts.filter((one) => one.crashed).length;
  const most = Math.max(...jobs.map((job) => job.attempts));
  const killed = Object.entries(kills).map(([kind, times]) => `${kind} ${times}`);
  const rows = {
    seed: `${seed} · ${Math.round(took / 1000)} s`,
    jobs: `${jobs.length}: ${completed} completed, ${jobs.length - completed} set aside`,
    kills: killed.join(" · "),
    attempts: `${attempts.length}: ${crashed} crashed, at most ${most} for one job`,
    "looked at": `${jobs.length} records, ${attempts.length} attempts, ${harness.rehearsal.ledger.main.length} model requests, every process`,
    wrong: String(violations.length),
  };
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(10)} ${text}`);
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
