import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  encodeProjectPath,
  sessionFilePath,
} from "../../packages/core/src/claude/session-files/session-file-path.ts";
import { claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";

const long = "long-name-".repeat(12);

const folders = {
  "dots and spaces": ["v1.2 (final)", "my.app"],
  "letters beyond ASCII": ["größe", "日本語", "emoji 😀"],
  "over 200 characters": [long, long, "end"],
  "over 200 characters beyond ASCII": ["ü".repeat(90), "日本".repeat(40), "😀".repeat(20)],
};

describe.each(claudeVersions)("claude %s", (version) => {
  test.each(Object.entries(folders))("finds the session in a folder with %s", async (_, parts) => {
    const { claude, workspace, configDir } = await startHarness({ script: { default: "hello" } });
    const cwd = join(workspace, ...parts);
    mkdirSync(cwd, { recursive: true });
    const sessionId = randomUUID();
    await claude(version, ["hi", "--session-id", sessionId], { cwd });
    expect(existsSync(sessionFilePath({ place: "cli", configDir, cwd }, sessionId))).toBe(true);
  });

  test("finds the session of a linked folder under its real path", async () => {
    const { claude, workspace, configDir } = await startHarness({ script: { default: "hello" } });
    const [real, link] = [join(workspace, "real"), join(workspace, "link")];
    mkdirSync(real);
    symlinkSync(real, link);
    const sessionId = randomUUID();
    await claude(version, ["hi", "--session-id", sessionId], { cwd: link });
    const file = sessionFilePath({ place: "cli", configDir, cwd: link }, sessionId);
    expect(file).toContain(encodeProjectPath(real));
    expect(existsSync(file)).toBe(true);
  });
});

test("keeps a name of exactly 200 units whole", () => {
  expect(encodeProjectPath(`/${"a".repeat(199)}`)).toBe(`-${"a".repeat(199)}`);
  expect(encodeProjectPath(`/${"a".repeat(200)}`)).toMatch(/^-a{199}-[0-9a-z]+$/);
});
