import { exitCodes, formatPermissionRule, type PermissionRule, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { sanitizeText } from "../render/sanitize-text.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [idPrefix] = context.arguments;
  if (idPrefix === undefined)
    throw new UserError("usage", "the ID of the rule is missing", { hint: listHint });
  return withFleet(context, async (fleet) => {
    const rule = await fleet.rules.remove(findRule(await fleet.rules.list(), idPrefix).id);
    const text = sanitizeText(formatPermissionRule(rule));
    if (terminal.isJson) terminal.printJson(rule);
    else terminal.print(`${terminal.colors.green("✓ removed")}  ${rule.agent}  ${text}`);
    return exitCodes.success;
  });
}

const listHint = "Run `herdctl rules` to list the rules and their IDs.";

/** Accepts a unique prefix of the ID, with or without `rule-`. */
function findRule(rules: readonly PermissionRule[], idPrefix: string): PermissionRule {
  const [rule, ...others] = rules.filter(({ id }) =>
    [id, id.replace("rule-", "")].some((one) => one.startsWith(idPrefix)),
  );
  if (rule && others.length === 0) return rule;
  if (rule)
    throw new UserError("usage", `several rules begin with ${idPrefix}`, { hint: listHint });
  throw new UserError("rule_not_found", `there is no rule ${idPrefix}`);
}
