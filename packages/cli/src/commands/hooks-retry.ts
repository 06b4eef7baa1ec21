import { exitCodes, UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { hookLine } from "../show/hook-line.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [typed] = call.arguments;
  const hint = "Run `herdctl hooks --failed` to see those that were given up.";
  if (typed === undefined) throw new UserError("usage", "which hook?", { hint });
  return withFleet(call, async (fleet) => {
    const alike = (await fleet.hooks({ limit: 1000 })).filter(({ id }) =>
      [id, id.replace("hook-", "")].some((one) => one.startsWith(typed)),
    );
    const [first, ...others] = alike;
    if (first && others.length > 0) {
      throw new UserError("usage", `several hooks begin with ${typed}`, { hint });
    }
    const due = await fleet.retryHook(first?.id ?? typed);
    if (terminal.json) terminal.printJson(due);
    else terminal.print(hookLine(due, lookOf(terminal)));
    return exitCodes.success;
  });
}
