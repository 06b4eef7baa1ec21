import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Delivery, type Job, StateManager } from "@herdctl/core";
import { fleetProgram } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";
import { freePort, fromGithub, githubSchedule, secret } from "./hook-stage.ts";

export interface StormPlan {
  deliveries: number;
  aSecond: number;
  kills: number;
}

/** One sending, from when it was due to when it was acknowledged. */
interface Sending {
  id: string;
  job: string;
  waited: number;
  tries: number;
}

export interface DeliveryStory {
  sendings: Sending[];
  jobs: Job[];
  deliveries: Delivery[];
  took: number;
}

/** Signed deliveries come steadily, every tenth of them twice, while the fleet is killed. Its agent is paused. */
export async function deliveryStorm({
  deliveries,
  aSecond,
  kills,
}: StormPlan): Promise<DeliveryStory> {
  const on = await stage();
  const port = await freePort();
  const folder = folderWith({ "herdctl.yaml": fleetYaml(port), ".env": `SECRET=${secret}\n` });
  const file = join(folder, "herdctl.yaml");
  let fleet = await fleetProgram(on, file);
  await fleet.control.pauseAgent("coder");

  const sender = new Sender(port);
  const began = Date.now();
  const sendings: Sending[] = [];
  const all = idsOf(deliveries).map(async (id, index) => {
    const due = began + (index * 1000) / aSecond;
    await sleep(due - Date.now());
    const { job, tries } = await sender.untilTaken(id);
    sendings.push({ id, job, tries, waited: Date.now() - due });
  });
  const failed = Promise.all(all);
  failed.catch(() => undefined);
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = (kill * all.length) / (kills + 1);
    while (sendings.length < enough) await Promise.race([sleep(10), failed]);
    await fleet.kill();
    fleet = await fleetProgram(on, file);
  }
  await failed;
  const took = Date.now() - began;
  sender.close();
  await fleet.stop();
  return { sendings, took, ...(await recordsIn(folder)) };
}

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

/** In the order of their sending; a second sending comes soon after the first, or beside it. */
function idsOf(deliveries: number): string[] {
  return Array.from({ length: deliveries }, (_, index) => {
    const id = `delivery-${index}`;
    return index % 10 === 0 ? [id, id] : [id];
  }).flat();
}

/** As GitHub would, had it more patience: it gives up on nothing but a refusal. */
class Sender {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 100 });

  constructor(private readonly port: number) {}

  async untilTaken(id: string): Promise<{ job: string; tries: number }> {
    const body = JSON.stringify({ action: "opened", issue: { title: `the issue of ${id}` } });
    for (let tries = 1; ; tries += 1) {
      const answer = await this.post(body, fromGithub(body, { id })).catch(() => undefined);
      if (answer?.status === 202) return { job: String(JSON.parse(answer.text).job), tries };
      if (answer && answer.status !== 503) throw new Error(`${answer.status}: ${answer.text}`);
      await sleep(200);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private post(body: string, signed: Record<string, string>) {
    const { agent, port } = this;
    const headers = { ...signed, "content-type": "application/json" };
    const where = { agent, port, host: "127.0.0.1", path: "/hooks/coder/issues" };
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request({ ...where, method: "POST", headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece) => {
          text += piece;
        });
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }
}

async function recordsIn(folder: string) {
  const state = await new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
  const jobs: Job[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await state.jobs.list({ limit: 1000, cursor });
    jobs.push(...page.jobs);
    if (page.next === null) break;
    cursor = page.next;
  }
  const { deliveries } = await state.deliveries.list({ limit: 100_000 });
  await state.close();
  return { jobs, deliveries };
}
