import { exitCodes, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { hookLine } from "../render/hook-line.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [idPrefix] = context.arguments;
  const hint = "Run `herdctl hooks --failed` to list failed hooks and their IDs.";
  if (idPrefix === undefined) {
    throw new UserError("usage", "the ID of the hook run is missing", { hint });
  }
  return withFleet(context, async (fleet) => {
    const matches = (await fleet.hooks.list({ limit: 1000 })).filter(({ id }) =>
      [id, id.replace("hook-", "")].some((one) => one.startsWith(idPrefix)),
    );
    const [first, ...others] = matches;
    if (first && others.length > 0) {
      throw new UserError("usage", `several hooks begin with ${idPrefix}`, { hint });
    }
    const due = await fleet.hooks.retry(first?.id ?? idPrefix);
    if (terminal.isJson) terminal.printJson(due);
    else terminal.print(hookLine(due, terminalStyleOf(terminal)));
    return exitCodes.success;
  });
}
