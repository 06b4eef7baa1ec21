import { type NewNode, type Node, UserError } from "@herdctl/protocol";
import type { Heartbeat, JoinResult, NodeStore } from "../contracts/shared-store.ts";
import { lostAfterMs } from "../model/lease-terms.ts";
import { isoTimestampSql, readNodes, readSetting, writeSetting } from "../sql/nodes.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { execute, queryRow, queryRows, type SqlProgram } from "../sql/sql-program.ts";

/** The node that all writes belong to. */
export interface NodeWriter {
  id: string;
  epoch: number;
}

/**
 * On a dead connection a heartbeat must fail early, because the lease counts from when it was sent.
 */
const heartbeatTimeoutMs = 2_000;

export interface NodeStoreOptions {
  database: SqlDatabase;
  /**
   * A transaction without the fence and without waiting for the writer lock: a node must be able to
   * send heartbeats while others write, and to join again after it was fenced.
   */
  runUnfenced<T>(work: () => SqlProgram<T>, timeoutMs?: number): Promise<T>;
  /** Fences all writes of this process. */
  setWriter(writer: NodeWriter): void;
  clock?: () => Date;
}

/** The nodes of a shared store. All decisions about time use the clock of the database. */
export class PostgresNodeStore implements NodeStore {
  private writer: NodeWriter | undefined;
  private clockSkewMs: number | null = null;
  private readonly clock: () => Date;

  constructor(private readonly options: NodeStoreOptions) {
    this.clock = options.clock ?? (() => new Date());
  }

  async join(node: NewNode, secret: string): Promise<JoinResult> {
    const joined = await this.options.runUnfenced(() => joinProgram(node, secret));
    if (joined.kind === "joined") {
      this.writer = { id: node.id, epoch: joined.node.epoch };
      this.clockSkewMs = null;
      this.options.setWriter(this.writer);
    }
    return joined;
  }

  async heartbeat(heartbeat: Heartbeat): Promise<{ nodes: Node[]; configHash: string }> {
    const writer = this.joined;
    const { clockSkewMs } = this;
    const { at, ...answer } = await this.options.runUnfenced(
      () => heartbeatProgram(writer, heartbeat, clockSkewMs),
      heartbeatTimeoutMs,
    );
    const receivedAt = this.clock().getTime();
    const halfway = heartbeat.sentAt.getTime() + (receivedAt - heartbeat.sentAt.getTime()) / 2;
    this.clockSkewMs = Math.round(halfway - Date.parse(at));
    return answer;
  }

  /**
   * A node with an open attempt of an earlier process does not leave, because no node would settle
   * that attempt. It is declared lost instead when its lease expires.
   */
  async leave(): Promise<void> {
    const { writer } = this;
    if (!writer) return;
    const sql = `UPDATE herdctl.nodes SET status = 'left', running = 0
                 WHERE id = ?1 AND epoch = ?2 AND status = 'live' AND NOT EXISTS (
                   SELECT 1 FROM herdctl.jobs JOIN herdctl.attempts ON attempts.job_id = jobs.id
                   WHERE jobs.status IN ('pending', 'running', 'waiting') AND jobs.node = ?1
                     AND attempts.finished_at IS NULL)`;
    await this.options.runUnfenced(() => execute(sql, writer.id, writer.epoch));
  }

  list(): Promise<Node[]> {
    return this.options.database.read(readNodes);
  }

  /**
   * Waits for the writer lock, so that pending writes of the lost node are done before, or refused.
   */
  async markLost(id: string, epoch: number): Promise<boolean> {
    const sql = `UPDATE herdctl.nodes SET status = 'lost', running = 0
                 WHERE id = ? AND epoch = ? AND status = 'live'
                   AND heartbeat_at < clock_timestamp() - CAST(? AS integer) * interval '1 ms'`;
    return (
      (await this.options.database.transaction(() => execute(sql, id, epoch, lostAfterMs))) === 1
    );
  }

  configHash(): Promise<string | undefined> {
    return this.options.database.read(() => readSetting("config_hash"));
  }

  async setConfigHash(configHash: string): Promise<void> {
    const writer = this.joined;
    await this.options.database.transaction(function* () {
      yield* writeSetting("config_hash", configHash);
      const sql = "UPDATE herdctl.nodes SET config_hash = ? WHERE id = ?";
      yield* execute(sql, configHash, writer.id);
    });
  }

  private get joined(): NodeWriter {
    if (this.writer) return this.writer;
    throw new Error("this node has not joined");
  }
}

/** Waits for the writer lock, so that nothing of an earlier epoch is written after it. */
function* joinProgram(node: NewNode, secret: string): SqlProgram<JoinResult> {
  yield* queryRows("SELECT herdctl.begin_write(NULL, NULL)");
  const otherNodes = yield* otherLiveNodes(node.id);
  const storedHash = yield* readSetting("config_hash");
  if (otherNodes.length > 0 && storedHash !== undefined && storedHash !== node.config_hash)
    return { kind: "other_config", configHash: storedHash, nodes: otherNodes };
  yield* writeSetting("config_hash", node.config_hash);
  const before = yield* queryRow("SELECT status FROM herdctl.nodes WHERE id = ?", node.id);
  yield* writeNode(node);
  yield* execute(
    "INSERT INTO herdctl.settings (name, value) VALUES ('peer_secret', ?) ON CONFLICT (name) DO NOTHING",
    secret,
  );
  const joined = (yield* readNodes()).find(({ id }) => id === node.id);
  if (!joined) throw new Error(`node ${node.id} was not found after it was written`);
  const shared = (yield* readSetting("peer_secret")) ?? secret;
  return { kind: "joined", node: joined, wasStillLive: before?.status === "live", secret: shared };
}

/**
 * Names of nodes with a recent heartbeat: a node that died recently does not decide about the
 * configuration.
 */
function* otherLiveNodes(id: string): SqlProgram<string[]> {
  const sql = `SELECT name FROM herdctl.nodes
               WHERE id <> ? AND status = 'live'
                 AND heartbeat_at > clock_timestamp() - CAST(? AS integer) * interval '1 ms'
               ORDER BY joined_at, id`;
  return (yield* queryRows(sql, id, lostAfterMs)).map((row) => String(row.name));
}

function* writeNode(node: NewNode): SqlProgram<void> {
  const { id, name, role, labels, capacity, version, config_hash, address } = node;
  const sql = `INSERT INTO herdctl.nodes AS old
                 (id, name, role, labels, capacity, version, config_hash, address,
                  epoch, status, joined_at, heartbeat_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 'live', clock_timestamp(), clock_timestamp())
               ON CONFLICT (id) DO UPDATE SET
                 name = excluded.name, role = excluded.role, labels = excluded.labels,
                 capacity = excluded.capacity, version = excluded.version,
                 config_hash = excluded.config_hash, address = excluded.address,
                 epoch = old.epoch + 1, status = 'live', joined_at = excluded.joined_at,
                 heartbeat_at = excluded.heartbeat_at, running = 0, clock_skew_ms = NULL,
                 known_peers = '[]'`;
  const labelsJson = JSON.stringify(labels);
  yield* execute(sql, id, name, role, labelsJson, capacity, version, config_hash, address);
}

/** A single statement renews the lease, so that a heartbeat never waits for writers. */
function* heartbeatProgram(
  { id, epoch }: NodeWriter,
  { running, configHash, knownPeers }: Heartbeat,
  clockSkewMs: number | null,
): SqlProgram<{ nodes: Node[]; configHash: string; at: string }> {
  const sql = `UPDATE herdctl.nodes
               SET heartbeat_at = clock_timestamp(), running = ?, config_hash = ?,
                   clock_skew_ms = coalesce(CAST(? AS double precision), clock_skew_ms), known_peers = ?
               WHERE id = ? AND epoch = ? AND status = 'live'
               RETURNING ${isoTimestampSql("clock_timestamp()")} AS at`;
  const renewed = yield* queryRow(
    sql,
    running,
    configHash,
    clockSkewMs,
    JSON.stringify(knownPeers),
    id,
    epoch,
  );
  if (!renewed) throw new UserError("node_fenced", "the lease of this node has ended");
  const nodes = yield* readNodes();
  const storedHash = (yield* readSetting("config_hash")) ?? configHash;
  return { nodes, configHash: storedHash, at: String(renewed.at) };
}
