import { expect, it } from "vitest";
import { SharedQueue } from "../../packages/core/src/cluster/shared-queue.ts";
import type { ClaimLimits } from "../../packages/core/src/jobs/dispatch/claim.ts";
import type { AssignmentDecider } from "../../packages/core/src/store/model/assignment.ts";
import type { UnfinishedJob } from "../../packages/protocol/src/records/job.ts";
import { liveJob } from "../jobs/job-fixture.ts";
import { testNode } from "./node-fixture.ts";

const limits: ClaimLimits = {
  fleet: 1,
  agents: new Map([["coder", 1]]),
  paused: new Set(),
  servedAt: new Map(),
};

it("assigns a new job without a prior read while the queue is short", async () => {
  const { queue, asked, live } = createQueue();
  const handOut = (isNew: boolean) => queue.assign(limits, new Date(), isNew);
  live.push(liveJob("a", { agent: "coder" }));
  expect((await handOut(true)).startHere).toEqual(["a"]);
  expect(asked.splice(0)).toEqual(["write"]);
  await handOut(false);
  expect(asked.splice(0)).toEqual(["look", "write"]);

  live.push(...Array.from({ length: 20 }, (_, index) => liveJob(`${index}`, { agent: "none" })));
  await handOut(true);
  expect(asked.splice(0)).toEqual(["write"]);
  await handOut(true);
  expect(asked.splice(0)).toEqual(["look", "write"]);
});

it("only reads when there is nothing new", async () => {
  const { queue, asked } = createQueue();
  expect(await queue.assign(limits, new Date())).toMatchObject({
    startHere: [],
    unfinishedCount: 0,
  });
  expect(asked).toEqual(["look"]);
});

function createQueue() {
  const [live, asked]: [UnfinishedJob[], string[]] = [[], []];
  const self = testNode("here");
  const queue = new SharedQueue({
    jobs: {
      assign: async (decide: AssignmentDecider, how) => {
        asked.push(how);
        const homes = new Map(live.map(({ id }) => [id, null]));
        return decide({
          liveJobs: live,
          nodes: [self],
          affinityNodes: homes,
          lastAssigned: new Map(),
        });
      },
    },
    commandBus: {
      start: async () => undefined,
      send: async () => true,
      stop: async () => undefined,
    },
    currentNode: () => self,
    knownNodes: () => [self],
    canAssign: () => true,
    rules: () => ({
      placementRules: new Map([["coder", { runsOn: [], whenNodeGone: "move" as const }]]),
      latestSessionQuery: () => null,
    }),
    isActive: () => false,
  });
  return { queue, asked, live };
}
