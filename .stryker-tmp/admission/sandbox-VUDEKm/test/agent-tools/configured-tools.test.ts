import { describe, expect, test } from "vitest";
import {
  configProblems,
  fleetHeader,
  inlineAgent,
  loadTestFleet,
} from "../support/fleet-config.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  initOf,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

describe.each(["sdk", "cli"])("runtime: %s", (runtime) => {
  test("gives an agent exactly the tools that its configuration lists", async () => {
    const harness = await startObedientHarness();
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}\npermission_mode: dontAsk\ntools: [progress]`,
      prompt: [
        toolCallPrompt(["mcp__herd__progress", { text: "looking", fraction: 0.5 }]),
        toolCallPrompt(["mcp__herd__memory", { action: "list" }]),
        toolCallPrompt(["mcp__herd__artifact", { path: "x" }]),
      ].join("\n\n"),
    });
    const messages = await readJobMessages(job);
    const herd = initOf(messages)?.tools.filter((tool) => tool.startsWith("mcp__"));
    expect(herd).toEqual(["mcp__herd__progress"]);
    const [shown, ...others] = toolResultTexts(messages);
    expect(shown).toContain("Shown.");
    for (const refused of others) expect(refused).toContain("No such tool available");
    expect(job.warnings).toEqual([
      "refused: memory: the agent does not have this tool; to allow it: tools: [memory]",
      "refused: artifact: the agent does not have this tool; to allow it: tools: [artifact]",
    ]);
  });

  test("starts no herd server for an agent without tools", async () => {
    const harness = await startObedientHarness();
    const { job } = await runJob(harness, { yaml: `runtime: ${runtime}` });
    expect(initOf(await readJobMessages(job))?.mcp_servers).toEqual([]);
  });

  test("records every tool call with its result beside claude's messages", async () => {
    const harness = await startObedientHarness();
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}\ntools: [progress]`,
      prompt: [
        toolCallPrompt(["mcp__herd__progress", { text: "one" }]),
        toolCallPrompt(["mcp__herd__progress", { text: "two", fraction: 2 }]),
      ].join("\n\n"),
    });
    const notes = (await readJobMessages(job)).filter(({ type }) => String(type) === "herd");
    expect(notes).toMatchObject([
      { tool: "progress", event: "answered", text: "Shown." },
      { tool: "progress", event: "refused", text: expect.stringContaining("fraction") },
    ]);
  });
});

describe("agent tools in the configuration", () => {
  const problem = (yaml: string) => configProblems(inlineAgent(yaml))[0];
  const daily = (schema: string) =>
    `schedules:\n  d: { type: cron, cron: "0 9 * * *", prompt: go, output_schema: ${schema} }`;

  test("names an unknown tool and suggests a similar one", () => {
    expect(problem("tools: [report, artefact]")).toMatchObject({
      path: "tools[1]",
      hint: expect.stringContaining("artifact"),
    });
  });

  test("refuses fleet tools for runtimes that follow the session file", () => {
    const yaml = "runtime: { type: cli, stream: session-file }\npermission_mode: dontAsk\n";
    for (const more of ["tools: [report]", daily("{ type: object }")]) {
      expect(problem(yaml + more)).toMatchObject({
        path: "runtime.stream",
        hint: expect.stringContaining("stream: stdout"),
      });
    }
  });

  test("reports an invalid JSON Schema with its position and a hint", () => {
    expect(problem(daily("{ type: strange }"))).toMatchObject({
      line: 6,
      path: "schedules.d.output_schema",
      message: expect.stringMatching(/this is not a valid JSON Schema: .*type/),
      hint: expect.stringContaining("such as"),
    });
    expect(problem(daily("schemas/missing.json"))).toMatchObject({
      path: "schedules.d.output_schema",
      message: expect.stringContaining("schemas/missing.json cannot be read (ENOENT)"),
    });
  });

  test("reads a schema from a JSON or YAML file relative to the file that names it", () => {
    const agent = `name: one\n${daily("../schemas/a.json")}\n  e: { type: cron, cron: "0 9 * * *", prompt: go, output_schema: ../schemas/b.yaml }`;
    const { fleet, files } = loadTestFleet({
      "herdctl.yaml": `${fleetHeader}agents: [{ path: agents/*.yaml }]`,
      "agents/one.yaml": agent,
      "schemas/a.json": '{ "type": "object" }',
      "schemas/b.yaml": "type: array",
    });
    const { schedules } = fleet.agents[0] ?? expect.fail("there is no agent");
    expect(schedules.d).toMatchObject({ output_schema: { type: "object" } });
    expect(schedules.e).toMatchObject({ output_schema: { type: "array" } });
    expect(files.filter((file) => file.includes("schemas"))).toHaveLength(2);
  });

  test("refuses a schema file that a container could write", () => {
    const [found] = configProblems({
      "herdctl.yaml": `${fleetHeader}agents:
  - name: inside
    working_directory: repo
    docker: { enabled: true }
  - name: two
    schedules: { d: { type: cron, cron: "0 9 * * *", prompt: go, output_schema: repo/a.json } }`,
      "repo/a.json": '{ "type": "object" }',
    });
    expect(found).toMatchObject({
      path: "schedules.d.output_schema",
      message: "the container of `inside` could write this file",
    });
  });

  test("refuses an MCP server with the name of the fleet's own server", () => {
    expect(problem("mcp_servers: { herd: { command: node } }")).toMatchObject({
      path: "mcp_servers.herd",
    });
  });

  test("refuses a may_trigger pattern that matches no agent", () => {
    expect(problem("may_trigger: ['docs-*']")).toMatchObject({
      message: "there is no agent `docs-*`",
    });
  });
});
