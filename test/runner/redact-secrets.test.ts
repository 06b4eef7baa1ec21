import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import { knownSecrets, Redactor } from "../../packages/core/src/runner/execution/redactor.ts";
import { StderrLog } from "../../packages/core/src/runner/execution/stderr-log.ts";
import { agentOf, fleetHeader, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const secret = 'canary-"secret"\\of-the-run';
const redactor = () => new Redactor([secret, "canary-token-0123"]);

test.each([
  ["as plain text", secret],
  ["in JSON", JSON.stringify({ key: secret })],
  ["in JSON within JSON", JSON.stringify(JSON.stringify({ key: secret }))],
  ["in an address", `https://x.example/?key=${encodeURIComponent(secret)}`],
  ["in base64", Buffer.from(secret).toString("base64")],
])("replaces a secret %s at any depth", (_, text) => {
  const clean = JSON.stringify(redactor().redact({ list: [{ [text]: `<${text}>` }], n: 1 }));
  expect(clean).toContain("[redacted]");
  for (const part of [secret, "canary-", Buffer.from(secret).toString("base64").slice(0, -2)]) {
    expect(clean).not.toContain(part);
  }
});

test("returns the same object for a value without secrets", () => {
  const value = { a: [1, null, { b: "text" }] };
  expect(redactor().redact(value)).toBe(value);
});

test("leaves numbers alone when a secret consists of digits", () => {
  expect(new Redactor(["12345678"]).redact({ n: 12345678, s: "x12345678" })).toEqual({
    n: 12345678,
    s: "x[redacted]",
  });
});

const delta = (text: string, index = 0): SDKMessage => ({
  type: "stream_event",
  event: { type: "content_block_delta", index, delta: { type: "text_delta", text } },
  parent_tool_use_id: null,
  uuid: "00000000-0000-0000-0000-000000000000",
  session_id: "s",
});
const stop: SDKMessage = {
  ...{ type: "stream_event", event: { type: "content_block_stop", index: 0 } },
  ...{ parent_tool_use_id: null, uuid: "00000000-0000-0000-0000-000000000001", session_id: "s" },
};

function streamed(pieces: readonly string[]): string {
  const one = redactor();
  const seen = [...pieces.map((text) => delta(text)), stop].flatMap((message) =>
    one.redactMessage(message),
  );
  return seen.flatMap(textsOf).join("");
}

function textsOf(message: SDKMessage): string[] {
  if (message.type !== "stream_event" || message.event.type !== "content_block_delta") return [];
  return message.event.delta.type === "text_delta" ? [message.event.delta.text] : [];
}

test("replaces a secret that is split over partial messages", () => {
  const text = `before ${secret} between canary-token-0123 after canary-`;
  for (const size of [1, 2, 3, 7, 20]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(streamed(pieces)).toBe("before [redacted] between [redacted] after canary-");
  }
});

test("keeps standard error without secrets in the file and as evidence", async () => {
  const folder = tempFolderWith({});
  const log = new StderrLog(folder, redactor());
  const text = `refused: ${secret}\nby canary-token-0123\ncanary-`;
  for (const piece of text.match(/.{1,5}/gs) ?? []) log.add(piece);
  log.note("a server: canary-token-0123\n");
  await log.close();
  expect(log.tail).toBe("refused: [redacted]\nby [redacted]\ncanary-");
  const kept = readFileSync(join(folder, "stderr.log"), "utf8");
  expect(kept).toContain("a server: [redacted]\n");
  expect(kept).not.toMatch(/canary-["t]/);
});

test("searches 5 MB for 60 secrets in a short time", () => {
  const secrets = Array.from({ length: 60 }, (_, index) => `sk-ant-api03-${index}-canary`);
  const many = new Redactor(secrets);
  const value = { type: "user", content: "sk-ant some output of a tool\n".repeat(180_000) };
  const began = performance.now();
  many.redact(value);
  const milliseconds = performance.now() - began;
  console.info(`5 MB: ${milliseconds.toFixed(0)} ms`);
  expect(milliseconds).toBeLessThan(2_000);
});

test("finds secrets by name, by what the configuration names, from .env and from servers", () => {
  const env = {
    ANTHROPIC_API_KEY: "canary-api-key",
    BOT: "canary-bot-value",
    PATH: "/usr/bin:/bin",
    SHORT_KEY: "short",
  };
  const loaded = loadTestFleet(
    {
      "herdctl.yaml": `${fleetHeader}agents:
  - name: one
    chat: { discord: { token_env: BOT, users: ["1"] } }
    mcp_servers: { a: { type: http, url: "https://x.example", headers: { Authorization: "Bearer canary-header-9" } } }
`,
      ".env": "PLAIN=canary_env_1234\nHOME_FOLDER=/srv/fleet\nMODE=production\n",
    },
    env,
  );
  const found = knownSecrets(agentOf(loaded, "one"), loaded.environment);
  expect(found.sort()).toEqual(
    ["canary-api-key", "canary-bot-value", "canary-header-9", "canary_env_1234"].sort(),
  );
});
