import type { CommandContext } from "../command.ts";
import { requireAgentsArgument } from "../find-agent.ts";
import { withFleet } from "../find-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const { yellow, bold, dim } = terminal.colors;
  return withFleet(context, async (fleet) => {
    const names = requireAgentsArgument(context, await fleet.status());
    for (const name of names) {
      await fleet.agents.pause(name);
      if (!terminal.isJson)
        terminal.print(
          `${yellow("‖")} ${bold(name)} is paused: running jobs continue, no new job starts`,
        );
    }
    if (terminal.isJson) terminal.printJson({ agents: names, paused: true });
    else terminal.print(dim(`  herdctl resume ${options.all === true ? "--all" : names.join("")}`));
    return 0;
  });
}
