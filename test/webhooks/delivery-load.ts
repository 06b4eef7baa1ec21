import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StateManager } from "@herdctl/core/internal";
import type { Delivery, Job } from "@herdctl/protocol";
import { startFleetProcess } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { freePort, githubHeaders, githubSchedule, secret } from "./webhook-harness.ts";

export interface DeliveryLoadPlan {
  deliveries: number;
  deliveriesPerSecond: number;
  kills: number;
}

/** One delivery, from its due time to its acknowledgement. */
interface SentDelivery {
  id: string;
  job: string;
  latencyMs: number;
  attempts: number;
}

export interface DeliveryLoadRun {
  sendings: SentDelivery[];
  jobs: Job[];
  deliveries: Delivery[];
  durationMs: number;
}

/**
 * Sends signed deliveries steadily, every tenth twice, while the fleet is killed. Its agent is
 * paused.
 */
export async function runDeliveryLoad({
  deliveries,
  deliveriesPerSecond,
  kills,
}: DeliveryLoadPlan): Promise<DeliveryLoadRun> {
  const harness = await startHarness();
  const port = await freePort();
  const folder = tempFolderWith({ "herdctl.yaml": fleetYaml(port), ".env": `SECRET=${secret}\n` });
  const file = join(folder, "herdctl.yaml");
  let fleet = await startFleetProcess(harness, file);
  await fleet.control.agents.pause("coder");

  const sender = new DeliverySender(port);
  const began = Date.now();
  const sendings: SentDelivery[] = [];
  const all = deliveryIds(deliveries).map(async (id, index) => {
    const due = began + (index * 1000) / deliveriesPerSecond;
    await sleep(due - Date.now());
    const { job, attempts } = await sender.sendUntilAccepted(id);
    sendings.push({ id, job, attempts, latencyMs: Date.now() - due });
  });
  const failed = Promise.all(all);
  failed.catch(() => undefined);
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = (kill * all.length) / (kills + 1);
    while (sendings.length < enough) await Promise.race([sleep(10), failed]);
    await fleet.kill();
    fleet = await startFleetProcess(harness, file);
  }
  await failed;
  const durationMs = Date.now() - began;
  sender.close();
  await fleet.stop();
  return { sendings, durationMs, ...(await readRecords(folder)) };
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

/** In sending order; a repetition follows its first delivery shortly or concurrently. */
function deliveryIds(deliveries: number): string[] {
  return Array.from({ length: deliveries }, (_, index) => {
    const id = `delivery-${index}`;
    return index % 10 === 0 ? [id, id] : [id];
  }).flat();
}

/** Retries like a more patient GitHub: it gives up only on a refusal. */
class DeliverySender {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 100 });

  constructor(private readonly port: number) {}

  async sendUntilAccepted(id: string): Promise<{ job: string; attempts: number }> {
    const body = JSON.stringify({ action: "opened", issue: { title: `the issue of ${id}` } });
    for (let attempts = 1; ; attempts += 1) {
      const answer = await this.post(body, githubHeaders(body, { id })).catch(() => undefined);
      if (answer?.status === 202) return { job: String(JSON.parse(answer.text).job), attempts };
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

async function readRecords(folder: string) {
  const state = await new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
  const jobs: Job[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await state.jobs.list({ limit: 1000, cursor });
    jobs.push(...page.jobs);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  const deliveries: Delivery[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await state.deliveries.list({ limit: 1000, cursor });
    deliveries.push(...page.deliveries);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  await state.close();
  return { jobs, deliveries };
}
