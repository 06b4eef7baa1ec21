import { expect, test } from "vitest";
import { bearer, startHttpHarness } from "./http-harness.ts";

const jobCount = 400;

test("cancels all waiting jobs of an agent in one request, and answers others meanwhile", async () => {
  const agents =
    "  - { name: coder, default_prompt: Do it. }\n  - { name: writer, default_prompt: Write. }";
  const { fleet, send, token } = await startHttpHarness({ agents });
  const triggered = Array.from({ length: jobCount }, () => fleet.jobs.trigger({ agent: "coder" }));
  await Promise.all(triggered);
  const { job: other } = await fleet.jobs.trigger({ agent: "writer" });

  const answers: string[] = [];
  const cancelling = send("POST", "/v1/agents/coder/cancel", {
    headers: bearer(token),
    body: "{}",
  });
  const health = send("GET", "/healthz").then(({ status }) => answers.push(`health: ${status}`));
  const { status, text } = await cancelling;
  answers.push(`cancel: ${status}`);
  await health;
  expect(answers).toEqual(["health: 200", "cancel: 200"]);
  expect(JSON.parse(text)).toEqual({ cancelled: jobCount, stopping: 0 });

  const { jobs: waiting } = await fleet.jobs.list({ status: "pending", limit: 10 });
  expect(waiting.map(({ id }) => id)).toEqual([other.id]);
  const { records } = await fleet.audit.list({ limit: 10 });
  const cancellations = records.filter(({ action }) => action.startsWith("job.cancel"));
  expect(cancellations.map(({ action, target }) => [action, target])).toEqual([
    ["job.cancel_all", "coder"],
  ]);
});
