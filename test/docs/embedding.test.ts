import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CommandResult, checkout, waitForExit } from "../cli/run-herdctl.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { wideTest } from "../support/test-subset.ts";
import { codeBlocksOf, namedFilesOf } from "./code-blocks.ts";

test("runs the program of docs/guides/embedding.md unchanged", async () => {
  const harness = await startHarness({
    script: { rules: [{ replies: ["Hello there.", "Goodbye."] }] },
  });
  const { code, stdout, stderr } = await runShown("docs/guides/embedding.md", "js", harness.env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  // Events and output are separate streams, so their order at the end may vary.
  expect(stdout.trimEnd().split("\n").sort()).toEqual([
    "greeter begins",
    "greeter begins",
    "greeter: success",
    "greeter: success",
    "it said: Hello there.",
    "the same key, the same job: true",
    "the same session: true",
  ]);
});

test("runs the program without a fleet of docs/guides/embedding.md unchanged", async () => {
  const harness = await startHarness({
    script: {
      rules: [{ match: { prompt: "goodbye" }, reply: "Goodbye." }, { reply: "Hello there." }],
    },
  });
  const run = await runShown("docs/guides/embedding.md", "js", harness.env, 1);
  const stdout = "Hello there.\nGoodbye.\nanother session: true\n";
  expect(run).toEqual({ code: 0, stderr: "", stdout });
});

wideTest("passes the test of docs/guides/rehearsing-in-ci.md", async () => {
  const { env } = await startHarness();
  const run = await runShown("docs/guides/rehearsing-in-ci.md", "ts", env);
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

/** Runs in a folder with the files of the page and with the packages installed. */
async function runShown(
  page: string,
  language: string,
  env: Record<string, string>,
  position = 0,
): Promise<CommandResult> {
  const programs = codeBlocksOf(page).filter((block) => block.language === language);
  const program = programs[position]?.text ?? "";
  const files = Object.assign(
    {},
    ...namedFilesOf(page).map(({ file, text }) => ({ [file]: text })),
  );
  const folder = tempFolderWith({ ...files, "repo/README.md": "", "example.mjs": program });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  // npm puts an incomplete `claude` on the PATH; without it the one of the SDK runs.
  const own = { ...env, PATH: "/usr/bin:/bin" };
  return await waitForExit(spawn(process.execPath, ["example.mjs"], { cwd: folder, env: own }));
}
