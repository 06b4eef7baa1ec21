import { exitCodes, UserError } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { withFleet } from "../fleet-access.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const [name] = call.arguments;
  if (name === undefined) {
    throw new UserError("usage", "which token?", { hint: "Run `herdctl token list`." });
  }
  await withFleet(call, (fleet) => fleet.revokeToken(name));
  if (terminal.json) terminal.printJson({ revoked: name });
  else terminal.print(`${terminal.colors.green("✓ revoked")}  ${name}`);
  return exitCodes.success;
}
