import { join } from "node:path";
import { type Job, StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetProgram } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";
import { freePort, fromGithub, githubSchedule, secret, send } from "./hook-stage.ts";

/** `HERDCTL_DELIVERIES=10000` for the long form. */
const deliveries = Number(process.env.HERDCTL_DELIVERIES ?? 700);
const aSecond = 200;
const senders = 40;
const kills = 3;

interface Sent {
  delivery: string;
  job: string;
}

test(`${deliveries} signed deliveries, every tenth twice, over ${kills} kills: every 202 has one job, and there is no other`, async () => {
  const on = await stage();
  const port = await freePort();
  const folder = folderWith({ "herdctl.yaml": fleetYaml(port), ".env": `SECRET=${secret}\n` });
  const file = join(folder, "herdctl.yaml");
  let fleet = await fleetProgram(on, file);
  await fleet.control.pauseAgent("coder");

  const sends = plan();
  const acknowledged: Sent[] = [];
  const began = Date.now();
  const waiting = [...sends.entries()];
  const all = Array.from({ length: senders }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, delivery] = next;
      await sleep(Math.max(0, began + (index * 1000) / aSecond - Date.now()));
      acknowledged.push({ delivery, job: await untilTaken(port, delivery) });
    }
  });
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = (kill * sends.length) / (kills + 1);
    while (acknowledged.length < enough) await sleep(10);
    await fleet.kill();
    fleet = await fleetProgram(on, file);
  }
  await Promise.all(all);
  await fleet.stop();

  const jobs = await jobsIn(folder);
  const jobOf = new Map(jobs.map((job) => [job.id, job]));
  expect(acknowledged).toHaveLength(sends.length);
  for (const { delivery, job } of acknowledged)
    expect(jobOf.get(job)?.idempotency_key).toBe(`webhook:coder/issues:${delivery}`);
  expect(jobs).toHaveLength(deliveries);
  expect(new Set(acknowledged.map(({ job }) => job)).size).toBe(deliveries);
}, 600_000);

function fleetYaml(port: number): string {
  const schedule = githubSchedule.replace("type: webhook,", "type: webhook, rate_limit: 100000,");
  return `version: 1
fleet: { name: test, retention: { deliveries: 20000 } }
server: { port: ${port} }
agents:
  - name: coder
    runtime: cli
    schedules:
      ${schedule}
`;
}

/** Ids in the order of their sending; a second sending comes soon after the first, or beside it. */
function plan(): string[] {
  return Array.from({ length: deliveries }, (_, index) => {
    const id = `delivery-${index}`;
    return index % 10 === 0 ? [id, id] : [id];
  }).flat();
}

/** As a sender does who gives up on nothing but a refusal. */
async function untilTaken(port: number, id: string): Promise<string> {
  const body = JSON.stringify({ action: "opened", issue: { title: `the issue of ${id}` } });
  for (;;) {
    const url = `http://127.0.0.1:${port}/hooks/coder/issues`;
    const answer = await send(url, body, fromGithub(body, { id })).catch(() => undefined);
    if (answer?.status === 202) return String(answer.json.job);
    if (answer !== undefined && answer.status !== 503) throw new Error(`status ${answer.status}`);
    await sleep(200);
  }
}

async function jobsIn(folder: string): Promise<Job[]> {
  const state = await new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
  const jobs: Job[] = [];
  let cursor: string | undefined;
  do {
    const page = await state.jobs.list({ limit: 1000, cursor });
    jobs.push(...page.jobs);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  await state.close();
  return jobs;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
