import {
  type Approval,
  type ApprovalDecision,
  exitCodes,
  formatPermissionRule,
  UserError,
} from "@herdctl/protocol";
import { type CommandContext, textOption } from "./command.ts";
import { withFleet } from "./find-fleet.ts";
import { sanitizeText } from "./render/sanitize-text.ts";

/** Decides the open approval that the first argument identifies. */
export async function answerApproval(
  context: CommandContext,
  decide: (approval: Approval) => ApprovalDecision,
): Promise<number> {
  const { terminal } = context;
  const [idPrefix] = context.arguments;
  if (idPrefix === undefined) {
    throw new UserError("usage", "the ID of the request is missing", { hint: listHint });
  }
  return withFleet(context, async (fleet) => {
    const target = findOpenApproval(await fleet.approvals.list(), idPrefix);
    const reason = textOption(context.options, "reason");
    const approval = await fleet.approvals.answer(target.id, decide(target), { reason });
    if (terminal.isJson) terminal.printJson(approval);
    else terminal.print(decisionLine(approval, context));
    return exitCodes.success;
  });
}

const listHint = "Run `herdctl approvals` to list pending requests and their IDs.";

/** Accepts a unique prefix of the ID, with or without `approval-`. */
function findOpenApproval(approvals: Approval[], idPrefix: string): Approval {
  const matches = approvals.filter(({ id }) =>
    [id, id.replace("approval-", "")].some((one) => one.startsWith(idPrefix)),
  );
  const [first, ...others] = matches;
  if (first && others.length === 0) return first;
  const message = first
    ? `several requests begin with ${idPrefix}`
    : `there is no pending request ${idPrefix}`;
  throw new UserError("usage", message, { hint: listHint });
}

function decisionLine(approval: Approval, { terminal }: CommandContext): string {
  const { id, kind, tool, answer, reply, scope, suggested_rules: rules } = approval;
  const { green, red } = terminal.colors;
  if (reply !== null) return `${green("✓ answered")}  ${sanitizeText(reply)}  ${id}`;
  if (kind === "question") return `${red("✗ declined")}  ${id}`;
  const mark = answer === "allow" ? green("✓ allowed") : red("✗ denied");
  if (scope === null || scope === "once") return `${mark}  ${sanitizeText(tool)}  ${id}`;
  const lasting = scope === "job" ? "for this job" : "always";
  return `${mark} ${lasting}  ${sanitizeText(formatPermissionRule({ rules, tool }))}  ${id}`;
}
