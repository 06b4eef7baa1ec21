import { UserError } from "../../errors/user-error.ts";
import { type NewNode, type Node, nodeSchema } from "../node.ts";
import { lostAfter } from "../node-terms.ts";
import type { Beat, Joined, NodeStore } from "../shared.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { all, one, type Row, run, type Steps } from "../sql/steps.ts";

/** By whom every write is from now on. */
export interface Writer {
  id: string;
  epoch: number;
}

/** On a line that died unnoticed a beat must fail early: the lease runs from when it was sent. */
const beatWithin = 2_000;

export interface NodeDoor {
  database: SqlDatabase;
  /**
   * A transaction without the fence and without waiting for the one writer: a node must be able to
   * show that it lives while others write, and to come back once it has been fenced.
   */
  unfenced<T>(work: () => Steps<T>, within?: number): Promise<T>;
  /** Puts the fence around all that this process writes. */
  actAs(writer: Writer): void;
  clock?: () => Date;
}

/** Who takes part. What is decided by time is decided by the clock of the database, here. */
export class PostgresNodeStore implements NodeStore {
  private writer: Writer | undefined;
  private skew: number | null = null;
  private readonly clock: () => Date;

  constructor(private readonly door: NodeDoor) {
    this.clock = door.clock ?? (() => new Date());
  }

  async join(node: NewNode, secret: string): Promise<Joined> {
    const joined = await this.door.unfenced(() => joinSteps(node, secret));
    if (joined.kind === "joined") {
      this.writer = { id: node.id, epoch: joined.node.epoch };
      this.skew = null;
      this.door.actAs(this.writer);
    }
    return joined;
  }

  async beat(beat: Beat): Promise<{ nodes: Node[]; configPrint: string }> {
    const writer = this.joined;
    const { skew } = this;
    const { at, ...answer } = await this.door.unfenced(
      () => beatSteps(writer, beat, skew),
      beatWithin,
    );
    const back = this.clock().getTime();
    const halfway = beat.sentAt.getTime() + (back - beat.sentAt.getTime()) / 2;
    this.skew = Math.round(halfway - Date.parse(at));
    return answer;
  }

  /**
   * What an earlier process of the node had begun may not be settled yet, where this one came to
   * nothing. Nobody looks after one that has left: then it is lost, as soon as its time is over.
   */
  async leave(): Promise<void> {
    const { writer } = this;
    if (!writer) return;
    const sql = `UPDATE herdctl.nodes SET status = 'left', running = 0
                 WHERE id = ?1 AND epoch = ?2 AND status = 'live' AND NOT EXISTS (
                   SELECT 1 FROM herdctl.jobs JOIN herdctl.attempts ON attempts.job_id = jobs.id
                   WHERE jobs.status IN ('pending', 'running', 'waiting') AND jobs.node = ?1
                     AND attempts.finished_at IS NULL)`;
    await this.door.unfenced(() => run(sql, writer.id, writer.epoch));
  }

  list(): Promise<Node[]> {
    return this.door.database.read(readNodes);
  }

  /** Waits for the one writer: what the lost node was about to write is written, or never will be. */
  async lose(id: string, epoch: number): Promise<boolean> {
    const sql = `UPDATE herdctl.nodes SET status = 'lost', running = 0
                 WHERE id = ? AND epoch = ? AND status = 'live'
                   AND heartbeat_at < clock_timestamp() - CAST(? AS integer) * interval '1 ms'`;
    return (await this.door.database.transaction(() => run(sql, id, epoch, lostAfter))) === 1;
  }

  configPrint(): Promise<string | undefined> {
    return this.door.database.read(() => setting("config_print"));
  }

  async rollOut(configPrint: string): Promise<void> {
    const writer = this.joined;
    await this.door.database.transaction(function* () {
      yield* setSetting("config_print", configPrint);
      const sql = "UPDATE herdctl.nodes SET config_print = ? WHERE id = ?";
      yield* run(sql, configPrint, writer.id);
    });
  }

  private get joined(): Writer {
    if (this.writer) return this.writer;
    throw new Error("this node has not joined");
  }
}

/** Waits for the one writer, so that nothing of an earlier epoch is written after it. */
function* joinSteps(node: NewNode, secret: string): Steps<Joined> {
  yield* all("SELECT herdctl.begin_write(NULL, NULL)");
  const others = yield* liveOthers(node.id);
  const print = yield* setting("config_print");
  if (others.length > 0 && print !== undefined && print !== node.config_print)
    return { kind: "other_config", print, nodes: others };
  yield* setSetting("config_print", node.config_print);
  const before = yield* one("SELECT status FROM herdctl.nodes WHERE id = ?", node.id);
  yield* writeNode(node);
  yield* run(
    "INSERT INTO herdctl.settings (name, value) VALUES ('peer_secret', ?) ON CONFLICT (name) DO NOTHING",
    secret,
  );
  const joined = (yield* readNodes()).find(({ id }) => id === node.id);
  if (!joined) throw new Error(`node ${node.id} is not where it was written`);
  const shared = (yield* setting("peer_secret")) ?? secret;
  return { kind: "joined", node: joined, unbroken: before?.status === "live", secret: shared };
}

/** Names of nodes that beat: one that died lately has no say in what the configuration is. */
function* liveOthers(id: string): Steps<string[]> {
  const sql = `SELECT name FROM herdctl.nodes
               WHERE id <> ? AND status = 'live'
                 AND heartbeat_at > clock_timestamp() - CAST(? AS integer) * interval '1 ms'
               ORDER BY joined_at, id`;
  return (yield* all(sql, id, lostAfter)).map((row) => String(row.name));
}

function* writeNode(node: NewNode): Steps<void> {
  const { id, name, role, labels, capacity, version, config_print, address } = node;
  const sql = `INSERT INTO herdctl.nodes AS old
                 (id, name, role, labels, capacity, version, config_print, address,
                  epoch, status, joined_at, heartbeat_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 'live', clock_timestamp(), clock_timestamp())
               ON CONFLICT (id) DO UPDATE SET
                 name = excluded.name, role = excluded.role, labels = excluded.labels,
                 capacity = excluded.capacity, version = excluded.version,
                 config_print = excluded.config_print, address = excluded.address,
                 epoch = old.epoch + 1, status = 'live', joined_at = excluded.joined_at,
                 heartbeat_at = excluded.heartbeat_at, running = 0, skew_ms = NULL,
                 knows = '[]'`;
  const words = JSON.stringify(labels);
  yield* run(sql, id, name, role, words, capacity, version, config_print, address);
}

/** One statement renews the lease, so that a beat never waits for those who write jobs. */
function* beatSteps(
  { id, epoch }: Writer,
  { running, configPrint, knows }: Beat,
  skew: number | null,
): Steps<{ nodes: Node[]; configPrint: string; at: string }> {
  const sql = `UPDATE herdctl.nodes
               SET heartbeat_at = clock_timestamp(), running = ?, config_print = ?,
                   skew_ms = coalesce(CAST(? AS double precision), skew_ms), knows = ?
               WHERE id = ? AND epoch = ? AND status = 'live'
               RETURNING ${iso("clock_timestamp()")} AS at`;
  const renewed = yield* one(sql, running, configPrint, skew, JSON.stringify(knows), id, epoch);
  if (!renewed) throw new UserError("node_fenced", "the lease of this node has ended");
  const nodes = yield* readNodes();
  const print = (yield* setting("config_print")) ?? configPrint;
  return { nodes, configPrint: print, at: String(renewed.at) };
}

/**
 * The lead is the first to have joined of those that count as live. Who counts as lost is said in
 * one place, `lose`, after the lease: so there are never two.
 */
export function* readNodes(): Steps<Node[]> {
  const sql = `SELECT id, name, role, labels, capacity, version, config_print, address, epoch,
                 status, ${iso("joined_at")} AS joined_at, ${iso("heartbeat_at")} AS heartbeat_at,
                 running, skew_ms, knows,
                 coalesce(id = (SELECT id FROM herdctl.nodes
                                WHERE status = 'live' AND role IN ('all', 'control')
                                ORDER BY joined_at, id LIMIT 1), false) AS lead
               FROM herdctl.nodes ORDER BY joined_at, id`;
  return (yield* all(sql)).map(readNode);
}

function readNode(row: Row): Node {
  const [labels, knows] = [row.labels, row.knows].map((text) => JSON.parse(String(text)));
  return nodeSchema.parse({ ...row, labels, knows, lead: Boolean(row.lead) });
}

export function* setting(name: string): Steps<string | undefined> {
  const row = yield* one("SELECT value FROM herdctl.settings WHERE name = ?", name);
  return row && String(row.value);
}

export function* setSetting(name: string, value: string): Steps<void> {
  const sql = `INSERT INTO herdctl.settings (name, value) VALUES (?, ?)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  yield* run(sql, name, value);
}

/** As everybody else writes times, whatever the driver makes of them. */
function iso(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
