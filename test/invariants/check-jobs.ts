import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { StateManager } from "@herdctl/core/internal";
import { type Attempt, type HookRun, isFinished, type Job } from "@herdctl/protocol";
import type { LedgerEntry } from "@herdctl/rehearsal";
import { type ObservedRun, type Violation, violations } from "./observed-run.ts";

/** All records of one accepted trigger. */
export interface JobCase {
  key: string;
  job: Job;
  attempts: Attempt[];
  hooks: HookRun[];
  /** The requests in the model's ledger. */
  requests: LedgerEntry[];
  /** How often the task's effect happened, and how often its hook ran. */
  effectCount: number;
  hookRunCount: number;
}

export async function readJobCases(run: ObservedRun, state: StateManager): Promise<JobCase[]> {
  const { harness, accepted, file, hookFile } = run;
  const done = readLines(join(harness.workspace, "effects"));
  const called = hookFile ? readLines(resolve(dirname(file), hookFile)) : [];
  const asked = harness.rehearsal.ledger.main;
  const cases: JobCase[] = [];
  for (const [key, id] of accepted) {
    const job = await state.jobs.get(id);
    if (!job) continue;
    const attempts = await state.jobs.listAttempts(id);
    const hooks = await state.hooks.list({ job: id, limit: 10 });
    const [effects, hooked] = [done, called].map((all) => all.filter((one) => one === id).length);
    const requests = requestsOfJob(taskText(run, key), job, attempts, asked);
    cases.push({
      key,
      job,
      attempts,
      hooks,
      requests,
      effectCount: effects ?? 0,
      hookRunCount: hooked ?? 0,
    });
  }
  return cases;
}

export async function checkJobs(
  run: ObservedRun,
  state: StateManager,
  cases: readonly JobCase[],
): Promise<Violation[]> {
  return [
    ...(await findUnrecordedJobs(run, state)),
    ...cases.flatMap((one) => [
      ...violations(
        "lost",
        prefixWithJob(
          one,
          lostChecks.flatMap((check) => check(one, run)),
        ),
      ),
      ...violations(
        "doubled",
        prefixWithJob(
          one,
          doubledChecks.flatMap((check) => check(one, run)),
        ),
      ),
    ]),
    ...violations("doubled", findUnknownRequests(run, cases)),
    ...checkPosts(run),
  ];
}

type JobCheck = (one: JobCase, run: ObservedRun) => string[];

const maxCrashes = 3;

/** Violations when a required record or effect is missing. */
const lostChecks: JobCheck[] = [
  ({ job }) => (isFinished(job.status) ? [] : [`is ${job.status} forever`]),
  ({ job }, { isAcceptedEnd }) =>
    job.status === "completed" || isAbandoned(job) || isAcceptedEnd?.(job)
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
  ({ job, effectCount }) =>
    effectCount === 0 && job.status === "completed" ? ["was never done, but completed"] : [],
  ({ hooks, hookRunCount }, run) => {
    if (!run.hookFile) return [];
    const states = hooks.map(({ status }) => status).join();
    return states === "succeeded" && hookRunCount > 0
      ? []
      : [`has hooks: ${states}; ran ${hookRunCount} times`];
  },
];

/** Violations when something exists twice. */
const doubledChecks: JobCheck[] = [
  // The model checks whether its work is done, so it must be done only once.
  ({ effectCount }) => (effectCount <= 1 ? [] : [`was done ${effectCount} times`]),
  (one, run) => {
    const given = countTaskDeliveries(one, taskText(run, one.key));
    // Another node cannot resume the session and starts the task again.
    const most = run.shared ? one.attempts.length : 1;
    return given <= most ? [] : [`was given to the model ${given} times, and answered each time`];
  },
  ({ job, requests }, { toModelTime = (time) => time }) => {
    const over = toModelTime(job.finished_at ?? "");
    return requests.filter(({ at }) => at > over).map(({ at }) => `asked at ${at}, after ${over}`);
  },
  ({ requests }) => overlappingRequests(requests),
  ({ hooks, hookRunCount }) => {
    const begun = hooks.reduce((sum, { attempts }) => sum + attempts, 0);
    return hookRunCount <= begun
      ? []
      : [`hooks ran ${hookRunCount} times in ${begun} attempts on record`];
  },
];

/** Requests of the recorded sessions, and of any other session that received the task. */
function requestsOfJob(
  taskText: string,
  job: Job,
  attempts: Attempt[],
  asked: LedgerEntry[],
): LedgerEntry[] {
  const sessions = new Set([
    job.session_id,
    ...attempts.map(({ session_id }) => session_id),
    ...asked
      .filter(({ prompt = "" }) => prompt.includes(taskText))
      .map(({ sessionId }) => sessionId ?? null),
  ]);
  return asked.filter(({ sessionId }) => sessions.has(sessionId ?? null));
}

function taskText({ taskText: task }: ObservedRun, key: string): string {
  return task?.(key) ?? `Do ${key}.`;
}

/**
 * The number of sessions in which the model answered the task itself, not the continuation prompt.
 */
function countTaskDeliveries({ requests }: JobCase, taskText: string): number {
  const given = requests.filter(
    ({ prompt = "", end }) =>
      prompt.includes(taskText) && !prompt.includes("was interrupted") && end === "answered",
  );
  return new Set(given.map(({ sessionId }) => sessionId)).size;
}

async function findUnrecordedJobs(
  { accepted }: ObservedRun,
  state: StateManager,
): Promise<Violation[]> {
  const ids = new Set(accepted.values());
  const wrong = ids.size === accepted.size ? [] : violations("lost", ["two keys have one job"]);
  for (const [key, id] of accepted) {
    const job = await state.jobs.get(id);
    if (job?.idempotency_key === key) continue;
    wrong.push(...violations("lost", [`${key} was accepted as ${id}, which is lost`]));
  }
  for (let cursor: string | undefined; ; ) {
    const { jobs, next_cursor: next } = await state.jobs.list({ limit: 1000, cursor });
    const unknownJobs = jobs
      .filter(({ id }) => !ids.has(id))
      .map(({ id }) => `${id} belongs to no trigger`);
    wrong.push(...violations("doubled", unknownJobs));
    if (next === null) return wrong;
    cursor = next;
  }
}

/** Requests that belong to no recorded job. */
function findUnknownRequests({ harness }: ObservedRun, cases: readonly JobCase[]): string[] {
  const known = new Set(cases.flatMap(({ requests }) => requests.map(({ id }) => id)));
  return harness.rehearsal.ledger.main
    .filter(({ id }) => !known.has(id))
    .map(({ id, prompt }) => `request ${id} belongs to no job: ${prompt?.slice(0, 60)}`);
}

function checkPosts({ posts, accepted, answerPattern = /./ }: ObservedRun): Violation[] {
  if (!posts) return [];
  const others = posts
    .filter((text) => !answerPattern.test(text))
    .map((text) => `answered with: ${text}`);
  if (posts.length === accepted.size) return violations("lost", others);
  const kind = posts.length < accepted.size ? "lost" : "doubled";
  return violations(kind, [
    `${accepted.size} messages have ${posts.length} answers: ${posts.join()}`,
  ]);
}

/**
 * The ledger records the end of an answer slightly after the client receives it, and on a busy
 * machine the next request may arrive earlier. The answer to a task takes longer than this.
 */
const ledgerLagMs = 100;

/** Overlapping requests mean two concurrent runs of one job. */
function overlappingRequests(requests: LedgerEntry[]): string[] {
  return requests.slice(1).flatMap(({ id, at }, index) => {
    const { at: from = "", durationMs = 0, id: before } = requests[index] ?? {};
    const shared = Date.parse(from) + durationMs - Date.parse(at);
    return shared > ledgerLagMs ? [`requests ${before} and ${id} overlap by ${shared} ms`] : [];
  });
}

/** Abandoned after its runner crashed too often. */
function isAbandoned({ outcome, crashes }: Job): boolean {
  return outcome?.code === "runtime_crashed" && crashes >= maxCrashes;
}

function prefixWithJob({ key, job }: JobCase, texts: string[]): string[] {
  return texts.map((text) => `${key} (${job.id}) ${text}`);
}

function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
