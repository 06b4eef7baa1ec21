import type { Defence } from "./defence.ts";
import { approvalDefences } from "./defences/approval.ts";
import { settingsDefences } from "./defences/claude-settings.ts";
import { clusterDefences } from "./defences/cluster.ts";
import { configurationDefences } from "./defences/configuration.ts";
import { containerDefences } from "./defences/container.ts";
import { gatewayDefences } from "./defences/gateway.ts";
import { gitDefences } from "./defences/git.ts";
import { httpApiDefences } from "./defences/http-api.ts";
import { otherUserDefences } from "./defences/other-user.ts";
import { ownershipDefences } from "./defences/ownership.ts";
import { runEnvironmentDefences } from "./defences/run-environment.ts";
import { secretDefences } from "./defences/secrets.ts";
import { spendingDefences } from "./defences/spending.ts";
import { payloadDefences } from "./defences/untrusted-payload.ts";

export const defences: Record<string, readonly Defence[]> = {
  "A hostile repository or agent file": configurationDefences,
  "A hostile tool, on the host": [...runEnvironmentDefences, ...settingsDefences],
  "A hostile agent in a container": [...containerDefences, ...gitDefences],
  "A client of the gateway": gatewayDefences,
  "A hostile payload, message or tool output": payloadDefences,
  "A hostile neighbour on the machine": otherUserDefences,
  "Requests that hide what they ask": approvalDefences,
  "Secrets in records and configuration": secretDefences,
  "Files of another user": ownershipDefences,
  "A client of the HTTP port": httpApiDefences,
  "Runaway spending": spendingDefences,
  "A node that was cut off, and forged peers": clusterDefences,
};
