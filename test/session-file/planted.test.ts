import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSessionFile } from "../../packages/core/src/runner/runtime/session-file/follow.ts";
import {
  plantedHolds,
  readPlanted,
} from "../../packages/core/src/runner/runtime/session-file/planted.ts";
import { folderWith } from "../support/folder.ts";

const line = (text: string, more: object = {}) =>
  `${JSON.stringify({ type: "user", uuid: text, message: { role: "user", content: text }, ...more })}\n`;

async function uuidsIn(file: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { line } of readSessionFile(file)) found.push(line.uuid ?? "");
  return found;
}

/** A session, and beside it what an agent in its container may have put there. */
function session(): { file: string; subagents: string; elsewhere: string } {
  const folder = folderWith({
    "one.jsonl": line("own"),
    "elsewhere/agent-a.jsonl": line("of another"),
    "elsewhere/agent-a.meta.json": JSON.stringify({ toolUseId: "t" }),
  });
  return {
    file: join(folder, "one.jsonl"),
    subagents: join(folder, "one/subagents"),
    elsewhere: join(folder, "elsewhere"),
  };
}

test("a link in the place of a transcript is not followed", async () => {
  const { file, elsewhere } = session();
  const link = file.replace("one", "two");
  symlinkSync(join(elsewhere, "agent-a.jsonl"), link);
  expect(await uuidsIn(link)).toEqual([]);
});

test.each(["one", "one/subagents"])(
  "a link in the place of %s leads to nobody else's",
  async (name) => {
    const { file, elsewhere } = session();
    const target = name === "one" ? join(elsewhere, "..", "other") : elsewhere;
    mkdirSync(join(elsewhere, "..", "other"));
    symlinkSync(elsewhere, join(elsewhere, "..", "other/subagents"));
    if (name !== "one") mkdirSync(file.replace(".jsonl", ""));
    symlinkSync(target, join(file, "..", name));
    expect(await uuidsIn(file)).toEqual(["own"]);
  },
);

test("links beside the transcripts of subagents tell nothing of other files", async () => {
  const { file, subagents, elsewhere } = session();
  mkdirSync(subagents, { recursive: true });
  writeFileSync(join(subagents, "agent-a.jsonl"), line("of a subagent"));
  symlinkSync(join(elsewhere, "agent-a.meta.json"), join(subagents, "agent-a.meta.json"));
  const told = [];
  for await (const { subagent } of readSessionFile(file)) told.push(subagent?.toolUseId);
  expect(told.length).toBeGreaterThan(0);
  expect(told).not.toContain("t");
});

test("pipes, which would wait for somebody to write, hold nobody up", async () => {
  const { file, subagents } = session();
  mkdirSync(subagents, { recursive: true });
  writeFileSync(join(subagents, "agent-a.jsonl"), line("of a subagent"));
  const pipes = [join(subagents, "agent-a.meta.json"), join(subagents, "agent-b.jsonl")];
  for (const pipe of pipes) execFileSync("mkfifo", [pipe]);
  expect(await uuidsIn(file)).toContain("own");
});

test("a text is found in a transcript of any size without reading it whole", async () => {
  const file = join(folderWith({ "one.jsonl": "" }), "one.jsonl");
  const piece = 1024 * 1024;
  // The text lies across the border of two pieces.
  writeFileSync(file, `${"x".repeat(piece - 3)}"uuid":"a"${"x".repeat(2 * piece)}`);
  expect(await plantedHolds(file, '"uuid":"a"')).toBe(true);
  expect(await plantedHolds(file, '"uuid":"b"')).toBe(false);
  expect(await plantedHolds(`${file}.none`, '"uuid":"a"')).toBe(false);
});

test("a small file that has become a large one is not read", async () => {
  const file = join(folderWith({ meta: "12345678" }), "meta");
  expect(await readPlanted(file, 8)).toBe("12345678");
  expect(await readPlanted(file, 7)).toBeUndefined();
});
