import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writePrivateFiles } from "../../packages/core/src/runner/runtime/private-files.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

const yaml = "mcp_servers: { quiet: { command: node, env: { TOKEN: the-secret } } }";

test("what holds secrets of servers is for its owner only, whatever the umask allows", () => {
  const usual = process.umask(0);
  onTestFinished(() => void process.umask(usual));
  const privateDir = join(folderWith({}), "private");
  const { mcpConfig, settings, systemPrompt } = writePrivateFiles({
    agent: agentOf(load(inlineAgent(yaml)), "one"),
    privateDir,
  });
  expect(readFileSync(mcpConfig, "utf8")).toContain("the-secret");
  const modes = [mcpConfig, settings, systemPrompt].map((file) => statSync(file).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
  expect(statSync(privateDir).mode & 0o777).toBe(0o700);
});
