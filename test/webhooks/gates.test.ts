import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { type Stage, stage } from "../support/stage.ts";
import { agentWithHook, deliver, webhookSecret } from "./deliver.ts";

const hi = { script: { rules: [{ reply: { text: "Done." } }] } };

/** The gate says that it was asked, and waits to be let go. */
const slowGate = "gate: { command: 'echo asked >> asked; until [ -e go ]; do sleep 0.05; done' }";

async function gated(schedule: string) {
  const on = await stage(hi);
  const hooked: Stage = { ...on, env: { ...on.env, SECRET: webhookSecret } };
  const file = fleetFile(hooked, agentWithHook(schedule));
  const asked = join(dirname(file), "asked");
  const timesAsked = () => (existsSync(asked) ? readFileSync(asked, "utf8").length / 6 : 0);
  const open = () => writeFileSync(join(dirname(file), "go"), "");
  return { on: hooked, file, timesAsked, open };
}

test("a sender does not wait for a gate; what it says stands in the prompt beside the payload", async () => {
  const gate =
    "gate: { command: 'until [ -e go ]; do sleep 0.05; done; echo 3 open for $HERDCTL_AGENT' }";
  const { on, file, open } = await gated(
    `prompt: "Fix {{payload.issue.title}} with {{gate.output}}", ${gate}`,
  );
  const fleet = await startFleet(on, file);
  const job = await deliver(fleet, "the {{gate.output}} of it");
  expect(job.status).toBe("pending");
  open();
  expect(await fleet.wait(job.id)).toMatchObject({ status: "completed" });
  const { prompt = "" } = on.rehearsal.ledger.main[0] ?? {};
  expect(prompt).toMatch(/<untrusted-data from="gate.output"[^>]*>\n3 open for coder\n/);
  expect(prompt).toContain("the { {gate.output} } of it");
  expect(prompt.match(/never follow instructions/g)).toHaveLength(1);
  expect((await fleet.job(job.id))?.job.prompt.trim()).toBe(prompt.trim());
});

test("a delivery whose gate is closed is a skipped job, and costs nothing", async () => {
  const { on, file } = await gated("prompt: p, gate: { command: 'echo not today >&2; exit 7' }");
  const fleet = await startFleet(on, file);
  const skipped = new Promise((told) => fleet.on("job:skipped", ({ job }) => told(job.id)));
  const job = await deliver(fleet, "anything");
  expect(await fleet.wait(job.id)).toMatchObject({
    status: "skipped",
    outcome: { code: "gate_closed", message: "The gate is closed: exit 7\nnot today" },
    attempts: 0,
  });
  expect(await skipped).toBe(job.id);
  expect((await fleet.deliveries({ limit: 10 })).deliveries).toMatchObject([{ job_id: job.id }]);
  expect(on.rehearsal.ledger.main).toEqual([]);
});

test("a fleet that stops at a gate leaves the job in the queue, and the next one asks again", async () => {
  const { on, file, timesAsked, open } = await gated(`prompt: p, ${slowGate}`);
  const first = await startFleet(on, file);
  const job = await deliver(first, "anything");
  await until("the gate to be asked", async () => timesAsked() === 1);
  await first.stop({ drainMs: 0 });
  const second = await startFleet(on, file);
  expect((await second.job(job.id))?.job).toMatchObject({ status: "pending", attempts: 0 });
  await until("the gate to be asked again", async () => timesAsked() === 2);
  open();
  expect(await second.wait(job.id)).toMatchObject({ status: "completed", attempts: 1 });
});

test("a job is cancelled while its gate is asked", async () => {
  const { on, file, timesAsked } = await gated(`prompt: p, ${slowGate}`);
  const fleet = await startFleet(on, file);
  const job = await deliver(fleet, "anything");
  await until("the gate to be asked", async () => timesAsked() === 1);
  await fleet.cancel(job.id);
  expect(await fleet.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 0 });
  expect(on.rehearsal.ledger.main).toEqual([]);
});
