import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { docker } from "../../packages/config/src/schema/docker.ts";
import {
  type ApiFeature,
  apiFeatures,
  findForbiddenFeature,
} from "../../packages/core/src/runner/gateway/policy/api-features.ts";
import { parseBody } from "../../packages/core/src/runner/gateway/policy/parse-body.ts";
import {
  betaFeatures,
  requestedFeatures,
} from "../../packages/core/src/runner/gateway/policy/requested-features.ts";

type Fields = Record<string, unknown>;

const allReaches = Object.keys(apiFeatures).filter(
  (name): name is ApiFeature => name in apiFeatures,
);
const requestedReaches = (body: Fields) => [...requestedFeatures(body)].map((ask) => ask.feature);
const messageBody = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const image = (source: unknown) => ({ type: "image", source });
const document = (source: unknown) => ({ type: "document", source });
const result = (...content: unknown[]) => ({ type: "tool_result", tool_use_id: "t", content });
const toolAddition = (tool: unknown) => ({ type: "tool_addition", tool });
const page = { type: "url", url: "https://elsewhere.test/" };
const search = { type: "web_search_20250305", name: "web_search" };

const harmlessBodies: [what: string, body: Fields][] = [
  ["plain text", { model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] }],
  ["a system prompt", { system: [{ type: "text", text: "Fetch https://x/ with web_search_1." }] }],
  ["the agent's own tools", { tools: [{ name: "WebFetch", input_schema: { type: "object" } }] }],
  ["a custom tool", { tools: [{ type: "custom", name: "web_search", input_schema: {} }] }],
  ["a tool without a type", { tools: [{ type: null, name: "x" }] }],
  [
    "tools that the client executes",
    {
      tools: [
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "edit" },
        { type: "computer_20251124", name: "computer" },
        { type: "memory_20250818", name: "memory" },
        { type: "tool_search_tool_bm25_20251119", name: "find" },
      ],
    },
  ],
  ["an inline image", messageBody(image({ type: "base64", data: "aGk=" }))],
  ["a text document", messageBody(document({ type: "text", data: "https://x/" }))],
  [
    "a tool call with its result",
    messageBody(
      {
        type: "tool_use",
        id: "t",
        name: "Bash",
        input: { type: "url", source: page, tools: [search] },
      },
      result({ type: "text", text: "x" }, image({ type: "base64", data: "" })),
    ),
  ],
  [
    "a result that cites its source",
    messageBody({ type: "search_result", source: "https://x/", title: "x", content: [] }),
  ],
  ["thinking", messageBody({ type: "thinking", thinking: "x", signature: "s" })],
  [
    "a tool that is named again",
    messageBody(toolAddition({ type: "tool_reference", name: "Bash" })),
  ],
  [
    "a tool defined in a message",
    messageBody(toolAddition({ type: "tool_definition", definition: { name: "x" } })),
  ],
  ["empty fields", { mcp_servers: [], container: null, tools: null, system: null }],
  [
    "an output schema",
    { output_config: { format: { type: "json_schema", schema: { source: page } } } },
  ],
];

const reachingBodies: [what: string, body: Fields, reach: ApiFeature][] = [
  ["a web search", { tools: [{ name: "x" }, search] }, "web_search"],
  ["a web search of a later version", { tools: [{ type: "web_search_20991231" }] }, "web_search"],
  ["a web fetch", { tools: [{ type: "web_fetch_20260309", name: "web_fetch" }] }, "web_fetch"],
  ["code execution", { tools: [{ type: "code_execution_20250825" }] }, "code_execution"],
  [
    "a container",
    { container: { skills: [{ type: "anthropic", skill_id: "xlsx" }] } },
    "code_execution",
  ],
  ["a container by its name", { container: "container_1" }, "code_execution"],
  ["an MCP server", { mcp_servers: [{ type: "url", url: "https://x/" }] }, "mcp"],
  ["the tools of an MCP server", { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] }, "mcp"],
  ["a tool of an unknown type", { tools: [{ type: "send_mail_20270101" }] }, "unknown"],
  ["a type with a known prefix", { tools: [{ type: "bash_code_execution_20250825" }] }, "unknown"],
  ["a type with a line break", { tools: [{ type: "custom\nweb_fetch_1" }] }, "unknown"],
  ["a type that is not text", { tools: [{ type: ["custom"] }] }, "unknown"],
  ["tools that are not a list", { tools: search }, "web_search"],
  ["an image at an address", messageBody(image(page)), "urls"],
  ["a document at an address", messageBody(document(page)), "urls"],
  ["an image that is not a list", { messages: { role: "user", content: image(page) } }, "urls"],
  ["an image in a tool's result", messageBody(result(image(page))), "urls"],
  [
    "an image in a document",
    messageBody(document({ type: "content", content: [image(page)] })),
    "urls",
  ],
  [
    "an image in a document in a result",
    messageBody(result(document({ type: "content", content: [image(page)] }))),
    "urls",
  ],
  ["an image in the system prompt", { system: [image(page)] }, "urls"],
  ["a stored file", messageBody(document({ type: "file", file_id: "file_1" })), "files"],
  ["a file for a container", messageBody({ type: "container_upload", file_id: "file_1" }), "files"],
  ["a stored conversation", { thread: { type: "continue", previous_message_id: "m" } }, "files"],
  [
    "a search added in a message",
    messageBody(toolAddition({ type: "tool_definition", definition: search })),
    "web_search",
  ],
  [
    "an MCP server added in a message",
    messageBody(toolAddition({ type: "mcp_toolset_reference", server_name: "x" })),
    "mcp",
  ],
  [
    "a search in a compacted part",
    messageBody({
      type: "compaction",
      tool_changes: [toolAddition({ type: "tool_definition", definition: search })],
    }),
    "web_search",
  ],
  [
    "an unfinished fetch",
    messageBody({ type: "server_tool_use", name: "web_fetch", input: {} }),
    "web_fetch",
  ],
  ["a call of an MCP server", messageBody({ type: "mcp_tool_use", name: "x" }), "mcp"],
  ["an unknown source", messageBody(image({ type: "gopher" })), "unknown"],
  ["a source that is not a block", messageBody(image("https://x/")), "unknown"],
  ["an unknown block", messageBody({ type: "postcard" }), "unknown"],
  ["a block without a type", messageBody({ text: "x" }), "unknown"],
  ["blocks in nested lists", messageBody([image(page)]), "unknown"],
  ["an unknown field", { api_base: "https://x/" }, "unknown"],
  [
    "an unknown field of a message",
    { messages: [{ role: "user", content: "x", tools: [search] }] },
    "unknown",
  ],
  ["a field with an odd name", JSON.parse('{"__proto__": {"tools": []}}'), "unknown"],
];

test.each(harmlessBodies)("finds no API feature in %s", (_, body) => {
  expect([...requestedFeatures(body)]).toEqual([]);
});

test.each(reachingBodies)("identifies %s", (_, body, reach) => {
  expect(requestedReaches(body)).toContain(reach);
  expect(
    findForbiddenFeature(
      requestedFeatures(body),
      allReaches.filter((one) => one !== reach),
    ),
  ).toEqual({
    reason: expect.stringContaining(apiFeatures[reach]),
    remedy: `docker.api_features: [${reach}]`,
  });
  expect(findForbiddenFeature(requestedFeatures(body), allReaches)).toBeUndefined();
});

test.each<[string, ApiFeature[]]>([
  ["claude-code-20250219,interleaved-thinking-2025-05-14,advanced-tool-use-2025-11-20", []],
  ["oauth-2025-04-20, something-new-2030-01-01", []],
  ["claude-code-20250219, MCP-Client-2025-11-20", ["mcp"]],
  [
    "files-api-2025-04-14,code-execution-2025-08-25,skills-2025-10-02",
    ["files", "code_execution", "code_execution"],
  ],
  ["web-fetch-2025-09-10,web-search-2025-03-05", ["web_fetch", "web_search"]],
])("finds for the betas %s the features %j", (header, expected) => {
  expect([...betaFeatures(header)].map((ask) => ask.feature)).toEqual(expected);
});

test("shortens what a refusal quotes to one line", () => {
  const type = `a\u001b[2J\n\`${"x".repeat(500)}`;
  const { reason = "" } = findForbiddenFeature(requestedFeatures({ tools: [{ type }] }), []) ?? {};
  expect(reason).toMatch(/^[\x20-\x7e]{1,200}$/);
});

test("has a configuration value for everything that it refuses", () => {
  expect(docker.parse({ api_features: allReaches }).api_features).toEqual(allReaches);
});

describe("any surroundings", () => {
  const leaf = fc.oneof(...harmlessBodies.map(([, body]) => fc.constant(body)));
  const wrapped = fc.constantFrom<(block: unknown) => unknown>(
    (block) => result({ type: "text", text: "x" }, block),
    (block) => document({ type: "content", content: [block] }),
    (block) => ({ type: "search_result", source: "x", title: "x", content: [block] }),
    (block) => block,
  );

  test("finds a harmful part anywhere it may appear", () => {
    fc.assert(
      fc.property(leaf, fc.array(wrapped, { maxLength: 3 }), fc.nat(5), (body, wraps, before) => {
        const block = wraps.reduce<unknown>((inner, wrap) => wrap(inner), image(page));
        const texts = Array.from({ length: before }, () => ({ type: "text", text: "x" }));
        const messages = [
          { role: "user", content: "first" },
          { role: "user", content: [...texts, block] },
        ];
        expect(requestedReaches({ ...body, messages })).toContain("urls");
      }),
    );
  });

  test("never throws for any value, and forwards exactly what was checked", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const parsed = parseBody(Buffer.from(JSON.stringify(body, null, 1)));
        expect(parsed).toMatchObject({ kind: "parsed" });
        if (parsed.kind !== "parsed") return;
        expect(JSON.parse(parsed.bytes.toString())).toEqual(parsed.body);
        for (const ask of requestedFeatures(parsed.body)) expect(allReaches).toContain(ask.feature);
      }),
    );
  });
});

test.each<[string, Buffer | string]>([
  ["an empty text", ""],
  ["a list", "[]"],
  ["a text", '"tools"'],
  ["null", "null"],
  ["an incomplete object", '{"tools":['],
  ["two objects", '{"model":"m"}{"tools":[]}'],
  ["a comment", '{"model":"m"/* */}'],
  ["a byte order mark", "\ufeff{}"],
  ["two bytes per letter", Buffer.from('{"model":"m"}', "utf16le")],
  [
    "invalid UTF-8",
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}')]),
  ],
  ["endless brackets", "[".repeat(1_000_000)],
  ["nesting", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`],
  ["too many values", `{"a":[${"{},".repeat(2_100_000)}{}]}`],
])("rejects a body of %s as malformed", (_, text) => {
  expect(parseBody(Buffer.from(text))).toMatchObject({ kind: "malformed" });
});

test("ignores brackets, quotes and backslashes in texts when it counts nesting", () => {
  const text = `${"[{".repeat(1_000)}\\"\\\\`;
  const parsed = parseBody(Buffer.from(JSON.stringify({ system: text, stop_sequences: ["\\"] })));
  expect(parsed).toMatchObject({ kind: "parsed", body: { system: text } });
});

test("forwards only the checked value of a duplicate key", () => {
  const parsed = parseBody(
    Buffer.from(`{"tools":[${JSON.stringify(search)}],"tools":[],"a":{"b":1,"b":2}}`),
  );
  expect(parsed).toMatchObject({ kind: "parsed", bytes: Buffer.from('{"tools":[],"a":{"b":2}}') });
});
