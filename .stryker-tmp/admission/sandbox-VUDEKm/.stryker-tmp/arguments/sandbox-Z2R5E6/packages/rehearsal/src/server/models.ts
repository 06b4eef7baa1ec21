const displayNames: Record<string, string> = {
  "claude-opus-5-5": "Rehearsed Opus",
  "claude-opus-4-8": "Rehearsed Opus",
  "claude-sonnet-4-6": "Rehearsed Sonnet",
  "claude-haiku-4-5": "Rehearsed Haiku",
};

export interface ModelInfo {
  type: "model";
  id: string;
  display_name: string;
  created_at: string;
}

export function listModels() {
  const data = Object.keys(displayNames).map(describeModel);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

/** Any model id is accepted for messages, so any id has a description. */
export function describeModel(id: string): ModelInfo {
  const created_at = "2026-01-01T00:00:00Z";
  return { type: "model", id, display_name: displayNames[id] ?? id, created_at };
}
