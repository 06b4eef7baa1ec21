import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { lookOf } from "../show/look.ts";
import { reloadChanges, reloadLines } from "../show/reload-lines.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  return withFleet(call, async (fleet) => {
    const before = await fleet.status();
    await fleet.reload();
    const changes = reloadChanges(before, await fleet.status());
    if (terminal.json) terminal.printJson(changes);
    else for (const line of reloadLines(changes, lookOf(terminal))) terminal.print(line);
    return 0;
  });
}
