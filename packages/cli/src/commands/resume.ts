import type { CommandContext } from "../command.ts";
import { requireAgentsArgument } from "../find-agent.ts";
import { withFleet } from "../find-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { green, bold } = terminal.colors;
  return withFleet(context, async (fleet) => {
    const names = requireAgentsArgument(context, await fleet.status());
    for (const name of names) {
      await fleet.agents.resume(name);
      if (!terminal.isJson) terminal.print(`${green("▶")} ${bold(name)} is resumed`);
    }
    if (terminal.isJson) terminal.printJson({ agents: names, paused: false });
    return 0;
  });
}
