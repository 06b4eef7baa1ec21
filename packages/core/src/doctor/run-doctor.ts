import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Environment, type ResolvedAgent, readEnvironment } from "@herdctl/config";
import { envFileName, stateDirOf } from "@herdctl/protocol";
import { checkVariables, checkWorkspace } from "./agents.ts";
import type { DoctorTarget } from "./check.ts";
import { type Check, type CheckGroup, checkGroups, type Finding } from "./check.ts";
import { type ApiCheckResult, checkApi } from "./claude/api.ts";
import { checkBinary, evaluateCredential, groupAgentCredentials } from "./claude/binary.ts";
import { checkContainers } from "./docker.ts";
import { applyFix } from "./fix.ts";
import { checkPermissions, type OwnedPath } from "./fleet/permissions.ts";
import { checkPort } from "./fleet/port.ts";
import { checkRunning, evaluateConfiguration, type RunningFleet } from "./fleet/running-fleet.ts";
import { checkState } from "./fleet/state.ts";
import { checkStore } from "./fleet/store.ts";
import { checkDisk, checkGit, evaluateClock, evaluateNodeVersion } from "./machine.ts";
import { checkMcpServers } from "./mcp-servers.ts";
import { evaluateRuleOfTwo } from "./posture/rule-of-two.ts";
import { checkRootMode } from "./root-mode.ts";
import { checkSandbox } from "./sandbox.ts";

export interface DoctorOptions {
  target: DoctorTarget;
  /** The current folder, used if there is no fleet. */
  cwd: string;
  /** The process environment, without `.env`. */
  env: Environment;
  /** Only check this agent. */
  agentName?: string;
  /** The fleet, if it is running and responds. */
  running?: RunningFleet;
  /** Do not query the API. */
  offline?: boolean;
  fix?: boolean;
  /** Accept an empty state if the database is damaged and no backup can be restored. */
  acceptEmptyState?: boolean;
  onStep?: (step: string) => void;
  signal: AbortSignal;
}

/** Checks that a setup works and is safe. Yields checks group by group; the groups run concurrently. */
export async function* runDoctor(options: DoctorOptions): AsyncGenerator<Check> {
  const context = createContext(options);
  const api = queryApi(context);
  const checksByGroup: Record<CheckGroup, Promise<Finding[]>> = {
    machine: checkMachine(context, api),
    claude: checkClaude(context, api),
    fleet: checkFleet(context),
    agents: checkAgents(context),
    docker: checkContainerAgents(context),
  };
  // A rejection is handled when its group is awaited below.
  for (const groupChecks of Object.values(checksByGroup)) groupChecks.catch(() => undefined);
  for (const group of checkGroups) {
    for (const finding of await checksByGroup[group])
      yield { group, ...(await applyFixIfAsked(finding, context)) };
  }
}

interface DoctorContext extends DoctorOptions {
  /** The environment including `.env`. */
  environment: Environment;
  stateDir: string;
  agents: readonly ResolvedAgent[];
  startedAt: { wall: number; monotonic: number };
}

function createContext(options: DoctorOptions): DoctorContext {
  const { target, cwd, env, agentName } = options;
  const all = target.kind === "loaded" ? target.loaded.fleet.agents : [];
  return {
    ...options,
    environment: environmentOf(target, env),
    stateDir: stateDirOf(fleetFileOf(target) ?? join(cwd, "herdctl.yaml")),
    agents: agentName === undefined ? all : all.filter(({ name }) => name === agentName),
    startedAt: { wall: Date.now(), monotonic: performance.now() },
  };
}

function environmentOf(target: DoctorTarget, env: Environment): Environment {
  if (target.kind === "loaded") return target.loaded.environment;
  return target.kind === "wrong" ? readEnvironment(dirname(target.file), env) : env;
}

function fleetFileOf(target: DoctorTarget): string | undefined {
  if (target.kind === "loaded") return target.loaded.fleet.file;
  return target.kind === "none" ? undefined : target.file;
}

async function queryApi({
  agents,
  environment,
  offline,
  onStep,
  signal,
}: DoctorContext): Promise<ApiCheckResult> {
  if (offline) return { findings: [], clockSkewMs: undefined };
  onStep?.("querying the API");
  const checks = await checkApi(groupAgentCredentials(agents, environment), environment, signal);
  onStep?.("running checks");
  return checks;
}

async function checkMachine(
  context: DoctorContext,
  api: Promise<ApiCheckResult>,
): Promise<Finding[]> {
  const { agents, stateDir, env, startedAt, signal } = context;
  const cloningAgents = agents
    .filter(({ working_directory }) => working_directory.clone)
    .map(({ name }) => name);
  const disks = [
    { purpose: "the state", path: stateDir },
    { purpose: "temporary files", path: tmpdir() },
  ];
  const [git, disk, { clockSkewMs }] = await Promise.all([
    checkGit(cloningAgents, signal),
    checkDisk(disks),
    api,
  ]);
  const clock = evaluateClock({
    now: new Date(),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    tzVariable: env.TZ,
    clockJumpMs: Date.now() - startedAt.wall - (performance.now() - startedAt.monotonic),
    apiSkewMs: clockSkewMs,
  });
  return [evaluateNodeVersion(process.versions.node), git, clock, ...disk];
}

async function checkClaude(
  context: DoctorContext,
  api: Promise<ApiCheckResult>,
): Promise<Finding[]> {
  const { target, agents, environment, stateDir, env } = context;
  const claudePath = target.kind === "loaded" ? target.loaded.fleet.claude_path : undefined;
  const binary = await checkBinary(agents, { claudePath, env: environment, stateDir });
  // Without a valid configuration, the credentials of the agents are unknown.
  if (target.kind === "wrong" || target.kind === "refused") return binary;
  const signIns = groupAgentCredentials(agents, environment).map((credential) =>
    evaluateCredential(credential, env),
  );
  return [...binary, ...signIns, ...(await api).findings];
}

async function checkFleet(context: DoctorContext): Promise<Finding[]> {
  const { target, stateDir, running } = context;
  const configuration = evaluateConfiguration(target);
  const file = fleetFileOf(target);
  if (file === undefined) return configuration;
  const files = target.kind === "loaded" ? target.loaded.files : [file];
  const secrets = join(dirname(file), envFileName);
  const ownedPaths: OwnedPath[] = [
    { path: stateDir, kind: "state" },
    { path: secrets, kind: "secrets" },
    ...files
      .filter((path) => path !== secrets)
      .map((path): OwnedPath => ({ path, kind: "configuration" })),
  ];
  const port = target.kind === "loaded" ? [await checkPort(target.loaded, running)] : [];
  const store = target.kind === "loaded" ? target.loaded.fleet.store : undefined;
  return [
    ...configuration,
    ...checkPermissions(ownedPaths),
    ...(target.kind === "refused" ? [] : [checkRunning(stateDir, running)]),
    ...(store === undefined ? checkOwnState(context) : await checkStore(store)),
    ...port,
  ];
}

/** Only of a valid fleet: another one may keep its state in a shared store. */
function checkOwnState({ target, stateDir, acceptEmptyState = false }: DoctorContext): Finding[] {
  if (target.kind !== "loaded" || !existsSync(stateDir)) return [];
  return [checkState({ stateDir, dir: target.loaded.fleet.dir, acceptEmptyState })];
}

async function checkAgents(context: DoctorContext): Promise<Finding[]> {
  const { target, agents, environment } = context;
  if (target.kind !== "loaded") return [];
  const servers = checkMcpServers(agents, context);
  const { fleet, trees } = target.loaded;
  const findingsByAgent = agents.map(async (agent) => [
    await checkWorkspace(agent),
    ...checkVariables(agent, environment),
    ...checkSandbox(agent, environment),
    evaluateRuleOfTwo(agent, fleet.agents, trees.agents),
  ]);
  return [
    ...(await Promise.all(findingsByAgent)).flat(),
    ...checkRootMode(agents, environment),
    ...(await servers),
  ];
}

async function checkContainerAgents(context: DoctorContext): Promise<Finding[]> {
  const { environment: env, stateDir, agents, onStep, signal } = context;
  const onSelfTest = (agent: string) => onStep?.(`testing the container of ${agent}`);
  const findings: Finding[] = [];
  for await (const finding of checkContainers({ env, stateDir, agents, onSelfTest, signal })) {
    findings.push(finding);
  }
  return findings;
}

async function applyFixIfAsked(
  finding: Finding,
  { fix, environment }: DoctorContext,
): Promise<Omit<Check, "group">> {
  const fixMessage = fix && finding.fix ? await applyFix(finding.fix, environment) : undefined;
  if (fixMessage === undefined) return finding;
  const { name, agent, place } = finding;
  return { name, agent, place, verdict: "ok", message: fixMessage, fixed: true };
}
