import type { DeliveryLoadRun } from "./delivery-load.ts";

/**
 * Every acknowledged delivery has one job, a repeated one the same job, and there are no others.
 */
export function checkDeliveries({ sendings, jobs, deliveries }: DeliveryLoadRun): string[] {
  const violations: string[] = [];
  const keys = new Map(jobs.map(({ id, idempotency_key }) => [id, idempotency_key]));
  const recorded = new Map(deliveries.map(({ dedup_key: key, job_id }) => [key, job_id]));
  const jobOf = new Map<string, string>();
  for (const { id, job } of sendings) {
    const key = `webhook:coder/issues:${id}`;
    const first = jobOf.get(id) ?? job;
    jobOf.set(id, first);
    if (keys.get(job) !== key) violations.push(`${id} was given ${job}, which is ${keys.get(job)}`);
    if (job !== first) violations.push(`${id} was given ${first} and ${job}`);
    if (recorded.get(key) !== job) violations.push(`${id} is recorded with ${recorded.get(key)}`);
  }
  const wanted = new Set(jobOf.values());
  for (const { id } of jobs) if (!wanted.has(id)) violations.push(`${id} was never acknowledged`);
  if (jobs.length !== jobOf.size)
    violations.push(`${jobs.length} jobs for ${jobOf.size} deliveries`);
  if (deliveries.length !== jobOf.size)
    violations.push(`${deliveries.length} records of deliveries`);
  return violations;
}
