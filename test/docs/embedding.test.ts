import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, endOf } from "../cli/herdctl.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";

const page = readFileSync(join(checkout, "docs/embedding.md"), "utf8");

test("the program of docs/embedding.md runs as it stands", async () => {
  const on = await stage({ script: { rules: [{ replies: ["Hello there.", "Goodbye."] }] } });
  const folder = folderWith({
    "example.mjs": block("js"),
    "herdctl.yaml": block("yaml"),
  });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  // npm puts an unfinished `claude` on the PATH; without one, that of the SDK is run.
  const env = { ...on.env, PATH: "/usr/bin:/bin" };
  const program = spawn(process.execPath, ["example.mjs"], { cwd: folder, env });
  const { code, stdout, stderr } = await endOf(program);
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

function block(language: string): string {
  const [, text = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  return text;
}
