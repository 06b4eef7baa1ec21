import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SDKMessage } from "@herdctl/core";
import { expect, test } from "vitest";
import { obedientStage, obey, perform, runtimes, sessionFileRuntimes } from "../support/runtime.ts";

const [sdk, cli] = runtimes;
const [fromFile] = sessionFileRuntimes;
if (!sdk || !cli || !fromFile) throw new Error("the runtimes to compare are missing");

const agent =
  "model: claude-sonnet-4-5\nsystem_prompt: Be brief.\nallowed_tools: [Read]\ndenied_tools: [WebSearch]";
const prompt = [
  obey(["Bash", { command: "echo one" }]),
  obey(["Bash", { command: "echo two" }]),
  obey(["Read", { file_path: "CLAUDE.md" }]),
].join("\n\n");

async function performOn(runtime: typeof sdk) {
  const on = await obedientStage();
  writeFileSync(join(on.workspace, "CLAUDE.md"), "House rule: be kind.\n");
  const performance = await perform(runtime as NonNullable<typeof sdk>, on, { agent, prompt });
  const anonymous = (text: string) =>
    text
      .replaceAll(on.home, "<home>")
      .replaceAll(on.workspace, "<work>")
      .replaceAll(/[^\s"]*-claude-[A-Za-z0-9]+-[^\s"/\\]*/g, "<project>")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
      .replaceAll(/\d+ tokens left/g, "<tokens> left")
      .replaceAll(/cc_entrypoint=[a-z-]+/g, "<entrypoint>");
  return { ...performance, on, anonymous };
}

/**
 * What two runs of the same thing never share: times, ids and figures of the moment. How many tokens
 * a request has depends on how many digits the number has of those that are left.
 */
const fleeting =
  /_ms$|^input_?tokens$|cost_?usd$|uuid|^session_id$|timestamp|^id$|tool_use_id|^cwd$|memory_paths|request_id|parent_tool_use_id|messaging_socket_path/i;

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !fleeting.test(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, shapeOf(inner)]),
  );
}

test("both runtimes yield the same messages", async () => {
  const [a, b] = [await performOn(sdk), await performOn(cli)];
  const shapes = ({ messages, anonymous }: typeof a) =>
    messages.map((message) => anonymous(JSON.stringify(shapeOf(message))));
  expect(shapes(b)).toEqual(shapes(a));
});

test("both runtimes send the model the same: system prompt, tools, settings, conversation", async () => {
  const [a, b] = [await performOn(sdk), await performOn(cli)];
  const bodies = ({ on, anonymous }: typeof a) =>
    on.rehearsal.ledger.main.map(({ body }) =>
      anonymous(JSON.stringify({ ...(body as object), metadata: null })),
    );
  expect(bodies(b)).toEqual(bodies(a));
  expect(bodies(a).length).toBe(4);
});

test("the session file gives the same conversation as the stream", async () => {
  const [a, b] = [await performOn(cli), await performOn(fromFile)];
  const spoken = ({ messages, anonymous }: typeof a) =>
    messages
      .filter((message): message is Extract<SDKMessage, { type: "assistant" | "user" }> =>
        ["assistant", "user"].includes(message.type),
      )
      .map(({ type, message }) =>
        anonymous(JSON.stringify(shapeOf({ type, content: message.content }))),
      );
  expect(spoken(b)).toEqual(spoken(a));
  expect(b.messages[0]).toMatchObject({ subtype: "init", herdctl_synthesised: true });
  expect(b.messages.at(-1)).toMatchObject({
    type: "result",
    subtype: "success",
    herdctl_synthesised: true,
  });
});
