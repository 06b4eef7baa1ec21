import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SDKMessage } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import {
  executeOnRuntime,
  runtimes,
  sessionFileRuntimes,
  startObedientHarness,
  toolCallPrompt,
} from "../support/runtimes-under-test.ts";

const [sdk, cli] = runtimes;
const [sessionFileRuntime] = sessionFileRuntimes;
if (!sdk || !cli || !sessionFileRuntime) throw new Error("the runtimes to compare are missing");

const agent =
  "model: claude-sonnet-4-5\nsystem_prompt: Be brief.\nallowed_tools: [Read]\ndenied_tools: [WebSearch]";
const prompt = [
  toolCallPrompt(["Bash", { command: "echo one" }]),
  toolCallPrompt(["Bash", { command: "echo two" }]),
  toolCallPrompt(["Read", { file_path: "CLAUDE.md" }]),
].join("\n\n");

async function executeAnonymized(runtime: typeof sdk) {
  const harness = await startObedientHarness();
  writeFileSync(join(harness.workspace, "CLAUDE.md"), "House rule: be kind.\n");
  const performance = await executeOnRuntime(runtime as NonNullable<typeof sdk>, harness, {
    agent,
    prompt,
  });
  const anonymous = (text: string) =>
    text
      .replaceAll(harness.home, "<home>")
      .replaceAll(harness.workspace, "<work>")
      .replaceAll(/[^\s"]*-claude-[A-Za-z0-9]+-[^\s"/\\]*/g, "<project>")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
      .replaceAll(/\d+ tokens left/g, "<tokens> left")
      .replaceAll(/cc_entrypoint=[a-z-]+/g, "<entrypoint>");
  return { ...performance, on: harness, anonymous };
}

/**
 * Values that differ between two equal runs: times, ids and counts. The tokens of a request depend
 * on the number of digits of the remaining budget.
 */
const varyingKeys =
  /_ms$|^input_?tokens$|cost_?usd$|uuid|^session_id$|timestamp|^id$|tool_use_id|^cwd$|memory_paths|request_id|parent_tool_use_id|messaging_socket_path/i;

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !varyingKeys.test(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, shapeOf(inner)]),
  );
}

test("yields the same messages on both runtimes", async () => {
  const [a, b] = [await executeAnonymized(sdk), await executeAnonymized(cli)];
  const shapes = ({ messages, anonymous }: typeof a) =>
    messages.map((message) => anonymous(JSON.stringify(shapeOf(message))));
  expect(shapes(b)).toEqual(shapes(a));
});

test("sends the model the same system prompt, tools, settings and conversation on both runtimes", async () => {
  const [a, b] = [await executeAnonymized(sdk), await executeAnonymized(cli)];
  const bodies = ({ on, anonymous }: typeof a) =>
    on.rehearsal.ledger.main.map(({ body }) =>
      anonymous(JSON.stringify({ ...(body as object), metadata: null })),
    );
  expect(bodies(b)).toEqual(bodies(a));
  expect(bodies(a).length).toBe(4);
});

test("reads the same conversation from the session file as from the stream", async () => {
  const [a, b] = [await executeAnonymized(cli), await executeAnonymized(sessionFileRuntime)];
  const conversation = ({ messages, anonymous }: typeof a) =>
    messages
      .filter((message): message is Extract<SDKMessage, { type: "assistant" | "user" }> =>
        ["assistant", "user"].includes(message.type),
      )
      .map(({ type, message }) =>
        anonymous(JSON.stringify(shapeOf({ type, content: message.content }))),
      );
  expect(conversation(b)).toEqual(conversation(a));
  expect(b.messages[0]).toMatchObject({ subtype: "init", herdctl_synthesised: true });
  expect(b.messages.at(-1)).toMatchObject({
    type: "result",
    subtype: "success",
    herdctl_synthesised: true,
  });
});
