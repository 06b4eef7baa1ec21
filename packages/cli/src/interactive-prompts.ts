import {
  type Approval,
  type ApprovalDecision,
  escapeInvisible,
  escapeInvisibleInline,
  formatPermissionRule,
} from "@herdctl/protocol";

/** The decision; `left` after Ctrl-C. */
export type PromptResult = ApprovalDecision | "left";

export async function askPermission(
  { suggested_rules: rules, tool }: Approval,
  signal: AbortSignal,
): Promise<PromptResult> {
  const { isCancel, select } = await import("@clack/prompts");
  const rule = escapeInvisibleInline(formatPermissionRule({ rules, tool }));
  const answer = await select<keyof typeof permissionAnswers>({
    message: "Allow this?",
    initialValue: "deny",
    options: [
      { value: "deny", label: "Deny" },
      { value: "allow", label: "Allow once" },
      { value: "job", label: `Allow for this job: ${rule}` },
      { value: "always", label: `Always allow for this agent: ${rule}` },
    ],
    signal,
    withGuide: false,
  });
  return isCancel(answer) ? "left" : permissionAnswers[answer];
}

const permissionAnswers = {
  deny: "deny",
  allow: "allow",
  job: { allow: "job" },
  always: { allow: "always" },
} satisfies Record<string, ApprovalDecision>;

export async function askQuestion(approval: Approval, signal: AbortSignal): Promise<PromptResult> {
  if (approval.choices === null) return promptForText(signal);
  const result = await (approval.multiple ? promptForChoices : promptForChoice)(approval, signal);
  return result === "other" ? promptForText(signal) : result;
}

type ChoiceResult = PromptResult | "other";

async function promptForChoice(
  { choices, free_text }: Approval,
  signal: AbortSignal,
): Promise<ChoiceResult> {
  const { isCancel, select } = await import("@clack/prompts");
  const offered = (choices ?? []).map(({ label }) => ({
    value: label,
    label: escapeInvisible(label),
  }));
  const selected = await select<number>({
    message: "Your answer?",
    options: [
      ...offered.map(({ label }, value) => ({ value, label })),
      ...(free_text ? [{ value: otherOption, label: "Type another answer …" }] : []),
      { value: declineOption, label: "Decline to answer" },
    ],
    signal,
    withGuide: false,
  });
  if (isCancel(selected)) return "left";
  if (selected === otherOption) return "other";
  const choice = offered[selected];
  return choice ? { reply: choice.value } : "deny";
}

const otherOption = -1;
const declineOption = -2;

/** Selecting no choice opens the prompt for another answer. */
async function promptForChoices({ choices }: Approval, signal: AbortSignal): Promise<ChoiceResult> {
  const { isCancel, multiselect } = await import("@clack/prompts");
  const labels = await multiselect<string>({
    message: "Your answers? (Space selects, Enter confirms; select none to type another answer)",
    options: (choices ?? []).map(({ label }) => ({ value: label, label: escapeInvisible(label) })),
    required: false,
    signal,
    withGuide: false,
  });
  if (isCancel(labels)) return "left";
  return labels.length === 0 ? "other" : { reply: labels.join(", ") };
}

async function promptForText(signal: AbortSignal): Promise<PromptResult> {
  const { isCancel, text } = await import("@clack/prompts");
  const message = "Your answer? (leave empty to decline)";
  const reply = await text({ message, signal, withGuide: false });
  if (isCancel(reply)) return "left";
  // Enter alone returns undefined.
  return (reply ?? "").trim() === "" ? "deny" : { reply };
}
