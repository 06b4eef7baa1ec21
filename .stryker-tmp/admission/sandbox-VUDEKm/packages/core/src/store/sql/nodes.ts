import type { Node } from "@herdctl/protocol";
import { nodeSchema } from "@herdctl/protocol/schemas";
import { execute, queryRow, queryRows, type SqlProgram, type SqlRow } from "./sql-program.ts";

/**
 * The leader is the live node that joined first. Only `markLost` declares nodes lost, after their
 * lease has expired, so there are never two leaders.
 */
export function* readNodes(): SqlProgram<Node[]> {
  const sql = `SELECT id, name, role, labels, capacity, version, config_hash, address, epoch,
                 status, ${isoTimestampSql("joined_at")} AS joined_at, ${isoTimestampSql("heartbeat_at")} AS heartbeat_at,
                 running, clock_skew_ms, known_peers,
                 coalesce(id = (SELECT id FROM herdctl.nodes
                                WHERE status = 'live' AND role IN ('all', 'control')
                                ORDER BY joined_at, id LIMIT 1), false) AS leader
               FROM herdctl.nodes ORDER BY joined_at, id`;
  return (yield* queryRows(sql)).map(readNode);
}

export function* readSetting(name: string): SqlProgram<string | undefined> {
  const row = yield* queryRow("SELECT value FROM herdctl.settings WHERE name = ?", name);
  return row && String(row.value);
}

export function* writeSetting(name: string, value: string): SqlProgram<void> {
  const sql = `INSERT INTO herdctl.settings (name, value) VALUES (?, ?)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  yield* execute(sql, name, value);
}

function readNode(row: SqlRow): Node {
  const [labels, known_peers] = [row.labels, row.known_peers].map((text) =>
    JSON.parse(String(text)),
  );
  return nodeSchema.parse({ ...row, labels, known_peers, leader: Boolean(row.leader) });
}

/** The ISO format of all other times, independent of the driver. */
export function isoTimestampSql(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
