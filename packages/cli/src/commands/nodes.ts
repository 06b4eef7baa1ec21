import type { NodeView } from "@herdctl/core";
import type { Call } from "../command.ts";
import { findFleet } from "../fleet-access.ts";
import { readState } from "../read-state.ts";
import { lookOf } from "../show/look.ts";
import { nodeLines } from "../show/node-table.ts";
import { storeOf } from "../store-of.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const { shared, nodes } = await nodesOf(call);
  if (terminal.json) {
    terminal.printJson({ shared, nodes });
    return 0;
  }
  if (!shared) {
    terminal.print("This fleet has its state to itself, so it runs on this machine alone.");
    terminal.print(terminal.colors.dim(alone));
  }
  if (nodes.length === 0) terminal.print(shared ? "No node has joined yet." : "It does not run.");
  else for (const line of nodeLines(nodes, lookOf(terminal))) terminal.print(line);
  return 0;
}

const alone = "Machines run a fleet together by a PostgreSQL that they share: see `store`.";

async function nodesOf(call: Call): Promise<{ shared: boolean; nodes: NodeView[] }> {
  const fleet = await findFleet(call);
  if (!fleet) return nodesOnRecord(call);
  try {
    const [status, nodes] = await Promise.all([fleet.status(), fleet.nodes()]);
    return { shared: status.fleet.shared, nodes };
  } finally {
    fleet.close();
  }
}

async function nodesOnRecord(call: Call): Promise<{ shared: boolean; nodes: NodeView[] }> {
  const shared = (await storeOf(call)) !== undefined;
  if (!shared) return { shared, nodes: [] };
  const { listNodes } = await import("@herdctl/core");
  return { shared, nodes: await readState(call, (state) => listNodes(state, new Date())) };
}
