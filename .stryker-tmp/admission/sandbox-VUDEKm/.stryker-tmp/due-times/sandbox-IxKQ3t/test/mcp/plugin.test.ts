import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { checkout, minimalEnv, waitForExit } from "../cli/run-herdctl.ts";
import { startRunningFleet } from "../cli/running-fleet.ts";
import { claudeBinary, claudeVersions } from "../support/claude-binaries.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { blockingMcpEnv } from "./mcp-harness.ts";

const plugin = join(checkout, "plugin");
const commandNames = readdirSync(join(plugin, "commands")).map((name) => name.replace(".md", ""));
const tool = (name: string) => `mcp__plugin_herd_herdctl__${name}`;

const script = {
  rules: [
    {
      match: { prompt: "/herd:status/" },
      replies: [{ tools: [{ name: tool("fleet_status"), input: {} }] }, "It runs."],
    },
    {
      match: { prompt: "write a fleet" },
      reply: { tools: [{ name: "Skill", input: { skill: "herd:herdctl" } }] },
    },
    { match: { prompt: "herdctl config check --json" }, reply: "I know how." },
  ],
};

test.each(claudeVersions)(
  "loads the plugin in claude %s and asks the fleet with its command",
  {
    timeout: 120_000,
  },
  async (version) => {
    const harness = await startRunningFleet(script);
    const env = {
      ...harness.env,
      ...blockingMcpEnv,
      PATH: `${join(checkout, "bin")}:${harness.env.PATH}`,
    };
    const ask = (prompt: string) =>
      harness.claude(version, [prompt, "--plugin-dir", plugin], { env, cwd: harness.folder });

    const run = await ask("/herd:status");
    const init = run.messages.find((one) => one.subtype === "init");
    expect(init?.plugins).toContainEqual(expect.objectContaining({ name: "herd", path: plugin }));
    expect(init?.slash_commands).toEqual(
      expect.arrayContaining(commandNames.map((name) => `herd:${name}`)),
    );
    expect(init?.skills).toContain("herd:herdctl");
    expect(init?.mcp_servers).toContainEqual(
      expect.objectContaining({ name: "plugin:herd:herdctl", status: "connected" }),
    );
    expect(mcpToolsIn(init?.tools)).toEqual(expect.arrayContaining([tool("list_jobs")]));
    expect(mcpToolsIn(init?.tools)).not.toContain(tool("trigger_agent"));
    expect(run.result).toMatchObject({
      is_error: false,
      result: "It runs.",
      permission_denials: [],
    });
    expect(run.stdout).toContain(`\\"pid\\":${harness.pid}`);

    const taught = await ask("write a fleet for me");
    expect(taught.result).toMatchObject({ is_error: false, result: "I know how." });
  },
);

test("passes claude's validation of the plugin and installs it from this repository", {
  timeout: 120_000,
}, async () => {
  const env = minimalEnv({
    PATH: [dirname(claudeBinary("325")), join(checkout, "bin"), process.env.PATH].join(":"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  });
  const cwd = tempFolderWith({});
  const claude = (...args: string[]) => waitForExit(spawn("claude", args, { cwd, env }));
  expect(await claude("plugin", "validate", plugin)).toMatchObject({ code: 0 });
  expect(await claude("plugin", "validate", checkout)).toMatchObject({ code: 0 });
  expect(await claude("plugin", "marketplace", "add", checkout)).toMatchObject({ code: 0 });
  expect(await claude("plugin", "install", "herd@herdctl")).toMatchObject({ code: 0 });
  expect((await claude("plugin", "list")).stdout).toMatch(/herd@herdctl[\s\S]*enabled/);
});

test("names only existing commands and tools in commands and skill", () => {
  const files = readdirSync(plugin, { recursive: true, encoding: "utf8" });
  const pages = files.filter((name) => name.endsWith(".md"));
  const text = pages.map((name) => readFileSync(join(plugin, name), "utf8")).join("\n");
  const typed = [...text.matchAll(/[`(]herdctl ([a-z]+(?: [a-z]+)?)/g)].map(([, one = ""]) => one);
  expect(typed.length).toBeGreaterThan(10);
  const known = commands.map(({ name }) => name);
  const unknown = typed.filter(
    (words) => !known.includes(words) && !known.includes(words.split(" ")[0] ?? ""),
  );
  expect(unknown).toEqual([]);
});

function mcpToolsIn(tools: unknown): string[] {
  return Array.isArray(tools) ? tools.filter((name) => String(name).startsWith("mcp__")) : [];
}
