import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writePrivateFiles } from "../../packages/core/src/runner/runtime/private-files.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

const secret =
  "mcp_servers: { quiet: { command: node, env: { TOKEN: the-secret } } }\nsystem_prompt: Be kind.";

test("what holds secrets of servers is for its owner only, whatever the umask allows", () => {
  const privateDir = join(folderWith({}), "private");
  const agent = agentOf(load(inlineAgent(secret)), "one");
  const usual = process.umask(0);
  onTestFinished(() => void process.umask(usual));
  const { mcpConfig = "", systemPrompt = "" } = writePrivateFiles({ agent, privateDir });
  expect(readFileSync(mcpConfig, "utf8")).toContain("the-secret");
  const modes = [mcpConfig, systemPrompt].map((file) => statSync(file).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
  expect(statSync(privateDir).mode & 0o777).toBe(0o700);
});

test("where there is nothing to hide there is no file", async () => {
  const privateDir = join(folderWith({}), "private");
  const files = filesOf("model: sonnet", privateDir);
  expect(files).toMatchObject({ mcpConfig: undefined, systemPrompt: undefined });
  await files.remove();
  expect(existsSync(privateDir)).toBe(false);
});

function filesOf(yaml: string, privateDir: string) {
  return writePrivateFiles({ agent: agentOf(load(inlineAgent(yaml)), "one"), privateDir });
}
