import type { Approval, Word } from "@herdctl/core";
import { exitCodes, UserError } from "@herdctl/core/light";
import { type Call, textOption } from "./command.ts";
import { withFleet } from "./fleet-access.ts";
import { harmless } from "./show/harmless.ts";

/** Gives a person's word on what was typed as the id of it. */
export async function answerApproval(
  call: Call,
  wordOn: (approval: Approval) => Word,
): Promise<number> {
  const { terminal } = call;
  const [typed] = call.arguments;
  if (typed === undefined) throw new UserError("usage", "which request?", { hint: seeAll });
  return withFleet(call, async (fleet) => {
    const asked = findOpen(await fleet.approvals(), typed);
    const reason = textOption(call.options, "reason");
    const approval = await fleet.answer(asked.id, wordOn(asked), undefined, reason);
    if (terminal.json) terminal.printJson(approval);
    else terminal.print(answerLine(approval, call));
    return exitCodes.success;
  });
}

const seeAll = "Run `herdctl approvals` to see what is asked.";

/** Of an id the beginning is enough, or the beginning of its last part. */
function findOpen(open: Approval[], typed: string): Approval {
  const alike = open.filter(({ id }) =>
    [id, id.replace("approval-", "")].some((one) => one.startsWith(typed)),
  );
  const [first, ...others] = alike;
  if (first && others.length === 0) return first;
  const message = first ? `several requests begin with ${typed}` : `nobody asks for ${typed}`;
  throw new UserError("usage", message, { hint: seeAll });
}

function answerLine(approval: Approval, { terminal }: Call): string {
  const { id, kind, tool, answer, reply } = approval;
  const { green, red } = terminal.colors;
  if (reply !== null) return `${green("✓ answered")}  ${harmless(reply)}  ${id}`;
  if (kind === "question") return `${red("✗ declined")}  ${id}`;
  const mark = answer === "allow" ? green("✓ allowed") : red("✗ denied");
  return `${mark}  ${harmless(tool)}  ${id}`;
}
