import { agentPrint } from "./agent-print.ts";
import type { FleetParts } from "./parts.ts";

/** Brings a configuration that was just read into force. `rollsOut`: on all nodes of the fleet. */
export async function applyConfig(parts: FleetParts, rollsOut: boolean): Promise<void> {
  const { context, dispatcher, queue, clock, watch, chat, nodes } = parts;
  await nodes?.configRead(rollsOut);
  if (rollsOut) await queue.reload();
  const agents = context.fleet().agents.map(({ name }) => name);
  context.hub.emit({ type: "fleet:reloaded", agents });
  context.waiting.endChanged((name) => agentPrint(context, name));
  context.warm.adjust();
  context.budgets.refresh();
  dispatcher.kick();
  await clock?.replan();
  watch?.follow();
  void chat?.adjust();
}
