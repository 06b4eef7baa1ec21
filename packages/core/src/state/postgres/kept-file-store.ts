import type { KeptFileStore } from "../shared.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { one, run } from "../sql/steps.ts";

export class PostgresKeptFileStore implements KeptFileStore {
  constructor(private readonly database: SqlDatabase) {}

  async put(jobId: string, name: string, content: Uint8Array): Promise<void> {
    // A job that was pruned meanwhile keeps nothing any more.
    const sql = `INSERT INTO herdctl.kept_files (job_id, name, content)
                 SELECT id, ?, ? FROM herdctl.jobs WHERE id = ?
                 ON CONFLICT (job_id, name) DO UPDATE SET content = excluded.content`;
    const text = Buffer.from(content).toString("base64");
    await this.database.transaction(() => run(sql, name, text, jobId));
  }

  async get(jobId: string, name: string): Promise<Uint8Array | undefined> {
    const sql = "SELECT content FROM herdctl.kept_files WHERE job_id = ? AND name = ?";
    const row = await this.database.read(() => one(sql, jobId, name));
    return row && Buffer.from(String(row.content), "base64");
  }
}
