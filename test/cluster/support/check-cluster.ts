import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Attempt, type HookRun, isFinished, type Job } from "@herdctl/protocol";
import { openStateWithRetry } from "../../invariants/check-invariants.ts";
import { queryDatabase } from "../../support/postgres.ts";
import { runsFileName } from "./locking-claude.ts";
import type { TestCluster } from "./test-cluster.ts";

/** A finished run of a cluster whose nodes have all stopped. */
export interface ClusterRun {
  fleet: TestCluster;
  /** The acknowledged job of each trigger, by key. */
  accepted: Map<string, string>;
  /** Each job has exactly one hook run. */
  hasHooks?: boolean;
  /** Accepts ends other than success. */
  isAcceptedEnd?: (job: Job) => boolean;
}

interface JobRecords {
  key: string;
  job: Job;
  attempts: Attempt[];
  hooks: HookRun[];
}

/** A run as the stand-in for claude recorded it. */
interface RecordedRun {
  job: string;
  event: string;
  home: string;
  at: number;
}

export interface ClusterVerdict {
  jobs: JobRecords[];
  runs: RecordedRun[];
  violations: string[];
}

/** Compares the store, folders, the process table and the model's ledger with each other. */
export async function checkCluster(run: ClusterRun): Promise<ClusterVerdict> {
  const { fleet, accepted } = run;
  const [first] = fleet.nodes;
  const state = await openStateWithRetry(first?.stateDir ?? "", fleet.store);
  try {
    const jobs: JobRecords[] = [];
    const wrong: string[] = [];
    for (const [key, id] of accepted) {
      const job = await state.jobs.get(id);
      if (job?.idempotency_key !== key) wrong.push(`${key} was accepted as ${id}, which is lost`);
      if (!job) continue;
      const attempts = await state.jobs.listAttempts(id);
      jobs.push({ key, job, attempts, hooks: await state.hooks.list({ job: id, limit: 10 }) });
    }
    const agents = new Set(jobs.map(({ job }) => job.agent));
    const runs = [...agents].flatMap((agent) => readRuns(fleet.workspaceOf(agent)));
    wrong.push(
      ...jobs.flatMap((one) => checkJob(one, run)),
      ...(await findUnknownJobs(fleet, new Set(accepted.values()))),
      ...findConcurrentAttempts(jobs),
      ...findOverlappingRuns(runs),
      ...findConcurrentRequests(fleet, jobs),
      ...(await findLeftovers(fleet)),
    );
    return { jobs, runs, violations: wrong };
  } finally {
    await state.close();
  }
}

function checkJob({ key, job, attempts, hooks }: JobRecords, run: ClusterRun): string[] {
  const crashed = attempts.filter((one) => one.crashed).length;
  const isGivenUp = job.outcome?.code === "runtime_crashed" && job.crashes >= 3;
  const isRight = job.status === "completed" || isGivenUp || run.isAcceptedEnd?.(job);
  const states = hooks.map(({ status }) => status).join();
  const found = [
    ...(isFinished(job.status) ? [] : [`is ${job.status} forever`]),
    ...(isRight ? [] : [`ended as ${job.outcome?.code}: ${job.outcome?.message}`]),
    ...(job.attempts === attempts.length
      ? []
      : [`counts ${job.attempts} attempts of ${attempts.length}`]),
    ...attempts.filter((one) => one.finished_at === null).map((one) => `${one.number} is open`),
    ...(job.crashes === crashed ? [] : [`counts ${job.crashes} crashes of ${crashed}`]),
    // Only the last attempt may have succeeded.
    ...attempts
      .slice(0, -1)
      .filter((one) => one.outcome_code === "success")
      .map((one) => `succeeded in attempt ${one.number}, and continued`),
    ...(run.hasHooks && states !== "succeeded" ? [`has hooks: ${states}`] : []),
  ];
  return found.map((text) => `${key} (${job.id}) ${text}`);
}

async function findUnknownJobs(
  { store }: TestCluster,
  known: ReadonlySet<string>,
): Promise<string[]> {
  const rows = await queryDatabase(store, "SELECT id FROM herdctl.jobs");
  return rows.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} belongs to no trigger`);
}

/** Each agent runs one job at a time, by the recorded times. */
function findConcurrentAttempts(jobs: readonly JobRecords[]): string[] {
  const byAgent = Map.groupBy(
    jobs.flatMap(({ job, attempts }) => attempts.map((one) => ({ ...one, agent: job.agent }))),
    ({ agent }) => agent,
  );
  return [...byAgent].flatMap(([agent, attempts]) => {
    const inOrder = attempts.sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
    return inOrder.slice(1).flatMap((one, index) => {
      const before = inOrder[index];
      if (!before?.finished_at || before.finished_at <= one.started_at) return [];
      const pair = `${before.job_id}/${before.number} and ${one.job_id}/${one.number}`;
      return [
        `${agent} ran ${pair} concurrently: until ${before.finished_at}, from ${one.started_at}`,
      ];
    });
  });
}

function findOverlappingRuns(runs: readonly RecordedRun[]): string[] {
  return runs
    .filter(({ event }) => event === "overlap")
    .map(({ job, at }) => `${job} began at ${at} while its agent was at work`);
}

/** The ledger records the end of an answer slightly after the client receives it. */
const ledgerLagMs = 100;

/** By the model's ledger, an agent never has two requests at the same time. */
function findConcurrentRequests({ harness }: TestCluster, jobs: readonly JobRecords[]): string[] {
  const agentOf = new Map(
    jobs.flatMap(({ job, attempts }) => {
      const sessions = [job.session_id, ...attempts.map(({ session_id }) => session_id)];
      return sessions.map((session) => [session, job.agent] as const);
    }),
  );
  const byAgent = Map.groupBy(harness.rehearsal.ledger.main, ({ sessionId }) =>
    agentOf.get(sessionId ?? null),
  );
  return [...byAgent].flatMap(([agent, requests]) =>
    // An interrupted attempt may have had a session that was never recorded.
    agent === undefined
      ? []
      : requests.slice(1).flatMap(({ id, at }, index) => {
          const { at: from = "", durationMs = 0, id: before } = requests[index] ?? {};
          const shared = Date.parse(from) + durationMs - Date.parse(at);
          if (shared <= ledgerLagMs) return [];
          return [`${agent}: requests ${before} and ${id} overlap by ${shared} ms`];
        }),
  );
}

/**
 * Lists what must be gone with the last node: processes, sockets, drafts, commands and assignments.
 */
async function findLeftovers({ nodes, store }: TestCluster): Promise<string[]> {
  const listLeftovers = () => [
    ...nodes.flatMap((node) => node.processes().map((pid) => `process ${pid} of ${node.name}`)),
    ...nodes.flatMap(({ name, stateDir }) =>
      listNames(join(stateDir, "jobs")).flatMap((job) =>
        listNames(join(stateDir, "jobs", job))
          .filter((file) => !expectedJobFiles.test(file))
          .map((file) => `${file} of ${job} on ${name}`),
      ),
    ),
    ...nodes.flatMap(({ name, stateDir }) =>
      listNames(stateDir)
        .filter((file) => file.endsWith(".sock") || file.includes("draft"))
        .map((file) => `${file} on ${name}`),
    ),
  ];
  const deadline = Date.now() + 12_000;
  while (listLeftovers().length > 0 && Date.now() < deadline) await delay(200);
  const assigned = await queryDatabase(
    store,
    "SELECT id FROM herdctl.jobs WHERE assigned IS NOT NULL AND finished_at IS NULL",
  );
  const live = await queryDatabase(store, "SELECT name FROM herdctl.nodes WHERE status = 'live'");
  return [
    ...listLeftovers(),
    ...assigned.map(({ id }) => `${id} is still assigned`),
    ...live.map(({ name }) => `${name} still counts as live`),
  ];
}

const expectedJobFiles = /^(output\.jsonl|outcome\.json|stderr\.log|runner\.log|runner-\d+\.json)$/;

function readRuns(folder: string): RecordedRun[] {
  const file = join(folder, runsFileName);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [job = "", what = "", home = "", at = ""] = line.split(" ");
    return { job, event: what, home, at: Number(at) * 1000 };
  });
}

function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
