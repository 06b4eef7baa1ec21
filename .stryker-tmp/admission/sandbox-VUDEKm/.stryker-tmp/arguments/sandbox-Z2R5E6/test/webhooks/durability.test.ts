import { expect, test } from "vitest";
import { sampleCount } from "../support/test-subset.ts";
import { checkDeliveries } from "./check-deliveries.ts";
import { runDeliveryLoad } from "./delivery-load.ts";

const plan = { deliveries: sampleCount(1_200, 0.5), deliveriesPerSecond: 200, kills: 3 };

/** The long form is `test/chaos/webhook-deliveries.long.ts`. */
test(`creates one job for every 202 and no other: ${plan.deliveries} signed deliveries, every tenth sent twice, ${plan.kills} kills`, async () => {
  const run = await runDeliveryLoad(plan);
  expect(checkDeliveries(run)).toEqual([]);
  expect(run.sendings).toHaveLength(plan.deliveries + Math.ceil(plan.deliveries / 10));
  expect(run.jobs).toHaveLength(plan.deliveries);
}, 120_000);
