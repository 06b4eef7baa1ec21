import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { checkout, minimalEnv, runHerdctl, waitForExit } from "../cli/run-herdctl.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { fleetHeader } from "../support/fleet-config.ts";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";

interface Installed {
  claude_code: { line: string; argv: string[]; plugin: string };
  claude_desktop: { mcpServers: Record<string, { command: string; args: string[] }> };
}

/** A fleet in a folder whose name needs shell quoting. */
function createOddFolder(): string {
  const folder = join(tempFolderWith({}), "my fleet's $HOME");
  mkdirSync(folder);
  writeFiles(folder, { "herdctl.yaml": `${fleetHeader}agents:\n  - { name: coder }\n` });
  return folder;
}

/** Keeps claude from sending telemetry. */
const quietEnv = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

test("prints a command that installs the server in claude, which then connects to it", {
  timeout: 120_000,
}, async () => {
  const cwd = createOddFolder();
  const path = [dirname(claudeBinary("325")), join(checkout, "bin"), process.env.PATH].join(":");
  const env = minimalEnv({ PATH: path, ...quietEnv });
  const { stdout, code } = await runHerdctl(["mcp", "--install", "--allow", "trigger"], {
    cwd,
    env,
  });
  expect(code).toBe(0);
  const [line = ""] = stdout.split("\n");
  expect(line).toMatch(/^claude mcp add herdctl -- herdctl mcp --config '\//);
  const elsewhere = tempFolderWith({});
  const shell = (command: string) =>
    waitForExit(spawn("/bin/sh", ["-c", command], { cwd: elsewhere, env }));
  expect(await shell(line)).toMatchObject({ code: 0 });
  expect((await shell("claude mcp list")).stdout).toMatch(/herdctl mcp --config .*Connected/);
  const { stdout: known } = await shell("claude mcp get herdctl");
  expect(known).toContain(`--config ${cwd} --allow trigger`);
});

test("prints a configuration for Claude Desktop that works without a PATH and serves that fleet", async () => {
  const folder = createOddFolder();
  const { stdout } = await runHerdctl(["mcp", "--install", "--config", folder, "--json"], {
    cwd: checkout,
  });
  const { claude_desktop, claude_code }: Installed = JSON.parse(stdout);
  const { command = "", args = [] } = claude_desktop.mcpServers.herdctl ?? {};
  const client = new Client({ name: "desktop", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env: { PATH: "" } }));
  try {
    const { structuredContent } = await client.callTool({ name: "fleet_status", arguments: {} });
    expect(structuredContent).toMatchObject({ running: false, agents: ["coder"] });
  } finally {
    await client.close();
  }
  expect(claude_code.argv.slice(0, 5)).toEqual(["claude", "mcp", "add", "herdctl", "--"]);
  expect(existsSync(join(claude_code.plugin, ".claude-plugin/plugin.json"))).toBe(true);
});

test("refuses to install without a fleet", async () => {
  const { code, stderr } = await runHerdctl(["mcp", "--install"], { cwd: tempFolderWith({}) });
  expect(code).toBe(2);
  expect(stderr).toContain("no herdctl.yaml");
});
