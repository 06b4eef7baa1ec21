import { loadFleet } from "@herdctl/config";
import { findFleetFile } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { listWarnings, warningLines } from "../render/warning-lines.ts";

export async function run({ options, cwd, env, terminal }: CommandContext): Promise<number> {
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const loaded = loadFleet(file, env);
  const { fleet } = loaded;
  const warnings = listWarnings(loaded, cwd);
  const agents = fleet.agents.map((agent) => agent.name);
  if (terminal.isJson) {
    terminal.printJson({ file, fleet: fleet.fleet.name, agents, errors: [], warnings });
    return 0;
  }
  const { green, yellow, bold } = terminal.colors;
  const schedules = fleet.agents.reduce((sum, one) => sum + Object.keys(one.schedules).length, 0);
  const counts = `${formatCount(agents.length, "agent")}, ${formatCount(schedules, "schedule")}`;
  for (const line of warningLines(warnings, terminal.colors)) terminal.printNote(line);
  const verdict =
    warnings.length === 0
      ? `${counts}, no problems`
      : `${counts}, ${formatCount(warnings.length, "warning")}`;
  const mark = warnings.length === 0 ? green("✓") : yellow("!");
  terminal.print(`${mark} ${bold(fleet.fleet.name)}: ${verdict}`);
  return 0;
}

function formatCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
