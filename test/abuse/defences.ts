import { configurationDefences } from "./defences/configuration.ts";
import { containerDefences } from "./defences/container.ts";
import { gatewayDefences } from "./defences/gateway.ts";
import { neighbourDefences } from "./defences/neighbour.ts";
import { payloadDefences } from "./defences/payload.ts";
import { portDefences } from "./defences/port.ts";
import { runDefences } from "./defences/run.ts";
import { walletDefences } from "./defences/wallet.ts";
import type { Edit } from "./edit.ts";

/** Something of the product that keeps an attacker out. */
export interface Defence {
  name: string;
  /** Against whom or what. */
  guards: string;
  /** How it is taken away, in a copy. */
  edit: Edit;
  /** The test that goes red then; part of its name is enough. */
  red: { file: string; test: string };
}

export const defences: Record<string, readonly Defence[]> = {
  "A hostile repository or agent file": configurationDefences,
  "A hostile tool, on the host": runDefences,
  "A hostile agent in a container": containerDefences,
  "Whoever speaks to the gateway": gatewayDefences,
  "A hostile payload, message or tool output": payloadDefences,
  "A hostile neighbour on the machine": neighbourDefences,
  "Whoever reaches the port": portDefences,
  "Whoever drains the wallet": walletDefences,
};
