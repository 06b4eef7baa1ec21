import { expect, test } from "vitest";
import { classifyOutcome } from "../../packages/core/src/runner/execution/classify-outcome.ts";
import { emptyEvidence } from "../../packages/core/src/runner/execution/evidence.ts";
import { findStartupFailures } from "../../packages/core/src/runner/execution/startup-failures.ts";

const server = (required?: boolean) => ({
  ...{ command: "node", args: [], env: {}, run: "host" as const },
  ...(required !== undefined && { required }),
});
const init = (status: string) => ({ mcp_servers: [{ name: "db", status }] });

test.each([
  ["connected", undefined, ["mcp__db"], [], 0],
  ["pending", undefined, ["mcp__db"], [], 0],
  ["disabled", undefined, ["mcp__db"], [], 0],
  ["failed", undefined, [], [], 1],
  ["failed", undefined, ["Bash", "mcp__dbs__read", "mcp__dbs"], [], 1],
  ["failed", undefined, ["mcp__db"], ["db"], 1],
  ["failed", undefined, ["mcp__db__query"], ["db"], 1],
  ["failed", undefined, ["mcp__db__*"], ["db"], 1],
  ["failed", false, ["mcp__db"], [], 1],
  ["failed", true, [], ["db"], 1],
  ["needs-auth", true, [], ["db"], 1],
] as const)(
  "a server that is %s, required: %s, rules %j: missing %j, %i warnings",
  (status, required, allowed, missing, warnings) => {
    const agent = { mcp_servers: { db: server(required) }, allowed_tools: [...allowed] };
    const found = findStartupFailures(agent, init(status));
    expect(found.missingServers).toEqual(missing);
    expect(found.warnings).toHaveLength(warnings);
  },
);

test("reports servers of others and plugins, and reads messages without either", () => {
  const agent = { mcp_servers: {}, allowed_tools: ["mcp__db"] };
  const message = {
    ...init("failed"),
    plugin_errors: [
      { plugin: "inline[0]", type: "path-not-found", message: "no such folder", path: "/nope" },
    ],
  };
  expect(findStartupFailures(agent, message)).toEqual({
    warnings: [
      "the MCP server `db` did not start: its tools are missing",
      "the plugin /nope was not loaded: no such folder",
    ],
    missingServers: [],
  });
  expect(findStartupFailures(agent, { mcp_servers: "new format" })).toEqual({
    warnings: [],
    missingServers: [],
  });
});

test("warns about rules for tools that the run does not have, and about another mode", () => {
  const agent = {
    mcp_servers: { db: server() },
    allowed_tools: [
      ...["Bash(npm test)", "Grep", "Frobnicate", "mcp__db__query", "mcp__db__qery"],
      ...["mcp__other__x", "mcp__db__*", "mcp__herd__ask"],
    ],
    permission_mode: "acceptEdits" as const,
  };
  const tools = ["Bash", "mcp__db__query"];
  expect(findStartupFailures(agent, { tools, permissionMode: "default" }).warnings).toEqual([
    "`allowed_tools` names `Frobnicate`, which Claude Code does not have; correct the name",
    "`allowed_tools` names `mcp__db__qery`, which its MCP server does not have; it has mcp__db__query",
    "Claude Code runs in the permission mode `default` instead of `acceptEdits`; choose a mode that the model and the machine support",
  ]);
  expect(findStartupFailures(agent, { permissionMode: "acceptEdits" }).warnings).toEqual([]);
});

test("the outcome names the missing servers", () => {
  const evidence = {
    ...emptyEvidence(),
    stopped: "mcp_failed" as const,
    missingServers: ["db", "search"],
    stderr: "MCP server `db`: spawn /nope ENOENT",
  };
  expect(classifyOutcome(evidence)).toMatchObject({
    code: "mcp_failed",
    message: "The MCP servers `db`, `search` are not available.",
  });
});
