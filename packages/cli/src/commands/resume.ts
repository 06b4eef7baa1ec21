import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { agentNamed } from "../named-agent.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  return withFleet(call, async (fleet) => {
    const name = agentNamed(call, await fleet.status());
    await fleet.resumeAgent(name);
    if (terminal.json) terminal.printJson({ agent: name, paused: false });
    else terminal.print(`${terminal.colors.green("▶")} ${terminal.colors.bold(name)} goes on`);
    return 0;
  });
}
