import type { LedgerEntry } from "@herdctl/rehearsal";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { stage } from "../support/stage.ts";

const names = Array.from({ length: 50 }, (_, index) => `a${index}`);
const eager = "a0";

test("fifty agents at once on both runtimes: never a fifth at work, none lost, and none is served twice before all were served once", async () => {
  const reply = { text: "Done.", delay: { first: "300ms" } };
  const on = await stage({ script: { rules: [{ reply }] } });
  const agents = names.map(
    (name, index) => `  - { name: ${name}, runtime: ${index % 2 === 0 ? "sdk" : "cli"} }`,
  );
  const fleet = await startFleet(on, fleetFile(on, agents.join("\n"), "max_concurrent: 4"));
  const atWork = new Set<string>();
  const order: string[] = [];
  let most = 0;
  fleet.on("job:started", ({ job }) => {
    atWork.add(job.id);
    most = Math.max(most, atWork.size);
    order.push(job.agent);
  });
  fleet.on("job:completed", ({ job }) => void atWork.delete(job.id));

  // One of them is eager: its queue stands before everybody else's.
  const wanted = [eager, eager, eager, ...names];
  const admissions = await Promise.all(
    wanted.map((agent) => fleet.trigger({ trigger: "manual", agent, prompt: `I am ${agent}` })),
  );
  const ended = await Promise.all(admissions.map(({ job }) => fleet.wait(job.id)));

  expect(ended.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
    wanted.map(() => "completed 1"),
  );
  const asked = on.rehearsal.ledger.main.map(({ prompt }) => prompt).sort();
  expect(asked).toEqual(wanted.map((agent) => `I am ${agent}`).sort());
  expect(most).toBe(4);
  expect(mostAtOnce(on.rehearsal.ledger.main)).toBeLessThanOrEqual(4);
  expect(order).toHaveLength(wanted.length);
  expect(new Set(order.slice(0, names.length)).size).toBe(names.length);
}, 120_000);

/** As the model saw it: how many conversations were open at the same time. */
function mostAtOnce(entries: LedgerEntry[]): number {
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
