import { loadFleet } from "@herdctl/config";
import { findFleetFile } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";

export async function run({ options, cwd, env, terminal }: CommandContext): Promise<number> {
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const { fleet } = loadFleet(file, env);
  const agents = fleet.agents.map((agent) => agent.name);
  if (terminal.isJson) {
    terminal.printJson({ file, fleet: fleet.fleet.name, agents, errors: [] });
    return 0;
  }
  const { green, bold } = terminal.colors;
  const schedules = fleet.agents.reduce((sum, one) => sum + Object.keys(one.schedules).length, 0);
  const counts = `${formatCount(agents.length, "agent")}, ${formatCount(schedules, "schedule")}`;
  terminal.print(`${green("✓")} ${bold(fleet.fleet.name)}: ${counts}, no problems`);
  return 0;
}

function formatCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
