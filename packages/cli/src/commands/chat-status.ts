import type { ChatConnectionStatus } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { formatCount } from "../render/format-amounts.ts";
import { sanitizeText } from "../render/sanitize-text.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const links = await withFleet(context, (fleet) => fleet.chat.connections());
  if (terminal.isJson) terminal.printJson({ links });
  else if (links.length === 0) terminal.print("No agent has a chat connection.");
  for (const link of terminal.isJson ? [] : links) terminal.print(connectionLine(link, context));
  return links.every(({ state }) => state !== "failed") ? 0 : 1;
}

function connectionLine(
  { agent, platform, state, problem, active_conversations }: ChatConnectionStatus,
  context: CommandContext,
): string {
  const { colors } = context.terminal;
  const marks = {
    connected: colors.green("✓"),
    connecting: colors.yellow("…"),
    failed: colors.red("✗"),
  };
  const activity =
    active_conversations === 0
      ? "idle"
      : `answering in ${formatCount(active_conversations, "conversation")}`;
  const text = problem === null ? `${state}, ${activity}` : `${state}: ${sanitizeText(problem)}`;
  return `${marks[state]} ${colors.bold(`${agent} · ${platform}`)}  ${text}`;
}
