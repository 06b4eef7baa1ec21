import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type Gateway, startGateway } from "../gateway/gateway.ts";
import type { MeteredRequest } from "../gateway/meter.ts";
import { type CredentialChoice, chooseCredential } from "./credential.ts";
import { buildEnvironment } from "./environment.ts";
import type { Evidence } from "./evidence.ts";
import { hasLogin } from "./login.ts";
import { type RunOrder, runTokenOf } from "./run-order.ts";

/** What surrounds one run of claude: its environment, its door to the API, its private files. */
export interface OpenRun {
  credential: Extract<CredentialChoice, { kind: "api_key" | "subscription" }>;
  env: Record<string, string>;
  privateDir: string;
  gateway: Gateway | undefined;
  gatewayFacts(): Evidence["gateway"];
  close(): Promise<void>;
}

export type OpenedRun =
  | { kind: "open"; run: OpenRun }
  | { kind: "refused"; refused: NonNullable<Evidence["refused"]> };

const anthropicApi = "https://api.anthropic.com";

export async function openRun(
  order: RunOrder,
  environment: Environment,
  jobDir: string,
): Promise<OpenedRun> {
  const credential = credentialOf(order, environment);
  if (credential.kind === "none") {
    return { kind: "refused", refused: { code: "auth_failed", ...withoutKind(credential) } };
  }
  let last: Readonly<MeteredRequest> | undefined;
  const privateDir = join(jobDir, "private");
  mkdirSync(privateDir, { recursive: true, mode: 0o700 });
  const gateway = await openGateway(credential, environment, (request) => {
    last = request;
  });
  const env = buildEnvironment({
    fleet: { ...environment, CLAUDE_CONFIG_DIR: environment.CLAUDE_CONFIG_DIR && order.configDir },
    agent: order.agent,
    credential,
    gateway,
    runToken: runTokenOf(order),
    jobId: order.jobId,
  });
  const close = async () => {
    await gateway?.stop();
    await rm(privateDir, { recursive: true, force: true });
  };
  const gatewayFacts = () => gateway && factsOf(gateway, last);
  return { kind: "open", run: { credential, env, privateDir, gateway, gatewayFacts, close } };
}

export function credentialOf(
  order: Pick<RunOrder, "agent" | "configDir">,
  environment: Environment,
): CredentialChoice {
  return chooseCredential(order.agent, {
    apiKey: environment.ANTHROPIC_API_KEY,
    authToken: environment.ANTHROPIC_AUTH_TOKEN,
    oauthToken: environment.CLAUDE_CODE_OAUTH_TOKEN,
    login: hasLogin(order.configDir),
  });
}

/** With an API key the run talks to the API through us, so that no tool of it ever sees the key. */
async function openGateway(
  credential: CredentialChoice,
  environment: Environment,
  onEnd: (request: Readonly<MeteredRequest>) => void,
): Promise<Gateway | undefined> {
  if (credential.kind !== "api_key") return undefined;
  return startGateway({
    upstream: environment.ANTHROPIC_BASE_URL ?? anthropicApi,
    upstreamSocket: environment.ANTHROPIC_UNIX_SOCKET,
    credential: credential.upstream,
    onEvent: (event) => {
      if (event.type === "end" && event.request.method === "POST") onEnd(event.request);
    },
  });
}

function factsOf(
  gateway: Gateway,
  last: Readonly<MeteredRequest> | undefined,
): Evidence["gateway"] {
  const unreachable = last?.ending === "unreachable" ? (last.failure ?? "unreachable") : undefined;
  return { limit: gateway.meter().limit, unreachable, cut: last?.ending === "cut" };
}

function withoutKind({ message, hint }: { message: string; hint: string }) {
  return { message, hint };
}
