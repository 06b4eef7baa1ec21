import { relative } from "node:path";
import { findFleetFile, loadFleet, type ShownValue, showConfig, UserError } from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import type { Terminal } from "../terminal.ts";

const widestValue = 48;

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
  const pathWidth = Math.max(...values.map((value) => value.path.length), 0);
  const valueWidth = Math.max(...values.map((value) => shownText(value).length), 0);
  terminal.print(bold(title));
  for (const value of values) {
    const text = shownText(value).padEnd(valueWidth);
    const line = `  ${value.path.padEnd(pathWidth)}  ${text}  ${origin(value, cwd)}`;
    terminal.print(value.from ? line : dim(line));
  }
  terminal.print("");
}

function shownText({ value }: ShownValue): string {
  const text = typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
  return text.length > widestValue ? `${text.slice(0, widestValue - 1)}…` : text;
}

function origin({ from }: ShownValue, cwd: string): string {
  return from ? `${relative(cwd, from.file)}:${from.line}` : "default";
}
