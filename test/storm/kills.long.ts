import { expect, test } from "vitest";
import { consultOracle, type Verdict } from "../oracle/oracle.ts";
import { Random } from "./random.ts";
import { type StormStory, storm } from "./storm.ts";

const number = (name: string, usual: number) =>
  Number(process.env[`HERDCTL_LONG_${name}`] ?? usual);

const seed = number("SEED", Date.now() % 1_000_000);
const rounds = number("ROUNDS", 40);
const seconds = number("SECONDS", 300);
const plan = { agents: 12, atOnce: 8, jobs: 36, more: 8, rounds, longest: seconds * 1000 };

test(
  "fleet and runners are killed again and again with dozens of jobs in flight: every job ends once, and nothing is left",
  async () => {
    say(`seed ${seed}, up to ${rounds} rounds in ${seconds} s`);
    const began = Date.now();
    const story = await storm({ random: new Random(seed), ...plan });
    const verdict = await consultOracle(story);
    for (const line of tableOf(story, verdict, Date.now() - began)) say(line);
    expect(verdict.wrong).toEqual([]);
  },
  600_000 + seconds * 2_000,
);

function tableOf({ kills, on }: StormStory, { cases, wrong }: Verdict, took: number): string[] {
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
    "looked at": `${jobs.length} records, ${attempts.length} attempts, ${on.rehearsal.ledger.main.length} model requests, every process`,
    wrong: String(wrong.length),
  };
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(10)} ${text}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
