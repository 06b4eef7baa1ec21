import { UserError } from "../../errors/user-error.ts";
import {
  type Approval,
  type ApprovalRequest,
  approvalSchema,
  hashRequest,
  type Word,
} from "../approval.ts";
import type { ApprovalStore } from "../contract.ts";
import { fitWord } from "../fit-word.ts";
import { newApprovalId } from "../names.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, run, type Steps, type Value } from "./steps.ts";

export class SqlApprovalStore implements ApprovalStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async ask({ question, ...request }: ApprovalRequest): Promise<Approval> {
    const approval = approvalSchema.parse({
      request_id: null,
      ...request,
      id: newApprovalId(),
      kind: question ? "question" : "permission",
      input_hash: hashRequest(request.tool, request.input),
      ...noQuestion,
      ...question,
      asked_at: this.#clock().toISOString(),
      answer: null,
      reply: null,
      answered_by: null,
      answered_note: null,
      answered_at: null,
      used: false,
    });
    const sql = "INSERT INTO approvals (id, job_id, record) VALUES (?, ?, ?)";
    const record = JSON.stringify(approval);
    await this.#database.transaction(() => run(sql, approval.id, approval.job_id, record));
    return approval;
  }

  async get(id: string): Promise<Approval | undefined> {
    const [approval] = await this.#database.read(() => this.#select("WHERE id = ?", id));
    return approval;
  }

  async open(jobId?: string): Promise<Approval[]> {
    return this.#database.read(() => this.#open(jobId));
  }

  async ofJob(jobId: string): Promise<Approval[]> {
    return this.#database.read(() => this.#select("WHERE job_id = ?", jobId));
  }

  async ofRequest(jobId: string, requestId: string): Promise<Approval | undefined> {
    const own = await this.ofJob(jobId);
    return own.find(({ request_id }) => request_id === requestId);
  }

  async answer(
    id: string,
    word: Word,
    by: string,
    reason?: string,
    note?: string,
  ): Promise<{ applied: boolean; approval: Approval }> {
    const given = { by, reason: reason ?? null, note: note ?? null };
    return this.#database.transaction(() => this.#answer(id, word, given));
  }

  async use(id: string): Promise<boolean> {
    return this.#database.transaction(() => this.#use(id));
  }

  async useEarlier(jobId: string, tool: string, input: unknown): Promise<Approval | undefined> {
    return this.#database.transaction(() => this.#useEarlier(jobId, hashRequest(tool, input)));
  }

  async expire(): Promise<Approval[]> {
    return this.#database.transaction(() => this.#expire());
  }

  async voidAttempt(jobId: string, attempt: number): Promise<Approval[]> {
    return this.#database.transaction(() => this.#voidAttempt(jobId, attempt));
  }

  #open(jobId?: string): Steps<Approval[]> {
    return jobId === undefined
      ? this.#select("WHERE answer IS NULL")
      : this.#select("WHERE answer IS NULL AND job_id = ?", jobId);
  }

  *#answer(
    id: string,
    word: Word,
    { by, reason, note }: { by: string; reason: string | null; note: string | null },
  ): Steps<{ applied: boolean; approval: Approval }> {
    const approval = yield* this.#expect(id);
    if (approval.answer !== null) return { applied: false, approval };
    if (this.#isLate(approval)) return { applied: false, approval: yield* this.#lapse(approval) };
    const end = { ...fitWord(approval, word), reason, answered_by: by, answered_note: note };
    return { applied: true, approval: yield* this.#close(approval, end) };
  }

  *#use(id: string): Steps<boolean> {
    return yield* this.#spend(yield* this.#expect(id));
  }

  *#useEarlier(jobId: string, hash: string): Steps<Approval | undefined> {
    const earlier = yield* this.#select("WHERE job_id = ? AND input_hash = ?", jobId, hash);
    for (const approval of earlier) {
      if (yield* this.#spend(approval)) return yield* this.#expect(approval.id);
    }
    return undefined;
  }

  *#expire(): Steps<Approval[]> {
    const expired: Approval[] = [];
    for (const approval of yield* this.#open()) {
      if (this.#isLate(approval)) expired.push(yield* this.#lapse(approval));
    }
    return expired;
  }

  *#voidAttempt(jobId: string, attempt: number): Steps<Approval[]> {
    const own = (yield* this.#open(jobId)).filter((approval) => approval.attempt === attempt);
    const voided: Approval[] = [];
    for (const approval of own) {
      voided.push(yield* this.#close(approval, { answer: "void", reply: null }));
    }
    return voided;
  }

  #isLate(approval: Approval): boolean {
    return Date.parse(approval.expires_at) <= this.#clock().getTime();
  }

  /** Nobody answered in time; what then counts was said when it was asked. */
  #lapse(approval: Approval): Steps<Approval> {
    const reply = approval.default_reply;
    return this.#close(approval, { answer: reply === null ? "expired" : "default", reply });
  }

  #close(
    approval: Approval,
    end: Pick<Approval, "answer" | "reply"> & Partial<Approval>,
  ): Steps<Approval> {
    const answered_at = this.#clock().toISOString();
    return this.#save({ ...approval, answered_by: null, ...end, answered_at });
  }

  *#spend(approval: Approval): Steps<boolean> {
    const isGiven = approval.answer === "allow" || approval.answer === "reply";
    if (!isGiven || approval.used) return false;
    yield* this.#save({ ...approval, used: true });
    return true;
  }

  *#save(approval: Approval): Steps<Approval> {
    const sql = "UPDATE approvals SET record = ? WHERE id = ?";
    yield* run(sql, JSON.stringify(approval), approval.id);
    return approval;
  }

  *#expect(id: string): Steps<Approval> {
    const [approval] = yield* this.#select("WHERE id = ?", id);
    if (!approval) throw new UserError("usage", `there is no approval ${id}`);
    return approval;
  }

  *#select(where: string, ...values: Value[]): Steps<Approval[]> {
    const rows = yield* all(`SELECT id, record FROM approvals ${where} ORDER BY seq`, ...values);
    return rows.map((row) => readRecord(this.#database, approvalSchema, row));
  }
}

const noQuestion = {
  question: null,
  choices: null,
  free_text: false,
  several: false,
  default_reply: null,
};
