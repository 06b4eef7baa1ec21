/** What the API itself can do for an agent beyond answering it, each with what a person calls it. */
export const reaches = {
  web_search: "search the web",
  web_fetch: "fetch web pages",
  code_execution: "run programs",
  mcp: "call MCP servers",
  urls: "load what an address names",
  files: "use what is stored there",
  unknown: "do what this version of herdctl does not know",
} as const;

export type Reach = keyof typeof reaches;

/** What the bodies of message calls may ask for: anything, or only what is named. */
export type BodyPolicy = "open" | { allow: readonly Reach[] };

/** Something in a request that asks the API to reach out, in the request's own words. */
export interface Ask {
  reach: Reach;
  what: string;
}

export interface ReachRefusal {
  reason: string;
  /** The line of the fleet file that would let it pass. */
  remedy: string;
}

/** The first of the asks that is not allowed. */
export function refuseAsk(asks: Iterable<Ask>, allow: readonly Reach[]): ReachRefusal | undefined {
  for (const { reach, what } of asks) {
    if (allow.includes(reach)) continue;
    return {
      reason: `the API may not ${reaches[reach]} for this agent (${what})`,
      remedy: `docker.api_reach: [${reach}]`,
    };
  }
  return undefined;
}

const longestQuote = 60;

/** A word of the request, fit for one line of a message. */
export function quote(value: unknown): string {
  const text = typeof value === "string" ? value : typeof value;
  return `\`${text.slice(0, longestQuote).replace(/[^\x20-\x7e]|`/g, "?")}\``;
}
