import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, endOf, type Run } from "../cli/herdctl.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";
import { wideTest } from "../support/width.ts";
import { blocksOf, filesOf } from "./blocks.ts";

test("the program of docs/embedding.md runs as it stands", async () => {
  const on = await stage({ script: { rules: [{ replies: ["Hello there.", "Goodbye."] }] } });
  const { code, stdout, stderr } = await runShown("docs/embedding.md", "js", on.env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  // Events and output are two streams: which of them is first to tell of the end is open.
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

wideTest("the test that docs/rehearsing-in-ci.md shows passes", async () => {
  const { env } = await stage();
  const run = await runShown("docs/rehearsing-in-ci.md", "ts", env);
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

/** In a folder with the files that the page shows, our packages installed. */
async function runShown(page: string, language: string, env: Record<string, string>): Promise<Run> {
  const program = blocksOf(page).find((block) => block.language === language)?.text ?? "";
  const files = Object.assign({}, ...filesOf(page).map(({ file, text }) => ({ [file]: text })));
  const folder = folderWith({ ...files, "repo/README.md": "", "example.mjs": program });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  // npm puts an unfinished `claude` on the PATH; without one, that of the SDK is run.
  const own = { ...env, PATH: "/usr/bin:/bin" };
  return await endOf(spawn(process.execPath, ["example.mjs"], { cwd: folder, env: own }));
}
