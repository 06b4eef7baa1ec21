import { basename } from "node:path";
import { jsonSchema, viewConfig } from "@herdctl/config";
import { expect, test } from "vitest";
import { fleetHeader, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

test("shows each value in its written form with its origin", () => {
  const shown = viewConfig(
    loadTestFleet({
      "herdctl.yaml": `${fleetHeader}defaults: { max_turns: 5 }
agents:
  - path: one.yaml
    overrides: { timeouts: { total: 3h } }
`,
      "one.yaml": "name: one\nruntime: cli\ndocker: { memory: 512m }",
    }),
  );
  const values = new Map(
    shown.agents[0]?.values.map(({ path, value, from }) => [
      path,
      `${value} ${from ? `${basename(from.file)}:${from.line}` : "default"}`,
    ]),
  );
  expect(values.get("max_turns")).toBe("5 herdctl.yaml:3");
  expect(values.get("runtime.type")).toBe("cli one.yaml:2");
  expect(values.get("docker.memory")).toBe("512m one.yaml:3");
  expect(values.get("timeouts.total")).toBe("3h herdctl.yaml:6");
  expect(values.get("timeouts.start")).toBe("60s default");
  expect(values.get("session.expires")).toBe("24h default");
  expect(shown.fleet.map((value) => value.path)).toContain("server.port");
});

test("lets a conversation's claude stop immediately", () => {
  const shown = viewConfig(loadTestFleet(inlineAgent("keep_alive: { sessions: 0s }")));
  const live = shown.agents[0]?.values.find(({ path }) => path === "keep_alive.sessions");
  expect(live?.value).toBe("0s");
});

test("masks secrets in every field", () => {
  const loaded = loadTestFleet(
    inlineAgent(`
description: \${TOKEN}
env: { API_KEY: literal-secret-1, PLAIN: seen }
mcp_servers:
  a: { command: x, env: { GITHUB_TOKEN: "\${TOKEN}" } }
  b: { type: http, url: "https://user:literal-secret-2@example.com", headers: { Authorization: literal-secret-3 } }
`),
    { TOKEN: "secret-of-the-environment" },
  );
  const text = JSON.stringify(viewConfig(loaded));
  expect(text).not.toMatch(/secret-of-the-environment|literal-secret/);
  expect(text).toContain("$TOKEN");
  expect(text).toContain("seen");
});

test("masks literal secrets in addresses and arguments and keeps the rest readable", () => {
  const loaded = loadTestFleet(
    inlineAgent(`
hooks:
  after_run:
    - { type: discord, url: "https://discord.com/api/webhooks/1/literal-secret-1" }
    - { type: webhook, url: "https://hooks.corp.example/in/literal-secret-2?a=literal-secret-3" }
mcp_servers:
  a: { command: x, args: ["--api-key=literal-secret-4", "--token", "literal-secret-5", "--verbose"] }
  b: { type: http, url: "https://mcp.example/sse?api_key=literal-secret-6&mode=literal-secret-7", headers: { X-Any: literal-secret-8 } }
working_directory: { repo: "https://literal-secret-9@github.example/org/repo" }
`),
  );
  const text = JSON.stringify(viewConfig(loaded));
  expect(text).not.toContain("literal-secret");
  for (const readable of [
    "https://discord.com/••••••",
    "https://hooks.corp.example/••••••",
    "--api-key=••••••",
    "--verbose",
    "https://mcp.example/sse?api_key=••••••&mode=••••••",
    "https://••••••@github.example/org/repo",
  ]) {
    expect(text).toContain(readable);
  }
});

test("describes every field in the JSON Schema and accepts variables in place of numbers", () => {
  const agent = JSON.stringify(jsonSchema("agent"));
  for (const field of [
    "working_directory",
    "pids_limit",
    "catch_up_window",
    "secret_env",
    "may_schedule",
  ]) {
    expect(agent).toContain(`"${field}"`);
  }
  const fleet = jsonSchema("fleet");
  expect(fleet).toMatchObject({ properties: { defaults: { $ref: "#/$defs/part" } } });
  expect(JSON.stringify(fleet)).toContain("\\\\$\\\\{");
});
