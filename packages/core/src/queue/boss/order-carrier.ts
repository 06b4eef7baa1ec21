import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import type { Job, PgBoss } from "pg-boss";
import { UserError } from "../../errors/user-error.ts";
import { foundOutSoon } from "../../state/postgres/connections.ts";
import { deadOrders, type NodeOrder, nodeOrderSchema, orderIdOf, ordersOf } from "./orders.ts";

export interface CarrierOptions {
  /** With the password. */
  connectionString: string;
  /** Of the node whose orders are carried out here. */
  node: string;
  trouble(message: string, cause?: unknown): void;
}

export interface OrderHandlers {
  /** What it throws brings the order again, and after some times to `dead`. */
  carryOut(order: NodeOrder): Promise<void>;
  dead(order: NodeOrder): Promise<void>;
}

const schema = "herdctl_boss";
/** Enough for a node that restarts; whoever stays away loses what it was given anyway. */
const queueTerms = {
  retryLimit: 5,
  retryDelay: 1,
  expireInSeconds: 60,
  retentionSeconds: 3_600,
  deleteAfterSeconds: 600,
  notify: true,
};
const workTerms = {
  batchSize: 50,
  burstWhenBatchFull: true,
  perJobResults: true,
  pollingIntervalSeconds: 0.5,
  notifyPollingIntervalSeconds: 1,
} as const;

/** A line that broke in silence is found out by these; pg-boss hands them on to `pg`. */
const reach = {
  connectionTimeoutMillis: 3_000,
  query_timeout: 10_000,
  keepAlive: true,
  onConnect: async (client: ClientBase) => void (await client.query(foundOutSoon)),
};
const politeStop = 2_000;
/** Of one outage there are as many errors as there are looks into the queue. */
const quietFor = 60_000;

/** Brings orders from node to node, by pg-boss: kept until carried out, tried again, never lost. */
export class OrderCarrier {
  private boss: PgBoss | undefined;
  private readonly known = new Set<string>();
  private complainedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: CarrierOptions) {}

  async start(handlers: OrderHandlers): Promise<void> {
    // Loaded here, so that a fleet without other nodes does not pay for it.
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss({
      ...reach,
      connectionString: this.options.connectionString,
      application_name: "herdctl orders",
      schema,
      max: 3,
      schedule: false,
      useListenNotify: true,
    });
    boss.on("error", (error) => this.complain(error));
    try {
      await boss.start();
      this.boss = boss;
      await this.ensureQueue(ordersOf(this.options.node));
      await boss.work(deadOrders, workTerms, (orders) => settled(orders, handlers.dead));
      await boss.work(ordersOf(this.options.node), workTerms, (orders) =>
        settled(orders, (order) => handlers.carryOut(order)),
      );
    } catch (error) {
      this.boss = undefined;
      await boss.stop({ graceful: false }).catch(() => undefined);
      throw new UserError("state_unavailable", "orders between nodes cannot be set up", {
        cause: error,
      });
    }
  }

  /** True when it is on its way, now or since before. */
  async send(node: string, order: NodeOrder): Promise<boolean> {
    const { boss } = this;
    if (!boss) return false;
    try {
      await this.ensureQueue(ordersOf(node));
      await boss.send(ordersOf(node), order, { id: orderIdOf(order) });
      return true;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }

  /** What is being carried out is waited for, but not for long: it comes again. */
  async stop(): Promise<void> {
    const { boss } = this;
    if (!boss) return;
    this.boss = undefined;
    const names = [ordersOf(this.options.node), deadOrders];
    const over = Promise.all(names.map((name) => boss.offWork(name, { wait: true })));
    await soon(over);
    await soon(boss.stop({ graceful: false }));
  }

  private async ensureQueue(name: string): Promise<void> {
    if (this.known.has(name) || !this.boss) return;
    if (!this.known.has(deadOrders)) {
      await this.boss.createQueue(deadOrders, queueTerms);
      this.known.add(deadOrders);
    }
    await this.boss.createQueue(name, { ...queueTerms, deadLetter: deadOrders });
    this.known.add(name);
  }

  private complain(error: unknown): void {
    const now = performance.now();
    if (!this.boss || now - this.complainedAt < quietFor) return;
    this.complainedAt = now;
    this.options.trouble("orders between nodes do not get through; they follow later", error);
  }
}

/** Each for itself: one that fails does not bring back those beside it. */
async function settled(orders: Job<unknown>[], act: (order: NodeOrder) => Promise<void>) {
  const results = [];
  for (const { id, data } of orders) {
    const order = nodeOrderSchema.safeParse(data);
    // One of a later version says nothing to this one.
    if (!order.success) results.push({ id, status: "completed" as const });
    else
      results.push(
        await act(order.data).then(
          () => ({ id, status: "completed" as const }),
          (error: unknown) => ({ id, status: "failed" as const, output: { message: `${error}` } }),
        ),
      );
  }
  return results;
}

async function soon(work: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  const late = delay(politeStop, undefined, { signal: waited.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), late]);
  waited.abort();
}
