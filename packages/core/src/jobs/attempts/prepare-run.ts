import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Environment, outputSchemaOf, type ResolvedAgent } from "@herdctl/config";
import {
  type Job,
  type Outcome,
  outcomes,
  type Session,
  type SessionLeaseHolder,
} from "@herdctl/protocol";
import type { RuntimeProblem } from "../../claude/binary.ts";
import { claudeVersion, findClaude } from "../../claude/binary.ts";
import { configDirOf } from "../../claude/credential.ts";
import { type SessionHome, sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { untrustedFileContains } from "../../claude/session-files/untrusted-file.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import { currentProcess } from "../../lib/process-identity.ts";
import {
  type AttemptBudgetResult,
  computeAttemptBudget,
  type RunOrder,
  type SessionChoice,
  type SpendPlan,
  sessionHomeKindOf,
} from "../../runner/contract/run-order.ts";
import type { Assignee } from "../../store/model/job-change.ts";
import type { StateManager } from "../../store/state-manager.ts";
import {
  cloneOwner,
  prepareWorkspace,
  type Workspace,
} from "../../workspaces/prepare-workspace.ts";
import { withPermissionRules } from "./apply-rules.ts";
import {
  planAttempt,
  planSession,
  readPriorAttempts,
  type SessionPlan,
  type SessionWish,
  sessionRule,
} from "./session-plan.ts";

export interface RunRequest {
  state: StateManager;
  job: Job;
  agent: ResolvedAgent;
  environment: Environment;
  claudePath?: string;
  partialMessages?: boolean;
  /** The run is a turn of a conversation that will probably continue soon. */
  live?: boolean;
  /** The id for a new session; called only if one is needed. */
  freshSession?: () => string | undefined;
  signal: AbortSignal;
  /** The node that runs the job, where nodes share the state. */
  by?: Assignee;
  /** Shared limits and prices; none by default. */
  spend?(): Promise<SpendPlan>;
  /** The name of a node, and whether it is gone. */
  nodeOf?(id: string): { name: string; isGone: boolean };
}

export type PreparedRun =
  | { kind: "order"; order: RunOrder; holder: SessionLeaseHolder; warnings: string[] }
  | { kind: "refused"; outcome: Outcome };

/** Checks everything that can be wrong before a token is spent, and chooses the session. */
export async function prepareRun(request: RunRequest): Promise<PreparedRun> {
  const { state, job, agent, signal } = request;
  const { workspace, claude } = await runPreflight(request, signal);
  if (workspace.kind === "problem") return refused("workspace_missing", workspace);
  if (claude.kind === "problem") return refused("runtime_missing", claude);
  const budget = attemptBudgetOf(agent, job);
  if (budget.kind === "used_up") return { kind: "refused", outcome: budget.outcome };

  const sessionHome = sessionHomeOf(request, workspace.path);
  const holder = holderOf(request);
  const plan = planAttempt(job.prompt, await readPriorAttempts({ state, job, home: sessionHome }));
  const session =
    plan.kind === "continue"
      ? await leasePlannedSession(request, { ...plan, kind: "resume", ifBusy: "wait" }, holder)
      : await chooseSession(request, sessionHome, holder);
  if (session.kind === "refused") return session;
  const spend = await request.spend?.();
  const allowedAgent = await withPermissionRules(state, agent, job.id);
  const limitedAgent: ResolvedAgent = { ...allowedAgent, max_budget_usd: budget.usd };
  const order: RunOrder = {
    jobId: job.id,
    attempt: job.attempts + 1,
    agent: limitedAgent,
    prompt: plan.prompt,
    ...(plan.kind === "as_asked" && canExpandPrompt(agent, job) && { expandsReferences: true }),
    ...sessionHome,
    session: session.choice,
    claude: { path: claude.path, version: claude.version },
    partialMessages: request.partialMessages ?? false,
    outputSchema: outputSchemaOf(agent, job.schedule),
    ...(request.live && canKeepAlive(limitedAgent) && { keepAlive: true }),
    spend: {
      limits: [...(spend?.limits ?? []), ...budget.limits],
      prices: spend?.prices ?? {},
    },
  };
  return { kind: "order", order, holder, warnings: session.warnings };
}

/** The order for a future job, without its prompt; undefined if the agent cannot be prestarted. */
export async function preparePrestartOrder(
  request: Pick<RunRequest, "state" | "agent" | "environment" | "claudePath">,
  jobId: string,
): Promise<RunOrder | undefined> {
  const { agent } = request;
  if (agent.runtime.stream === "session-file") return undefined;
  const { workspace, claude } = await runPreflight(request, new AbortController().signal);
  if (workspace.kind === "problem" || claude.kind === "problem") return undefined;
  return {
    ...{ jobId, attempt: 1, prompt: "" },
    agent: await withPermissionRules(request.state, agent, jobId),
    ...sessionHomeOf(request, workspace.path),
    session: { kind: "fresh", sessionId: randomUUID() },
    claude: { path: claude.path, version: claude.version },
    partialMessages: false,
    outputSchema: undefined,
  };
}

function attemptBudgetOf(
  { max_budget_usd }: ResolvedAgent,
  { chain, cost_usd }: Job,
): AttemptBudgetResult {
  return computeAttemptBudget({
    maxBudgetUsd: max_budget_usd,
    chainUsd: chain.max_usd,
    // defence: earlier-attempts-cost
    spentUsd: cost_usd ?? 0,
  });
}

/** Decided at admission. Later changes of the configuration or the record can only forbid it. */
function canExpandPrompt({ prompts }: ResolvedAgent, { expand_prompt, untrusted }: Job): boolean {
  return expand_prompt && prompts === "expanded" && !untrusted;
}

/**
 * claude counts a budget over all turns of a process, and a session file does not mark the end of a
 * turn.
 */
function canKeepAlive(agent: ResolvedAgent): boolean {
  const { runtime, keep_alive, max_budget_usd } = agent;
  if (runtime.stream === "session-file" || hasContainerMcpServers(agent)) return false;
  return keep_alive.sessions > 0 && max_budget_usd === undefined;
}

/** In a container, processes of MCP servers cannot be told apart from leftovers of tools. */
function hasContainerMcpServers({ docker, mcp_servers }: ResolvedAgent): boolean {
  return docker.enabled && Object.values(mcp_servers).some(({ run }) => run === "container");
}

function sessionHomeOf(
  { agent, environment, state }: Pick<RunRequest, "agent" | "environment" | "state">,
  cwd: string,
): SessionHome {
  const place = sessionHomeKindOf(agent);
  const agentSessionsDir = join(state.dockerSessionsDir, agent.name);
  return {
    place,
    cwd,
    configDir: place === "docker" ? agentSessionsDir : configDirOf(environment),
  };
}

async function hasMessage(transcript: string, uuid: string | undefined): Promise<boolean> {
  return uuid !== undefined && (await untrustedFileContains(transcript, `"uuid":"${uuid}"`));
}

type ChosenSession =
  | { kind: "chosen"; choice: SessionChoice; warnings: string[] }
  | Extract<PreparedRun, { kind: "refused" }>;

async function chooseSession(
  request: RunRequest,
  home: SessionHome,
  holder: SessionLeaseHolder,
): Promise<ChosenSession> {
  const { state, job, agent } = request;
  const { place, cwd } = home;
  const { shouldResume, ownerSchedule } = sessionRule(agent, job.schedule);
  const wish = wishOf(job, shouldResume);
  if (wish.kind === "fresh") return leasePlannedSession(request, wish, holder);
  const known =
    "sessionId" in wish
      ? await state.sessions.get(wish.sessionId)
      : await state.sessions.findLatest(agent.name, place, ownerSchedule);
  const otherNodePlan = known && planForOtherNode(request, wish, known);
  if (otherNodePlan?.kind === "refuse") return refused("session_missing", otherNodePlan);
  if (otherNodePlan) return leasePlannedSession(request, otherNodePlan, holder);
  const id = "sessionId" in wish ? wish.sessionId : known?.session_id;
  const transcriptExists = id !== undefined && existsSync(sessionFilePath(home, id));
  const hasForkPoint =
    transcriptExists &&
    wish.kind === "fork" &&
    (await hasMessage(sessionFilePath(home, id), wish.at));
  const now = new Date();
  const facts = { place, cwd, now, wish, known, transcriptExists, hasForkPoint };
  const plan = planSession(facts);
  if (plan.kind === "refuse") return refused("session_missing", plan);
  return leasePlannedSession(request, plan, holder);
}

function holderOf({ job, by }: RunRequest): SessionLeaseHolder {
  return { ...currentProcess(), job_id: job.id, ...(by && { node: by.node }) };
}

/**
 * Decides about a session whose files are on another node. While that node is available, such a job
 * is assigned to it.
 */
function planForOtherNode(
  { agent, by, nodeOf }: RunRequest,
  wish: SessionWish,
  { session_id, node }: Session,
): Extract<SessionPlan, { kind: "fresh" | "refuse" }> | undefined {
  if (!by || wish.kind === "fresh" || node === null || node === by.node) return undefined;
  const { name, isGone } = nodeOf?.(node) ?? { name: node, isGone: false };
  if (wish.kind === "latest" || (isGone && agent.when_node_gone === "move"))
    return { kind: "fresh", reason: `the session ${session_id} is on node ${name}` };
  return {
    kind: "refuse",
    message: `session ${session_id} is on node ${name} and can only be resumed there`,
    hint: "Run the job again when that node is available.",
  };
}

async function leasePlannedSession(
  request: RunRequest,
  plan: Exclude<SessionPlan, { kind: "refuse" }>,
  holder: SessionLeaseHolder,
): Promise<ChosenSession> {
  if (plan.kind === "fresh") {
    const warnings = plan.reason ? [`a new session was started: ${plan.reason}`] : [];
    const sessionId = request.freshSession?.() ?? randomUUID();
    return chosenSession({ kind: "fresh", sessionId }, warnings);
  }
  if (plan.kind === "fork") {
    return chosenSession({ ...plan, sessionId: randomUUID() });
  }
  const { sessionId, ifBusy } = plan;
  if (await acquireLease(request, sessionId, holder, ifBusy === "wait")) {
    return chosenSession({ kind: "resume", sessionId });
  }
  if (ifBusy === "wait") return refused("session_busy", outcomes.session_busy);
  const fork: SessionChoice = { kind: "fork", from: sessionId, sessionId: randomUUID() };
  return chosenSession(fork, ["the last session was in use, so this run is a fork of it"]);
}

/**
 * A session that does not exist yet cannot be held by others: it is leased when the attempt starts.
 */
function chosenSession(choice: SessionChoice, warnings: string[] = []): ChosenSession {
  return { kind: "chosen", choice, warnings };
}

const pollIntervalMs = 200;
const leaseMarginMs = 5 * 60_000;

/** A lease outlasts the longest run and the time it takes to end it. */
export function leaseExpiry({ timeouts }: Pick<ResolvedAgent, "timeouts">): Date {
  return new Date(Date.now() + timeouts.total + leaseMarginMs);
}

/** A session has one writer. A dead holder loses its lease immediately. */
async function acquireLease(
  { state, agent, signal }: RunRequest,
  sessionId: string,
  holder: SessionLeaseHolder,
  shouldWait: boolean,
): Promise<boolean> {
  const deadline = Date.now() + agent.timeouts.total;
  for (;;) {
    const until = leaseExpiry(agent);
    const leaseResult = await state.sessions.lease(sessionId, holder, until);
    if (leaseResult.granted) return true;
    if (!shouldWait || signal.aborted || Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
}

function wishOf(job: Job, shouldResume: boolean): SessionWish {
  if (job.forked_from !== null) {
    return { kind: "fork", sessionId: job.forked_from, at: job.fork_point ?? undefined };
  }
  if (job.resumed_from !== null) return { kind: "resume", sessionId: job.resumed_from };
  // Messages of another chat room must not appear in this one.
  if (job.trigger_type === "chat") return { kind: "fresh" };
  return { kind: shouldResume ? "latest" : "fresh" };
}

function refused(
  code: Outcome["code"],
  { message, hint }: { message: string; hint: string },
): Extract<PreparedRun, { kind: "refused" }> {
  return { kind: "refused", outcome: { code, message, hint } };
}

/** The agent and the machine to check. */
interface PreflightInput {
  state: Pick<StateManager, "stateDir">;
  agent: ResolvedAgent;
  environment: Environment;
  claudePath?: string;
}

/** The workspace and `claude` of a run, or the problem with them. */
interface PreflightResult {
  workspace: Workspace;
  claude: { kind: "found"; path: string; version: string | null } | RuntimeProblem;
}

/** Checks everything that does not depend on the job. */
async function runPreflight(input: PreflightInput, signal: AbortSignal): Promise<PreflightResult> {
  const { agent } = input;
  const [workspace, claude] = await Promise.all([
    prepareWorkspace(agent.working_directory, signal, cloneOwner(agent)),
    resolveClaude(input),
  ]);
  return { workspace, claude };
}

/** The image contains `claude`, whatever is installed on this machine. */
async function resolveClaude({ agent, environment, claudePath, state }: PreflightInput) {
  if (agent.docker.enabled) {
    return { kind: "found" as const, path: containerPaths.claude, version: null };
  }
  const found = findClaude({ claudePath, env: environment });
  if (found.kind === "problem") return found;
  const versionResult = await claudeVersion(
    found.path,
    join(state.stateDir, "claude-versions.json"),
  );
  return versionResult.kind === "problem"
    ? versionResult
    : { ...found, version: versionResult.version };
}
