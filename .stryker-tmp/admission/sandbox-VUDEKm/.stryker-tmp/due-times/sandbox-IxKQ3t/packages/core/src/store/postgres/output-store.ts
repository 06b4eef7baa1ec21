import type { JobFileStore, OutputStore } from "../contracts/shared-store.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { execute, queryRow, queryRows, type SqlRow } from "../sql/sql-program.ts";

/** Logs of jobs in pieces, each with its byte offset in the log. */
export class PostgresOutputStore implements OutputStore {
  constructor(private readonly database: SqlDatabase) {}

  async append(jobId: string, from: number, text: string): Promise<void> {
    // A job that was deleted meanwhile has no log.
    const sql = `INSERT INTO herdctl.outputs (job_id, "from", text, bytes)
                 SELECT id, CAST(? AS bigint), ?, CAST(? AS integer) FROM herdctl.jobs WHERE id = ?
                 ON CONFLICT (job_id, "from") DO NOTHING`;
    const bytes = Buffer.byteLength(text);
    await this.database.groupCommit(() => execute(sql, from, text, bytes, jobId));
  }

  async read(
    jobId: string,
    from: number,
    maxPieces?: number,
  ): Promise<{ from: number; text: string }[]> {
    const limit = maxPieces === undefined ? "" : `LIMIT ${Math.trunc(maxPieces)}`;
    const sql = `SELECT "from", text FROM herdctl.outputs
                 WHERE job_id = ?1
                   AND "from" >= coalesce(
                     (SELECT max("from") FROM herdctl.outputs
                      WHERE job_id = ?1 AND "from" <= CAST(?2 AS bigint)), 0)
                   AND "from" + bytes > CAST(?2 AS bigint)
                 ORDER BY "from" ${limit}`;
    const rows = await this.database.read(() => queryRows(sql, jobId, from));
    return rows.map(readPiece).map((piece) => trimBefore(piece, from));
  }

  async size(jobId: string): Promise<number> {
    const sql = `SELECT "from" + bytes AS size FROM herdctl.outputs
                 WHERE job_id = ? ORDER BY "from" DESC LIMIT 1`;
    const row = await this.database.read(() => queryRow(sql, jobId));
    return Number(row?.size ?? 0);
  }
}

/** The driver returns large integers as text. */
function readPiece(row: SqlRow): { from: number; text: string } {
  return { from: Number(row.from), text: String(row.text) };
}

/** If a read starts inside a piece, returns the rest of the piece. */
function trimBefore(piece: { from: number; text: string }, from: number) {
  if (piece.from >= from) return piece;
  const rest = Buffer.from(piece.text).subarray(from - piece.from);
  return { from, text: rest.toString("utf8") };
}

export class PostgresJobFileStore implements JobFileStore {
  constructor(private readonly database: SqlDatabase) {}

  async put(jobId: string, name: string, content: Uint8Array): Promise<void> {
    // A job that was deleted meanwhile keeps no files.
    const sql = `INSERT INTO herdctl.kept_files (job_id, name, content)
                 SELECT id, ?, ? FROM herdctl.jobs WHERE id = ?
                 ON CONFLICT (job_id, name) DO UPDATE SET content = excluded.content`;
    const text = Buffer.from(content).toString("base64");
    await this.database.transaction(() => execute(sql, name, text, jobId));
  }

  async get(jobId: string, name: string): Promise<Uint8Array | undefined> {
    const sql = "SELECT content FROM herdctl.kept_files WHERE job_id = ? AND name = ?";
    const row = await this.database.read(() => queryRow(sql, jobId, name));
    return row && Buffer.from(String(row.content), "base64");
  }
}
