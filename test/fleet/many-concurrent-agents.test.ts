import type { LedgerEntry } from "@herdctl/rehearsal";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

const names = Array.from({ length: 50 }, (_, index) => `a${index}`);
const busyAgent = "a0";

test("runs fifty agents on both runtimes with at most four concurrently, loses no job and serves each agent once before any twice", async () => {
  const reply = { text: "Done.", delay: { first: "300ms" } };
  const harness = await startHarness({ script: { rules: [{ reply }] } });
  const agents = names.map(
    (name, index) => `  - { name: ${name}, runtime: ${index % 2 === 0 ? "sdk" : "cli"} }`,
  );
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, agents.join("\n"), "max_concurrent: 4"),
  );
  const atWork = new Set<string>();
  const order: string[] = [];
  let most = 0;
  fleet.on("job:started", ({ job }) => {
    atWork.add(job.id);
    most = Math.max(most, atWork.size);
    order.push(job.agent);
  });
  fleet.on("job:completed", ({ job }) => void atWork.delete(job.id));

  // One agent's queue starts ahead of all others.
  const wanted = [busyAgent, busyAgent, busyAgent, ...names];
  const admissions = await Promise.all(
    wanted.map((agent) => fleet.jobs.trigger({ agent, prompt: `I am ${agent}` })),
  );
  const ended = await Promise.all(admissions.map(({ job }) => fleet.jobs.wait(job.id)));

  expect(ended.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
    wanted.map(() => "completed 1"),
  );
  const asked = harness.rehearsal.ledger.main.map(({ prompt }) => prompt).sort();
  expect(asked).toEqual(wanted.map((agent) => `I am ${agent}`).sort());
  expect(most).toBe(4);
  expect(maxConcurrency(harness.rehearsal.ledger.main)).toBeLessThanOrEqual(4);
  expect(order).toHaveLength(wanted.length);
  expect(new Set(order.slice(0, names.length)).size).toBe(names.length);
}, 120_000);

/** The number of conversations that were open at the same time, by the model's ledger. */
function maxConcurrency(entries: LedgerEntry[]): number {
  const times = entries.map(({ at, durationMs = 0 }) => ({
    from: Date.parse(at),
    to: Date.parse(at) + durationMs,
  }));
  return Math.max(
    ...times.map(
      ({ from }) => times.filter((other) => other.from <= from && from < other.to).length,
    ),
  );
}
