import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import {
  isFinished,
  type Job,
  type RewindOptions,
  type RewindPoint,
  type RewindResult,
  type Session,
  type SessionLeaseHolder,
  UserError,
} from "@herdctl/protocol";
import { findClaude } from "../claude/binary.ts";
import { configDirOf } from "../claude/credential.ts";
import { configDirVariable } from "../claude/resume-command.ts";
import {
  chooseRewindPoint,
  readRewindPoints,
  rewindFiles,
  rewindTimeoutMs,
} from "../claude/rewind-files.ts";
import { sessionFilePath } from "../claude/session-files/session-file-path.ts";
import { currentProcess } from "../lib/process-identity.ts";
import type { FleetServices } from "./services.ts";
import { viewSession } from "./views/sessions.ts";

/** The points to which the files of a job's session can be restored. */
export async function listRewindPoints(
  services: FleetServices,
  jobId: string,
): Promise<RewindPoint[]> {
  const { job, transcript } = await openSession(services, jobId);
  return readRewindPoints(transcript, job);
}

/** Restores the files that Claude Code's tools changed since a point. No job may use them meanwhile. */
export async function rewindJob(
  services: FleetServices,
  jobId: string,
  { to }: RewindOptions,
): Promise<RewindResult> {
  const { job, session, transcript } = await openSession(services, jobId);
  if (!isFinished(job.status)) throw busyError(`job ${job.id} is ${job.status}`);
  const point = chooseRewindPoint(await readRewindPoints(transcript, job), to);
  const { session_id: sessionId, cwd } = session;
  const environment = services.environment();
  const claude = findClaude({ claudePath: services.fleet().claude_path, env: environment });
  if (claude.kind === "problem")
    throw new UserError("runtime_missing", claude.message, { hint: claude.hint });
  const { CLAUDE_CONFIG_DIR: configDir } = configDirVariable(session, environment);
  await withSessionLease(services, sessionId, async () => {
    requireFreeWorkspace(services, cwd);
    await endIdleRunner(services, sessionId);
    const { message } = point;
    await rewindFiles({ program: claude.path, sessionId, message, cwd, environment, configDir });
  });
  return { session_id: sessionId, working_directory: cwd, point };
}

interface OpenedSession {
  job: Job;
  session: Session;
  transcript: string;
}

async function openSession(services: FleetServices, jobId: string): Promise<OpenedSession> {
  const { state, nodes } = services;
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  const agent = services.fleet().agents.find(({ name }) => name === job.agent);
  if (!agent?.file_checkpointing) {
    throw new UserError("session_unavailable", `${job.agent} keeps no copies of changed files`, {
      hint: "Set `file_checkpointing: true` for the agent. It applies to later jobs.",
    });
  }
  const session = job.session_id === null ? undefined : await state.sessions.get(job.session_id);
  if (!session) throw new UserError("session_not_found", `job ${jobId} has no session`);
  if (session.session_home === "docker") {
    throw new UserError("session_unavailable", "files cannot be restored in a container", {
      hint: "Restore them with git, or trigger the agent with the request to undo its changes.",
    });
  }
  const environment = services.environment();
  const { obstacle } = viewSession(session, environment, new Date(), nodes?.id);
  if (obstacle) {
    throw new UserError("session_unavailable", obstacle.message, { hint: obstacle.hint });
  }
  const configDir = session.config_dir ?? configDirOf(environment);
  const home = { place: session.session_home, configDir, cwd: session.cwd };
  return { job, session, transcript: sessionFilePath(home, session.session_id) };
}

const leaseMarginMs = 30_000;

/** A lease of its own, so that neither a run nor another rewind uses the session meanwhile. */
async function withSessionLease(
  { state, nodes }: FleetServices,
  sessionId: string,
  work: () => Promise<void>,
): Promise<void> {
  const holder: SessionLeaseHolder = {
    ...currentProcess(),
    job_id: `rewind-${randomUUID()}`,
    ...(nodes && { node: nodes.id }),
  };
  const until = new Date(Date.now() + rewindTimeoutMs + leaseMarginMs);
  const lease = await state.sessions.lease(sessionId, holder, until);
  if (!lease.granted) throw busyError(`${lease.holder.job_id} uses session ${sessionId}`);
  try {
    await work();
  } finally {
    await state.sessions.release(sessionId, holder);
  }
}

/** Jobs of other sessions and agents can work in the same folder. */
function requireFreeWorkspace(services: FleetServices, cwd: string): void {
  const { agents } = services.fleet();
  for (const { id, agent: name } of services.activeJobs.values()) {
    const folder = agents.find((agent) => agent.name === name)?.working_directory.path;
    if (folder === undefined || !overlaps(folder, cwd)) continue;
    throw busyError(`job ${id} is running in ${cwd}`);
  }
}

function overlaps(a: string, b: string): boolean {
  const [one, other] = [realPath(a) + sep, realPath(b) + sep];
  return one.startsWith(other) || other.startsWith(one);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A `claude` that waits for the session's next turn would not notice the change. */
async function endIdleRunner(
  { idleRunners, endingRunners }: FleetServices,
  sessionId: string,
): Promise<void> {
  const idle = idleRunners.take(sessionId);
  if (!idle) return;
  endingRunners.end(idle);
  await idle.exited;
}

function busyError(problem: string): UserError {
  return new UserError("session_unavailable", problem, {
    hint: "Files can be restored when no job uses them. Wait until it has ended, or cancel it.",
  });
}
