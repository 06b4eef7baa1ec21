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

interface FeatureRefusal {
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

/** The API feature that a part of a request uses; `plain` for none. */
type FeatureOrPlain = ApiFeature | "plain";

/** Patterns are tried in order. A name that matches none of them is unknown and refused. */
type FeatureTable = readonly (readonly [RegExp, FeatureOrPlain])[];

export const fieldTable: FeatureTable = [
  [/^(model|max_tokens|messages|system|tools|tool_choice|stream|stop_sequences)$/, "plain"],
  [/^(metadata|temperature|top_k|top_p|thinking|effort|speed|service_tier)$/, "plain"],
  [/^(output_config|output_format|context_management|context_hint|cache_control)$/, "plain"],
  [/^(compaction|diagnostics|fallbacks|fallback_credit_token|inference_geo|safeguards)$/, "plain"],
  // In the body of Bedrock and Vertex AI; the betas themselves are checked.
  [/^anthropic_(version|beta)$/, "plain"],
  [/^mcp_servers$/, "mcp"],
  [/^container$/, "code_execution"],
  [/^thread$/, "files"],
];

export const messageFieldTable: FeatureTable = [
  [/^(role|content|clear_at|output_config)$/, "plain"],
];

/** The `type` of a tool. Tools that the client runs itself are plain. */
export const toolTable: FeatureTable = [
  [/^custom$/, "plain"],
  [/^(bash|text_editor|computer|memory|computer_toolset|browser_toolset)_\d{8}$/, "plain"],
  // These only use the request itself.
  [/^(tool_search_tool_(regex|bm25)(_\d{8})?|advisor_\d{8})$/, "plain"],
  [/^web_search_/, "web_search"],
  [/^web_fetch_/, "web_fetch"],
  [/^code_execution_/, "code_execution"],
  [/^mcp_/, "mcp"],
];

/** The `type` of a content block. Nested blocks are checked as well. */
export const blockTable: FeatureTable = [
  [/^(text|image|document|search_result|thinking|redacted_thinking)$/, "plain"],
  [/^(tool_use|tool_result|tool_reference|server_tool_use|browser_state)$/, "plain"],
  [/^(tool_addition|tool_removal|compaction|fallback|mid_conv_system)$/, "plain"],
  [/^(tool_search_tool_result|advisor_tool_result)$/, "plain"],
  [/^web_search_tool_result$/, "web_search"],
  [/^web_fetch_tool_result$/, "web_fetch"],
  [/^((bash|text_editor)_)?code_execution_tool_result$/, "code_execution"],
  [/^mcp_tool_(use|result|listing)$/, "mcp"],
  [/^container_upload$/, "files"],
];

/** The `name` of a tool that the API ran, according to the request. */
export const serverToolTable: FeatureTable = [
  [/^(tool_search_tool_(regex|bm25)|advisor)$/, "plain"],
  [/^web_search$/, "web_search"],
  [/^web_fetch$/, "web_fetch"],
  [/^((bash|text_editor)_)?code_execution$/, "code_execution"],
];

/** The `type` of the source of an image or document. */
export const sourceTable: FeatureTable = [
  [/^(base64|text|content)$/, "plain"],
  [/^url$/, "urls"],
  [/^file$/, "files"],
];

/** The `type` of a tool that is added or removed during a conversation. */
export const toolChangeTable: FeatureTable = [
  [/^(tool_reference|tool_definition)$/, "plain"],
  [/^mcp_/, "mcp"],
];

/** Names in `anthropic-beta`. Most do not give access to anything, so unknown names are allowed. */
export const betaTable: FeatureTable = [
  [/^mcp-/, "mcp"],
  [/^(files-api|message-threads)-/, "files"],
  [/^(code-execution|skills)-/, "code_execution"],
  [/^web-search-/, "web_search"],
  [/^web-fetch-/, "web_fetch"],
  [/^(managed-agents|agent-memory|webhooks|environments)-/, "unknown"],
  [/^/, "plain"],
];

export function lookUpFeature(table: FeatureTable, name: unknown): FeatureOrPlain {
  if (typeof name !== "string") return "unknown";
  return table.find(([pattern]) => pattern.test(name))?.[1] ?? "unknown";
}
