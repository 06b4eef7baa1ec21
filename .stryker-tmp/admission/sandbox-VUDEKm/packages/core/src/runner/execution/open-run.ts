import { rm } from "node:fs/promises";
import type { Environment } from "@herdctl/config";
import {
  type CredentialAgent,
  type CredentialChoice,
  chooseCredential,
  configDirOf,
  hasLogin,
  loginFile,
  type UsableCredential,
} from "../../claude/credential.ts";
import { runSubfolders } from "../../docker/mounts.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { closePrivateGit } from "../../private-git/private-git-lifecycle.ts";
import { ProcessTracker } from "../../process-tree/process-tracker.ts";
import type { RunOrder } from "../contract/run-order.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { SpendAccount } from "../gateway/metering/admit-call.ts";
import type { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { RefusedRequest } from "../gateway/send-api-error.ts";
import type { MeteredRequest } from "../gateway/traffic-meter.ts";
import type { Evidence } from "./evidence.ts";
import { openProxies, type RunProxies, usesMountedLogin } from "./open-proxies.ts";
import { buildRunEnvironment } from "./run-environment.ts";

/** The resources of one run of claude: environment, credential, proxies, private files. */
export interface OpenRun {
  credential: UsableCredential;
  env: Record<string, string>;
  privateDir: string;
  socketDir: string | undefined;
  authFile: string | undefined;
  /** Folder of the container's private git directory. */
  gitDir: string | undefined;
  /** Tracks all processes of the run. */
  processTracker: ProcessTracker;
  gateway: Gateway | undefined;
  gatewayEvidence(): Evidence["gateway"];
  refusedRequests(): RefusedRequest[];
  /** `claude` was already running before this turn. */
  isReused: boolean;
  /** Meters the API calls of the current turn. Undefined between turns, when calls are refused. */
  readonly meter: SpendMeter | undefined;
  /** Resets the counters and meters the next turn. */
  startNextTurn(meter: SpendMeter): void;
  /** Calls after this are refused. */
  endTurn(): void;
  close(): Promise<void>;
}

export type OpenRunResult =
  | { kind: "open"; run: OpenRun }
  | { kind: "refused"; refused: NonNullable<Evidence["refused"]> };

export interface OpenRunOptions {
  /** A folder that is removed with the run, instead of the job's folder. */
  folder?: string;
  /** Meters the first turn. */
  meter?: SpendMeter;
  gitDir?: string;
}

export async function openRun(
  order: RunOrder,
  environment: Environment,
  jobDir: string,
  { folder, meter, gitDir }: OpenRunOptions = {},
): Promise<OpenRunResult> {
  const credential = credentialOf(order, environment);
  if (credential.kind === "none") {
    return { kind: "refused", refused: { code: "auth_failed", ...withoutKind(credential) } };
  }
  const { privateDir, socketDir } = runSubfolders(folder ?? jobDir);
  let lastRequest: Readonly<MeteredRequest> | undefined;
  const account: SpendAccount = { meter };
  const onEnd = (request: Readonly<MeteredRequest>) => {
    lastRequest = request;
  };
  const proxies = await openProxies(order, environment, credential, socketDir, { account, onEnd });
  const env = buildOrderEnvironment(order, environment, credential, proxies);
  const close = async () => {
    await proxies.close();
    if (gitDir) await closePrivateGit(gitDir);
    await rm(folder ?? privateDir, { recursive: true, force: true });
  };
  const { gateway } = proxies;
  let isReused = false;
  return {
    kind: "open",
    run: {
      get isReused() {
        return isReused;
      },
      credential,
      env,
      privateDir,
      socketDir: proxies.socketFolder,
      gitDir,
      authFile: usesMountedLogin(order, credential)
        ? loginFile(configDirOf(environment))
        : undefined,
      processTracker: new ProcessTracker(runTokenOf(order)),
      gateway,
      get meter() {
        return account.meter;
      },
      gatewayEvidence: () =>
        gateway && {
          ...gatewayEvidenceOf(gateway, lastRequest),
          overLimit: account.meter?.refusedBy,
        },
      refusedRequests: proxies.refusedRequests,
      startNextTurn: (next) => {
        account.meter = next;
        isReused = true;
        lastRequest = undefined;
        proxies.resetCounters();
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
  { agent }: { agent: CredentialAgent },
  environment: Environment,
): CredentialChoice {
  return chooseCredential(agent, {
    apiKey: environment.ANTHROPIC_API_KEY,
    authToken: environment.ANTHROPIC_AUTH_TOKEN,
    oauthToken: environment.CLAUDE_CODE_OAUTH_TOKEN,
    login: hasLogin(configDirOf(environment)),
  });
}

function buildOrderEnvironment(
  order: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  proxies: RunProxies,
): Record<string, string> {
  const env = buildRunEnvironment({
    fleet: { ...environment, CLAUDE_CONFIG_DIR: environment.CLAUDE_CONFIG_DIR && order.configDir },
    agent: order.agent,
    credential,
    gateway: proxies.api,
    runToken: runTokenOf(order),
    jobId: order.jobId,
  });
  return { ...env, ...(proxies.egressSocket && { HERDCTL_PROXY_SOCKET: proxies.egressSocket }) };
}

function gatewayEvidenceOf(
  gateway: Gateway,
  lastRequest: Readonly<MeteredRequest> | undefined,
): NonNullable<Evidence["gateway"]> {
  const unreachable =
    lastRequest?.ending === "unreachable" ? (lastRequest.failure ?? "unreachable") : undefined;
  return { limit: gateway.meter().limit, unreachable, cut: lastRequest?.ending === "cut" };
}

function withoutKind({ message, hint }: { message: string; hint: string }) {
  return { message, hint };
}
