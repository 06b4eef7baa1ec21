import type { Job, JobSearchHit, JobSearchPage, JobSearchQuery } from "@herdctl/protocol";
import {
  findExcerpt,
  type JobTexts,
  maxSearchedChars,
  toSearchTerms,
} from "../model/search-text.ts";
import type { JobRecords } from "./job-records.ts";
import { pageLimit, readCursor, writeCursor } from "./page.ts";
import {
  execute,
  queryRows,
  type SqlDatabase,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from "./sql-program.ts";

/** The full-text index of finished jobs. It is derived from records and logs, and may lag behind. */
export class SearchStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly records: JobRecords,
  ) {}

  /** Unfinished jobs are found by their prompt. */
  async search(query: JobSearchQuery): Promise<JobSearchPage> {
    const terms = toSearchTerms(query.text);
    if (terms.length === 0) return { hits: [], next_cursor: null };
    const limit = pageLimit(query);
    const { live, found } = await this.database.read(() => this.find(query, limit, terms));
    const liveHits = live
      .map((row) => this.toHit(this.records.parseRow(row), {}, terms))
      .filter(({ job }) => hasAllTerms(job.prompt, terms));
    const rows = found.slice(0, limit);
    const hits = rows.map((row) => this.toHit(this.records.parseRow(row), row, terms));
    const last = found.length > rows.length ? rows.at(-1) : undefined;
    const next_cursor = last ? writeCursor(Number(last.seq)) : null;
    return { hits: [...liveHits, ...hits], next_cursor };
  }

  /** Finished jobs that are not in the index, newest first. Skipped jobs never are. */
  async listMissing(): Promise<string[]> {
    const { hint } = this.database.dialect;
    const sql = `SELECT id FROM jobs WHERE seq IN (
                   SELECT jobs.seq FROM jobs ${hint("jobs_ran")}
                   WHERE finished_at IS NOT NULL AND status <> 'skipped'
                   AND NOT EXISTS (SELECT 1 FROM job_texts WHERE job_texts.seq = jobs.seq)
                 ) ORDER BY seq DESC`;
    return (await this.database.read(() => queryRows(sql))).map(({ id }) => String(id));
  }

  /** Adds jobs to the index, in one transaction. */
  async add(texts: ReadonlyMap<string, JobTexts>): Promise<void> {
    const sql = `INSERT INTO job_texts (seq, prompt, summary, output)
                 SELECT seq, ?2, ?3, ?4 FROM jobs WHERE id = ?1 AND finished_at IS NOT NULL
                 ON CONFLICT DO NOTHING`;
    await this.database.transaction(function* () {
      for (const [id, { prompt, summary, output }] of texts)
        yield* execute(sql, id, shorten(prompt), shorten(summary), shorten(output));
    });
  }

  private *find(
    { agent, cursor }: JobSearchQuery,
    limit: number,
    terms: string[][],
  ): SqlProgram<{ live: SqlRow[]; found: SqlRow[] }> {
    const [before] = cursor === undefined ? [] : readCursor(cursor, "integer");
    const { from, matches, seq, toQuery } = this.database.dialect.textSearch;
    const ofAgent = agent === undefined ? "" : "AND jobs.agent = ?";
    // `+` stops SQLite from running the query of the words again for each job of the agent.
    const foundOfAgent =
      agent === undefined ? "" : `AND +${seq} IN (SELECT seq FROM jobs WHERE agent = ?)`;
    const values: SqlValue[] = agent === undefined ? [] : [agent];
    const live =
      cursor === undefined
        ? yield* queryRows(
            `SELECT id, record FROM jobs
             WHERE status IN ('pending', 'running', 'waiting') AND lower(record) LIKE ? ${ofAgent}
             ORDER BY seq DESC LIMIT ?`,
            `%${terms[0]?.[0] ?? ""}%`,
            ...values,
            limit,
          )
        : [];
    const older = before === undefined ? "" : `AND ${seq} < ?`;
    const found = yield* queryRows(
      `SELECT jobs.seq AS seq, jobs.id AS id, jobs.record AS record,
              job_texts.prompt AS prompt, job_texts.summary AS summary, job_texts.output AS output
       FROM ${from} WHERE ${matches} ${foundOfAgent} ${older}
       ORDER BY ${seq} DESC LIMIT ?`,
      toQuery(terms),
      ...values,
      ...(before === undefined ? [] : [before]),
      limit + 1,
    );
    return { live, found };
  }

  private toHit(job: Job, row: SqlRow, terms: string[][]): JobSearchHit {
    const texts: JobTexts = {
      prompt: String(row.prompt ?? job.prompt),
      summary: String(row.summary ?? ""),
      output: String(row.output ?? ""),
    };
    return { job, ...findExcerpt(texts, terms) };
  }
}

/** For the few unfinished jobs, which are not in the index. */
function hasAllTerms(prompt: string, terms: readonly string[][]): boolean {
  const words = ` ${prompt.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")}`;
  return terms.every((term) => words.includes(` ${term.join(" ")}`));
}

/** NUL characters separate nothing, and no database searches them. */
function shorten(text: string): string {
  return text.slice(0, maxSearchedChars).replaceAll("\0", " ");
}
