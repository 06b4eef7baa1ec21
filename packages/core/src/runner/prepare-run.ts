import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { outputSchemaOf } from "../config/output-schema.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { Job } from "../state/job.ts";
import type { Assignee } from "../state/job-store.ts";
import type { Outcome } from "../state/outcome.ts";
import { currentProcess } from "../state/process-identity.ts";
import type { LeaseHolder, Session } from "../state/session.ts";
import type { StateManager } from "../state/state-manager.ts";
import { planAttempt } from "./attempt-plan.ts";
import { traceOf } from "./attempt-trace.ts";
import { lookAround, type Surroundings } from "./look-around.ts";
import { outcomes } from "./outcomes.ts";
import { placeOf, type RunOrder } from "./run-order.ts";
import type { SessionChoice } from "./runtime/interface.ts";
import { type SessionHome, sessionFilePath } from "./runtime/session-file/path.ts";
import { plantedHolds } from "./runtime/session-file/planted.ts";
import { planSession, type SessionPlan, type SessionWish, sessionRule } from "./session-plan.ts";
import { runLimits, type SpendPlan } from "./spend-plan.ts";

export interface RunRequest {
  state: StateManager;
  job: Job;
  agent: ResolvedAgent;
  environment: Environment;
  claudePath?: string;
  partialMessages?: boolean;
  /** It is a turn of a conversation that is likely to go on soon. */
  live?: boolean;
  /** The id for a session that is begun by it; called only then. */
  freshSession?: () => string | undefined;
  signal: AbortSignal;
  /** What was seen of the agent's surroundings, for whoever has looked already. */
  around?: Promise<Surroundings | undefined>;
  /** The node that it runs on, where nodes share the state. */
  by?: Assignee;
  /** Limits that the run shares with others, and prices; neither by default. */
  spend?(): Promise<SpendPlan>;
  /** How a node is called, and whether it is gone. */
  nodeOf?(id: string): { name: string; isGone: boolean };
}

export type PreparedRun =
  | { kind: "order"; order: RunOrder; holder: LeaseHolder; warnings: string[] }
  | { kind: "refused"; outcome: Outcome };

/** Everything that can be known to be wrong before a token is spent, and which session it will be. */
export async function prepareRun(request: RunRequest): Promise<PreparedRun> {
  const { state, job, agent, signal } = request;
  const { workspace, claude } = (await request.around) ?? (await lookAround(request, signal));
  if (workspace.kind === "problem") return refused("workspace_missing", workspace);
  if (claude.kind === "problem") return refused("runtime_missing", claude);

  const home = sessionHomeOf(request, workspace.path);
  const holder = holderOf(request);
  const plan = planAttempt(job.prompt, await traceOf({ state, job, home }));
  const session =
    plan.kind === "go_on"
      ? await leasePlanned(request, { ...plan, kind: "resume", ifBusy: "wait" }, holder)
      : await chooseSession(request, home, holder);
  if (session.kind === "refused") return session;
  const spend = await request.spend?.();
  const order: RunOrder = {
    jobId: job.id,
    attempt: job.attempts + 1,
    agent: withinChain(agent, job),
    prompt: plan.prompt,
    ...(plan.kind === "as_asked" && mayExpand(agent, job) && { expand: true }),
    ...home,
    session: session.choice,
    claude: { path: claude.path, version: claude.version },
    partialMessages: request.partialMessages ?? false,
    outputSchema: outputSchemaOf(agent, job.schedule),
    ...(request.live && mayStayUp(withinChain(agent, job)) && { live: true }),
    spend: {
      limits: [...(spend?.limits ?? []), ...runLimits(agent.max_budget_usd)],
      prices: spend?.prices ?? {},
    },
  };
  return { kind: "order", order, holder, warnings: session.warnings };
}

/** The order of a job to come, but for its prompt; undefined where none can be started ahead. */
export async function prepareWarm(
  request: Pick<RunRequest, "state" | "agent" | "environment" | "claudePath">,
  jobId: string,
): Promise<RunOrder | undefined> {
  const { agent } = request;
  if (agent.runtime.stream === "session-file") return undefined;
  const { workspace, claude } = await lookAround(request, new AbortController().signal);
  if (workspace.kind === "problem" || claude.kind === "problem") return undefined;
  return {
    ...{ jobId, attempt: 1, agent, prompt: "" },
    ...sessionHomeOf(request, workspace.path),
    session: { kind: "fresh", sessionId: randomUUID() },
    claude: { path: claude.path, version: claude.version },
    partialMessages: false,
    outputSchema: undefined,
  };
}

/** A run costs no more than its chain had left for it. */
function withinChain(agent: ResolvedAgent, { chain: { max_usd } }: Job): ResolvedAgent {
  if (max_usd === null) return agent;
  return { ...agent, max_budget_usd: Math.min(max_usd, agent.max_budget_usd ?? max_usd) };
}

/** Decided at admission; what the configuration and the record say since then can only forbid it. */
function mayExpand({ prompts }: ResolvedAgent, { expand_prompt, untrusted }: Job): boolean {
  return expand_prompt && prompts === "expanded" && !untrusted;
}

/** claude counts a budget over all turns of its process, and a session file tells no end of a turn. */
function mayStayUp(agent: ResolvedAgent): boolean {
  const { runtime, session, max_budget_usd } = agent;
  if (runtime.stream === "session-file" || hasServersInside(agent)) return false;
  return session.live > 0 && max_budget_usd === undefined;
}

/** In a container they cannot be told from what a tool has left there. */
function hasServersInside({ docker, mcp_servers }: ResolvedAgent): boolean {
  return docker.enabled && Object.values(mcp_servers).some(({ run }) => run === "container");
}

function sessionHomeOf(
  { agent, environment, state }: Pick<RunRequest, "agent" | "environment" | "state">,
  cwd: string,
): SessionHome {
  const place = placeOf(agent);
  const own = join(state.dockerSessionsDir, agent.name);
  return { place, cwd, configDir: place === "docker" ? own : configDirOf(environment) };
}

export function configDirOf(environment: Environment): string {
  return environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), ".claude");
}

async function holdsMessage(transcript: string, uuid: string | undefined): Promise<boolean> {
  return uuid !== undefined && (await plantedHolds(transcript, `"uuid":"${uuid}"`));
}

type ChosenSession =
  | { kind: "chosen"; choice: SessionChoice; warnings: string[] }
  | Extract<PreparedRun, { kind: "refused" }>;

async function chooseSession(
  request: RunRequest,
  home: SessionHome,
  holder: LeaseHolder,
): Promise<ChosenSession> {
  const { state, job, agent } = request;
  const { place, cwd } = home;
  const { goesOn, ownOf } = sessionRule(agent, job.schedule);
  const wish = wishOf(job, goesOn);
  if (wish.kind === "fresh") return leasePlanned(request, wish, holder);
  const known =
    "sessionId" in wish
      ? await state.sessions.get(wish.sessionId)
      : await state.sessions.latest(agent.name, place, ownOf);
  const away = known && sessionElsewhere(request, wish, known);
  if (away?.kind === "refuse") return refused("session_missing", away);
  if (away) return leasePlanned(request, away, holder);
  const id = "sessionId" in wish ? wish.sessionId : known?.session_id;
  const transcriptExists = id !== undefined && existsSync(sessionFilePath(home, id));
  const hasForkPoint =
    transcriptExists &&
    wish.kind === "fork" &&
    (await holdsMessage(sessionFilePath(home, id), wish.at));
  const now = new Date();
  const facts = { place, cwd, now, wish, known, transcriptExists, hasForkPoint };
  const plan = planSession(facts);
  if (plan.kind === "refuse") return refused("session_missing", plan);
  return leasePlanned(request, plan, holder);
}

function holderOf({ job, by }: RunRequest): LeaseHolder {
  return { ...currentProcess(), job_id: job.id, ...(by && { node: by.node }) };
}

/**
 * What is done about a session whose files lie on another node. Whoever hands out jobs gives such a
 * job to that node while it is there.
 */
function sessionElsewhere(
  { agent, by, nodeOf }: RunRequest,
  wish: SessionWish,
  { session_id, node }: Session,
): Extract<SessionPlan, { kind: "fresh" | "refuse" }> | undefined {
  if (!by || wish.kind === "fresh" || node === null || node === by.node) return undefined;
  const { name, isGone } = nodeOf?.(node) ?? { name: node, isGone: false };
  if (wish.kind === "latest" || (isGone && agent.when_node_gone === "move"))
    return { kind: "fresh", because: `the session ${session_id} is on node ${name}` };
  return {
    kind: "refuse",
    message: `session ${session_id} is on node ${name} and can only be gone on with there`,
    hint: "Run the job again: it is given to that node while it is there.",
  };
}

async function leasePlanned(
  request: RunRequest,
  plan: Exclude<SessionPlan, { kind: "refuse" }>,
  holder: LeaseHolder,
): Promise<ChosenSession> {
  if (plan.kind === "fresh") {
    const warnings = plan.because ? [`a fresh session was begun: ${plan.because}`] : [];
    const sessionId = request.freshSession?.() ?? randomUUID();
    return chosen({ kind: "fresh", sessionId }, warnings);
  }
  if (plan.kind === "fork") {
    return chosen({ ...plan, sessionId: randomUUID() });
  }
  const { sessionId, ifBusy } = plan;
  if (await lease(request, sessionId, holder, ifBusy === "wait")) {
    return chosen({ kind: "resume", sessionId });
  }
  if (ifBusy === "wait") return refused("session_busy", outcomes.session_busy);
  const fork: SessionChoice = { kind: "fork", from: sessionId, sessionId: randomUUID() };
  return chosen(fork, ["the last session was in use: this run is a fork of it"]);
}

/** One that does not exist yet nobody can hold: it is leased when the attempt begins. */
function chosen(choice: SessionChoice, warnings: string[] = []): ChosenSession {
  return { kind: "chosen", choice, warnings };
}

const pollEvery = 200;
const leaseMargin = 5 * 60_000;

/** A lease outlasts the longest run, and the time it takes to end one. */
export function leaseEnd({ timeouts }: Pick<ResolvedAgent, "timeouts">): Date {
  return new Date(Date.now() + timeouts.wall + leaseMargin);
}

/** One writer a session; a dead holder loses it at once. */
async function lease(
  { state, agent, signal }: RunRequest,
  sessionId: string,
  holder: LeaseHolder,
  wait: boolean,
): Promise<boolean> {
  const deadline = Date.now() + agent.timeouts.wall;
  for (;;) {
    const until = leaseEnd(agent);
    const answer = await state.sessions.lease(sessionId, holder, until);
    if (answer.granted) return true;
    if (!wait || signal.aborted || Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pollEvery));
  }
}

function wishOf(job: Job, goesOn: boolean): SessionWish {
  if (job.forked_from !== null) {
    return { kind: "fork", sessionId: job.forked_from, at: job.fork_point ?? undefined };
  }
  if (job.resumed_from !== null) return { kind: "resume", sessionId: job.resumed_from };
  // What was said in another room must not come up here.
  if (job.trigger_type === "chat") return { kind: "fresh" };
  return { kind: goesOn ? "latest" : "fresh" };
}

function refused(
  code: Outcome["code"],
  { message, hint }: { message: string; hint: string },
): Extract<PreparedRun, { kind: "refused" }> {
  return { kind: "refused", outcome: { code, message, hint } };
}
