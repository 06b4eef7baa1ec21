import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
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
  const env = { ...on.env, PATH: dirname(process.execPath) };
  const program = spawn(process.execPath, ["example.mjs"], { cwd: folder, env });
  expect(await endOf(program)).toEqual({
    code: 0,
    stderr: "",
    stdout: `${[
      "the same key, the same job: true",
      "greeter begins",
      "it said: Hello there.",
      "greeter: success",
      "greeter begins",
      "greeter: success",
      "the same session: true",
    ].join("\n")}\n`,
  });
});

function block(language: string): string {
  const [, text = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  return text;
}
