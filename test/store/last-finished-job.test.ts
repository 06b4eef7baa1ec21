import { outcomes } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { memoryStores } from "./test-stores.ts";

test("a skipped run is not the last job of its agent", async () => {
  const { jobs, time } = memoryStores();
  const { job } = await jobs.create({ agent: "a", prompt: "p" });
  await jobs.startAttempt(job.id);
  await jobs.endAttempt(job.id, 1, { outcome_code: "timeout", session_id: null, cost_usd: 1 });
  await jobs.update(job.id, {
    status: "failed",
    outcome: { code: "timeout", ...outcomes.timeout },
  });
  time.now += 1_000;
  const overlap = { code: "overlap" as const, ...outcomes.overlap };
  await jobs.create({ agent: "a", prompt: "p", skipped: overlap });
  expect((await jobs.lastFinished("a"))?.id).toBe(job.id);
});
