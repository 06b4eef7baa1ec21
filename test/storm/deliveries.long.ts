import { expect, test } from "vitest";
import { type DeliveryStory, deliveryStorm } from "../webhooks/delivery-storm.ts";
import { judgeDeliveries } from "../webhooks/judge-deliveries.ts";

const plan = {
  deliveries: Number(process.env.HERDCTL_LONG_DELIVERIES ?? 10_000),
  aSecond: 200,
  kills: 3,
};

test(`${plan.deliveries} signed deliveries at ${plan.aSecond} a second, every tenth twice, over ${plan.kills} kills: every 202 has one job, and there is no other`, async () => {
  const story = await deliveryStorm(plan);
  const wrong = judgeDeliveries(story);
  for (const line of tableOf(story, wrong)) process.stdout.write(`${line}\n`);
  expect(wrong).toEqual([]);
  expect(story.sendings).toHaveLength(plan.deliveries + Math.ceil(plan.deliveries / 10));
  expect(story.jobs).toHaveLength(plan.deliveries);
}, 900_000);

function tableOf({ sendings, jobs, deliveries, took }: DeliveryStory, wrong: string[]): string[] {
  const waits = sendings.map(({ waited }) => waited).sort((a, b) => a - b);
  const part = (of: number) => `${waits[Math.floor(of * (waits.length - 1))]} ms`;
  const again = sendings.filter(({ tries }) => tries > 1).length;
  const rows = {
    sent: `${sendings.length} in ${Math.round(took / 1000)} s: ${Math.round((sendings.length * 1000) / took)} a second`,
    answered: `p50 ${part(0.5)} · p90 ${part(0.9)} · p99 ${part(0.99)} · longest ${part(1)}`,
    kills: `${plan.kills}: ${again} sendings needed more than one try`,
    records: `${jobs.length} jobs, ${deliveries.length} deliveries`,
    wrong: String(wrong.length),
  };
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(10)} ${text}`);
}
