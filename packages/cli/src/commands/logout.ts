import { exitCodes, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { formatCount } from "../render/format-amounts.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const [id] = context.arguments;
  const isAll = options.all === true;
  if ((id === undefined) !== isAll) {
    throw new UserError("usage", "give either the ID of a sign-in or `--all`", {
      hint: "Run `herdctl logins` to list signed-in browsers and their IDs.",
    });
  }
  const ended = await withFleet(context, async (fleet) => {
    if (id === undefined) return fleet.logins.endAll();
    await fleet.logins.end(id.replace(/^login:/, ""));
    return 1;
  });
  if (terminal.isJson) terminal.printJson({ ended });
  else terminal.print(`${terminal.colors.green("✓")} signed out ${formatCount(ended, "browser")}`);
  return exitCodes.success;
}
