import type { Defence } from "./defence.ts";
import { approvalDefences } from "./defences/approval.ts";
import { configurationDefences } from "./defences/configuration.ts";
import { containerDefences } from "./defences/container.ts";
import { gatewayDefences } from "./defences/gateway.ts";
import { neighbourDefences } from "./defences/neighbour.ts";
import { nodeDefences } from "./defences/nodes.ts";
import { ownershipDefences } from "./defences/ownership.ts";
import { payloadDefences } from "./defences/payload.ts";
import { portDefences } from "./defences/port.ts";
import { runDefences } from "./defences/run.ts";
import { secretDefences } from "./defences/secrets.ts";
import { walletDefences } from "./defences/wallet.ts";

export const defences: Record<string, readonly Defence[]> = {
  "A hostile repository or agent file": configurationDefences,
  "A hostile tool, on the host": runDefences,
  "A hostile agent in a container": containerDefences,
  "Whoever speaks to the gateway": gatewayDefences,
  "A hostile payload, message or tool output": payloadDefences,
  "A hostile neighbour on the machine": neighbourDefences,
  "Requests that hide what they ask": approvalDefences,
  "Secrets in records and configuration": secretDefences,
  "Files of another user": ownershipDefences,
  "Whoever reaches the port": portDefences,
  "Whoever drains the wallet": walletDefences,
  "A node that was cut off, and whoever speaks to nodes": nodeDefences,
};
