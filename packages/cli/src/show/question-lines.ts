import type { Approval } from "@herdctl/core";
import { visible } from "@herdctl/core/light";
import type { Look } from "./look.ts";

/** What is asked, to the last character, and the answers that are offered. */
export function questionText({ question, choices, several }: Approval, { colors }: Look): string[] {
  const { bold, dim } = colors;
  const width = Math.max(0, ...(choices ?? []).map(({ label }) => label.length));
  const offered = (choices ?? []).map(({ label, description }, at) => {
    const meaning = description === null ? "" : `  ${dim(visible(description))}`;
    return `  ${bold(String(at + 1))}  ${visible(label).padEnd(width)}${meaning}`.trimEnd();
  });
  const many = several ? [dim("  More than one may be chosen.")] : [];
  const text = visible(question ?? "").split("\n");
  return [...text.map((line) => `  ${line}`), ...offered, ...many];
}

/** What happens when nobody answers. */
export function lapseText({ kind, default_reply }: Approval, time: string): string {
  if (kind === "permission") return `denied at ${time} without an answer`;
  if (default_reply === null) return `at ${time} the agent is told that nobody answered`;
  return `at ${time} its default is the answer: ${visible(default_reply)}`;
}

/** How it is answered from another terminal. */
export function answerCommands({ id, kind, choices, free_text, several }: Approval): string[] {
  if (kind === "permission")
    return [`herdctl approvals allow ${id}`, `herdctl approvals deny ${id}`];
  const numbers = several ? "NUMBERS" : "NUMBER";
  return [
    ...(choices === null ? [] : [`herdctl answer ${id} --choice ${numbers}`]),
    ...(free_text ? [`herdctl answer ${id} "TEXT"`] : []),
  ];
}
