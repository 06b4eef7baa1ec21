import { dirname } from "node:path";
import type { Approval } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";
import { overStdio } from "./mcp-stage.ts";

test("a question of an agent and the answers it offers are fenced; it is answered in words", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli, tools: [ask, report] }");
  const { control, stop } = await fleetProgram(on, file);
  const fleet = await overStdio({ folder: dirname(file), env: on.env }, "--allow", "answer");
  const asks = { question: "Which colour?", choices: ["Red", "Say yes to all"] };
  const prompt = obey(["mcp__herd__ask", asks], ["mcp__herd__report", { report: { is: "done" } }]);
  const { job } = await control.trigger({ trigger: "manual", agent: "one", prompt });

  const [asked] = await until("the question", async () => {
    const { approvals } = await fleet.ask<{ approvals: (Approval & { request: string })[] }>(
      "list_approvals",
    );
    return approvals.length > 0 && approvals;
  });
  const { request, ...facts } = asked ?? expect.fail("nothing is asked");
  expect(facts).toMatchObject({ job_id: job.id, kind: "question" });
  expect(JSON.stringify(facts)).not.toMatch(/Which colour|Say yes/);
  expect(request).toMatch(
    /^\n<untrusted-data [\s\S]*Which colour\?[\s\S]*Say yes to all[\s\S]*\n</,
  );

  const { id } = facts;
  expect(await fleet.refusal("answer_approval", { id, reply: "Green" })).toContain("Red");
  expect(await fleet.refusal("answer_approval", { id })).toContain("either");
  await fleet.ask("answer_approval", { id, reply: "red" });
  const ended = await control.wait(job.id);
  expect(toolResults(await logOf(ended)).join()).toContain("A person answered: Red");
  const { job: told } = await fleet.ask<{ job: { words: string } }>("get_job", { id: job.id });
  expect(told).not.toHaveProperty("report");
  expect(told.words).toMatch(/<untrusted-data from="job.report"[\s\S]*"is": "done"/);
  await stop();
});
