import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { docker } from "../../packages/core/src/config/schema/docker.ts";
import { asksOf, betaAsks } from "../../packages/core/src/gateway/policy/asks.ts";
import { parseBody } from "../../packages/core/src/gateway/policy/parse-body.ts";
import { type Reach, reaches, refuseAsk } from "../../packages/core/src/gateway/policy/reach.ts";

type Fields = Record<string, unknown>;

const all = Object.keys(reaches).filter((name): name is Reach => name in reaches);
const asked = (body: Fields) => [...asksOf(body)].map((ask) => ask.reach);
const inMessage = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const image = (source: unknown) => ({ type: "image", source });
const document = (source: unknown) => ({ type: "document", source });
const result = (...content: unknown[]) => ({ type: "tool_result", tool_use_id: "t", content });
const added = (tool: unknown) => ({ type: "tool_addition", tool });
const page = { type: "url", url: "https://elsewhere.test/" };
const search = { type: "web_search_20250305", name: "web_search" };

const harmless: [what: string, body: Fields][] = [
  ["a plain text", { model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] }],
  ["a system prompt", { system: [{ type: "text", text: "Fetch https://x/ with web_search_1." }] }],
  ["the agent's own tools", { tools: [{ name: "WebFetch", input_schema: { type: "object" } }] }],
  ["a custom tool", { tools: [{ type: "custom", name: "web_search", input_schema: {} }] }],
  ["a tool of no type", { tools: [{ type: null, name: "x" }] }],
  [
    "tools that the client carries out",
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
  ["an image as it is", inMessage(image({ type: "base64", data: "aGk=" }))],
  ["a document of text", inMessage(document({ type: "text", data: "https://x/" }))],
  [
    "what a tool was told and said",
    inMessage(
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
    "a result that quotes its place",
    inMessage({ type: "search_result", source: "https://x/", title: "x", content: [] }),
  ],
  ["thoughts", inMessage({ type: "thinking", thinking: "x", signature: "s" })],
  ["a tool named again", inMessage(added({ type: "tool_reference", name: "Bash" }))],
  [
    "a tool defined on the way",
    inMessage(added({ type: "tool_definition", definition: { name: "x" } })),
  ],
  ["fields that hold nothing", { mcp_servers: [], container: null, tools: null, system: null }],
  [
    "a schema for the answer",
    { output_config: { format: { type: "json_schema", schema: { source: page } } } },
  ],
];

const reaching: [what: string, body: Fields, reach: Reach][] = [
  ["a search", { tools: [{ name: "x" }, search] }, "web_search"],
  ["a search of a later version", { tools: [{ type: "web_search_20991231" }] }, "web_search"],
  ["a fetched page", { tools: [{ type: "web_fetch_20260309", name: "web_fetch" }] }, "web_fetch"],
  ["a program", { tools: [{ type: "code_execution_20250825" }] }, "code_execution"],
  [
    "a container",
    { container: { skills: [{ type: "anthropic", skill_id: "xlsx" }] } },
    "code_execution",
  ],
  ["a container by its name", { container: "container_1" }, "code_execution"],
  ["an MCP server", { mcp_servers: [{ type: "url", url: "https://x/" }] }, "mcp"],
  ["the tools of an MCP server", { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] }, "mcp"],
  ["a tool of an unknown type", { tools: [{ type: "send_mail_20270101" }] }, "unknown"],
  [
    "a type that only begins well",
    { tools: [{ type: "bash_code_execution_20250825" }] },
    "unknown",
  ],
  ["a type with a line break", { tools: [{ type: "custom\nweb_fetch_1" }] }, "unknown"],
  ["a type that is no text", { tools: [{ type: ["custom"] }] }, "unknown"],
  ["tools that are no list", { tools: search }, "web_search"],
  ["an image at an address", inMessage(image(page)), "urls"],
  ["a document at an address", inMessage(document(page)), "urls"],
  ["an image that is no list", { messages: { role: "user", content: image(page) } }, "urls"],
  ["an image in a tool's result", inMessage(result(image(page))), "urls"],
  [
    "an image in a document",
    inMessage(document({ type: "content", content: [image(page)] })),
    "urls",
  ],
  [
    "an image in a document in a result",
    inMessage(result(document({ type: "content", content: [image(page)] }))),
    "urls",
  ],
  ["an image in the system prompt", { system: [image(page)] }, "urls"],
  ["a stored file", inMessage(document({ type: "file", file_id: "file_1" })), "files"],
  ["a file for a container", inMessage({ type: "container_upload", file_id: "file_1" }), "files"],
  ["a stored conversation", { thread: { type: "continue", previous_message_id: "m" } }, "files"],
  [
    "a search added on the way",
    inMessage(added({ type: "tool_definition", definition: search })),
    "web_search",
  ],
  [
    "an MCP server added on the way",
    inMessage(added({ type: "mcp_toolset_reference", server_name: "x" })),
    "mcp",
  ],
  [
    "a search in what was compacted",
    inMessage({
      type: "compaction",
      tool_changes: [added({ type: "tool_definition", definition: search })],
    }),
    "web_search",
  ],
  [
    "a fetch that is under way",
    inMessage({ type: "server_tool_use", name: "web_fetch", input: {} }),
    "web_fetch",
  ],
  ["a call of an MCP server", inMessage({ type: "mcp_tool_use", name: "x" }), "mcp"],
  ["an unknown source", inMessage(image({ type: "gopher" })), "unknown"],
  ["a source that is no block", inMessage(image("https://x/")), "unknown"],
  ["an unknown block", inMessage({ type: "postcard" }), "unknown"],
  ["a block of no type", inMessage({ text: "x" }), "unknown"],
  ["blocks in a list in a list", inMessage([image(page)]), "unknown"],
  ["an unknown field", { api_base: "https://x/" }, "unknown"],
  [
    "an unknown field of a message",
    { messages: [{ role: "user", content: "x", tools: [search] }] },
    "unknown",
  ],
  ["a field of an odd name", JSON.parse('{"__proto__": {"tools": []}}'), "unknown"],
];

test.each(harmless)("%s asks for nothing", (_, body) => {
  expect([...asksOf(body)]).toEqual([]);
});

test.each(reaching)("%s is told for what it is", (_, body, reach) => {
  expect(asked(body)).toContain(reach);
  expect(
    refuseAsk(
      asksOf(body),
      all.filter((one) => one !== reach),
    ),
  ).toEqual({
    reason: expect.stringContaining(reaches[reach]),
    remedy: `docker.api_reach: [${reach}]`,
  });
  expect(refuseAsk(asksOf(body), all)).toBeUndefined();
});

test.each<[string, Reach[]]>([
  ["claude-code-20250219,interleaved-thinking-2025-05-14,advanced-tool-use-2025-11-20", []],
  ["oauth-2025-04-20, something-new-2030-01-01", []],
  ["claude-code-20250219, MCP-Client-2025-11-20", ["mcp"]],
  [
    "files-api-2025-04-14,code-execution-2025-08-25,skills-2025-10-02",
    ["files", "code_execution", "code_execution"],
  ],
  ["web-fetch-2025-09-10,web-search-2025-03-05", ["web_fetch", "web_search"]],
])("the betas %s switch on %j", (header, expected) => {
  expect([...betaAsks(header)].map((ask) => ask.reach)).toEqual(expected);
});

test("what a refusal quotes is short and of one line", () => {
  const type = `a\u001b[2J\n\`${"x".repeat(500)}`;
  const { reason = "" } = refuseAsk(asksOf({ tools: [{ type }] }), []) ?? {};
  expect(reason).toMatch(/^[\x20-\x7e]{1,200}$/);
});

test("the configuration can name everything that is refused", () => {
  expect(docker.parse({ api_reach: all }).api_reach).toEqual(all);
});

describe("whatever surrounds it", () => {
  const leaf = fc.oneof(...harmless.map(([, body]) => fc.constant(body)));
  const wrapped = fc.constantFrom<(block: unknown) => unknown>(
    (block) => result({ type: "text", text: "x" }, block),
    (block) => document({ type: "content", content: [block] }),
    (block) => ({ type: "search_result", source: "x", title: "x", content: [block] }),
    (block) => block,
  );

  test("a harmful part is found in any place that can hold it", () => {
    fc.assert(
      fc.property(leaf, fc.array(wrapped, { maxLength: 3 }), fc.nat(5), (body, wraps, before) => {
        const block = wraps.reduce<unknown>((inner, wrap) => wrap(inner), image(page));
        const texts = Array.from({ length: before }, () => ({ type: "text", text: "x" }));
        const messages = [
          { role: "user", content: "first" },
          { role: "user", content: [...texts, block] },
        ];
        expect(asked({ ...body, messages })).toContain("urls");
      }),
    );
  });

  test("no value makes the look fail, and what is sent reads as what was looked at", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const parsed = parseBody(Buffer.from(JSON.stringify(body, null, 1)));
        expect(parsed).toMatchObject({ kind: "parsed" });
        if (parsed.kind !== "parsed") return;
        expect(JSON.parse(parsed.bytes.toString())).toEqual(parsed.body);
        for (const ask of asksOf(parsed.body)) expect(all).toContain(ask.reach);
      }),
    );
  });
});

test.each<[string, Buffer | string]>([
  ["nothing", ""],
  ["a list", "[]"],
  ["a text", '"tools"'],
  ["null", "null"],
  ["half an object", '{"tools":['],
  ["two objects", '{"model":"m"}{"tools":[]}'],
  ["a comment", '{"model":"m"/* */}'],
  ["a mark before it", "\ufeff{}"],
  ["two bytes a letter", Buffer.from('{"model":"m"}', "utf16le")],
  [
    "broken letters",
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}')]),
  ],
  ["brackets without end", "[".repeat(1_000_000)],
  ["nesting", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`],
  ["too many values", `{"a":[${"{},".repeat(2_100_000)}{}]}`],
])("a body of %s is malformed", (_, text) => {
  expect(parseBody(Buffer.from(text))).toMatchObject({ kind: "malformed" });
});

test("brackets, quotes and backslashes in texts are no nesting", () => {
  const text = `${"[{".repeat(1_000)}\\"\\\\`;
  const parsed = parseBody(Buffer.from(JSON.stringify({ system: text, stop_sequences: ["\\"] })));
  expect(parsed).toMatchObject({ kind: "parsed", body: { system: text } });
});

test("of a key that stands twice only what was looked at goes on", () => {
  const parsed = parseBody(
    Buffer.from(`{"tools":[${JSON.stringify(search)}],"tools":[],"a":{"b":1,"b":2}}`),
  );
  expect(parsed).toMatchObject({ kind: "parsed", bytes: Buffer.from('{"tools":[],"a":{"b":2}}') });
});
