import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Attempt, type HookRun, isFinished, type Job } from "@herdctl/core";
import { openPatiently } from "../../oracle/oracle.ts";
import { ask } from "../../support/postgres.ts";
import type { FleetOfNodes } from "./fleet-of-nodes.ts";
import { groupBy } from "./group-by.ts";
import { runsFile } from "./locking-claude.ts";

/** What happened to a fleet of nodes that have all stopped since. */
export interface NodesStory {
  fleet: FleetOfNodes;
  /** By its key, the job that a trigger was acknowledged with. */
  accepted: Map<string, string>;
  /** Every job has one hook. */
  isHooked?: boolean;
  /** Other ends than success that are right here. */
  mayEnd?: (job: Job) => boolean;
}

interface JobStory {
  key: string;
  job: Job;
  attempts: Attempt[];
  hooks: HookRun[];
}

/** A run of the stand-in, as it noted it itself. */
interface NotedRun {
  job: string;
  what: string;
  home: string;
  at: number;
}

export interface NodesVerdict {
  jobs: JobStory[];
  runs: NotedRun[];
  wrong: string[];
}

/** Reads store, folders, process table and the model's ledger, and believes none of them alone. */
export async function judgeNodes(story: NodesStory): Promise<NodesVerdict> {
  const { fleet, accepted } = story;
  const [first] = fleet.nodes;
  const state = await openPatiently(first?.stateDir ?? "", fleet.store);
  try {
    const jobs: JobStory[] = [];
    const wrong: string[] = [];
    for (const [key, id] of accepted) {
      const job = await state.jobs.get(id);
      if (job?.idempotency_key !== key) wrong.push(`${key} was accepted as ${id}, which is lost`);
      if (!job) continue;
      const attempts = await state.jobs.attempts(id);
      jobs.push({ key, job, attempts, hooks: await state.hooks.list({ jobId: id, limit: 10 }) });
    }
    const agents = new Set(jobs.map(({ job }) => job.agent));
    const runs = [...agents].flatMap((agent) => runsIn(fleet.workspaceOf(agent)));
    wrong.push(
      ...jobs.flatMap((one) => judgeJob(one, story)),
      ...(await strangers(fleet, new Set(accepted.values()))),
      ...atTheSameTime(jobs),
      ...overlapsOf(runs),
      ...requestsAtTheSameTime(fleet, jobs),
      ...(await leftIn(fleet)),
    );
    return { jobs, runs, wrong };
  } finally {
    await state.close();
  }
}

function judgeJob({ key, job, attempts, hooks }: JobStory, story: NodesStory): string[] {
  const crashed = attempts.filter((one) => one.crashed).length;
  const isGivenUp = job.outcome?.code === "runtime_crashed" && job.crashes >= 3;
  const isRight = job.status === "completed" || isGivenUp || story.mayEnd?.(job);
  const states = hooks.map(({ status }) => status).join();
  const found = [
    ...(isFinished(job.status) ? [] : [`is ${job.status} for ever`]),
    ...(isRight ? [] : [`ended as ${job.outcome?.code}: ${job.outcome?.message}`]),
    ...(job.attempts === attempts.length
      ? []
      : [`counts ${job.attempts} attempts of ${attempts.length}`]),
    ...attempts.filter((one) => one.finished_at === null).map((one) => `${one.number} is open`),
    ...(job.crashes === crashed ? [] : [`counts ${job.crashes} crashes of ${crashed}`]),
    // Its last attempt is the only one that may have succeeded: nothing comes after an end.
    ...attempts
      .slice(0, -1)
      .filter((one) => one.outcome_code === "success")
      .map((one) => `succeeded in attempt ${one.number}, and went on`),
    ...(story.isHooked && states !== "succeeded" ? [`has hooks: ${states}`] : []),
  ];
  return found.map((text) => `${key} (${job.id}) ${text}`);
}

async function strangers({ store }: FleetOfNodes, known: ReadonlySet<string>): Promise<string[]> {
  const rows = await ask(store, "SELECT id FROM herdctl.jobs");
  return rows.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} is nobody's job`);
}

/** Each agent does one thing at a time, by the record. */
function atTheSameTime(jobs: readonly JobStory[]): string[] {
  const byAgent = groupBy(
    jobs.flatMap(({ job, attempts }) => attempts.map((one) => ({ ...one, agent: job.agent }))),
    ({ agent }) => agent,
  );
  return [...byAgent].flatMap(([agent, attempts]) => {
    const inOrder = attempts.sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
    return inOrder.slice(1).flatMap((one, index) => {
      const before = inOrder[index];
      if (!before?.finished_at || before.finished_at <= one.started_at) return [];
      const pair = `${before.job_id}/${before.number} and ${one.job_id}/${one.number}`;
      return [`${agent} did ${pair} at once: until ${before.finished_at}, from ${one.started_at}`];
    });
  });
}

function overlapsOf(runs: readonly NotedRun[]): string[] {
  return runs
    .filter(({ what }) => what === "overlap")
    .map(({ job, at }) => `${job} began at ${at} while its agent was at work`);
}

/** The end of an answer is noted a moment after its client has it. */
const bookkeeping = 100;

/** The model's side: no two requests of one agent at a time. */
function requestsAtTheSameTime({ on }: FleetOfNodes, jobs: readonly JobStory[]): string[] {
  const agentOf = new Map(
    jobs.flatMap(({ job, attempts }) => {
      const sessions = [job.session_id, ...attempts.map(({ session_id }) => session_id)];
      return sessions.map((session) => [session, job.agent] as const);
    }),
  );
  const byAgent = groupBy(on.rehearsal.ledger.main, ({ sessionId }) =>
    agentOf.get(sessionId ?? null),
  );
  return [...byAgent].flatMap(([agent, requests]) =>
    // A session of an attempt that broke off before it was known is on nobody's record.
    agent === undefined
      ? []
      : requests.slice(1).flatMap(({ id, at }, index) => {
          const { at: from = "", durationMs = 0, id: before } = requests[index] ?? {};
          const shared = Date.parse(from) + durationMs - Date.parse(at);
          if (shared <= bookkeeping) return [];
          return [`${agent}: requests ${before} and ${id} overlap by ${shared} ms`];
        }),
  );
}

/** What must be gone with the last node: processes, sockets, drafts, orders and assignments. */
async function leftIn({ nodes, store }: FleetOfNodes): Promise<string[]> {
  const look = () => [
    ...nodes.flatMap((node) => node.processes().map((pid) => `process ${pid} of ${node.name}`)),
    ...nodes.flatMap(({ name, stateDir }) =>
      namesIn(join(stateDir, "jobs")).flatMap((job) =>
        namesIn(join(stateDir, "jobs", job))
          .filter((file) => !ofJob.test(file))
          .map((file) => `${file} of ${job} on ${name}`),
      ),
    ),
    ...nodes.flatMap(({ name, stateDir }) =>
      namesIn(stateDir)
        .filter((file) => file.endsWith(".sock") || file.includes("draft"))
        .map((file) => `${file} on ${name}`),
    ),
  ];
  const deadline = Date.now() + 12_000;
  while (look().length > 0 && Date.now() < deadline) await delay(200);
  const assigned = await ask(
    store,
    "SELECT id FROM herdctl.jobs WHERE assigned IS NOT NULL AND finished_at IS NULL",
  );
  const live = await ask(store, "SELECT name FROM herdctl.nodes WHERE status = 'live'");
  return [
    ...look(),
    ...assigned.map(({ id }) => `${id} is still assigned`),
    ...live.map(({ name }) => `${name} still counts as live`),
  ];
}

const ofJob = /^(output\.jsonl|outcome\.json|stderr\.log|runner\.log|runner-\d+\.json)$/;

function runsIn(folder: string): NotedRun[] {
  const file = join(folder, runsFile);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [job = "", what = "", home = "", at = ""] = line.split(" ");
    return { job, what, home, at: Number(at) * 1000 };
  });
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
