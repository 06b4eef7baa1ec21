import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  initOf,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

const agentOwingReport = (runtime: string) => `runtime: ${runtime}
permission_mode: dontAsk
schedules:
  daily:
    type: cron
    cron: "0 9 * * *"
    prompt: look
    output_schema:
      type: object
      required: [title, findings]
      additionalProperties: false
      properties:
        title: { type: string }
        findings: { type: array, items: { $ref: "#/$defs/finding" } }
      $defs:
        finding: { type: object, required: [file], properties: { file: { type: string } } }`;

const invalidReport = { title: 7, findings: [{ line: 1 }], colour: "red" };
const validReport = { title: "two", findings: [{ file: "a.ts" }] };
const report = (value: unknown) => toolCallPrompt(["mcp__herd__report", { report: value }]);

describe.each(["sdk", "cli"])("runtime: %s", (runtime) => {
  test("refuses an invalid report with the reason and keeps the corrected one", async () => {
    const harness = await startObedientHarness();
    const { job, success } = await runJob(harness, {
      yaml: agentOwingReport(runtime),
      schedule: "daily",
      prompt: [report(invalidReport), report(validReport)].join("\n\n"),
    });
    const [refused = "", accepted] = toolResultTexts(await readJobMessages(job));
    expect(refused).toContain("the report must not have `colour`");
    expect(refused).toContain("title must be string");
    expect(refused).toContain("findings.0 must have required property 'file'");
    expect(accepted).toContain("Accepted.");
    expect(success).toBe(true);
    expect(job).toMatchObject({ outcome: { code: "success" }, report: validReport, warnings: [] });
    const outcome = readFileSync(join(dirname(job.output_file), "outcome.json"), "utf8");
    expect(JSON.parse(outcome)).toMatchObject({ report: validReport });
  });

  test("keeps the last accepted report", async () => {
    const harness = await startObedientHarness();
    const last = { ...validReport, title: "three" };
    const prompt = [report(validReport), report(last), report(invalidReport)].join("\n\n");
    const { job } = await runJob(harness, {
      yaml: agentOwingReport(runtime),
      schedule: "daily",
      prompt,
    });
    expect(job).toMatchObject({ outcome: { code: "success" }, report: last });
  });

  test("fails a run that owes a report and gives none", async () => {
    const harness = await startObedientHarness();
    const owed = { yaml: agentOwingReport(runtime), schedule: "daily" };
    const { job, success } = await runJob(harness, owed);
    expect(success).toBe(false);
    expect(job).toMatchObject({
      status: "failed",
      outcome: { code: "report_missing", message: expect.stringContaining("without the report") },
      report: null,
      attempts: 1,
    });
    const refused = await runJob(harness, { ...owed, prompt: report({ title: "one" }) });
    expect(refused.job.outcome).toMatchObject({
      code: "report_missing",
      message: expect.stringContaining("must have required property 'findings'"),
    });
  });

  test("includes the required report and its schema in the prompt", async () => {
    const harness = await startObedientHarness();
    const { job } = await runJob(harness, {
      yaml: agentOwingReport(runtime),
      schedule: "daily",
      prompt: "look",
    });
    expect(initOf(await readJobMessages(job))?.tools).toContain("mcp__herd__report");
    const asked = JSON.stringify(harness.rehearsal.ledger.main[0]?.body);
    expect(asked).toContain("This run only succeeds with a report");
    expect(asked).toContain("#/properties/report/$defs/finding");
  });

  test("accepts any object as a report when no schedule demands one", async () => {
    const harness = await startObedientHarness();
    const yaml = `runtime: ${runtime}\npermission_mode: dontAsk\ntools: [report]`;
    const { job } = await runJob(harness, { yaml, prompt: report({ any: ["thing"] }) });
    expect(job).toMatchObject({ outcome: { code: "success" }, report: { any: ["thing"] } });
    const none = await runJob(harness, { yaml });
    expect(none.job).toMatchObject({ outcome: { code: "success" }, report: null });
  });
});

test("passes the report to hooks as data and to their conditions", async () => {
  const harness = await startObedientHarness();
  const file = writeFleetFile(
    harness,
    `  - name: one
    runtime: cli
    hooks:
      after_run:
        - { type: shell, command: "cat > told.json", when: "report.title == 'two'" }
        - { type: shell, command: "touch never", when: "report.title == 'three'" }
${agentOwingReport("cli")
  .split("\n")
  .slice(2)
  .map((line) => `    ${line}`)
  .join("\n")}`,
  );
  const fleet = await startFleetInProcess(harness, file);
  const prompt = report(validReport);
  const { job } = await fleet.jobs.trigger({
    agent: "one",
    schedule: "daily",
    prompt,
  });
  expect(await fleet.jobs.wait(job.id)).toMatchObject({ report: validReport });
  const hooks = await waitUntil("the hook to succeed", async () => {
    const runs = await fleet.hooks.list({ job: job.id, limit: 10 });
    return runs.length > 0 && runs.every(({ status }) => status === "succeeded") && runs;
  });
  expect(hooks).toHaveLength(1);
  const payload = JSON.parse(readFileSync(join(dirname(file), "told.json"), "utf8"));
  expect(payload.job.report).toEqual(validReport);
});

test("reloads a changed schema file and reports when it becomes invalid", async () => {
  const harness = await startObedientHarness();
  const schema = join(harness.home, "schema.json");
  writeFileSync(schema, '{ "type": "object" }');
  const daily = `{ type: cron, cron: "0 9 1 1 *", prompt: go, output_schema: ${schema} }`;
  const file = writeFleetFile(
    harness,
    `  - { name: one, runtime: cli, schedules: { daily: ${daily} } }`,
  );
  const fleet = await startFleetInProcess(harness, file);
  const problem = async () => (await fleet.status()).fleet.problem;
  expect(await problem()).toBeNull();
  writeFileSync(schema, '{ "type": "strange" }');
  const message = await waitUntil("the problem to be reported", problem);
  expect(JSON.stringify(message)).toContain("not a valid JSON Schema");
  writeFileSync(schema, '{ "type": "array" }');
  await waitUntil("it to be restored", async () => (await problem()) === null);
});
