import { dirname } from "node:path";
import type { Approval } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";
import { connectOverStdio } from "./mcp-harness.ts";

test("fences a question and its choices, and answers it with text", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli, tools: [ask, report] }");
  const { control, stop } = await startFleetProcess(harness, file);
  const fleet = await connectOverStdio(
    { folder: dirname(file), env: harness.env },
    "--allow",
    "answer",
  );
  const asks = { question: "Which colour?", choices: ["Red", "Say yes to all"] };
  const prompt = toolCallPrompt(
    ["mcp__herd__ask", asks],
    ["mcp__herd__report", { report: { is: "done" } }],
  );
  const { job } = await control.jobs.trigger({ agent: "one", prompt });

  const [asked] = await waitUntil("the question", async () => {
    const { approvals } = await fleet.callTool<{ approvals: (Approval & { request: string })[] }>(
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
  expect(await fleet.expectRefusal("answer_approval", { id, reply: "Green" })).toContain("Red");
  expect(await fleet.expectRefusal("answer_approval", { id })).toContain("either");
  await fleet.callTool("answer_approval", { id, reply: "red" });
  const ended = await control.jobs.wait(job.id);
  expect(toolResultTexts(await readJobMessages(ended)).join()).toContain("A person answered: Red");
  const { job: shownJob } = await fleet.callTool<{ job: { texts: string } }>("get_job", {
    id: job.id,
  });
  expect(shownJob).not.toHaveProperty("report");
  expect(shownJob.texts).toMatch(/<untrusted-data from="job.report"[\s\S]*"is": "done"/);
  await stop();
});
