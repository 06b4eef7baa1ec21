/** Features of the API beyond answering a prompt, with a description that follows "the API may not". */
export const apiFeatures = {
  web_search: "search the web",
  web_fetch: "fetch web pages",
  code_execution: "run programs",
  mcp: "call MCP servers",
  urls: "load URLs",
  files: "use stored files",
  unknown: "use features that this version of herdctl does not know",
} as const;

export type ApiFeature = keyof typeof apiFeatures;

/** The API features that message calls may use: all, or only the listed ones. */
export type BodyPolicy = "open" | { allow: readonly ApiFeature[] };

/** A part of a request that uses an API feature. `description` quotes the request. */
export interface RequestedFeature {
  feature: ApiFeature;
  description: string;
}

export interface FeatureRefusal {
  reason: string;
  /** The fleet file setting that would allow it. */
  remedy: string;
}

/** A refusal for the first requested feature that is not allowed. */
export function findForbiddenFeature(
  requested: Iterable<RequestedFeature>,
  allowedFeatures: readonly ApiFeature[],
): FeatureRefusal | undefined {
  for (const { feature, description } of requested) {
    // defence: no-server-side-reach
    if (allowedFeatures.includes(feature)) continue;
    return {
      reason: `the API may not ${apiFeatures[feature]} for this agent (${description})`,
      remedy: `docker.api_features: [${feature}]`,
    };
  }
  return undefined;
}

const maxQuoteLength = 60;

/** A value of the request, sanitized for a one-line message. */
export function quoteValue(value: unknown): string {
  const text = typeof value === "string" ? value : typeof value;
  return `\`${text.slice(0, maxQuoteLength).replace(/[^\x20-\x7e]|`/g, "?")}\``;
}
