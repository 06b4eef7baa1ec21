import type { Reach } from "./reach.ts";

/** A part of a request that asks for nothing, or what it asks for. */
type Meaning = Reach | "plain";

/** Patterns are tried in order; what none of them matches is unknown, and so refused. */
type Table = readonly (readonly [RegExp, Meaning])[];

/** The fields of the body itself. */
export const fieldTable: Table = [
  [/^(model|max_tokens|messages|system|tools|tool_choice|stream|stop_sequences)$/, "plain"],
  [/^(metadata|temperature|top_k|top_p|thinking|effort|speed|service_tier)$/, "plain"],
  [/^(output_config|output_format|context_management|context_hint|cache_control)$/, "plain"],
  [/^(compaction|diagnostics|fallbacks|fallback_credit_token|inference_geo|safeguards)$/, "plain"],
  [/^mcp_servers$/, "mcp"],
  [/^container$/, "code_execution"],
  [/^thread$/, "files"],
];

export const messageFieldTable: Table = [[/^(role|content|clear_at|output_config)$/, "plain"]];

/** The `type` of a tool. Those that the client carries out itself are plain. */
export const toolTable: Table = [
  [/^custom$/, "plain"],
  [/^(bash|text_editor|computer|memory|computer_toolset|browser_toolset)_\d{8}$/, "plain"],
  // They look at the request and at nothing else.
  [/^(tool_search_tool_(regex|bm25)(_\d{8})?|advisor_\d{8})$/, "plain"],
  [/^web_search_/, "web_search"],
  [/^web_fetch_/, "web_fetch"],
  [/^code_execution_/, "code_execution"],
  [/^mcp_/, "mcp"],
];

/** The `type` of a content block. What stands inside one is looked at as well. */
export const blockTable: Table = [
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

/** The `name` of a tool that the API is said to have carried out. */
export const serverToolTable: Table = [
  [/^(tool_search_tool_(regex|bm25)|advisor)$/, "plain"],
  [/^web_search$/, "web_search"],
  [/^web_fetch$/, "web_fetch"],
  [/^((bash|text_editor)_)?code_execution$/, "code_execution"],
];

/** The `type` of what an image or a document is made from. */
export const sourceTable: Table = [
  [/^(base64|text|content)$/, "plain"],
  [/^url$/, "urls"],
  [/^file$/, "files"],
];

/** The `type` of a tool that is added or taken away in the middle of a conversation. */
export const toolChangeTable: Table = [
  [/^(tool_reference|tool_definition)$/, "plain"],
  [/^mcp_/, "mcp"],
];

/** Names in `anthropic-beta`; most switch on nothing that reaches out, so unknown ones pass. */
export const betaTable: Table = [
  [/^mcp-/, "mcp"],
  [/^(files-api|message-threads)-/, "files"],
  [/^(code-execution|skills)-/, "code_execution"],
  [/^web-search-/, "web_search"],
  [/^web-fetch-/, "web_fetch"],
  [/^(managed-agents|agent-memory|webhooks|environments)-/, "unknown"],
  [/^/, "plain"],
];

export function meaningOf(table: Table, name: unknown): Meaning {
  if (typeof name !== "string") return "unknown";
  return table.find(([pattern]) => pattern.test(name))?.[1] ?? "unknown";
}
