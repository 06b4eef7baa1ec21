import { join } from "node:path";
import type { Environment } from "@herdctl/config";
import type { UsableCredential } from "../../claude/credential.ts";
import type { ResolvedProvider } from "../../claude/provider/resolve-provider.ts";
import { forwarderUrl } from "../../lib/container-layout.ts";
import { openSocketFolder, type SocketFolder } from "../containers/container-folders.ts";
import { apiSocketName, makeHostSocket, removeHostSocket } from "../contract/paths.ts";
import type { RunOrder } from "../contract/run-order.ts";
import { type EgressProxy, startEgressProxy } from "../gateway/egress/egress-proxy.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway/gateway.ts";
import type { SpendAccount } from "../gateway/metering/spend-meter.ts";
import { protocolOf } from "../gateway/providers/index.ts";
import { createSigner } from "../gateway/providers/signers.ts";
import {
  type MeteredRequest,
  type RefusedRequest,
  summarizeRefusals,
} from "../gateway/traffic-meter.ts";

/** The proxies of a run: the gateway to the API and the egress proxy. */
export interface RunProxies {
  gateway: Gateway | undefined;
  /** How the run reaches the gateway. */
  api: GatewayEndpoint | undefined;
  /** The folder with the sockets, for a run in a container. */
  socketFolder: string | undefined;
  egressSocket: string | undefined;
  refusedRequests(): RefusedRequest[];
  /** Resets the counts of forwarded and refused requests. */
  resetCounters(): void;
  close(): Promise<void>;
}

export interface GatewayEndpoint {
  baseUrl: string;
  placeholder: string;
  socketPath?: string;
}

/** The account that pays for the calls of a run, and a callback for each finished call. */
interface GatewayHooks {
  account: SpendAccount;
  onEnd(request: Readonly<MeteredRequest>): void;
}

/**
 * With an API key, a run calls the API through our gateway, so that its tools never see the key. A
 * container always uses the gateway, unless it has a network and a mounted login.
 */
export async function openProxies(
  order: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  folder: string,
  { account, onEnd }: GatewayHooks,
): Promise<RunProxies> {
  const isContainerRun = order.place === "docker";
  const sockets = isContainerRun ? openSocketFolder(folder) : undefined;
  const hasDirectAccess =
    usesMountedLogin(order, credential) && order.agent.docker.network !== "none";
  const needsGateway = credential.kind !== "subscription" || (isContainerRun && !hasDirectAccess);
  let gateway: Gateway | undefined;
  let egress: EgressProxy | undefined;
  const close = async () => {
    await Promise.all([gateway?.stop(), egress?.stop()]);
    if (sockets) sockets.close();
    else removeHostSocket(folder);
  };
  try {
    if (needsGateway) {
      const socket = sockets
        ? containerSocketOptions(sockets)
        : { socketPath: makeHostSocket(folder) };
      const options = buildGatewayOptions(order, environment, credential, { account, onEnd });
      gateway = await startGateway({ ...options, /* defence: gateway-unix-socket */ ...socket });
    }
    const api = usesMountedLogin(order, credential) ? gateway : undefined;
    egress = sockets && (await startRunEgress(order, sockets, api));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    gateway,
    api: gateway && apiEndpointOf(gateway, sockets, usesMountedLogin(order, credential)),
    socketFolder: sockets?.folder,
    egressSocket: egress && sockets && join(sockets.folder, egressSocket),
    refusedRequests: () => summarizeRefusals(gateway?.meter(), egress?.refusedHosts() ?? []),
    resetCounters: () => {
      gateway?.resetCounters();
      egress?.resetCounters();
    },
    close,
  };
}

const anthropicApi = "https://api.anthropic.com";

/** The API endpoint configured in the fleet's environment. */
export function upstreamOf(environment: Environment) {
  return {
    upstream: environment.ANTHROPIC_BASE_URL ?? anthropicApi,
    upstreamSocket: environment.ANTHROPIC_UNIX_SOCKET,
  };
}

/** Whether the container reads the login from a mounted file. */
export function usesMountedLogin({ agent }: RunOrder, credential: UsableCredential): boolean {
  return (
    agent.docker.enabled &&
    credential.kind === "subscription" &&
    credential.oauthToken === undefined
  );
}

/** With a socket, the binary ignores its login file. */
function apiEndpointOf(
  gateway: Gateway,
  sockets: SocketFolder | undefined,
  usesForwarder: boolean,
): RunProxies["api"] {
  const { baseUrl, placeholder, socketPath } = gateway;
  const endpoint = { baseUrl, placeholder };
  if (usesForwarder) return { ...endpoint, baseUrl: forwarderUrl };
  return { ...endpoint, socketPath: sockets ? join(sockets.folder, apiSocketName) : socketPath };
}

const egressSocket = "proxy.sock";
/** The container runs as a different user; the folder of the socket is closed to everyone else. */
const containerSocketMode = 0o666;

function containerSocketOptions(sockets: SocketFolder) {
  return { socketPath: sockets.socketPathFor(apiSocketName), socketMode: containerSocketMode };
}

function buildGatewayOptions(
  { agent, place }: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  { account, onEnd }: GatewayHooks,
): Omit<GatewayOptions, "socketPath"> {
  const isSealed = place === "docker" && agent.docker.network === "none";
  return {
    ...upstreamOptions(environment, credential),
    account,
    policy: isSealed ? { allow: agent.docker.api_features } : "open",
    onEvent: (event) => {
      if (event.type === "end" && event.request.method === "POST") onEnd(event.request);
    },
  };
}

function upstreamOptions(environment: Environment, credential: UsableCredential) {
  if (credential.kind === "provider") return providerOptions(credential.provider, environment);
  const isHeldByGateway = credential.kind === "api_key" && !credential.inside;
  return {
    ...upstreamOf(environment),
    credential: isHeldByGateway ? credential.upstream : ({ kind: "passthrough" } as const),
  };
}

/** What a gateway needs to know of a provider. */
export function providerOptions(provider: ResolvedProvider, environment: Environment) {
  const protocol = protocolOf(provider);
  return {
    upstream: provider.baseUrl,
    credential: { kind: "signed", signer: createSigner(provider.credential, environment) } as const,
    routes: protocol.routes(provider),
    readPath: protocol.readPath,
    extraHeaders: { ...protocol.headers?.(provider), ...lowerCaseNames(provider.headers) },
  };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

async function startRunEgress(
  { agent }: RunOrder,
  sockets: SocketFolder,
  api: Gateway | undefined,
): Promise<EgressProxy | undefined> {
  const { egress: allow, network } = agent.docker;
  if (network !== "none" || (allow.length === 0 && !api)) return undefined;
  return await startEgressProxy({
    allow,
    api,
    socketPath: sockets.socketPathFor(egressSocket),
    socketMode: containerSocketMode,
  });
}
