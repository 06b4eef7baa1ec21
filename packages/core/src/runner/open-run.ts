import { rm } from "node:fs/promises";
import type { Environment } from "../config/environment.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { MeteredRequest } from "../gateway/meter.ts";
import type { SpendAccount } from "../gateway/metering/admit-call.ts";
import type { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { RefusedAccess } from "../gateway/refused-access.ts";
import { runFolders, type SpareContainer } from "./container/spare.ts";
import {
  type CredentialChoice,
  chooseCredential,
  type PayingAgent,
  type UsableCredential,
} from "./credential.ts";
import { buildEnvironment } from "./environment.ts";
import type { Evidence } from "./evidence.ts";
import { closePrivateGit } from "./git/private-session.ts";
import { hasLogin, loginFile } from "./login.ts";
import { isMounted, type OpenDoors, openDoors } from "./open-doors.ts";
import { configDirOf } from "./prepare-run.ts";
import { type RunOrder, runTokenOf } from "./run-order.ts";
import { Leash } from "./sweep/leash.ts";

/** What surrounds one run of claude: its environment, its door to the API, its private files. */
export interface OpenRun {
  credential: UsableCredential;
  env: Record<string, string>;
  privateDir: string;
  doorDir: string | undefined;
  authFile: string | undefined;
  /** For the private git directory of its container. */
  gitDir: string | undefined;
  spare: SpareContainer | undefined;
  /** Holds all of its processes. */
  leash: Leash;
  gateway: Gateway | undefined;
  gatewayFacts(): Evidence["gateway"];
  refused(): RefusedAccess[];
  /** Its `claude` was up before this turn. */
  wasUp: boolean;
  /** What its calls cost; undefined while no turn of it is under way, and then it may make none. */
  readonly meter: SpendMeter | undefined;
  /** From here on only what belongs to the next turn is counted. */
  nextTurn(meter: SpendMeter): void;
  /** Its calls are refused from here on. */
  endTurn(): void;
  close(): Promise<void>;
}

export type OpenedRun =
  | { kind: "open"; run: OpenRun }
  | { kind: "refused"; refused: NonNullable<Evidence["refused"]> };

export interface RunPlace {
  spare?: SpareContainer;
  /** Of the run's own and gone with it, where that is not the job's. */
  folder?: string;
  /** Pays for the first turn. */
  meter?: SpendMeter;
  gitDir?: string;
}

export async function openRun(
  order: RunOrder,
  environment: Environment,
  jobDir: string,
  { spare, folder = spare?.folder, meter, gitDir }: RunPlace = {},
): Promise<OpenedRun> {
  const credential = credentialOf(order, environment);
  if (credential.kind === "none") {
    return { kind: "refused", refused: { code: "auth_failed", ...withoutKind(credential) } };
  }
  const { privateDir, doorDir } = runFolders(folder ?? jobDir);
  let last: Readonly<MeteredRequest> | undefined;
  const account: SpendAccount = { meter };
  const onEnd = (request: Readonly<MeteredRequest>) => {
    last = request;
  };
  const doors = await openDoors(order, environment, credential, doorDir, { account, onEnd });
  const env = environmentOf(order, environment, credential, doors);
  const close = async () => {
    await doors.close();
    if (gitDir) await closePrivateGit(gitDir);
    await rm(folder ?? privateDir, { recursive: true, force: true });
  };
  const { gateway } = doors;
  let wasUp = false;
  return {
    kind: "open",
    run: {
      get wasUp() {
        return wasUp;
      },
      credential,
      env,
      privateDir,
      doorDir: doors.folder,
      gitDir,
      authFile: isMounted(order, credential) ? loginFile(configDirOf(environment)) : undefined,
      spare,
      leash: new Leash(runTokenOf(order)),
      gateway,
      get meter() {
        return account.meter;
      },
      gatewayFacts: () =>
        gateway && { ...factsOf(gateway, last), overLimit: account.meter?.refusedBy },
      refused: doors.refused,
      nextTurn: (next) => {
        account.meter = next;
        wasUp = true;
        last = undefined;
        doors.countAnew();
      },
      endTurn: () => {
        account.meter?.close();
        account.meter = undefined;
      },
      close,
    },
  };
}

export function credentialOf(
  { agent }: { agent: PayingAgent },
  environment: Environment,
): CredentialChoice {
  return chooseCredential(agent, {
    apiKey: environment.ANTHROPIC_API_KEY,
    authToken: environment.ANTHROPIC_AUTH_TOKEN,
    oauthToken: environment.CLAUDE_CODE_OAUTH_TOKEN,
    login: hasLogin(configDirOf(environment)),
  });
}

function environmentOf(
  order: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  doors: OpenDoors,
): Record<string, string> {
  const env = buildEnvironment({
    fleet: { ...environment, CLAUDE_CONFIG_DIR: environment.CLAUDE_CONFIG_DIR && order.configDir },
    agent: order.agent,
    credential,
    gateway: doors.api,
    runToken: runTokenOf(order),
    jobId: order.jobId,
  });
  return { ...env, ...(doors.egressSocket && { HERDCTL_PROXY_SOCKET: doors.egressSocket }) };
}

function factsOf(
  gateway: Gateway,
  last: Readonly<MeteredRequest> | undefined,
): NonNullable<Evidence["gateway"]> {
  const unreachable = last?.ending === "unreachable" ? (last.failure ?? "unreachable") : undefined;
  return { limit: gateway.meter().limit, unreachable, cut: last?.ending === "cut" };
}

function withoutKind({ message, hint }: { message: string; hint: string }) {
  return { message, hint };
}
