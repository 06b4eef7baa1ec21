import { basename } from "node:path";
import { jsonSchema, showConfig } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetHead, inlineAgent, load } from "../support/fleet.ts";

test("each value is shown as people write it, with where it came from", () => {
  const shown = showConfig(
    load({
      "herdctl.yaml": `${fleetHead}defaults: { max_turns: 5 }
agents:
  - path: one.yaml
    overrides: { timeouts: { wall: 3h } }
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
  expect(values.get("timeouts.wall")).toBe("3h herdctl.yaml:6");
  expect(values.get("timeouts.start")).toBe("60s default");
  expect(values.get("session.expires")).toBe("24h default");
  expect(shown.fleet.map((value) => value.path)).toContain("server.port");
});

test("a conversation's claude may be told not to stay up at all", () => {
  const shown = showConfig(load(inlineAgent("session: { live: 0s }")));
  const live = shown.agents[0]?.values.find(({ path }) => path === "session.live");
  expect(live?.value).toBe("0s");
});

test("secrets are masked wherever they stand", () => {
  const loaded = load(
    inlineAgent(`
description: \${TOKEN}
env: { API_KEY: literal-secret-1, PLAIN: seen }
mcp_servers:
  a: { command: x, env: { GITHUB_TOKEN: "\${TOKEN}" } }
  b: { type: http, url: "https://user:literal-secret-2@example.com", headers: { Authorization: literal-secret-3 } }
`),
    { TOKEN: "secret-of-the-environment" },
  );
  const text = JSON.stringify(showConfig(loaded));
  expect(text).not.toMatch(/secret-of-the-environment|literal-secret/);
  expect(text).toContain("$TOKEN");
  expect(text).toContain("seen");
});

test("literal secrets in addresses and arguments are masked, the rest stays readable", () => {
  const loaded = load(
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
  const text = JSON.stringify(showConfig(loaded));
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

test("the JSON Schema knows every field, and lets variables stand for numbers", () => {
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
