import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Attempt, type HookRun, isFinished, type Job, type StateManager } from "@herdctl/core";
import type { LedgerEntry } from "@herdctl/rehearsal";
import { type Story, type Wrong, wrongs } from "./story.ts";

/** All that is known of one accepted trigger, from whoever knows it. */
export interface Case {
  key: string;
  job: Job;
  attempts: Attempt[];
  hooks: HookRun[];
  /** The model's side of it. */
  requests: LedgerEntry[];
  /** How often what it was to do was done, and how often its hook ran. */
  effects: number;
  hooked: number;
}

export async function casesOf(story: Story, state: StateManager): Promise<Case[]> {
  const { on, accepted, file, hooked: hookedIn } = story;
  const done = linesOf(join(on.workspace, "effects"));
  const called = hookedIn ? linesOf(resolve(dirname(file), hookedIn)) : [];
  const asked = on.rehearsal.ledger.main;
  const cases: Case[] = [];
  for (const [key, id] of accepted) {
    const job = await state.jobs.get(id);
    if (!job) continue;
    const attempts = await state.jobs.attempts(id);
    const hooks = await state.hooks.list({ jobId: id, limit: 10 });
    const [effects, hooked] = [done, called].map((all) => all.filter((one) => one === id).length);
    const requests = requestsOf(wordsOf(story, key), job, attempts, asked);
    cases.push({ key, job, attempts, hooks, requests, effects: effects ?? 0, hooked: hooked ?? 0 });
  }
  return cases;
}

export async function judgeJobs(
  story: Story,
  state: StateManager,
  cases: readonly Case[],
): Promise<Wrong[]> {
  return [
    ...(await notOnRecord(story, state)),
    ...cases.flatMap((one) => [
      ...wrongs(
        "lost",
        named(
          one,
          lostChecks.flatMap((check) => check(one, story)),
        ),
      ),
      ...wrongs(
        "doubled",
        named(
          one,
          doubledChecks.flatMap((check) => check(one, story)),
        ),
      ),
    ]),
    ...wrongs("doubled", strangers(story, cases)),
    ...judgePosts(story),
  ];
}

type Check = (one: Case, story: Story) => string[];

const mostCrashes = 3;

/** What must be there of every accepted trigger. */
const lostChecks: Check[] = [
  ({ job }) => (isFinished(job.status) ? [] : [`is ${job.status} for ever`]),
  ({ job }, { mayEnd }) =>
    job.status === "completed" || isGivenUp(job) || mayEnd?.(job)
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
  ({ job, effects }) =>
    effects === 0 && job.status === "completed" ? ["was never done, but completed"] : [],
  ({ hooks, hooked }, story) => {
    if (!story.hooked) return [];
    const states = hooks.map(({ status }) => status).join();
    return states === "succeeded" && hooked > 0
      ? []
      : [`has hooks: ${states}; ran ${hooked} times`];
  },
];

/** What must not be there twice. */
const doubledChecks: Check[] = [
  // The model looks first whether its work is done: whatever happens, it is done once.
  ({ effects }) => (effects <= 1 ? [] : [`was done ${effects} times`]),
  (one, story) => {
    const given = timesGiven(one, wordsOf(story, one.key));
    // On another node a session cannot go on: there the task is given anew.
    const most = story.shared ? one.attempts.length : 1;
    return given <= most ? [] : [`was given to the model ${given} times, and answered each time`];
  },
  ({ job, requests }, { truly = (time) => time }) => {
    const over = truly(job.finished_at ?? "");
    return requests.filter(({ at }) => at > over).map(({ at }) => `asked at ${at}, after ${over}`);
  },
  ({ requests }) => atTheSameTime(requests),
  ({ hooks, hooked }) => {
    const begun = hooks.reduce((sum, { attempts }) => sum + attempts, 0);
    return hooked <= begun ? [] : [`hooks ran ${hooked} times in ${begun} attempts on record`];
  },
];

/** Those of the sessions on record, and of any other session in which the model was given the task. */
function requestsOf(
  words: string,
  job: Job,
  attempts: Attempt[],
  asked: LedgerEntry[],
): LedgerEntry[] {
  const sessions = new Set([
    job.session_id,
    ...attempts.map(({ session_id }) => session_id),
    ...asked
      .filter(({ prompt = "" }) => prompt.includes(words))
      .map(({ sessionId }) => sessionId ?? null),
  ]);
  return asked.filter(({ sessionId }) => sessions.has(sessionId ?? null));
}

function wordsOf({ task }: Story, key: string): string {
  return task?.(key) ?? `Do ${key}.`;
}

/** In how many sessions the model answered to the task itself, and not to the word to go on. */
function timesGiven({ requests }: Case, words: string): number {
  const given = requests.filter(
    ({ prompt = "", end }) =>
      prompt.includes(words) && !prompt.includes("was interrupted") && end === "answered",
  );
  return new Set(given.map(({ sessionId }) => sessionId)).size;
}

async function notOnRecord({ accepted }: Story, state: StateManager): Promise<Wrong[]> {
  const ids = new Set(accepted.values());
  const wrong = ids.size === accepted.size ? [] : wrongs("lost", ["two keys have one job"]);
  for (const [key, id] of accepted) {
    const job = await state.jobs.get(id);
    if (job?.idempotency_key === key) continue;
    wrong.push(...wrongs("lost", [`${key} was accepted as ${id}, which is lost`]));
  }
  for (let cursor: string | undefined; ; ) {
    const { jobs, next } = await state.jobs.list({ limit: 1000, cursor });
    const nobodys = jobs.filter(({ id }) => !ids.has(id)).map(({ id }) => `${id} is nobody's job`);
    wrong.push(...wrongs("doubled", nobodys));
    if (next === null) return wrong;
    cursor = next;
  }
}

/** Requests that belong to no job on record. */
function strangers({ on }: Story, cases: readonly Case[]): string[] {
  const known = new Set(cases.flatMap(({ requests }) => requests.map(({ id }) => id)));
  return on.rehearsal.ledger.main
    .filter(({ id }) => !known.has(id))
    .map(({ id, prompt }) => `request ${id} is nobody's: ${prompt?.slice(0, 60)}`);
}

function judgePosts({ posts, accepted, answer = /./ }: Story): Wrong[] {
  if (!posts) return [];
  const others = posts.filter((text) => !answer.test(text)).map((text) => `answered with: ${text}`);
  if (posts.length === accepted.size) return wrongs("lost", others);
  const kind = posts.length < accepted.size ? "lost" : "doubled";
  return wrongs(kind, [`${accepted.size} messages have ${posts.length} answers: ${posts.join()}`]);
}

/**
 * The end of an answer is noted a moment after its client has it, and on a busy machine the next
 * request may be there before; the answer to a task takes longer than this.
 */
const bookkeeping = 100;

/** Two that overlap would be two runs of one job. */
function atTheSameTime(requests: LedgerEntry[]): string[] {
  return requests.slice(1).flatMap(({ id, at }, index) => {
    const { at: from = "", durationMs = 0, id: before } = requests[index] ?? {};
    const shared = Date.parse(from) + durationMs - Date.parse(at);
    return shared > bookkeeping ? [`requests ${before} and ${id} overlap by ${shared} ms`] : [];
  });
}

/** Set aside after its runner died too often. */
function isGivenUp({ outcome, crashes }: Job): boolean {
  return outcome?.code === "runtime_crashed" && crashes >= mostCrashes;
}

function named({ key, job }: Case, texts: string[]): string[] {
  return texts.map((text) => `${key} (${job.id}) ${text}`);
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
