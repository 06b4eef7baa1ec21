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
    const { matches, seq, toQuery, isOrdered } = this.database.dialect.textSearch;
    const ofAgent = agent === undefined ? "" : "AND jobs.agent = ?";
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
    const conditions = [
      { sql: matches, values: [toQuery(terms)] },
      // `+` stops SQLite from running the query of the words again for each job of the agent.
      ...(agent === undefined
        ? []
        : [{ sql: `+${seq} IN (SELECT seq FROM jobs WHERE agent = ?)`, values: [agent] }]),
      ...(before === undefined ? [] : [{ sql: `${seq} < ?`, values: [before] }]),
    ];
    const found = isOrdered
      ? yield* this.newest(conditions, limit + 1)
      : yield* this.newestOfUnordered(conditions, limit + 1, before);
    return { live, found };
  }

  /** The newest matching rows. */
  private *newest(conditions: readonly Condition[], count: number): SqlProgram<SqlRow[]> {
    const { from, seq } = this.database.dialect.textSearch;
    return yield* queryRows(
      `SELECT jobs.seq AS seq, jobs.id AS id, jobs.record AS record,
              job_texts.prompt AS prompt, job_texts.summary AS summary, job_texts.output AS output
       FROM ${from} WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}
       ORDER BY ${seq} DESC LIMIT ?`,
      ...conditions.flatMap(({ values }) => values),
      count,
    );
  }

  /**
   * The same, for an index that returns matches in any order. Few matches are sorted. Of many, the
   * newest are found quickly among the newest jobs.
   */
  private *newestOfUnordered(
    conditions: readonly Condition[],
    count: number,
    before: SqlValue | undefined,
  ): SqlProgram<SqlRow[]> {
    const { seq } = this.database.dialect.textSearch;
    const matching = yield* queryRows(
      `SELECT seq FROM job_texts WHERE ${conditions.map(({ sql }) => sql).join(" AND ")} LIMIT ?`,
      ...conditions.flatMap(({ values }) => values),
      maxSorted + 1,
    );
    if (matching.length === 0) return [];
    if (matching.length <= maxSorted) {
      const numbers = matching.map((row) => Number(row.seq)).sort((one, other) => other - one);
      const values = numbers.slice(0, count);
      const isOne = { sql: `${seq} IN (${values.map(() => "?").join(", ")})`, values };
      return yield* this.newest([isOne], count);
    }
    const [last] = yield* queryRows("SELECT max(seq) AS seq FROM job_texts");
    const top = Number(before ?? last?.seq ?? 0);
    for (let size = firstWindow; ; size *= 4) {
      const window = { sql: `${seq} > ?`, values: [top - size] };
      const found = yield* this.newest([...conditions, window], count);
      if (found.length === count || size > top) return found;
    }
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

interface Condition {
  sql: string;
  values: readonly SqlValue[];
}

/** The most matches that are sorted. */
const maxSorted = 2_000;
/** The number of newest jobs to search first if more match. */
const firstWindow = 4_000;

/** For the few unfinished jobs, which are not in the index. */
function hasAllTerms(prompt: string, terms: readonly string[][]): boolean {
  const words = ` ${prompt.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")}`;
  return terms.every((term) => words.includes(` ${term.join(" ")}`));
}

/** NUL characters separate nothing, and no database searches them. */
function shorten(text: string): string {
  return text.slice(0, maxSearchedChars).replaceAll("\0", " ");
}
