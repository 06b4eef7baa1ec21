import { relative } from "node:path";
import { loadFleet, viewConfig } from "@herdctl/config";
import { type ConfigValueView, findFleetFile, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import type { Terminal } from "../terminal.ts";

/** Values are cut to fit a terminal. In a file they are complete; this is the alignment width. */
const fallbackTextColumns = 48;
const minTextColumns = 16;

export async function run(context: CommandContext): Promise<number> {
  const { options, cwd, env, terminal } = context;
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const shown = viewConfig(loadFleet(file, env));
  const agentName = context.arguments[0];
  const agents = shown.agents.filter(
    (agent) => agentName === undefined || agent.name === agentName,
  );
  if (agentName !== undefined && agents.length === 0) {
    const names = shown.agents.map((agent) => agent.name).join(", ");
    throw new UserError("agent_not_found", `there is no agent \`${agentName}\``, {
      hint: `Agents of this fleet: ${names || "none"}.`,
    });
  }
  if (terminal.isJson) {
    terminal.printJson({ ...(agentName === undefined && { fleet: shown.fleet }), agents });
    return 0;
  }
  if (agentName === undefined) printValues("fleet", shown.fleet, cwd, terminal);
  for (const agent of agents) printValues(`agent ${agent.name}`, agent.values, cwd, terminal);
  return 0;
}

function printValues(
  title: string,
  values: ConfigValueView[],
  cwd: string,
  terminal: Terminal,
): void {
  const { bold, dim } = terminal.colors;
  const rows = values.map((value) => ({
    path: value.path,
    text: valueText(value),
    originText: originText(value, cwd),
    isDefault: value.from === undefined,
  }));
  const pathWidth = maxLength(rows.map((row) => row.path));
  const otherColumns = 2 + pathWidth + 2 + 2 + maxLength(rows.map((row) => row.originText));
  const screen = terminal.columns;
  const room =
    screen === undefined ? fallbackTextColumns : Math.max(screen - otherColumns, minTextColumns);
  const textWidth = Math.min(maxLength(rows.map((row) => row.text)), room);
  terminal.print(bold(title));
  for (const row of rows) {
    const text = screen === undefined ? row.text : truncate(row.text, room);
    const line = `  ${row.path.padEnd(pathWidth)}  ${text.padEnd(textWidth)}  `;
    terminal.print(row.isDefault ? dim(line + row.originText) : line + dim(row.originText));
  }
  terminal.print("");
}

function maxLength(texts: string[]): number {
  return Math.max(...texts.map((text) => text.length), 0);
}

function truncate(text: string, room: number): string {
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

function valueText({ value }: ConfigValueView): string {
  return typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
}

function originText({ from }: ConfigValueView, cwd: string): string {
  return from ? `${relative(cwd, from.file)}:${from.line}` : "default";
}
