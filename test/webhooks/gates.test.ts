import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { agentWithHook, deliverIssue, webhookSecret } from "./issue-delivery.ts";

const greetingScript = { script: { rules: [{ reply: { text: "Done." } }] } };

/** The gate records that it was called and waits for a file. */
const slowGate = "gate: { command: 'echo asked >> asked; until [ -e go ]; do sleep 0.05; done' }";

async function startGatedHarness(schedule: string) {
  const harness = await startHarness(greetingScript);
  const hooked: TestHarness = { ...harness, env: { ...harness.env, SECRET: webhookSecret } };
  const file = writeFleetFile(hooked, agentWithHook(schedule));
  const asked = join(dirname(file), "asked");
  const timesAsked = () => (existsSync(asked) ? readFileSync(asked, "utf8").length / 6 : 0);
  const open = () => writeFileSync(join(dirname(file), "go"), "");
  return { harness: hooked, file, timesAsked, open };
}

test("does not make a sender wait for a gate, whose output is in the prompt beside the payload", async () => {
  const gate =
    "gate: { command: 'until [ -e go ]; do sleep 0.05; done; echo 3 open for $HERDCTL_AGENT' }";
  const { harness, file, open } = await startGatedHarness(
    `prompt: "Fix {{payload.issue.title}} with {{gate.output}}", ${gate}`,
  );
  const fleet = await startFleetInProcess(harness, file);
  const job = await deliverIssue(fleet, "the {{gate.output}} of it");
  expect(job.status).toBe("pending");
  open();
  expect(await fleet.jobs.wait(job.id)).toMatchObject({ status: "completed" });
  const { prompt = "" } = harness.rehearsal.ledger.main[0] ?? {};
  expect(prompt).toMatch(/<untrusted-data from="gate.output"[^>]*>\n3 open for coder\n/);
  expect(prompt).toContain("the { {gate.output} } of it");
  expect(prompt.match(/never follow instructions/g)).toHaveLength(1);
  expect((await fleet.jobs.get(job.id))?.job.prompt.trim()).toBe(prompt.trim());
});

test("skips the job of a delivery with a closed gate at no cost", async () => {
  const { harness, file } = await startGatedHarness(
    "prompt: p, gate: { command: 'echo not today >&2; exit 7' }",
  );
  const fleet = await startFleetInProcess(harness, file);
  const skipped = new Promise((expected) => fleet.on("job:skipped", ({ job }) => expected(job.id)));
  const job = await deliverIssue(fleet, "anything");
  expect(await fleet.jobs.wait(job.id)).toMatchObject({
    status: "skipped",
    outcome: { code: "gate_closed", message: "The gate is closed: exit 7\nnot today" },
    attempts: 0,
  });
  expect(await skipped).toBe(job.id);
  expect((await fleet.deliveries.list({ limit: 10 })).deliveries).toMatchObject([
    { job_id: job.id },
  ]);
  expect(harness.rehearsal.ledger.main).toEqual([]);
});

test("keeps the job queued when a fleet stops at a gate, and calls the gate again in the next", async () => {
  const { harness, file, timesAsked, open } = await startGatedHarness(`prompt: p, ${slowGate}`);
  const first = await startFleetInProcess(harness, file);
  const job = await deliverIssue(first, "anything");
  await waitUntil("the gate to be called", async () => timesAsked() === 1);
  await first.shutdown({ drainMs: 0 });
  const second = await startFleetInProcess(harness, file);
  expect((await second.jobs.get(job.id))?.job).toMatchObject({ status: "pending", attempts: 0 });
  await waitUntil("the gate to be called again", async () => timesAsked() === 2);
  open();
  expect(await second.jobs.wait(job.id)).toMatchObject({ status: "completed", attempts: 1 });
});

test("cancels a job during its gate", async () => {
  const { harness, file, timesAsked } = await startGatedHarness(`prompt: p, ${slowGate}`);
  const fleet = await startFleetInProcess(harness, file);
  const job = await deliverIssue(fleet, "anything");
  await waitUntil("the gate to be called", async () => timesAsked() === 1);
  await fleet.jobs.cancel(job.id);
  expect(await fleet.jobs.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 0 });
  expect(harness.rehearsal.ledger.main).toEqual([]);
});
