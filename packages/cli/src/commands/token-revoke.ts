import { exitCodes, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [name] = context.arguments;
  if (name === undefined) {
    throw new UserError("usage", "the name of the token is missing", {
      hint: "Run `herdctl token list` to list tokens.",
    });
  }
  await withFleet(context, (fleet) => fleet.tokens.revoke(name));
  if (terminal.isJson) terminal.printJson({ revoked: name });
  else terminal.print(`${terminal.colors.green("✓ revoked")}  ${name}`);
  return exitCodes.success;
}
