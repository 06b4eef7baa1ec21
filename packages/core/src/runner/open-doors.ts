import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type Egress, startEgress } from "../gateway/egress/egress.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway/gateway.ts";
import type { MeteredRequest } from "../gateway/meter.ts";
import { type RefusedAccess, refusedAccess } from "../gateway/refused-access.ts";
import { type Door, openDoor } from "./container/door.ts";
import type { UsableCredential } from "./credential.ts";
import type { RunOrder } from "./run-order.ts";

/** The ways out of a run that lead through us. */
export interface OpenDoors {
  gateway: Gateway | undefined;
  /** Sockets of a run in a container, and the folder that holds them. */
  folder: string | undefined;
  apiSocket: string | undefined;
  egressSocket: string | undefined;
  refused(): RefusedAccess[];
  close(): Promise<void>;
}

/**
 * With an API key a run talks to the API through us, so that no tool of it ever sees the key. A
 * container does so always: it may have no other way at all.
 */
export async function openDoors(
  order: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  jobDir: string,
  onEnd: (request: Readonly<MeteredRequest>) => void,
): Promise<OpenDoors> {
  const inContainer = order.place === "docker";
  const door = inContainer ? openDoor(join(jobDir, "door")) : undefined;
  const needsGateway = inContainer || credential.kind === "api_key";
  let gateway: Gateway | undefined;
  let egress: Egress | undefined;
  const close = async () => {
    await Promise.all([gateway?.stop(), egress?.stop()]);
    door?.close();
  };
  try {
    const options = gatewayOptions(order, environment, credential, door, onEnd);
    gateway = needsGateway ? await startGateway(options) : undefined;
    egress = door && (await openEgress(order, door));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    gateway,
    folder: door?.folder,
    apiSocket: door && join(door.folder, apiSocket),
    egressSocket: egress && door && join(door.folder, egressSocket),
    refused: () => refusedAccess(gateway?.meter(), egress?.refused() ?? []),
    close,
  };
}

const apiSocket = "api.sock";
const egressSocket = "proxy.sock";
/** The container's user is another one; the folder around the socket is closed to all else. */
const forAnybodyInside = 0o666;
const anthropicApi = "https://api.anthropic.com";

function gatewayOptions(
  { agent }: RunOrder,
  environment: Environment,
  credential: UsableCredential,
  door: Door | undefined,
  onEnd: (request: Readonly<MeteredRequest>) => void,
): GatewayOptions {
  const isSealed = door !== undefined && agent.docker.network === "none";
  const isHeldHere = credential.kind === "api_key" && !credential.inside;
  return {
    upstream: environment.ANTHROPIC_BASE_URL ?? anthropicApi,
    upstreamSocket: environment.ANTHROPIC_UNIX_SOCKET,
    credential: isHeldHere ? credential.upstream : { kind: "passthrough" },
    ...(door && { socketPath: door.listenAt(apiSocket), socketMode: forAnybodyInside }),
    policy: isSealed ? { allow: agent.docker.api_reach } : "open",
    onEvent: (event) => {
      if (event.type === "end" && event.request.method === "POST") onEnd(event.request);
    },
  };
}

async function openEgress({ agent }: RunOrder, door: Door): Promise<Egress | undefined> {
  const { egress: allow } = agent.docker;
  if (allow.length === 0 || agent.docker.network !== "none") return undefined;
  return await startEgress({
    allow,
    socketPath: door.listenAt(egressSocket),
    socketMode: forAnybodyInside,
  });
}
