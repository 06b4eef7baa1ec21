import { isDeepStrictEqual } from "node:util";
import type { DueTimeRecord } from "@herdctl/protocol";
import { afterEach, expect, test, vi } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

const hourMs = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Sets the clock of this process; its timers continue normally. */
function setClock(to: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: to });
}

test("notices a clock that jumps ahead, and runs nothing twice when it is set back", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: { text: "Done." } }] } });
  const agent = "  - { name: one, runtime: cli, schedules: { s: SCHEDULE } }";
  const schedule = '{ type: cron, cron: "0 * * * *", timezone: UTC, overlap: allow, prompt: p }';
  const file = writeFleetFile(harness, agent.replace("SCHEDULE", schedule), "watch: false");
  const fleet = await startFleetInProcess(harness, file);
  const began = Math.floor(Date.now() / hourMs) * hourMs;
  const ledger = async () =>
    (await fleet.schedules.dueTimes({ limit: 100 })).due_times.map(
      ({ due_at, last_due_at: until, result }: DueTimeRecord) =>
        `${(Date.parse(due_at) - began) / hourMs}-${(Date.parse(until) - began) / hourMs} ${result}`,
    );

  const settled = (records: string[]) =>
    waitUntil(`the ledger to be ${records}`, async () =>
      isDeepStrictEqual(await ledger(), records),
    );

  setClock(began + 5 * hourMs + 600_000);
  const leapt = await waitUntil(
    "the leap to be noticed",
    async () => {
      const records = await ledger();
      return records.includes("1-4 missed") && records;
    },
    50_000,
  );
  expect(leapt).toContain("1-4 missed");
  await settled(["5-5 ran", "1-4 missed"]);

  setClock(began + 2 * hourMs + 600_000);
  await fleet.reload();
  await settled(["5-5 ran", "2-2 ran", "1-1 missed"]);
  setClock(began + 5 * hourMs + 1_200_000);
  await fleet.reload();
  await settled(["5-5 ran", "4-4 ran", "3-3 missed", "2-2 ran", "1-1 missed"]);
}, 120_000);
