import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Approval, Job } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetStage, until } from "../cli/fleet-stage.ts";
import { longWork, runningFleet, working } from "../cli/fleet-stage-running.ts";
import { checkout } from "../cli/herdctl.ts";
import { overStdio } from "./mcp-stage.ts";

const looking = [
  "fleet_status",
  "list_agents",
  "list_schedules",
  "list_jobs",
  "get_job",
  "read_job_output",
  "wait_for_job",
  "list_approvals",
];

test("a client that may only look sees the fleet, and what would change it is not there", async () => {
  const on = await runningFleet(working("echo apples"));
  const job = await on.trigger("sdk", "-p", "count the apples");
  const fleet = await overStdio(on);

  const { tools } = await fleet.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(looking);
  for (const { annotations } of tools) {
    expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  }
  expect(fleet.client.getInstructions()).toContain("cancel_job (cancel)");

  expect(await fleet.ask("fleet_status")).toMatchObject({
    running: true,
    fleet: { name: "test", pid: on.pid, state: "running" },
    agents: ["sdk", "cli", "file", "asks"],
    open_approvals: 0,
  });
  const { agents } = await fleet.ask<{ agents: unknown[] }>("list_agents");
  expect(agents).toContainEqual(
    expect.objectContaining({ name: "sdk", last_job: expect.objectContaining({ id: job.id }) }),
  );
  expect(await fleet.ask("list_schedules", { agent: "cli" })).toMatchObject({
    schedules: [{ agent: "cli", schedule: "nightly", type: "interval" }],
  });
  expect(await fleet.ask("list_schedules", { agent: "sdk" })).toMatchObject({ schedules: [] });
  expect(await fleet.ask("list_jobs", { outcome: "success" })).toMatchObject({
    jobs: [{ id: job.id, agent: "sdk", status: "completed", outcome: "success" }],
    next: null,
  });
  expect(await fleet.ask("list_jobs", { agent: "cli" })).toEqual({ jobs: [], next: null });
  const one = await fleet.ask<{ job: { words: string } }>("get_job", { id: job.id });
  expect(one).toMatchObject({
    job: { id: job.id, outcome: { code: "success" }, session_id: job.session_id },
    attempts: [{ number: 1, outcome_code: "success" }],
  });
  expect(one.job.words).toMatch(/<untrusted-data from="job.prompt" .*>\ncount the apples\n/);
  expect((await fleet.texts("read_job_output", { id: job.id })).join("\n")).toMatch(
    /\[uses Bash\].*echo apples[\s\S]*\[result\] apples[\s\S]*Over\./,
  );

  const calls: [string, object][] = [
    ["trigger_agent", { agent: "cli", prompt: "go" }],
    ["cancel_job", { id: job.id }],
    ["answer_approval", { id: "approval-1", word: "allow" }],
  ];
  for (const [tool, input] of calls) expect(await fleet.refusal(tool, input)).toContain("disabled");
  expect((await on.ask((control) => control.jobs({ limit: 10 }))).jobs).toHaveLength(1);
});

test("a client that may triggers, waits, reads and cancels", { timeout: 120_000 }, async () => {
  const on = await runningFleet({
    rules: [{ match: { prompt: "long" }, ...longWork.rules[0] }, ...working("echo pears").rules],
  });
  const fleet = await overStdio(on, "--allow", "trigger,cancel");
  expect(await fleet.names()).toEqual([...looking, "trigger_agent", "cancel_job"]);

  const request = { agent: "cli", prompt: "hello", key: "once" };
  const { job } = await fleet.ask<{ job: Job }>("trigger_agent", request);
  expect(await fleet.ask("wait_for_job", { id: job.id, seconds: 50 })).toMatchObject({
    finished: true,
    job: { id: job.id, status: "completed", outcome: "success" },
  });
  const [facts = "", output] = await fleet.texts("read_job_output", { id: job.id });
  expect(JSON.parse(facts)).toEqual({
    id: job.id,
    status: "completed",
    finished: true,
    next: null,
  });
  expect(output).toContain("[result] pears");
  expect(await fleet.ask("trigger_agent", request)).toMatchObject({
    created: false,
    job: { id: job.id },
  });

  const long = await fleet.ask<{ job: Job }>("trigger_agent", { agent: "cli", prompt: "long" });
  const { id } = long.job;
  expect(await fleet.ask("wait_for_job", { id, seconds: 0.2 })).toMatchObject({ finished: false });
  await on.untilRunning(1);
  await fleet.ask("cancel_job", { id });
  expect(await fleet.ask("wait_for_job", { id, seconds: 50 })).toMatchObject({
    finished: true,
    job: { status: "cancelled" },
  });

  expect(await fleet.refusal("trigger_agent", { agent: "nobody" })).toContain("nobody");
  expect(await fleet.refusal("get_job", { id: "job-1" })).toContain("there is no job job-1");
  expect(await fleet.refusal("list_jobs", { limit: 1000 })).toContain("limit");
  expect(await fleet.refusal("answer_approval", { id: "x", word: "allow" })).toContain("disabled");
});

test("a client answers what an agent asks, and its name stands beside the answer", async () => {
  const on = await runningFleet(working("touch allowed"));
  const fleet = await overStdio(on, "--allow", "answer");
  const open = () => fleet.ask<{ approvals: (Approval & { request: string })[] }>("list_approvals");
  const job = await on.give("asks", "go");
  const [asked] = await until(async () => {
    const { approvals } = await open();
    return approvals.length > 0 ? approvals : undefined;
  });
  expect(asked).toMatchObject({ job_id: job, tool: "Bash" });
  expect(asked?.request).toMatch(/^\n<untrusted-data [\s\S]*touch allowed[\s\S]*<\/untrusted-data/);
  const { approval } = await fleet.ask<{ approval: Approval }>("answer_approval", {
    id: asked?.id,
    word: "allow",
  });
  expect(approval.answered_by).toMatch(/ by MCP \(test-client\)$/);
  expect(await fleet.ask("wait_for_job", { id: job, seconds: 50 })).toMatchObject({
    job: { outcome: "success" },
  });
  expect(await open()).toMatchObject({ approvals: [] });
});

test("it follows a fleet that is restarted, also while it waits for a job", {
  timeout: 120_000,
}, async () => {
  const on = await runningFleet(working("sleep 4"));
  const fleet = await overStdio(on, "--allow", "trigger");
  const { job } = await fleet.ask<{ job: Job }>("trigger_agent", { agent: "cli", prompt: "go" });
  await on.untilRunning(1);
  const waiting = fleet.ask("wait_for_job", { id: job.id, seconds: 50 });
  expect(await on.run("restart")).toMatchObject({ code: 0 });
  expect(await waiting).toMatchObject({ finished: true, job: { outcome: "success" } });
  const { fleet: next } = await fleet.ask<{ fleet: { pid: number } }>("fleet_status");
  expect(next.pid).not.toBe(on.pid);
  expect(await fleet.ask("trigger_agent", { agent: "cli", prompt: "again" })).toMatchObject({
    created: true,
  });
});

test("where no fleet runs the state is read, and what needs one says how to start it", async () => {
  const on = await fleetStage(working("echo plums"));
  const job = await on.trigger("sdk", "-p", "hello");
  const fleet = await overStdio(on, "--allow", "trigger,answer,cancel");
  expect(await fleet.ask("fleet_status")).toEqual({
    running: false,
    fleet: null,
    agents: ["sdk", "cli", "file", "asks"],
    open_approvals: 0,
  });
  expect(await fleet.ask("list_agents")).toMatchObject({
    agents: [{ name: "sdk", last_job: { id: job.id } }, {}, {}, {}],
  });
  expect(await fleet.ask("list_schedules")).toMatchObject({ schedules: [{ schedule: "nightly" }] });
  expect(await fleet.ask("list_jobs")).toMatchObject({ jobs: [{ id: job.id }] });
  expect(await fleet.ask("get_job", { id: job.id })).toMatchObject({ job: { id: job.id } });
  expect(await fleet.ask("wait_for_job", { id: job.id })).toMatchObject({ finished: true });
  const [, output] = await fleet.texts("read_job_output", { id: job.id });
  expect(output).toContain("[result] plums");
  expect(await fleet.ask("list_approvals")).toMatchObject({ approvals: [] });
  const calls: [string, object][] = [
    ["trigger_agent", { agent: "sdk" }],
    ["cancel_job", { id: job.id }],
    ["answer_approval", { id: "approval-1", word: "deny" }],
  ];
  for (const [tool, input] of calls) {
    expect(await fleet.refusal(tool, input)).toMatch(/no fleet runs here\n.*`herdctl start`/);
  }
});

test("a folder without a fleet is told, and the server stays", async () => {
  const on = await fleetStage();
  const fleet = await overStdio({ ...on, folder: on.workspace });
  expect(await fleet.refusal("fleet_status")).toMatch(/holds no herdctl.yaml/);
  expect(await fleet.names()).toEqual(looking);
  expect(fleet.said()).toBe("");
});

test("standard output holds nothing but messages, and the end of input is its end", async () => {
  const on = await fleetStage();
  const { child, ended } = on.start("mcp", "--config", on.folder);
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
  let said = "";
  child.stdout?.on("data", (text) => {
    said += text;
  });
  await until(() => said.includes('"id":2'));
  child.stdin?.end();
  const { code, stdout } = await ended;
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

test("it answers without loading the engine", async () => {
  const on = await runningFleet();
  const list = join(on.folder, "modules");
  const listModules = join(checkout, "test/cli/programs/list-modules.mjs");
  const more = { NODE_OPTIONS: `--import=${listModules}`, MODULE_LIST: list };
  const fleet = await overStdio({ ...on, env: { ...on.env, ...more } });
  expect(await fleet.ask("fleet_status")).toMatchObject({ running: true });
  const loaded = readFileSync(list, "utf8").split("\n");
  expect(loaded.some((url) => url.includes("packages/core/dist/records."))).toBe(true);
  expect(loaded.filter((url) => /core\/dist\/(index|state|fleet)\./.test(url))).toEqual([]);
});

test("only what can be allowed is taken", async () => {
  const on = await fleetStage();
  const { code, stderr } = await on.run("mcp", "--allow", "trigger,everything");
  expect(code).toBe(2);
  expect(stderr).toMatch(/"everything"[\s\S]*trigger, answer, cancel/);
});
