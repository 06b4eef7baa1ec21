import { raceTimeout, UserError } from "@herdctl/protocol";
import type { ClientBase } from "pg";
import type { Job, PgBoss } from "pg-boss";
import { keepaliveSettings } from "../store/postgres/connection-pool.ts";
import {
  commandIdOf,
  commandQueueName,
  deadLetterQueueName,
  type NodeCommand,
  nodeCommandSchema,
} from "./node-commands.ts";

export interface NodeCommandBusOptions {
  /** With the password. */
  connectionString: string;
  /** The node whose commands are received here. */
  nodeId: string;
  reportError(message: string, cause?: unknown): void;
}

export interface CommandBusHandlers {
  /**
   * If it throws, the command is repeated, and after some attempts passed to `handleDeadLetter`.
   */
  handleCommand(command: NodeCommand): Promise<void>;
  handleDeadLetter(command: NodeCommand): Promise<void>;
}

const schema = "herdctl_boss";
/** Long enough for a node that restarts. A node that stays away loses its assignments anyway. */
const queueOptions = {
  retryLimit: 5,
  retryDelay: 1,
  expireInSeconds: 60,
  retentionSeconds: 3_600,
  deleteAfterSeconds: 600,
  notify: true,
};
const workerOptions = {
  batchSize: 50,
  burstWhenBatchFull: true,
  perJobResults: true,
  pollingIntervalSeconds: 0.5,
  notifyPollingIntervalSeconds: 1,
} as const;

/** Detects broken connections. pg-boss passes these options on to `pg`. */
const connectionOptions = {
  connectionTimeoutMillis: 3_000,
  query_timeout: 10_000,
  keepAlive: true,
  onConnect: async (client: ClientBase) => void (await client.query(keepaliveSettings)),
};
const gracefulStopMs = 2_000;
/** During an outage, every poll of the queue gives an error. */
const errorReportIntervalMs = 60_000;

/** Sends commands between nodes with pg-boss: they are kept and retried until they are handled. */
export class NodeCommandBus {
  private boss: PgBoss | undefined;
  private readonly createdQueues = new Set<string>();
  private lastErrorReportedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: NodeCommandBusOptions) {}

  async start(handlers: CommandBusHandlers): Promise<void> {
    // Loaded here, so that a fleet without other nodes does not load it.
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss({
      ...connectionOptions,
      connectionString: this.options.connectionString,
      application_name: "herdctl orders",
      schema,
      max: 3,
      schedule: false,
      useListenNotify: true,
    });
    boss.on("error", (error) => this.reportErrorThrottled(error));
    try {
      await boss.start();
      this.boss = boss;
      await this.ensureQueue(commandQueueName(this.options.nodeId));
      await boss.work(deadLetterQueueName, workerOptions, (bossJobs) =>
        processCommands(bossJobs, handlers.handleDeadLetter),
      );
      await boss.work(commandQueueName(this.options.nodeId), workerOptions, (bossJobs) =>
        processCommands(bossJobs, (command) => handlers.handleCommand(command)),
      );
    } catch (error) {
      this.boss = undefined;
      await boss.stop({ graceful: false }).catch(() => undefined);
      throw new UserError("state_unavailable", "cannot set up commands between nodes", {
        cause: error,
      });
    }
  }

  /** True if the command is queued, by this or an earlier call. */
  async send(node: string, command: NodeCommand): Promise<boolean> {
    const { boss } = this;
    if (!boss) return false;
    try {
      await this.ensureQueue(commandQueueName(node));
      await boss.send(commandQueueName(node), command, { id: commandIdOf(command) });
      return true;
    } catch (error) {
      this.reportErrorThrottled(error);
      return false;
    }
  }

  /** Waits briefly for commands in progress; unfinished ones are repeated. */
  async stop(): Promise<void> {
    const { boss } = this;
    if (!boss) return;
    this.boss = undefined;
    const queueNames = [commandQueueName(this.options.nodeId), deadLetterQueueName];
    const workersStopped = Promise.all(
      queueNames.map((name) => boss.offWork(name, { wait: true })),
    );
    await waitBriefly(workersStopped);
    await waitBriefly(boss.stop({ graceful: false }));
  }

  private async ensureQueue(name: string): Promise<void> {
    if (this.createdQueues.has(name) || !this.boss) return;
    if (!this.createdQueues.has(deadLetterQueueName)) {
      await this.boss.createQueue(deadLetterQueueName, queueOptions);
      this.createdQueues.add(deadLetterQueueName);
    }
    await this.boss.createQueue(name, { ...queueOptions, deadLetter: deadLetterQueueName });
    this.createdQueues.add(name);
  }

  private reportErrorThrottled(error: unknown): void {
    const now = performance.now();
    if (!this.boss || now - this.lastErrorReportedAt < errorReportIntervalMs) return;
    this.lastErrorReportedAt = now;
    this.options.reportError(
      "Failed to deliver commands between nodes; they will be retried",
      error,
    );
  }
}

/** Handles each command separately: a failed one does not repeat the others of its batch. */
async function processCommands(
  bossJobs: Job<unknown>[],
  handle: (command: NodeCommand) => Promise<void>,
) {
  const results = [];
  for (const { id, data } of bossJobs) {
    const command = nodeCommandSchema.safeParse(data);
    // Commands of a later version are unknown here and skipped.
    if (!command.success) results.push({ id, status: "completed" as const });
    else
      results.push(
        await handle(command.data).then(
          () => ({ id, status: "completed" as const }),
          (error: unknown) => ({ id, status: "failed" as const, output: { message: `${error}` } }),
        ),
      );
  }
  return results;
}

async function waitBriefly(stopping: Promise<unknown>): Promise<void> {
  await raceTimeout(stopping, gracefulStopMs, () => undefined).catch(() => undefined);
}
