import type { ChatLinkStatus } from "@herdctl/core";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { harmless } from "../show/harmless.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const links = await withFleet(call, (fleet) => fleet.chat());
  if (terminal.json) terminal.printJson({ links });
  else if (links.length === 0) terminal.print("No agent is in a chat.");
  for (const link of terminal.json ? [] : links) terminal.print(lineOf(link, call));
  return links.every(({ state }) => state !== "failed") ? 0 : 1;
}

function lineOf({ agent, platform, state, problem, working }: ChatLinkStatus, call: Call): string {
  const { colors } = call.terminal;
  const marks = {
    connected: colors.green("✓"),
    connecting: colors.yellow("…"),
    failed: colors.red("✗"),
  };
  const doing = working === 0 ? "idle" : `answering in ${working}`;
  const text = problem === null ? `${state}, ${doing}` : `${state}: ${harmless(problem)}`;
  return `${marks[state]} ${colors.bold(`${agent} · ${platform}`)}  ${text}`;
}
