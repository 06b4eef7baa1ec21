import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { logOf, runJob } from "../support/job.ts";
import { initOf, obedientStage, obey, toolResults } from "../support/runtime.ts";

const owing = (runtime: string) => `runtime: ${runtime}
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

const wrong = { title: 7, findings: [{ line: 1 }], colour: "red" };
const right = { title: "two", findings: [{ file: "a.ts" }] };
const report = (value: unknown) => obey(["mcp__herd__report", { report: value }]);

describe.each(["sdk", "cli"])("runtime: %s", (runtime) => {
  test("a wrong report is refused with the reason, and the second is kept", async () => {
    const on = await obedientStage();
    const { job, success } = await runJob(on, {
      yaml: owing(runtime),
      schedule: "daily",
      prompt: [report(wrong), report(right)].join("\n\n"),
    });
    const [refused = "", accepted] = toolResults(await logOf(job));
    expect(refused).toContain("the report must not have `colour`");
    expect(refused).toContain("title must be string");
    expect(refused).toContain("findings.0 must have required property 'file'");
    expect(accepted).toContain("Accepted.");
    expect(success).toBe(true);
    expect(job).toMatchObject({ outcome: { code: "success" }, report: right, warnings: [] });
    const outcome = readFileSync(join(dirname(job.output_file), "outcome.json"), "utf8");
    expect(JSON.parse(outcome)).toMatchObject({ report: right });
  });

  test("the last report that was accepted counts", async () => {
    const on = await obedientStage();
    const last = { ...right, title: "three" };
    const prompt = [report(right), report(last), report(wrong)].join("\n\n");
    const { job } = await runJob(on, { yaml: owing(runtime), schedule: "daily", prompt });
    expect(job).toMatchObject({ outcome: { code: "success" }, report: last });
  });

  test("a run that owes a report and gives none has failed, and says so", async () => {
    const on = await obedientStage();
    const owed = { yaml: owing(runtime), schedule: "daily" };
    const { job, success } = await runJob(on, owed);
    expect(success).toBe(false);
    expect(job).toMatchObject({
      status: "failed",
      outcome: { code: "report_missing", message: expect.stringContaining("without the report") },
      report: null,
      attempts: 1,
    });
    const refused = await runJob(on, { ...owed, prompt: report({ title: "one" }) });
    expect(refused.job.outcome).toMatchObject({
      code: "report_missing",
      message: expect.stringContaining("must have required property 'findings'"),
    });
  });

  test("an agent is told that it owes a report, and what it has to hold", async () => {
    const on = await obedientStage();
    const { job } = await runJob(on, { yaml: owing(runtime), schedule: "daily", prompt: "look" });
    expect(initOf(await logOf(job))?.tools).toContain("mcp__herd__report");
    const asked = JSON.stringify(on.rehearsal.ledger.main[0]?.body);
    expect(asked).toContain("This run counts only with a report");
    expect(asked).toContain("#/properties/report/$defs/finding");
  });

  test("without a schedule that demands one, an agent may still report any object", async () => {
    const on = await obedientStage();
    const yaml = `runtime: ${runtime}\npermission_mode: dontAsk\ntools: [report]`;
    const { job } = await runJob(on, { yaml, prompt: report({ any: ["thing"] }) });
    expect(job).toMatchObject({ outcome: { code: "success" }, report: { any: ["thing"] } });
    const none = await runJob(on, { yaml });
    expect(none.job).toMatchObject({ outcome: { code: "success" }, report: null });
  });
});

test("hooks get the report as data, and conditions can ask about it", async () => {
  const on = await obedientStage();
  const file = fleetFile(
    on,
    `  - name: one
    runtime: cli
    hooks:
      after_run:
        - { type: shell, command: "cat > told.json", when: "report.title == 'two'" }
        - { type: shell, command: "touch never", when: "report.title == 'three'" }
${owing("cli")
  .split("\n")
  .slice(2)
  .map((line) => `    ${line}`)
  .join("\n")}`,
  );
  const fleet = await startFleet(on, file);
  const prompt = report(right);
  const { job } = await fleet.trigger({
    trigger: "manual",
    agent: "one",
    schedule: "daily",
    prompt,
  });
  expect(await fleet.wait(job.id)).toMatchObject({ report: right });
  const hooks = await until("the hook to succeed", async () => {
    const runs = await fleet.hooks({ jobId: job.id, limit: 10 });
    return runs.length > 0 && runs.every(({ status }) => status === "succeeded") && runs;
  });
  expect(hooks).toHaveLength(1);
  const told = JSON.parse(readFileSync(join(dirname(file), "told.json"), "utf8"));
  expect(told.job.report).toEqual(right);
});

test("a fleet reads a schema again when its file changes, and says when it is none any more", async () => {
  const on = await obedientStage();
  const schema = join(on.home, "schema.json");
  writeFileSync(schema, '{ "type": "object" }');
  const daily = `{ type: cron, cron: "0 9 1 1 *", prompt: go, output_schema: ${schema} }`;
  const file = fleetFile(on, `  - { name: one, runtime: cli, schedules: { daily: ${daily} } }`);
  const fleet = await startFleet(on, file);
  const problem = async () => (await fleet.status()).fleet.problem;
  expect(await problem()).toBeNull();
  writeFileSync(schema, '{ "type": "strange" }');
  const said = await until("the problem to be told", problem);
  expect(JSON.stringify(said)).toContain("no JSON Schema");
  writeFileSync(schema, '{ "type": "array" }');
  await until("it to be right again", async () => (await problem()) === null);
});
