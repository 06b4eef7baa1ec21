import { expect, it } from "vitest";
import { BossQueue } from "../../packages/core/src/queue/boss/boss-queue.ts";
import type { ClaimLimits } from "../../packages/core/src/queue/claim.ts";
import type { HandOutDecider } from "../../packages/core/src/state/hand-out.ts";
import type { LiveJob } from "../../packages/core/src/state/job.ts";
import { liveJob } from "./live-job.ts";
import { node } from "./node.ts";

const limits: ClaimLimits = {
  fleet: 1,
  agents: new Map([["coder", 1]]),
  paused: new Set(),
  servedAt: new Map(),
};

it("a new job is handed out without a look before, as long as the queue is short", async () => {
  const { queue, asked, live } = queueOf();
  const handOut = (isNew: boolean) => queue.handOut(limits, new Date(), isNew);
  live.push(liveJob("a", { agent: "coder" }));
  expect((await handOut(true)).here).toEqual(["a"]);
  expect(asked.splice(0)).toEqual(["write"]);
  await handOut(false);
  expect(asked.splice(0)).toEqual(["look", "write"]);

  live.push(...Array.from({ length: 20 }, (_, index) => liveJob(`${index}`, { agent: "none" })));
  await handOut(true);
  expect(asked.splice(0)).toEqual(["write"]);
  await handOut(true);
  expect(asked.splice(0)).toEqual(["look", "write"]);
});

it("without anything new most looks are all there is", async () => {
  const { queue, asked } = queueOf();
  expect(await queue.handOut(limits, new Date())).toMatchObject({ here: [], length: 0 });
  expect(asked).toEqual(["look"]);
});

function queueOf() {
  const [live, asked]: [LiveJob[], string[]] = [[], []];
  const self = node("here");
  const queue = new BossQueue({
    jobs: {
      handOut: async (decide: HandOutDecider, how) => {
        asked.push(how);
        const homes = new Map(live.map(({ id }) => [id, null]));
        return decide({ live, nodes: [self], homes, servedAt: new Map() });
      },
    },
    carrier: { start: async () => undefined, send: async () => true, stop: async () => undefined },
    here: () => self,
    nodes: () => [self],
    mayHandOut: () => true,
    rules: () => ({
      places: new Map([["coder", { runsOn: [], whenGone: "move" as const }]]),
      latestOf: () => null,
    }),
    isActive: () => false,
  });
  return { queue, asked, live };
}
