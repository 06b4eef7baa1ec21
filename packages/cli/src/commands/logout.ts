import { exitCodes, UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { countText } from "../show/amounts.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options } = call;
  const [id] = call.arguments;
  const isAll = options.all === true;
  if ((id === undefined) !== isAll) {
    throw new UserError("usage", "name one sign-in, or all of them with `--all`", {
      hint: "Run `herdctl logins` to list them.",
    });
  }
  const ended = await withFleet(call, async (fleet) => {
    if (id === undefined) return fleet.endAllLogins();
    await fleet.endLogin(id.replace(/^login:/, ""));
    return 1;
  });
  if (terminal.json) terminal.printJson({ ended });
  else terminal.print(`${terminal.colors.green("✓")} signed ${countText(ended, "browser")} out`);
  return exitCodes.success;
}
