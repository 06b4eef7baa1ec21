import type { CommandContext } from "../command.ts";
import { requireAgentArgument } from "../find-agent.ts";
import { withFleet } from "../find-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withFleet(context, async (fleet) => {
    const name = requireAgentArgument(context, await fleet.status());
    await fleet.agents.pause(name);
    if (terminal.isJson) terminal.printJson({ agent: name, paused: true });
    else {
      const { yellow, bold, dim } = terminal.colors;
      terminal.print(
        `${yellow("‖")} ${bold(name)} is paused: running jobs continue, no new job starts`,
      );
      terminal.print(dim(`  herdctl resume ${name}`));
    }
    return 0;
  });
}
