export interface ChatSearch {
  agent?: string;
  /** The session of the conversation, or the job that began it. */
  with?: string;
}

/** What the address may say; anything else is left out. */
export function parseChatSearch({ agent, with: session }: Record<string, unknown>): ChatSearch {
  return { agent: words(agent), with: words(session) };
}

function words(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
