import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writePrivateFiles } from "../../packages/core/src/runner/runtimes/private-files.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const secret =
  "mcp_servers: { quiet: { command: node, env: { TOKEN: the-secret } } }\nsystem_prompt: Be kind.";

test("creates files with server secrets for their owner only, whatever the umask allows", () => {
  const privateDir = join(tempFolderWith({}), "private");
  const agent = agentOf(loadTestFleet(inlineAgent(secret)), "one");
  const usual = process.umask(0);
  onTestFinished(() => void process.umask(usual));
  const { mcpConfig = "", systemPrompt = "" } = writePrivateFiles({ agent, privateDir });
  expect(readFileSync(mcpConfig, "utf8")).toContain("the-secret");
  const modes = [mcpConfig, systemPrompt].map((file) => statSync(file).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
  expect(statSync(privateDir).mode & 0o777).toBe(0o700);
});

test("creates no file when there is nothing to hide", async () => {
  const privateDir = join(tempFolderWith({}), "private");
  const files = filesOf("model: sonnet", privateDir);
  expect(files).toMatchObject({ mcpConfig: undefined, systemPrompt: undefined });
  await files.remove();
  expect(existsSync(privateDir)).toBe(false);
});

function filesOf(yaml: string, privateDir: string) {
  return writePrivateFiles({ agent: agentOf(loadTestFleet(inlineAgent(yaml)), "one"), privateDir });
}
