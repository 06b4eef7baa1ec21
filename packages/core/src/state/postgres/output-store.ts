import type { OutputStore } from "../shared.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { all, one, type Row, run } from "../sql/steps.ts";

/** Logs of jobs in pieces, each at the place in bytes where it stands in the log. */
export class PostgresOutputStore implements OutputStore {
  constructor(private readonly database: SqlDatabase) {}

  async append(jobId: string, from: number, text: string): Promise<void> {
    // A job that was pruned meanwhile has no log any more.
    const sql = `INSERT INTO herdctl.outputs (job_id, "from", text, bytes)
                 SELECT id, CAST(? AS bigint), ?, CAST(? AS integer) FROM herdctl.jobs WHERE id = ?
                 ON CONFLICT (job_id, "from") DO NOTHING`;
    const bytes = Buffer.byteLength(text);
    await this.database.together(() => run(sql, from, text, bytes, jobId));
  }

  async read(
    jobId: string,
    from: number,
    most?: number,
  ): Promise<{ from: number; text: string }[]> {
    const limit = most === undefined ? "" : `LIMIT ${Math.trunc(most)}`;
    const sql = `SELECT "from", text FROM herdctl.outputs
                 WHERE job_id = ?1
                   AND "from" >= coalesce(
                     (SELECT max("from") FROM herdctl.outputs
                      WHERE job_id = ?1 AND "from" <= CAST(?2 AS bigint)), 0)
                   AND "from" + bytes > CAST(?2 AS bigint)
                 ORDER BY "from" ${limit}`;
    const rows = await this.database.read(() => all(sql, jobId, from));
    return rows.map(readPiece).map((piece) => notBefore(piece, from));
  }

  async size(jobId: string): Promise<number> {
    const sql = `SELECT "from" + bytes AS size FROM herdctl.outputs
                 WHERE job_id = ? ORDER BY "from" DESC LIMIT 1`;
    const row = await this.database.read(() => one(sql, jobId));
    return Number(row?.size ?? 0);
  }
}

/** The driver gives whole numbers of that size as text. */
function readPiece(row: Row): { from: number; text: string } {
  return { from: Number(row.from), text: String(row.text) };
}

/** Whoever asks from the middle of a piece is given the rest of it. */
function notBefore(piece: { from: number; text: string }, from: number) {
  if (piece.from >= from) return piece;
  const rest = Buffer.from(piece.text).subarray(from - piece.from);
  return { from, text: rest.toString("utf8") };
}
