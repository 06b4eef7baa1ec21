import type { NodeView } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findFleet } from "../find-fleet.ts";
import { readState } from "../read-state.ts";
import { readStoreUrl } from "../read-store-url.ts";
import { nodeTableLines } from "../render/node-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { shared, nodes } = await listFleetNodes(context);
  if (terminal.isJson) {
    terminal.printJson({ shared, nodes });
    return 0;
  }
  if (!shared) {
    terminal.print("This fleet has no shared store, so it runs on this machine only.");
    terminal.print(terminal.colors.dim(singleMachineHint));
  }
  if (nodes.length === 0)
    terminal.print(shared ? "No node has joined yet." : "The fleet is not running.");
  else for (const line of nodeTableLines(nodes, terminalStyleOf(terminal))) terminal.print(line);
  return 0;
}

const singleMachineHint =
  "To run it on several machines, set `store` to a shared PostgreSQL database.";

async function listFleetNodes(
  context: CommandContext,
): Promise<{ shared: boolean; nodes: NodeView[] }> {
  const fleet = await findFleet(context);
  if (!fleet) return readNodesFromState(context);
  try {
    const [status, nodes] = await Promise.all([fleet.status(), fleet.nodes.list()]);
    return { shared: status.fleet.shared, nodes };
  } finally {
    fleet.close();
  }
}

async function readNodesFromState(
  context: CommandContext,
): Promise<{ shared: boolean; nodes: NodeView[] }> {
  const shared = (await readStoreUrl(context)) !== undefined;
  if (!shared) return { shared, nodes: [] };
  const { listNodes } = await import("@herdctl/core/internal");
  return { shared, nodes: await readState(context, (state) => listNodes(state, new Date())) };
}
