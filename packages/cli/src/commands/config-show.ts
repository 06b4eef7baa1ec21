import { relative } from "node:path";
import { findFleetFile, loadFleet, type ShownValue, showConfig, UserError } from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import type { Terminal } from "../terminal.ts";

/** Values are cut to fit a screen; in a file they stay whole and only this much is aligned. */
const alignedInFile = 48;
const narrowest = 16;

export async function run(call: Call): Promise<number> {
  const { options, cwd, env, terminal } = call;
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const shown = showConfig(loadFleet(file, env));
  const wanted = call.arguments[0];
  const agents = shown.agents.filter((agent) => wanted === undefined || agent.name === wanted);
  if (wanted !== undefined && agents.length === 0) {
    const names = shown.agents.map((agent) => agent.name).join(", ");
    throw new UserError("usage", `there is no agent \`${wanted}\``, {
      hint: `Agents here: ${names || "none"}.`,
    });
  }
  if (terminal.json) {
    terminal.printJson({ ...(wanted === undefined && { fleet: shown.fleet }), agents });
    return 0;
  }
  if (wanted === undefined) printValues("fleet", shown.fleet, cwd, terminal);
  for (const agent of agents) printValues(`agent ${agent.name}`, agent.values, cwd, terminal);
  return 0;
}

function printValues(title: string, values: ShownValue[], cwd: string, terminal: Terminal): void {
  const { bold, dim } = terminal.colors;
  const rows = values.map((value) => ({
    path: value.path,
    text: shownText(value),
    origin: origin(value, cwd),
    isDefault: value.from === undefined,
  }));
  const pathWidth = widest(rows.map((row) => row.path));
  const taken = 2 + pathWidth + 2 + 2 + widest(rows.map((row) => row.origin));
  const screen = terminal.columns;
  const room = screen === undefined ? alignedInFile : Math.max(screen - taken, narrowest);
  const textWidth = Math.min(widest(rows.map((row) => row.text)), room);
  terminal.print(bold(title));
  for (const row of rows) {
    const text = screen === undefined ? row.text : cut(row.text, room);
    const line = `  ${row.path.padEnd(pathWidth)}  ${text.padEnd(textWidth)}  `;
    terminal.print(row.isDefault ? dim(line + row.origin) : line + dim(row.origin));
  }
  terminal.print("");
}

function widest(texts: string[]): number {
  return Math.max(...texts.map((text) => text.length), 0);
}

function cut(text: string, room: number): string {
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

function shownText({ value }: ShownValue): string {
  return typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
}

function origin({ from }: ShownValue, cwd: string): string {
  return from ? `${relative(cwd, from.file)}:${from.line}` : "default";
}
