import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Environment, readEnvironment } from "../config/environment.ts";
import { envFileName, stateDirOf } from "../config/find.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { judgeVariables } from "./agents/variables.ts";
import { checkWorkspace } from "./agents/workspace.ts";
import { type Check, type CheckGroup, checkGroups, type Finding } from "./check.ts";
import { type ApiChecks, checkApi } from "./claude/api.ts";
import { checkBinary } from "./claude/binary.ts";
import { judgeSignIn, signInsOf } from "./claude/sign-in.ts";
import { examineContainers } from "./examine-containers.ts";
import { applyFix } from "./fix.ts";
import { judgeConfiguration } from "./fleet/configuration.ts";
import { checkPermissions, type OwnedPath } from "./fleet/permissions.ts";
import { checkPort } from "./fleet/port.ts";
import { checkRunning, type RunningFleet } from "./fleet/running.ts";
import { checkStore } from "./fleet/store.ts";
import { judgeClock } from "./machine/clock.ts";
import { checkDisk } from "./machine/disk.ts";
import { checkGit } from "./machine/git.ts";
import { judgeNode } from "./machine/node.ts";
import { judgePosture } from "./posture/rule-of-two.ts";
import type { SetUp } from "./set-up.ts";

export interface ExamineOptions {
  setUp: SetUp;
  /** Where the doctor stands, if there is no fleet. */
  cwd: string;
  /** The real environment, without `.env`. */
  env: Environment;
  /** Only of this agent. */
  agent?: string;
  /** The fleet that answers here. */
  running?: RunningFleet;
  /** The API is not asked. */
  offline?: boolean;
  /** What is safe to mend is mended. */
  fix?: boolean;
  /** Told what is being done that takes its time. */
  onStep?: (what: string) => void;
  signal: AbortSignal;
}

/** All that a set-up needs to work and to be safe, group by group; the groups are looked at together. */
export async function* examine(options: ExamineOptions): AsyncGenerator<Check> {
  const patient = toPatient(options);
  const api = askApi(patient);
  const looks: Record<CheckGroup, Promise<Finding[]>> = {
    machine: lookAtMachine(patient, api),
    claude: lookAtClaude(patient, api),
    fleet: lookAtFleet(patient),
    agents: lookAtAgents(patient),
    docker: lookAtContainers(patient),
  };
  // One that fails is met when its turn comes.
  for (const look of Object.values(looks)) look.catch(() => undefined);
  for (const group of checkGroups) {
    for (const finding of await looks[group]) yield { group, ...mended(finding, options) };
  }
}

interface Patient extends ExamineOptions {
  /** With `.env`. */
  environment: Environment;
  stateDir: string;
  agents: readonly ResolvedAgent[];
  began: { wall: number; monotonic: number };
}

function toPatient(options: ExamineOptions): Patient {
  const { setUp, cwd, env, agent } = options;
  const all = setUp.kind === "loaded" ? setUp.loaded.fleet.agents : [];
  return {
    ...options,
    environment: environmentOf(setUp, env),
    stateDir: stateDirOf(fileOf(setUp) ?? join(cwd, "herdctl.yaml")),
    agents: agent === undefined ? all : all.filter(({ name }) => name === agent),
    began: { wall: Date.now(), monotonic: performance.now() },
  };
}

function environmentOf(setUp: SetUp, env: Environment): Environment {
  if (setUp.kind === "loaded") return setUp.loaded.environment;
  return setUp.kind === "wrong" ? readEnvironment(dirname(setUp.file), env) : env;
}

function fileOf(setUp: SetUp): string | undefined {
  if (setUp.kind === "loaded") return setUp.loaded.fleet.file;
  return setUp.kind === "none" ? undefined : setUp.file;
}

async function askApi({
  agents,
  environment,
  offline,
  onStep,
  signal,
}: Patient): Promise<ApiChecks> {
  if (offline) return { findings: [], skew: undefined };
  onStep?.("asking the API");
  const checks = await checkApi(signInsOf(agents, environment), environment, signal);
  onStep?.("looking around");
  return checks;
}

async function lookAtMachine(patient: Patient, api: Promise<ApiChecks>): Promise<Finding[]> {
  const { agents, stateDir, env, began, signal } = patient;
  const cloning = agents.filter((one) => one.working_directory.clone).map(({ name }) => name);
  const disks = [
    { what: "the state", path: stateDir },
    { what: "temporary files", path: tmpdir() },
  ];
  const [git, disk, { skew }] = await Promise.all([
    checkGit(cloning, signal),
    checkDisk(disks),
    api,
  ]);
  const clock = judgeClock({
    now: new Date(),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    given: env.TZ,
    jump: Date.now() - began.wall - (performance.now() - began.monotonic),
    skew,
  });
  return [judgeNode(process.versions.node), git, clock, ...disk];
}

async function lookAtClaude(patient: Patient, api: Promise<ApiChecks>): Promise<Finding[]> {
  const { setUp, agents, environment, stateDir, env } = patient;
  const claudePath = setUp.kind === "loaded" ? setUp.loaded.fleet.claude_path : undefined;
  const binary = await checkBinary(agents, { claudePath, env: environment, stateDir });
  // What is wrong in the configuration may be what decides the sign-in.
  if (setUp.kind === "wrong" || setUp.kind === "refused") return binary;
  const signIns = signInsOf(agents, environment).map((one) => judgeSignIn(one, env));
  return [...binary, ...signIns, ...(await api).findings];
}

async function lookAtFleet({ setUp, stateDir, running }: Patient): Promise<Finding[]> {
  const configuration = judgeConfiguration(setUp);
  const file = fileOf(setUp);
  if (file === undefined) return configuration;
  const files = setUp.kind === "loaded" ? setUp.loaded.files : [file];
  const secrets = join(dirname(file), envFileName);
  const owned: OwnedPath[] = [
    { path: stateDir, what: "state" },
    { path: secrets, what: "secrets" },
    ...files
      .filter((path) => path !== secrets)
      .map((path): OwnedPath => ({ path, what: "configuration" })),
  ];
  const port = setUp.kind === "loaded" ? [await checkPort(setUp.loaded, running)] : [];
  const store = setUp.kind === "loaded" ? setUp.loaded.fleet.store : undefined;
  return [
    ...configuration,
    ...checkPermissions(owned),
    ...(setUp.kind === "refused" ? [] : [checkRunning(stateDir, running)]),
    ...(store === undefined ? [] : await checkStore(store)),
    ...port,
  ];
}

async function lookAtAgents({ setUp, agents, environment }: Patient): Promise<Finding[]> {
  if (setUp.kind !== "loaded") return [];
  const { fleet, trees } = setUp.loaded;
  const each = agents.map(async (agent) => [
    await checkWorkspace(agent),
    ...judgeVariables(agent, environment),
    judgePosture(agent, fleet.agents, trees.agents),
  ]);
  return (await Promise.all(each)).flat();
}

async function lookAtContainers(patient: Patient): Promise<Finding[]> {
  const { environment: env, stateDir, agents, onStep, signal } = patient;
  const onSelfTest = (agent: string) => onStep?.(`testing the container of ${agent}`);
  const findings: Finding[] = [];
  for await (const finding of examineContainers({ env, stateDir, agents, onSelfTest, signal })) {
    findings.push(finding);
  }
  return findings;
}

function mended(finding: Finding, { fix }: ExamineOptions): Omit<Check, "group"> {
  const done = fix && finding.fix ? applyFix(finding.fix) : undefined;
  if (done === undefined) return finding;
  const { name, agent, place } = finding;
  return { name, agent, place, verdict: "ok", message: done, fixed: true };
}
