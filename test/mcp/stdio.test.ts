import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Approval, Job } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { startCliHarness, waitUntil } from "../cli/cli-harness.ts";
import { checkout } from "../cli/run-herdctl.ts";
import { bashScript, longRunningScript, startRunningFleet } from "../cli/running-fleet.ts";
import { connectOverStdio } from "./mcp-harness.ts";

const readOnlyTools = [
  "fleet_status",
  "list_agents",
  "list_schedules",
  "list_jobs",
  "get_job",
  "read_job_output",
  "wait_for_job",
  "list_approvals",
];

test("shows the fleet to a read-only client and offers no tool that changes anything", async () => {
  const harness = await startRunningFleet(bashScript("echo apples"));
  const job = await harness.trigger("sdk", "-p", "count the apples");
  const fleet = await connectOverStdio(harness);

  const { tools } = await fleet.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(readOnlyTools);
  for (const { annotations } of tools) {
    expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  }
  expect(fleet.client.getInstructions()).toContain("cancel_job (cancel)");

  expect(await fleet.callTool("fleet_status")).toMatchObject({
    running: true,
    fleet: { name: "test", pid: harness.pid, state: "running" },
    agents: ["sdk", "cli", "file", "asks"],
    open_approvals: 0,
  });
  const { agents } = await fleet.callTool<{ agents: unknown[] }>("list_agents");
  expect(agents).toContainEqual(
    expect.objectContaining({ name: "sdk", last_job: expect.objectContaining({ id: job.id }) }),
  );
  expect(await fleet.callTool("list_schedules", { agent: "cli" })).toMatchObject({
    schedules: [{ agent: "cli", schedule: "nightly", type: "interval" }],
  });
  expect(await fleet.callTool("list_schedules", { agent: "sdk" })).toMatchObject({ schedules: [] });
  expect(await fleet.callTool("list_jobs", { outcome: "success" })).toMatchObject({
    jobs: [{ id: job.id, agent: "sdk", status: "completed", outcome: "success" }],
    next_cursor: null,
  });
  expect(await fleet.callTool("list_jobs", { agent: "cli" })).toEqual({
    jobs: [],
    next_cursor: null,
  });
  const one = await fleet.callTool<{ job: { texts: string } }>("get_job", { id: job.id });
  expect(one).toMatchObject({
    job: { id: job.id, outcome: { code: "success" }, session_id: job.session_id },
    attempts: [{ number: 1, outcome_code: "success" }],
  });
  expect(one.job.texts).toMatch(/<untrusted-data from="job.prompt" .*>\ncount the apples\n/);
  expect((await fleet.callForTexts("read_job_output", { id: job.id })).join("\n")).toMatch(
    /\[uses Bash\].*echo apples[\s\S]*\[result\] apples[\s\S]*Over\./,
  );

  const calls: [string, object][] = [
    ["trigger_agent", { agent: "cli", prompt: "go" }],
    ["cancel_job", { id: job.id }],
    ["answer_approval", { id: "approval-1", decision: "allow" }],
  ];
  for (const [tool, input] of calls)
    expect(await fleet.expectRefusal(tool, input)).toContain("disabled");
  expect(
    (await harness.withControl((control) => control.jobs.list({ limit: 10 }))).jobs,
  ).toHaveLength(1);
});

test("lets a client with permissions trigger, wait, read and cancel", {
  timeout: 120_000,
}, async () => {
  const harness = await startRunningFleet({
    rules: [
      { match: { prompt: "long" }, ...longRunningScript.rules[0] },
      ...bashScript("echo pears").rules,
    ],
  });
  const fleet = await connectOverStdio(harness, "--allow", "trigger,cancel");
  expect(await fleet.names()).toEqual([...readOnlyTools, "trigger_agent", "cancel_job"]);

  const request = { agent: "cli", prompt: "hello", key: "once" };
  const { job } = await fleet.callTool<{ job: Job }>("trigger_agent", request);
  expect(await fleet.callTool("wait_for_job", { id: job.id, seconds: 50 })).toMatchObject({
    finished: true,
    job: { id: job.id, status: "completed", outcome: "success" },
  });
  const [facts = "", output] = await fleet.callForTexts("read_job_output", { id: job.id });
  expect(JSON.parse(facts)).toEqual({
    id: job.id,
    status: "completed",
    finished: true,
    next: null,
  });
  expect(output).toContain("[result] pears");
  expect(await fleet.callTool("trigger_agent", request)).toMatchObject({
    created: false,
    job: { id: job.id },
  });

  const long = await fleet.callTool<{ job: Job }>("trigger_agent", {
    agent: "cli",
    prompt: "long",
  });
  const { id } = long.job;
  expect(await fleet.callTool("wait_for_job", { id, seconds: 0.2 })).toMatchObject({
    finished: false,
  });
  await harness.waitUntilRunning(1);
  await fleet.callTool("cancel_job", { id });
  expect(await fleet.callTool("wait_for_job", { id, seconds: 50 })).toMatchObject({
    finished: true,
    job: { status: "cancelled" },
  });

  expect(await fleet.expectRefusal("trigger_agent", { agent: "nobody" })).toContain("nobody");
  expect(await fleet.expectRefusal("get_job", { id: "job-1" })).toContain("there is no job job-1");
  expect(await fleet.expectRefusal("list_jobs", { limit: 1000 })).toContain("limit");
  expect(await fleet.expectRefusal("answer_approval", { id: "x", decision: "allow" })).toContain(
    "disabled",
  );
});

test("lets a client answer an agent's question and records its name", async () => {
  const harness = await startRunningFleet(bashScript("touch allowed"));
  const fleet = await connectOverStdio(harness, "--allow", "answer");
  const open = () =>
    fleet.callTool<{ approvals: (Approval & { request: string })[] }>("list_approvals");
  const job = await harness.triggerJob("asks", "go");
  const [asked] = await waitUntil(async () => {
    const { approvals } = await open();
    return approvals.length > 0 ? approvals : undefined;
  });
  expect(asked).toMatchObject({ job_id: job, tool: "Bash" });
  expect(asked?.request).toMatch(/^\n<untrusted-data [\s\S]*touch allowed[\s\S]*<\/untrusted-data/);
  const { approval } = await fleet.callTool<{ approval: Approval }>("answer_approval", {
    id: asked?.id,
    decision: "allow",
  });
  expect(approval.answered_by).toMatch(/^user:/);
  expect(approval.answered_note).toBe("MCP (test-client)");
  expect(await fleet.callTool("wait_for_job", { id: job, seconds: 50 })).toMatchObject({
    job: { outcome: "success" },
  });
  expect(await open()).toMatchObject({ approvals: [] });
});

test("reconnects to a restarted fleet, also while it waits for a job", {
  timeout: 120_000,
}, async () => {
  const harness = await startRunningFleet(bashScript("sleep 4"));
  const fleet = await connectOverStdio(harness, "--allow", "trigger");
  const { job } = await fleet.callTool<{ job: Job }>("trigger_agent", {
    agent: "cli",
    prompt: "go",
  });
  await harness.waitUntilRunning(1);
  const waiting = fleet.callTool("wait_for_job", { id: job.id, seconds: 50 });
  expect(await harness.run("restart")).toMatchObject({ code: 0 });
  expect(await waiting).toMatchObject({ finished: true, job: { outcome: "success" } });
  const { fleet: next } = await fleet.callTool<{ fleet: { pid: number } }>("fleet_status");
  expect(next.pid).not.toBe(harness.pid);
  expect(await fleet.callTool("trigger_agent", { agent: "cli", prompt: "again" })).toMatchObject({
    created: true,
  });
});

test("reads the state without a fleet, and explains how to start one where it is needed", async () => {
  const harness = await startCliHarness(bashScript("echo plums"));
  const job = await harness.trigger("sdk", "-p", "hello");
  const fleet = await connectOverStdio(harness, "--allow", "trigger,answer,cancel");
  expect(await fleet.callTool("fleet_status")).toEqual({
    running: false,
    fleet: null,
    agents: ["sdk", "cli", "file", "asks"],
    open_approvals: 0,
  });
  expect(await fleet.callTool("list_agents")).toMatchObject({
    agents: [{ name: "sdk", last_job: { id: job.id } }, {}, {}, {}],
  });
  expect(await fleet.callTool("list_schedules")).toMatchObject({
    schedules: [{ schedule: "nightly" }],
  });
  expect(await fleet.callTool("list_jobs")).toMatchObject({ jobs: [{ id: job.id }] });
  expect(await fleet.callTool("get_job", { id: job.id })).toMatchObject({ job: { id: job.id } });
  expect(await fleet.callTool("wait_for_job", { id: job.id })).toMatchObject({ finished: true });
  const [, output] = await fleet.callForTexts("read_job_output", { id: job.id });
  expect(output).toContain("[result] plums");
  expect(await fleet.callTool("list_approvals")).toMatchObject({ approvals: [] });
  const calls: [string, object][] = [
    ["trigger_agent", { agent: "sdk" }],
    ["cancel_job", { id: job.id }],
    ["answer_approval", { id: "approval-1", decision: "deny" }],
  ];
  for (const [tool, input] of calls) {
    expect(await fleet.expectRefusal(tool, input)).toMatch(
      /the fleet is not running\nStart the fleet, then try again/,
    );
  }
});

test("reports a folder without a fleet and keeps the server running", async () => {
  const harness = await startCliHarness();
  const fleet = await connectOverStdio({ ...harness, folder: harness.workspace });
  expect(await fleet.expectRefusal("fleet_status")).toMatch(/contains no herdctl.yaml/);
  expect(await fleet.names()).toEqual(readOnlyTools);
  expect(fleet.output()).toBe("");
});

test("prints only messages to standard output and exits at the end of input", async () => {
  const harness = await startCliHarness();
  const { child, exited } = harness.start("mcp", "--config", harness.folder);
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    },
  };
  const list = {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "list_jobs", arguments: {} },
  };
  child.stdin?.write(`${JSON.stringify(hello)}\nno message at all\n${JSON.stringify(list)}\n`);
  let output = "";
  child.stdout?.on("data", (text) => {
    output += text;
  });
  await waitUntil(() => output.includes('"id":2'));
  child.stdin?.end();
  const { code, stdout } = await exited;
  expect(code).toBe(0);
  const messages = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(messages.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
    ["2.0", 1],
    ["2.0", 2],
  ]);
});

test("answers without loading the engine", async () => {
  const harness = await startRunningFleet();
  const list = join(harness.folder, "modules");
  const listModules = join(checkout, "test/cli/programs/list-modules.mjs");
  const more = { NODE_OPTIONS: `--import=${listModules}`, MODULE_LIST: list };
  const fleet = await connectOverStdio({ ...harness, env: { ...harness.env, ...more } });
  expect(await fleet.callTool("fleet_status")).toMatchObject({ running: true });
  const loaded = readFileSync(list, "utf8").split("\n");
  expect(loaded.some((url) => url.includes("packages/protocol/dist/schemas."))).toBe(true);
  expect(loaded.filter((url) => /core\/dist\//.test(url))).toEqual([]);
});

test("accepts only permissions that exist", async () => {
  const harness = await startCliHarness();
  const { code, stderr } = await harness.run("mcp", "--allow", "trigger,everything");
  expect(code).toBe(2);
  expect(stderr).toMatch(/"everything"[\s\S]*trigger, answer, cancel/);
});
