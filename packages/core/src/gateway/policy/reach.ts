/** What the API itself would do for an agent, beyond answering it. Nothing of it passes unless allowed. */
export const reaches = [
  "web_search",
  "web_fetch",
  "code_execution",
  "mcp",
  "urls",
  "files",
  "unknown",
] as const;

export type Reach = (typeof reaches)[number];

/** What the bodies of message calls may ask for: anything, or only what is named. */
export type BodyPolicy = "open" | { allow: readonly Reach[] };

/** The line of the fleet file that would let it pass. */
export function reachRemedy(reach: Reach): string {
  return `docker.api_reach: [${reach}]`;
}
