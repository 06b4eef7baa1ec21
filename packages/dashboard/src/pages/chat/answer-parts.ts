import type { Entry, MarkerEntry, SaidEntry, ToolEntry } from "../../job/entry.ts";

export type AnswerPart =
  | { kind: "said"; key: string; entry: SaidEntry }
  | { kind: "steps"; key: string; steps: ToolEntry[] }
  | { kind: "marker"; key: string; entry: MarkerEntry };

/** What a person in a chat wants to read: the words, and in short what was done between them. */
export function answerParts(entries: readonly Entry[]): AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const entry of entries) {
    if (entry.kind === "text") parts.push({ kind: "said", key: entry.key, entry });
    if (entry.kind === "tool") addStep(parts, entry);
    if (entry.kind === "marker" && told.has(entry.marker))
      parts.push({ kind: "marker", key: entry.key, entry });
  }
  return parts;
}

/** What makes an answer late or other than wished. */
const told: ReadonlySet<MarkerEntry["marker"]> = new Set(["retry", "limit", "denied", "lost"]);

function addStep(parts: AnswerPart[], tool: ToolEntry): void {
  const last = parts.at(-1);
  if (last?.kind === "steps") last.steps.push(tool);
  else parts.push({ kind: "steps", key: tool.key, steps: [tool] });
}
