import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { compareReload, reloadLines } from "../render/reload-lines.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withFleet(context, async (fleet) => {
    const before = await fleet.status();
    await fleet.reload();
    const changes = compareReload(before, await fleet.status());
    if (terminal.isJson) terminal.printJson(changes);
    else for (const line of reloadLines(changes, terminalStyleOf(terminal))) terminal.print(line);
    return 0;
  });
}
