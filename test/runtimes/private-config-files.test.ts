import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writePrivateFiles } from "../../packages/core/src/runner/runtimes/private-files.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const server = "mcp_servers: { quiet: { command: node, env: { TOKEN: server-secret } } }";
const settings = { env: { TOKEN: "settings-secret" } };

test("creates files with secrets for their owner only, whatever the umask allows", () => {
  const privateDir = join(tempFolderWith({}), "private");
  const agent = agentOf(loadTestFleet(inlineAgent(server)), "one");
  const usual = process.umask(0);
  onTestFinished(() => void process.umask(usual));
  const files = writePrivateFiles({ agent, privateDir }, { settings });
  const { mcpConfig = "" } = files;
  expect(readFileSync(mcpConfig, "utf8")).toContain("server-secret");
  expect(readFileSync(files.settings, "utf8")).toContain("settings-secret");
  const modes = [mcpConfig, files.settings].map((file) => statSync(file).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
  expect(statSync(privateDir).mode & 0o777).toBe(0o700);
});

test("creates no file for servers when there are none, and removes its files", async () => {
  const privateDir = tempFolderWith({});
  const agent = agentOf(loadTestFleet(inlineAgent("model: sonnet")), "one");
  const files = writePrivateFiles({ agent, privateDir }, { settings });
  expect(files.mcpConfig).toBeUndefined();
  expect(readdirSync(privateDir)).toEqual(["settings.json"]);
  await files.remove();
  expect(readdirSync(privateDir)).toEqual([]);
});
