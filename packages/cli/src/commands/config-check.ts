import { findFleetFile, loadFleet } from "@herdctl/core";
import { type Call, textOption } from "../command.ts";

export async function run({ options, cwd, env, terminal }: Call): Promise<number> {
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const { fleet } = loadFleet(file, env);
  const agents = fleet.agents.map((agent) => agent.name);
  if (terminal.json) {
    terminal.printJson({ file, fleet: fleet.fleet.name, agents, errors: [] });
    return 0;
  }
  const { green, bold } = terminal.colors;
  const schedules = fleet.agents.reduce((sum, one) => sum + Object.keys(one.schedules).length, 0);
  const counts = `${count(agents.length, "agent")}, ${count(schedules, "schedule")}`;
  terminal.print(`${green("✓")} ${bold(fleet.fleet.name)}: ${counts}, no problems`);
  return 0;
}

function count(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? "" : "s"}`;
}
