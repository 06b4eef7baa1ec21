export interface ChatSearch {
  agent?: string;
  /** The conversation's session, or its first job. */
  with?: string;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseChatSearch({ agent, with: session }: Record<string, unknown>): ChatSearch {
  return { agent: nonEmptyText(agent), with: nonEmptyText(session) };
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
