import { expect, test } from "vitest";
import { samples } from "../support/width.ts";
import { deliveryStorm } from "./delivery-storm.ts";
import { judgeDeliveries } from "./judge-deliveries.ts";

const plan = { deliveries: samples(1_200, 0.5), aSecond: 200, kills: 3 };

/** The long form is `test/storm/deliveries.long.ts`. */
test(`${plan.deliveries} signed deliveries, every tenth twice, over ${plan.kills} kills: every 202 has one job, and there is no other`, async () => {
  const story = await deliveryStorm(plan);
  expect(judgeDeliveries(story)).toEqual([]);
  expect(story.sendings).toHaveLength(plan.deliveries + Math.ceil(plan.deliveries / 10));
  expect(story.jobs).toHaveLength(plan.deliveries);
}, 120_000);
