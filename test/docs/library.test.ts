import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, waitForExit } from "../cli/run-herdctl.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { codeBlocksOf, readPage } from "./code-blocks.ts";

const page = "docs/reference/library.md";
const examples = codeBlocksOf(page).filter(({ language }) => language === "ts");

test("has an example for every value", () => {
  const headings = [...readPage(page).matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(
    examples.map(({ text }) => headings.find((name) => isAbout(text, `${name}`))),
  ).not.toContain(undefined);
  expect(examples).toHaveLength(headings.length);
});

test.each([
  ["FleetManager", /^20\S+ job-\S+ success\nsuccess\n$/],
  ["connectFleet", /^no fleet is running\n$/],
  ["loadFleet", /^greeter sdk\n$/],
  ["runAgent", /^Hello there\.\n$/],
  ["AgentRunner", /^Hello there\. true\n$/],
  ["AgentConfigSchema", /^Hello there\.\n$/],
  ["UserError", /^file_unreadable .*missing\.yaml/],
  ["RuntimeFactory", /\nresult\n$/],
  ["SDKRuntime", /\nresult\n$/],
  ["CLIRuntime", /\nresult\n$/],
  ["StateManager", /herd\.db\n$/],
  ["createJob", /^true\n$/],
  ["updateJob", /cancelled/],
  ["appendJobOutput", /^$/],
  ["saveSessionInfo", /^greeter\n$/],
])("runs the example of %s", async (name, output) => {
  const { env } = await startHarness({
    script: { rules: [{ replies: ["Hello there.", "Goodbye."] }] },
  });
  const run = await runExample(name, env);
  expect(run).toEqual({ code: 0, stdout: expect.stringMatching(output), stderr: "" });
});

/** Runs in a folder with a fleet file and with the packages installed. */
async function runExample(name: string, env: Record<string, string>) {
  const [, text = ""] =
    new RegExp(`^### ${name}$[\\s\\S]*?\`\`\`ts\\n([\\s\\S]*?)\`\`\``, "m").exec(readPage(page)) ??
    [];
  const fleet = "version: 1\nfleet: { name: greetings }\nagents:\n  - name: greeter\n";
  const folder = tempFolderWith({ "herdctl.yaml": fleet, "example.mts": text });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  // npm puts an incomplete `claude` on the PATH; without it the one of the SDK runs.
  const own = { ...env, PATH: "/usr/bin:/bin" };
  const args = ["--experimental-strip-types", "--no-warnings", "example.mts"];
  return await waitForExit(spawn(process.execPath, args, { cwd: folder, env: own }));
}

function isAbout(text: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text);
}
