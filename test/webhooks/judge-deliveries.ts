import type { DeliveryStory } from "./delivery-storm.ts";

/** Every acknowledged sending has one job, a second sending the job of the first, and there is no other. */
export function judgeDeliveries({ sendings, jobs, deliveries }: DeliveryStory): string[] {
  const wrong: string[] = [];
  const keys = new Map(jobs.map(({ id, idempotency_key }) => [id, idempotency_key]));
  const recorded = new Map(deliveries.map(({ key, job_id }) => [key, job_id]));
  const jobOf = new Map<string, string>();
  for (const { id, job } of sendings) {
    const key = `webhook:coder/issues:${id}`;
    const first = jobOf.get(id) ?? job;
    jobOf.set(id, first);
    if (keys.get(job) !== key) wrong.push(`${id} was given ${job}, which is ${keys.get(job)}`);
    if (job !== first) wrong.push(`${id} was given ${first} and ${job}`);
    if (recorded.get(key) !== job) wrong.push(`${id} is recorded with ${recorded.get(key)}`);
  }
  const wanted = new Set(jobOf.values());
  for (const { id } of jobs) if (!wanted.has(id)) wrong.push(`nobody was told of ${id}`);
  if (jobs.length !== jobOf.size) wrong.push(`${jobs.length} jobs for ${jobOf.size} deliveries`);
  if (deliveries.length !== jobOf.size) wrong.push(`${deliveries.length} records of deliveries`);
  return wrong;
}
