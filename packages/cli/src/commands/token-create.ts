import { exitCodes, scopes, UserError } from "@herdctl/core/light";
import { type Call, listOption, textOption } from "../command.ts";
import { withFleet } from "../fleet-access.ts";
import { oneOf, untilOf } from "../read-query.ts";

/** The secret alone goes to standard output, so that a script can take it from there. */
export async function run(call: Call): Promise<number> {
  const { options, terminal } = call;
  const [name] = call.arguments;
  if (name === undefined) {
    throw new UserError("usage", "the token needs a name", {
      hint: "Write `herdctl token create NAME --scope read`.",
    });
  }
  const scope = oneOf("scope", textOption(options, "scope"), scopes);
  if (scope === undefined) {
    throw new UserError("usage", "the token needs a scope", {
      hint: `Add \`--scope\` with one of: ${scopes.join(", ")}.`,
    });
  }
  const agents = listOption(options, "agent");
  const until = await untilOf(textOption(options, "expires"), new Date());
  const created = await withFleet(call, (fleet) =>
    fleet.createToken({
      name,
      scope,
      agents: agents.length > 0 ? agents : undefined,
      expires_at: until?.toISOString(),
    }),
  );
  if (terminal.json) terminal.printJson(created);
  else {
    terminal.print(created.secret);
    terminal.note(terminal.colors.dim("Keep it now: it is stored as a hash and not shown again."));
  }
  return exitCodes.success;
}
