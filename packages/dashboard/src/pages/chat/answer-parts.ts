import type { Entry, MarkerEntry, ModelTextEntry, ToolEntry } from "../../transcript/entry.ts";

export type AnswerPart =
  | { kind: "text"; key: string; entry: ModelTextEntry }
  | { kind: "steps"; key: string; steps: ToolEntry[] }
  | { kind: "marker"; key: string; entry: MarkerEntry };

/** Groups transcript entries for a chat reply: the agent's texts, with tool calls between them as short steps. */
export function toAnswerParts(entries: readonly Entry[]): AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const entry of entries) {
    if (entry.kind === "text") parts.push({ kind: "text", key: entry.key, entry });
    if (entry.kind === "tool") addStep(parts, entry);
    if (entry.kind === "marker" && shownMarkers.has(entry.marker))
      parts.push({ kind: "marker", key: entry.key, entry });
  }
  return parts;
}

/** Markers that explain why a reply is late or incomplete. */
const shownMarkers: ReadonlySet<MarkerEntry["marker"]> = new Set([
  "retry",
  "limit",
  "denied",
  "lost",
]);

function addStep(parts: AnswerPart[], tool: ToolEntry): void {
  const last = parts.at(-1);
  if (last?.kind === "steps") last.steps.push(tool);
  else parts.push({ kind: "steps", key: tool.key, steps: [tool] });
}
