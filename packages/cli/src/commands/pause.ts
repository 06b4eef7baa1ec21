import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { agentNamed } from "../named-agent.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  return withFleet(call, async (fleet) => {
    const name = agentNamed(call, await fleet.status());
    await fleet.pauseAgent(name);
    if (terminal.json) terminal.printJson({ agent: name, paused: true });
    else {
      const { yellow, bold, dim } = terminal.colors;
      terminal.print(
        `${yellow("‖")} ${bold(name)} is paused: what runs goes on, nothing new starts`,
      );
      terminal.print(dim(`  herdctl resume ${name}`));
    }
    return 0;
  });
}
