import type { Approval, Word } from "@herdctl/core";
import { visible } from "@herdctl/core/light";

/** A person's word, or that they pressed Ctrl-C. */
export type Said = Word | "left";

export async function askPermission(_: Approval, signal: AbortSignal): Promise<Said> {
  const { isCancel, select } = await import("@clack/prompts");
  const word = await select<"allow" | "deny">({
    message: "Allow it?",
    initialValue: "deny",
    options: [
      { value: "deny", label: "Deny" },
      { value: "allow", label: "Allow this once" },
    ],
    signal,
    withGuide: false,
  });
  return isCancel(word) ? "left" : word;
}

export async function askQuestion(approval: Approval, signal: AbortSignal): Promise<Said> {
  if (approval.choices === null) return typed(signal);
  const said = await (approval.several ? chosenSeveral : chosen)(approval, signal);
  return said === "other" ? typed(signal) : said;
}

type Chosen = Said | "other";

async function chosen({ choices, free_text }: Approval, signal: AbortSignal): Promise<Chosen> {
  const { isCancel, select } = await import("@clack/prompts");
  const offered = (choices ?? []).map(({ label }) => ({ value: label, label: visible(label) }));
  const at = await select<number>({
    message: "Your answer?",
    options: [
      ...offered.map(({ label }, value) => ({ value, label })),
      ...(free_text ? [{ value: other, label: "Something else …" }] : []),
      { value: decline, label: "Decline to answer" },
    ],
    signal,
    withGuide: false,
  });
  if (isCancel(at)) return "left";
  if (at === other) return "other";
  const choice = offered[at];
  return choice ? { reply: choice.value } : "deny";
}

const other = -1;
const decline = -2;

/** None of them stands for another answer. */
async function chosenSeveral({ choices }: Approval, signal: AbortSignal): Promise<Chosen> {
  const { isCancel, multiselect } = await import("@clack/prompts");
  const labels = await multiselect<string>({
    message: "Your answers? (space marks, enter ends; none of them: type another)",
    options: (choices ?? []).map(({ label }) => ({ value: label, label: visible(label) })),
    required: false,
    signal,
    withGuide: false,
  });
  if (isCancel(labels)) return "left";
  return labels.length === 0 ? "other" : { reply: labels.join(", ") };
}

async function typed(signal: AbortSignal): Promise<Said> {
  const { isCancel, text } = await import("@clack/prompts");
  const message = "Your answer? (nothing declines)";
  const reply = await text({ message, signal, withGuide: false });
  if (isCancel(reply)) return "left";
  // Enter alone gives nothing at all.
  return (reply ?? "").trim() === "" ? "deny" : { reply };
}
