import { isDeepStrictEqual } from "node:util";
import type { DueRecord } from "@herdctl/core";
import { afterEach, expect, test, vi } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";

const hour = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Sets the clock of this process alone; its timers go on as they would. */
function setClock(to: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: to });
}

test("a clock that leaps ahead is noticed, and one that is set back runs nothing twice", async () => {
  const on = await stage({ script: { rules: [{ reply: { text: "Done." } }] } });
  const agent = "  - { name: one, runtime: cli, schedules: { s: SCHEDULE } }";
  const schedule = '{ type: cron, cron: "0 * * * *", timezone: UTC, overlap: allow, prompt: p }';
  const file = fleetFile(on, agent.replace("SCHEDULE", schedule), "watch: false");
  const fleet = await startFleet(on, file);
  const began = Math.floor(Date.now() / hour) * hour;
  const ledger = async () =>
    (await fleet.dueTimes({ limit: 100 })).records.map(
      ({ due_at, until, result }: DueRecord) =>
        `${(Date.parse(due_at) - began) / hour}-${(Date.parse(until) - began) / hour} ${result}`,
    );

  const settled = (records: string[]) =>
    until(`the ledger to be ${records}`, async () => isDeepStrictEqual(await ledger(), records));

  setClock(began + 5 * hour + 600_000);
  const leapt = await until(
    "the leap to be noticed",
    async () => {
      const records = await ledger();
      return records.includes("1-4 missed") && records;
    },
    50_000,
  );
  expect(leapt).toContain("1-4 missed");
  await settled(["5-5 ran", "1-4 missed"]);

  setClock(began + 2 * hour + 600_000);
  await fleet.reload();
  await settled(["5-5 ran", "2-2 ran", "1-1 missed"]);
  setClock(began + 5 * hour + 1_200_000);
  await fleet.reload();
  await settled(["5-5 ran", "4-4 ran", "3-3 missed", "2-2 ran", "1-1 missed"]);
}, 120_000);
