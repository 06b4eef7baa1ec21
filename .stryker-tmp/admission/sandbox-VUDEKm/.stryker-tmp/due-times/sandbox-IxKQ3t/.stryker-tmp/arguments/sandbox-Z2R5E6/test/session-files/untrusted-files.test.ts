import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSessionFile } from "../../packages/core/src/claude/session-files/follow-session-file.ts";
import {
  readUntrusted,
  untrustedFileContains,
} from "../../packages/core/src/claude/session-files/untrusted-file.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const line = (text: string, more: object = {}) =>
  `${JSON.stringify({ type: "user", uuid: text, message: { role: "user", content: text }, ...more })}\n`;

async function uuidsIn(file: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { line } of readSessionFile(file)) found.push(line.uuid ?? "");
  return found;
}

/** A session with files that an agent in its container may have planted. */
function createSessionFiles(): { file: string; subagents: string; elsewhere: string } {
  const folder = tempFolderWith({
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

test("does not follow a link in place of a transcript", async () => {
  const { file, elsewhere } = createSessionFiles();
  const link = file.replace("one", "two");
  symlinkSync(join(elsewhere, "agent-a.jsonl"), link);
  expect(await uuidsIn(link)).toEqual([]);
});

test.each(["one", "one/subagents"])(
  "reads no foreign file through a link in place of %s",
  async (name) => {
    const { file, elsewhere } = createSessionFiles();
    const target = name === "one" ? join(elsewhere, "..", "other") : elsewhere;
    mkdirSync(join(elsewhere, "..", "other"));
    symlinkSync(elsewhere, join(elsewhere, "..", "other/subagents"));
    if (name !== "one") mkdirSync(file.replace(".jsonl", ""));
    symlinkSync(target, join(file, "..", name));
    expect(await uuidsIn(file)).toEqual(["own"]);
  },
);

test("reveals nothing through links beside the transcripts of subagents", async () => {
  const { file, subagents, elsewhere } = createSessionFiles();
  mkdirSync(subagents, { recursive: true });
  writeFileSync(join(subagents, "agent-a.jsonl"), line("of a subagent"));
  symlinkSync(join(elsewhere, "agent-a.meta.json"), join(subagents, "agent-a.meta.json"));
  const read = [];
  for await (const { subagent } of readSessionFile(file)) read.push(subagent?.toolUseId);
  expect(read.length).toBeGreaterThan(0);
  expect(read).not.toContain("t");
});

test("does not block on pipes", async () => {
  const { file, subagents } = createSessionFiles();
  mkdirSync(subagents, { recursive: true });
  writeFileSync(join(subagents, "agent-a.jsonl"), line("of a subagent"));
  const pipes = [join(subagents, "agent-a.meta.json"), join(subagents, "agent-b.jsonl")];
  for (const pipe of pipes) execFileSync("mkfifo", [pipe]);
  expect(await uuidsIn(file)).toContain("own");
});

test("searches a transcript of any size without loading it", async () => {
  const file = join(tempFolderWith({ "one.jsonl": "" }), "one.jsonl");
  const piece = 1024 * 1024;
  // The text crosses the border of two chunks.
  writeFileSync(file, `${"x".repeat(piece - 3)}"uuid":"a"${"x".repeat(2 * piece)}`);
  expect(await untrustedFileContains(file, '"uuid":"a"')).toBe(true);
  expect(await untrustedFileContains(file, '"uuid":"b"')).toBe(false);
  expect(await untrustedFileContains(`${file}.none`, '"uuid":"a"')).toBe(false);
});

test("does not read a small file that has grown large", async () => {
  const file = join(tempFolderWith({ meta: "12345678" }), "meta");
  expect(await readUntrusted(file, 8)).toBe("12345678");
  expect(await readUntrusted(file, 7)).toBeUndefined();
});
