import type { Approval } from "@herdctl/core";
import { exitCodes, UserError } from "@herdctl/core/light";
import { type Call, textOption } from "./command.ts";
import { withFleet } from "./fleet-access.ts";
import { harmless } from "./show/harmless.ts";
import { whoAnswers } from "./who-answers.ts";

export async function answerApproval(call: Call, word: "allow" | "deny"): Promise<number> {
  const { terminal } = call;
  const [typed] = call.arguments;
  if (typed === undefined) throw new UserError("usage", "which request?", { hint: seeAll });
  return withFleet(call, async (fleet) => {
    const { id } = findOpen(await fleet.approvals(), typed);
    const approval = await fleet.answer(id, word, whoAnswers(), textOption(call.options, "reason"));
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

function answerLine({ id, tool, answer }: Approval, { terminal }: Call): string {
  const { green, red } = terminal.colors;
  const mark = answer === "allow" ? green("✓ allowed") : red("✗ denied");
  return `${mark}  ${harmless(tool)}  ${id}`;
}
