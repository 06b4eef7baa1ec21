import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Attempt, isFinished, type Job, StateManager } from "@herdctl/core";
import type { LedgerEntry } from "@herdctl/rehearsal";
import { processList } from "../support/process-list.ts";
import { processesWith } from "../support/processes.ts";
import type { Story } from "./storm.ts";

/** All that is known of one accepted trigger, from whoever knows it. */
interface Case {
  key: string;
  job: Job;
  attempts: Attempt[];
  /** The model's side of it. */
  requests: LedgerEntry[];
  /** How often what it was to do was done. */
  effects: number;
}

export interface Verdict {
  cases: Case[];
  /** Everything lost, doubled or left. */
  wrong: string[];
}

/** Reads store, folders, process table and the model's ledger, and believes none of them alone. */
export async function consultOracle(story: Story): Promise<Verdict> {
  const stateDir = join(dirname(story.file), ".herdctl");
  const state = await new StateManager(stateDir).open({ readOnly: true });
  try {
    const cases = await casesOf(story, state);
    const wrong = [
      ...(await notOnRecord(story, state)),
      ...cases.flatMap((one) => checks.flatMap((check) => named(one, check(one)))),
      ...strangers(story, cases),
      ...leftRunning(stateDir, cases),
    ];
    return { cases, wrong };
  } finally {
    await state.close();
  }
}

const mostCrashes = 3;

/** What must hold of every accepted trigger. */
const checks: ((one: Case) => string[])[] = [
  ({ job }) => (isFinished(job.status) ? [] : [`is ${job.status} for ever`]),
  ({ job }) =>
    job.status === "completed" || (isSetAside(job) && job.crashes >= mostCrashes)
      ? []
      : [`ended as ${job.outcome?.code}: ${job.outcome?.message}`],
  ({ job, attempts }) =>
    job.attempts === attempts.length
      ? []
      : [`counts ${job.attempts} attempts, of which ${attempts.length} are on record`],
  ({ attempts }) => attempts.flatMap((one) => (one.finished_at ? [] : [`${one.number} is open`])),
  ({ job, attempts }) => {
    const crashes = attempts.filter(({ crashed }) => crashed).length;
    return job.crashes === crashes ? [] : [`counts ${job.crashes} crashes of ${crashes}`];
  },
  // The model of the storm looks first whether its work is done: whatever happens, it is done once.
  ({ job, effects }) =>
    effects === 1 || (effects === 0 && isSetAside(job)) ? [] : [`was done ${effects} times`],
  (one) => {
    const given = timesGiven(one);
    return given <= 1 ? [] : [`was given to the model ${given} times, and answered each time`];
  },
  ({ job, requests }) =>
    requests.filter(({ at }) => at > (job.finished_at ?? "")).map(({ at }) => `asked at ${at}`),
  ({ requests }) => atTheSameTime(requests),
  ({ job }) =>
    ["runner.sock", "private"].flatMap((name) =>
      existsSync(join(dirname(job.output_file), name)) ? [`left ${name}`] : [],
    ),
];

async function casesOf({ on, accepted }: Story, state: StateManager): Promise<Case[]> {
  const done = linesOf(join(on.workspace, "effects"));
  const asked = on.rehearsal.ledger.main;
  const cases: Case[] = [];
  for (const [key, id] of accepted) {
    const job = await state.jobs.get(id);
    if (!job) continue;
    const attempts = await state.jobs.attempts(id);
    const effects = done.filter((line) => line === id).length;
    cases.push({ key, job, attempts, requests: requestsOf(key, job, attempts, asked), effects });
  }
  return cases;
}

/** Those of the sessions on record, and of any other session in which the model was given the task. */
function requestsOf(
  key: string,
  job: Job,
  attempts: Attempt[],
  asked: LedgerEntry[],
): LedgerEntry[] {
  const isGiven = ({ prompt = "" }: LedgerEntry) => prompt.includes(`Do ${key}.`);
  const sessions = new Set([
    job.session_id,
    ...attempts.map(({ session_id }) => session_id),
    ...asked.filter(isGiven).map(({ sessionId }) => sessionId ?? null),
  ]);
  return asked.filter(({ sessionId }) => sessions.has(sessionId ?? null));
}

/** In how many sessions the model answered to the task itself, and not to the word to go on. */
function timesGiven({ requests }: Case): number {
  const given = requests.filter(
    ({ prompt = "", end }) => prompt.startsWith("Do ") && end === "answered",
  );
  return new Set(given.map(({ sessionId }) => sessionId)).size;
}

async function notOnRecord({ accepted }: Story, state: StateManager): Promise<string[]> {
  const ids = new Set(accepted.values());
  const wrong = ids.size === accepted.size ? [] : ["two keys have one job"];
  for (const [key, id] of accepted) {
    const job = await state.jobs.get(id);
    if (job?.idempotency_key !== key) wrong.push(`${key} was accepted as ${id}, which is lost`);
  }
  for (let cursor: string | undefined; ; ) {
    const { jobs, next } = await state.jobs.list({ limit: 1000, cursor });
    for (const { id } of jobs) if (!ids.has(id)) wrong.push(`${id} is nobody's job`);
    if (next === null) return wrong;
    cursor = next;
  }
}

/** Requests that belong to no job on record. */
function strangers({ on }: Story, cases: Case[]): string[] {
  const known = new Set(cases.flatMap(({ requests }) => requests.map(({ id }) => id)));
  return on.rehearsal.ledger.main
    .filter(({ id }) => !known.has(id))
    .map(({ id, prompt }) => `request ${id} is nobody's: ${prompt?.slice(0, 60)}`);
}

function leftRunning(stateDir: string, cases: Case[]): string[] {
  const marked = cases.flatMap(({ job }) =>
    processesWith(job.id).map((pid) => `process ${pid} of ${job.id} is left`),
  );
  const ours = processList()
    .split("\n")
    .filter((line) => line.includes(stateDir));
  return [...marked, ...ours.map((line) => `left running: ${line}`)];
}

/** Two that overlap would be two runs of one job. */
function atTheSameTime(requests: LedgerEntry[]): string[] {
  return requests.slice(1).flatMap(({ id, at }, index) => {
    const { at: from = "", durationMs = 0, id: before } = requests[index] ?? {};
    const overlaps = Date.parse(at) < Date.parse(from) + durationMs;
    return overlaps ? [`requests ${before} and ${id} overlap`] : [];
  });
}

function isSetAside({ outcome }: Job): boolean {
  return outcome?.code === "runtime_crashed";
}

function named({ key, job }: Case, wrong: string[]): string[] {
  return wrong.map((text) => `${key} (${job.id}) ${text}`);
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
