import { exitCodes, scopes, UserError } from "@herdctl/protocol";
import { type CommandContext, listOption, textOption } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { parseChoice, parseUntil } from "../parse-query-options.ts";

/** Prints only the secret to standard output, so that a script can read it. */
export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const [name] = context.arguments;
  if (name === undefined) {
    throw new UserError("usage", "the name of the token is missing", {
      hint: "Run `herdctl token create NAME --scope read`.",
    });
  }
  const scope = parseChoice("scope", textOption(options, "scope"), scopes);
  if (scope === undefined) {
    throw new UserError("usage", "the scope of the token is missing", {
      hint: `Add \`--scope\` with one of: ${scopes.join(", ")}.`,
    });
  }
  const agents = listOption(options, "agent");
  const until = await parseUntil(textOption(options, "expires"), new Date());
  const created = await withFleet(context, (fleet) =>
    fleet.tokens.create({
      name,
      scope,
      agents: agents.length > 0 ? agents : undefined,
      expires_at: until?.toISOString(),
    }),
  );
  if (terminal.isJson) terminal.printJson(created);
  else {
    terminal.print(created.secret);
    terminal.printNote(
      terminal.colors.dim("Save it now: only its hash is stored, and it is not shown again."),
    );
  }
  return exitCodes.success;
}
