import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Script } from "@herdctl/rehearsal";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { SkippedLine } from "../../packages/core/src/claude/session-files/file-cursor.ts";
import {
  followSessionFile,
  readSessionFile,
} from "../../packages/core/src/claude/session-files/follow-session-file.ts";
import type { FileMessage } from "../../packages/core/src/claude/session-files/message-types.ts";
import { SessionConverter } from "../../packages/core/src/claude/session-files/session-converter.ts";
import { sessionFilePath } from "../../packages/core/src/claude/session-files/session-file-path.ts";
import { readTranscript } from "../../packages/core/src/claude/session-files/transcript.ts";
import { claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const line = (uuid: string, more: object = {}) =>
  `${JSON.stringify({ type: "user", uuid, ...more })}\n`;

/** Follows a file and records when each line was read. */
function startFollowing(file: string, from?: number) {
  const seen = new Map<string, number>();
  const stop = new AbortController();
  const done = (async () => {
    for await (const one of followSessionFile({ file, from, signal: stop.signal })) {
      seen.set(String(one.line.uuid), Date.now());
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  return {
    seen,
    stop: async () => {
      stop.abort();
      await done;
    },
  };
}

async function until(condition: () => boolean, timeoutMs = 5_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`it did not happen within ${timeoutMs} ms`);
    await sleep(2);
  }
}

test("reads each of many quick lines soon despite the watcher's throttling", async () => {
  const file = join(tempFolderWith({ "s.jsonl": "" }), "s.jsonl");
  const { seen, stop } = startFollowing(file);
  await sleep(150);
  const written = new Map<string, number>();
  for (let index = 0; index < 60; index += 1) {
    written.set(`${index}`, Date.now());
    appendFileSync(file, line(`${index}`));
    await sleep(4);
  }
  await until(() => seen.size === 60);
  await stop();
  const delays = [...written].map(([uuid, at]) => (seen.get(uuid) ?? Number.NaN) - at);
  expect(Math.max(...delays)).toBeLessThan(1_000);
});

describe("with one way to detect changes", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  /** Appends lines until the follower reads one: only then are its watchers installed. */
  async function followEmptyFile() {
    const file = join(tempFolderWith({ "s.jsonl": "" }), "s.jsonl");
    const follower = startFollowing(file);
    for (let index = 0; follower.seen.size === 0 && index < 100; index += 1) {
      appendFileSync(file, line(`first ${index}`));
      await sleep(100);
    }
    return { file, ...follower };
  }

  test("reads every line by the watcher alone, also the last of two quick ones", async () => {
    // The poll never fires.
    vi.useFakeTimers({ toFake: ["setInterval"] });
    const { file, seen, stop } = await followEmptyFile();
    for (let index = 0; index < 10; index += 1) {
      appendFileSync(file, line(`a ${index}`));
      // chokidar drops a change this soon after another and sends no event for it later.
      await sleep(15);
      appendFileSync(file, line(`b ${index}`));
      await until(() => seen.has(`a ${index}`) && seen.has(`b ${index}`));
      await sleep(100);
    }
    await stop();
  });

  test("reads every line by the poll alone, if the watcher reports no change", async () => {
    // chokidar compares the file with its last state only every ten minutes.
    vi.stubEnv("CHOKIDAR_USEPOLLING", "1");
    vi.stubEnv("CHOKIDAR_INTERVAL", "600000");
    const { file, seen, stop } = await followEmptyFile();
    for (let index = 0; index < 3; index += 1) {
      appendFileSync(file, line(`a ${index}`));
      await until(() => seen.has(`a ${index}`));
    }
    await stop();
  });
});

test("reads a file whose folder is created later", async () => {
  const folder = join(tempFolderWith({}), "projects", "-work");
  const { seen, stop } = startFollowing(join(folder, "s.jsonl"));
  await sleep(50);
  mkdirSync(folder, { recursive: true });
  await sleep(150);
  writeFileSync(join(folder, "s.jsonl"), line("first"));
  await until(() => seen.has("first"));
  appendFileSync(join(folder, "s.jsonl"), line("second"));
  await until(() => seen.has("second"));
  await stop();
});

test("follows from an offset", async () => {
  const first = line("first");
  const file = join(tempFolderWith({ "s.jsonl": first + line("second") }), "s.jsonl");
  const { seen, stop } = startFollowing(file, Buffer.byteLength(first));
  await until(() => seen.has("second"));
  await stop();
  expect([...seen.keys()]).toEqual(["second"]);
});

test("continues from the end of a line", async () => {
  const file = join(
    tempFolderWith({ "s.jsonl": `${line("ü")}\n${line("b")}${line("c")}` }),
    "s.jsonl",
  );
  const places = [];
  for await (const { line, start, end } of readSessionFile(file)) {
    places.push(line.uuid);
    const rest = [];
    for await (const later of readSessionFile(file, { from: end })) rest.push(later.line.uuid);
    expect(rest).toEqual(["ü", "b", "c"].slice(places.length));
    expect(end).toBeGreaterThan(start);
  }
  expect(places).toEqual(["ü", "b", "c"]);
});

test("rereads a file that was truncated below the offset", async () => {
  const file = join(tempFolderWith({ "s.jsonl": line("a") }), "s.jsonl");
  const uuids = [];
  for await (const { line } of readSessionFile(file, { from: 10_000 })) uuids.push(line.uuid);
  expect(uuids).toEqual(["a"]);
});

test("skips and counts a line over the limit and reads the next", async () => {
  const text = line("long", { text: "x".repeat(200_000) }) + line("next");
  const file = join(tempFolderWith({ "s.jsonl": text }), "s.jsonl");
  const skipped: SkippedLine[] = [];
  const uuids = [];
  const options = { maxLineBytes: 100_000, onSkipped: (one: SkippedLine) => skipped.push(one) };
  for await (const { line } of readSessionFile(file, options)) uuids.push(line.uuid);
  expect(uuids).toEqual(["next"]);
  expect(skipped).toMatchObject([{ reason: "too_long", start: 0 }]);
});

test("reports a corrupt line with its reason and position", async () => {
  const broken = `{"type":"us${line("a")}\0\0\n"text"\n${line("b")}{"type":"user","uuid":"c"`;
  const file = join(tempFolderWith({ "s.jsonl": broken }), "s.jsonl");
  expect(await readTranscript(file)).toMatchObject({
    turn: "none",
    skipped: { broken: 2, nul: 1, foreign: 1 },
  });
});

test("reads no lines from a session without a file", async () => {
  const file = join(tempFolderWith({ file: "" }), "file", "s.jsonl");
  expect(await readTranscript(file)).toMatchObject({ turn: "none", skipped: {} });
});

test("reads a subagent without a known tool call at the end", async () => {
  const agent = (uuid: string) => line(uuid, { isSidechain: true, sessionId: "s" });
  const folder = tempFolderWith({
    "s.jsonl": line("main"),
    "s/subagents/agent-1.jsonl": agent("unnamed"),
    "s/subagents/agent-1.meta.json": "{torn",
    "s/subagents/agent-2.jsonl": agent("named"),
    "s/subagents/agent-2.meta.json": '{"toolUseId":"toolu_2"}',
  });
  const seen: [unknown, unknown][] = [];
  for await (const one of readSessionFile(join(folder, "s.jsonl"))) {
    seen.push([one.line.uuid, one.subagent?.toolUseId]);
  }
  expect(seen).toEqual([
    ["main", undefined],
    ["named", "toolu_2"],
    ["unnamed", undefined],
  ]);
});

test("reports an unreadable file as an error, and treats a non-file as missing", async () => {
  const folder = tempFolderWith({ "s.jsonl/inside": "" });
  await expect(readTranscript(join(folder, "s".repeat(300)))).rejects.toThrow(/ENAMETOOLONG/);
  expect(await readTranscript(join(folder, "s.jsonl"))).toMatchObject({ turn: "none" });
});

const script: Script = {
  rules: [
    { match: { from: "subagent", tool_result: "." }, reply: "The inner work is done." },
    {
      match: { from: "subagent" },
      reply: { text: "I begin.", tools: [{ name: "Bash", input: { command: "echo inner" } }] },
    },
    { match: { tool_result: "." }, reply: "All is done." },
    {
      match: { prompt: "delegate" },
      reply: {
        tools: [
          {
            name: "Agent",
            input: { description: "d", prompt: "inner work", subagent_type: "general-purpose" },
          },
        ],
      },
    },
    {
      match: { prompt: "work" },
      reply: {
        thinking: "Two at once.",
        text: "I call two tools.",
        tools: [
          { name: "Bash", input: { command: "echo one" } },
          { name: "Bash", input: { command: "echo two" } },
        ],
      },
    },
  ],
};

describe.each(claudeVersions)("session of claude %s, followed while it runs", (version) => {
  test.each(["work", "delegate"])(
    "reads the messages of stdout from the file (%s)",
    async (prompt) => {
      const { claude, configDir, workspace: cwd } = await startHarness({ script });
      const sessionId = randomUUID();
      const args = [prompt, "--session-id", sessionId, "--permission-mode", "bypassPermissions"];
      let exited: Promise<unknown> = Promise.resolve();
      const running = claude(version, args, {
        onStart: (child) => {
          exited = once(child, "close");
        },
      });
      const converter = new SessionConverter();
      const messages: FileMessage[] = [];
      const { signal } = new AbortController();
      const file = sessionFilePath({ place: "cli", configDir, cwd }, sessionId);
      for await (const one of followSessionFile({ file, signal, until: exited })) {
        messages.push(...converter.convert(one.line, one.subagent));
      }
      messages.push(...converter.finish());
      const run = await running;

      const isMain = (message: object) =>
        "parent_tool_use_id" in message && message.parent_tool_use_id === null;
      const mainUuids = (all: object[]) =>
        all.filter(isMain).map((one) => "uuid" in one && one.uuid);
      expect(mainUuids(messages).sort()).toEqual(mainUuids(run.messages).sort());
      expect(messages[0]).toMatchObject({ subtype: "init", session_id: sessionId, cwd });
      expect(messages.at(-1)).toMatchObject({
        type: "result",
        result: run.result?.result,
        total_cost_usd: version === "325" ? run.result?.total_cost_usd : undefined,
      });
      expect(converter.unknown).toEqual({});
      if (prompt === "work") return;
      const inner = messages.filter(
        (message) => "parent_tool_use_id" in message && !isMain(message),
      );
      expect(inner.length).toBeGreaterThan(2);
    },
  );
});
