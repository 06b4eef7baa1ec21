import { expect, test } from "vitest";
import { checkDeliveries } from "../webhooks/check-deliveries.ts";
import { type DeliveryLoadRun, runDeliveryLoad } from "../webhooks/delivery-load.ts";

const plan = {
  deliveries: Number(process.env.HERDCTL_LONG_DELIVERIES ?? 10_000),
  deliveriesPerSecond: 200,
  kills: 3,
};

test(`creates one job for every 202 and no other: ${plan.deliveries} signed deliveries at ${plan.deliveriesPerSecond} a second, every tenth sent twice, ${plan.kills} kills`, async () => {
  const run = await runDeliveryLoad(plan);
  const wrong = checkDeliveries(run);
  for (const line of renderTable(run, wrong)) process.stdout.write(`${line}\n`);
  expect(wrong).toEqual([]);
  expect(run.sendings).toHaveLength(plan.deliveries + Math.ceil(plan.deliveries / 10));
  expect(run.jobs).toHaveLength(plan.deliveries);
}, 900_000);

function renderTable(
  { sendings, jobs, deliveries, durationMs }: DeliveryLoadRun,
  wrong: string[],
): string[] {
  const latencies = sendings.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  const percentile = (of: number) => `${latencies[Math.floor(of * (latencies.length - 1))]} ms`;
  const again = sendings.filter(({ attempts }) => attempts > 1).length;
  const rows = {
    sent: `${sendings.length} in ${Math.round(durationMs / 1000)} s: ${Math.round((sendings.length * 1000) / durationMs)} a second`,
    answered: `p50 ${percentile(0.5)} · p90 ${percentile(0.9)} · p99 ${percentile(0.99)} · longest ${percentile(1)}`,
    kills: `${plan.kills}: ${again} sendings needed more than one try`,
    records: `${jobs.length} jobs, ${deliveries.length} deliveries`,
    wrong: String(wrong.length),
  };
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(10)} ${text}`);
}
