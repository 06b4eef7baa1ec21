import type { CommandContext } from "../command.ts";
import { requireAgentArgument } from "../find-agent.ts";
import { withFleet } from "../find-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withFleet(context, async (fleet) => {
    const name = requireAgentArgument(context, await fleet.status());
    await fleet.agents.resume(name);
    if (terminal.isJson) terminal.printJson({ agent: name, paused: false });
    else terminal.print(`${terminal.colors.green("▶")} ${terminal.colors.bold(name)} is resumed`);
    return 0;
  });
}
