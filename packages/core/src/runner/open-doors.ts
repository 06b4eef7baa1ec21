import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type Egress, startEgress } from "../gateway/egress/egress.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway/gateway.ts";
import type { MeteredRequest } from "../gateway/meter.ts";
import type { SpendAccount } from "../gateway/metering/admit-call.ts";
import { type RefusedAccess, refusedAccess } from "../gateway/refused-access.ts";
import { type Door, openDoor } from "./container/door.ts";
import { forwarder } from "./container/layout.ts";
import type { UsableCredential } from "./credential.ts";
import { apiSocketName, makeHostSocket, removeHostSocket } from "./host-socket.ts";
import type { RunOrder } from "./run-order.ts";

/** The ways out of a run that lead through us. */
export interface OpenDoors {
  gateway: Gateway | undefined;
  /** How the run finds the gateway. */
  api: { baseUrl: string; placeholder: string; socketPath?: string } | undefined;
  /** The sockets of a run in a container. */
  folder: string | undefined;
  egressSocket: string | undefined;
  refused(): RefusedAccess[];
  /** What has passed or was refused so far counts no more. */
  countAnew(): void;
  close(): Promise<void>;
}

/** Who pays for the calls of a run, and who is told of each. */
export interface GatewayUse {
  account: SpendAccount;
  onEnd(request: Readonly<MeteredRequest>): void;
}

/**
 * With an API key a run talks to the API through us, so that no tool of it ever sees the key. A
 * container does so even with a credential of its own, unless it has a network and needs no help.
 */
export async function openDoors(
  order: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  folder: string,
  { account, onEnd }: GatewayUse,
): Promise<OpenDoors> {
  const inContainer = order.place === "docker";
  const door = inContainer ? openDoor(folder) : undefined;
  const hasOwnWay = isMounted(order, credential) && order.agent.docker.network !== "none";
  const needsGateway = credential.kind === "api_key" || (inContainer && !hasOwnWay);
  let gateway: Gateway | undefined;
  let egress: Egress | undefined;
  const close = async () => {
    await Promise.all([gateway?.stop(), egress?.stop()]);
    if (door) door.close();
    else removeHostSocket(folder);
  };
  try {
    if (needsGateway) {
      const socket = door ? socketForContainer(door) : { socketPath: makeHostSocket(folder) };
      const options = gatewayOptions(order, environment, credential, { account, onEnd });
      gateway = await startGateway({ ...options, ...socket });
    }
    const api = isMounted(order, credential) ? gateway : undefined;
    egress = door && (await openEgress(order, door, api));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    gateway,
    api: gateway && apiOf(gateway, door, isMounted(order, credential)),
    folder: door?.folder,
    egressSocket: egress && door && join(door.folder, egressSocket),
    refused: () => refusedAccess(gateway?.meter(), egress?.refused() ?? []),
    countAnew: () => {
      gateway?.countAnew();
      egress?.countAnew();
    },
    close,
  };
}

const anthropicApi = "https://api.anthropic.com";

/** Where the API is, as the fleet's environment says. */
export function upstreamOf(environment: Environment) {
  return {
    upstream: environment.ANTHROPIC_BASE_URL ?? anthropicApi,
    upstreamSocket: environment.ANTHROPIC_UNIX_SOCKET,
  };
}

/** The container reads the login from a file that we never open. */
export function isMounted({ agent }: RunOrder, { kind }: UsableCredential): boolean {
  return agent.docker.enabled && agent.docker.auth === "mount" && kind === "subscription";
}

/** Told to use a socket, the binary would not look at its login file. */
function apiOf(gateway: Gateway, door: Door | undefined, byAddress: boolean): OpenDoors["api"] {
  const { baseUrl, placeholder, socketPath } = gateway;
  if (byAddress) return { baseUrl: forwarder, placeholder };
  if (!door) return { baseUrl, placeholder, socketPath };
  return { baseUrl, placeholder, socketPath: join(door.folder, apiSocketName) };
}

const egressSocket = "proxy.sock";
/** The container's user is another one; the folder around the socket is closed to all else. */
const forAnybodyInside = 0o666;

function socketForContainer(door: Door) {
  return { socketPath: door.listenAt(apiSocketName), socketMode: forAnybodyInside };
}

function gatewayOptions(
  { agent, place }: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  { account, onEnd }: GatewayUse,
): Omit<GatewayOptions, "socketPath"> {
  const isSealed = place === "docker" && agent.docker.network === "none";
  const isHeldHere = credential.kind === "api_key" && !credential.inside;
  return {
    ...upstreamOf(environment),
    credential: isHeldHere ? credential.upstream : { kind: "passthrough" },
    account,
    policy: isSealed ? { allow: agent.docker.api_reach } : "open",
    onEvent: (event) => {
      if (event.type === "end" && event.request.method === "POST") onEnd(event.request);
    },
  };
}

async function openEgress(
  { agent }: RunOrder,
  door: Door,
  api: Gateway | undefined,
): Promise<Egress | undefined> {
  const { egress: allow, network } = agent.docker;
  if (network !== "none" || (allow.length === 0 && !api)) return undefined;
  return await startEgress({
    allow,
    api,
    socketPath: door.listenAt(egressSocket),
    socketMode: forAnybodyInside,
  });
}
