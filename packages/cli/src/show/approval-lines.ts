import type { Approval } from "@herdctl/core";
import { inputFields, visibleName } from "@herdctl/core/light";
import { fieldLines } from "./fields.ts";
import type { Look } from "./look.ts";
import { lapseText, questionText } from "./question-lines.ts";

/** All that a tool wants to do, or an agent to know, to the last character: a person is to judge by it. */
export function approvalLines(approval: Approval, look: Look): string[] {
  const { bold, yellow, dim } = look.colors;
  const { kind, tool, expires_at } = approval;
  const until = new Date(expires_at).toLocaleTimeString("sv", { timeStyle: "short" });
  const head =
    kind === "question" ? "The agent asks" : `The agent asks to use ${bold(visibleName(tool))}`;
  return [
    "",
    yellow(`? ${head}`),
    ...askedInFull(approval, look),
    dim(`  ${lapseText(approval, until)}`),
  ];
}

/** What it is about, below the line that says who asks. */
export function askedInFull(approval: Approval, look: Look): string[] {
  return approval.kind === "question"
    ? questionText(approval, look)
    : fieldLines(inputFields(approval.input), { ...look, width: undefined });
}
