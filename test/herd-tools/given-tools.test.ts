import { describe, expect, test } from "vitest";
import { fleetHead, inlineAgent, load, problemsOf } from "../support/fleet.ts";
import { logOf, runJob } from "../support/job.ts";
import { initOf, obedientStage, obey, toolResults } from "../support/runtime.ts";

describe.each(["sdk", "cli"])("runtime: %s", (runtime) => {
  test("an agent has the tools that it was given, and those alone", async () => {
    const on = await obedientStage();
    const { job } = await runJob(on, {
      yaml: `runtime: ${runtime}\npermission_mode: dontAsk\ntools: [progress]`,
      prompt: [
        obey(["mcp__herd__progress", { text: "looking", fraction: 0.5 }]),
        obey(["mcp__herd__memory", { action: "list" }]),
        obey(["mcp__herd__artifact", { path: "x" }]),
      ].join("\n\n"),
    });
    const messages = await logOf(job);
    const herd = initOf(messages)?.tools.filter((tool) => tool.startsWith("mcp__"));
    expect(herd).toEqual(["mcp__herd__progress"]);
    const [shown, ...others] = toolResults(messages);
    expect(shown).toContain("Shown.");
    for (const refused of others) expect(refused).toContain("No such tool available");
    expect(job.warnings).toEqual([
      "refused: memory: the agent does not have this tool; to allow it: tools: [memory]",
      "refused: artifact: the agent does not have this tool; to allow it: tools: [artifact]",
    ]);
  });

  test("an agent that was given none has no such server", async () => {
    const on = await obedientStage();
    const { job } = await runJob(on, { yaml: `runtime: ${runtime}` });
    expect(initOf(await logOf(job))?.mcp_servers).toEqual([]);
  });

  test("every call is on record beside the messages of claude, with what was answered", async () => {
    const on = await obedientStage();
    const { job } = await runJob(on, {
      yaml: `runtime: ${runtime}\ntools: [progress]`,
      prompt: [
        obey(["mcp__herd__progress", { text: "one" }]),
        obey(["mcp__herd__progress", { text: "two", fraction: 2 }]),
      ].join("\n\n"),
    });
    const notes = (await logOf(job)).filter(({ type }) => String(type) === "herd");
    expect(notes).toMatchObject([
      { tool: "progress", event: "answered", text: "Shown." },
      { tool: "progress", event: "refused", text: expect.stringContaining("fraction") },
    ]);
  });
});

describe("in the configuration", () => {
  const problem = (yaml: string) => problemsOf(inlineAgent(yaml))[0];
  const daily = (schema: string) =>
    `schedules:\n  d: { type: cron, cron: "0 9 * * *", prompt: go, output_schema: ${schema} }`;

  test("a tool that there is not is named, and a like one", () => {
    expect(problem("tools: [report, artefact]")).toMatchObject({
      path: "tools[1]",
      hint: expect.stringContaining("artifact"),
    });
  });

  test("a session file leaves no way for tools of the fleet", () => {
    const yaml = "runtime: { type: cli, stream: session-file }\npermission_mode: dontAsk\n";
    for (const more of ["tools: [report]", daily("{ type: object }")]) {
      expect(problem(yaml + more)).toMatchObject({
        path: "runtime.stream",
        hint: expect.stringContaining("stream: stdout"),
      });
    }
  });

  test("what is no JSON Schema is told with its place and a remedy", () => {
    expect(problem(daily("{ type: strange }"))).toMatchObject({
      line: 6,
      path: "schedules.d.output_schema",
      message: expect.stringMatching(/this is no JSON Schema: .*type/),
      hint: expect.stringContaining("such as"),
    });
    expect(problem(daily("schemas/missing.json"))).toMatchObject({
      path: "schedules.d.output_schema",
      message: expect.stringContaining("schemas/missing.json cannot be read (ENOENT)"),
    });
  });

  test("a schema may lie in a file, as JSON or YAML, beside the one that names it", () => {
    const agent = `name: one\n${daily("../schemas/a.json")}\n  e: { type: cron, cron: "0 9 * * *", prompt: go, output_schema: ../schemas/b.yaml }`;
    const { fleet, files } = load({
      "herdctl.yaml": `${fleetHead}agents: [{ path: agents/*.yaml }]`,
      "agents/one.yaml": agent,
      "schemas/a.json": '{ "type": "object" }',
      "schemas/b.yaml": "type: array",
    });
    const { schedules } = fleet.agents[0] ?? expect.fail("there is no agent");
    expect(schedules.d).toMatchObject({ output_schema: { type: "object" } });
    expect(schedules.e).toMatchObject({ output_schema: { type: "array" } });
    expect(files.filter((file) => file.includes("schemas"))).toHaveLength(2);
  });

  test("no schema lies where a container may write", () => {
    const [found] = problemsOf({
      "herdctl.yaml": `${fleetHead}agents:
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

  test("no server of the agent's own is called as ours is", () => {
    expect(problem("mcp_servers: { herd: { command: node } }")).toMatchObject({
      path: "mcp_servers.herd",
    });
  });

  test("who may be triggered can be named by a pattern, which has to fit somebody", () => {
    expect(problem("may_trigger: ['docs-*']")).toMatchObject({
      message: "there is no agent `docs-*`",
    });
  });
});
