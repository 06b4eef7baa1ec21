import {
  type Approval,
  type ApprovalDecision,
  type ApprovalRequest,
  UserError,
} from "@herdctl/protocol";
import { approvalSchema } from "@herdctl/protocol/schemas";
import { hashToolRequest, normalizeDecision } from "../model/approval.ts";
import { newApprovalId } from "../model/ids.ts";
import { recordNotice } from "./job-notices.ts";
import { recordRule } from "./rule-store.ts";
import {
  execute,
  queryRows,
  readRecord,
  type SqlProgram,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

export class ApprovalStore extends SqlStore {
  async create({ question, ...request }: ApprovalRequest): Promise<Approval> {
    const approval = approvalSchema.parse({
      request_id: null,
      ...request,
      id: newApprovalId(),
      kind: question ? "question" : "permission",
      input_hash: hashToolRequest(request.tool, request.input),
      ...emptyQuestion,
      ...question,
      requested_at: this.clock().toISOString(),
      answer: null,
      reply: null,
      scope: null,
      answered_by: null,
      answered_note: null,
      answered_at: null,
      used: false,
    });
    const sql = "INSERT INTO approvals (id, job_id, record) VALUES (?, ?, ?)";
    const record = JSON.stringify(approval);
    await this.database.transaction(function* () {
      yield* execute(sql, approval.id, approval.job_id, record);
      yield* recordNotice(approval.job_id, { kind: "question", approval_id: approval.id });
    });
    return approval;
  }

  async get(id: string): Promise<Approval | undefined> {
    const [approval] = await this.database.read(() => this.#select("WHERE id = ?", id));
    return approval;
  }

  /** Unanswered approvals, oldest first. */
  async listOpen(jobId?: string): Promise<Approval[]> {
    return this.database.read(() => this.#selectOpen(jobId));
  }

  /** All approvals of a job, oldest first. */
  async listByJob(jobId: string): Promise<Approval[]> {
    return this.database.read(() => this.#select("WHERE job_id = ?", jobId));
  }

  /** The approval for a request, open or answered. */
  async findByRequest(jobId: string, requestId: string): Promise<Approval | undefined> {
    const own = await this.listByJob(jobId);
    return own.find(({ request_id }) => request_id === requestId);
  }

  /**
   * Applied once, in time, while the attempt is live; otherwise returns the approval unchanged.
   * Rejects a decision that does not fit the request. `by` is an identity; `note` is the name that
   * the caller gives itself.
   */
  async answer(
    id: string,
    decision: ApprovalDecision,
    by: string,
    reason?: string,
    note?: string,
  ): Promise<{ applied: boolean; approval: Approval }> {
    const answerer = { by, reason: reason ?? null, note: note ?? null };
    return this.database.transaction(() => this.#answerInTransaction(id, decision, answerer));
  }

  /** Consumes an allow or a reply: true exactly once for each. */
  async consume(id: string): Promise<boolean> {
    return this.database.transaction(() => this.#consumeInTransaction(id));
  }

  /** Consumes what an earlier attempt of this job got for the identical request but did not use. */
  async consumeEarlier(jobId: string, tool: string, input: unknown): Promise<Approval | undefined> {
    return this.database.transaction(() =>
      this.#consumeEarlierInTransaction(jobId, hashToolRequest(tool, input)),
    );
  }

  /**
   * Expires approvals that were not answered in time, with their default reply if they have one,
   * and returns them.
   */
  async expire(): Promise<Approval[]> {
    return this.database.transaction(() => this.#expireInTransaction());
  }

  /** Voids unanswered requests of an attempt that died. */
  async voidAttempt(jobId: string, attempt: number): Promise<Approval[]> {
    return this.database.transaction(() => this.#voidAttemptInTransaction(jobId, attempt));
  }

  #selectOpen(jobId?: string): SqlProgram<Approval[]> {
    return jobId === undefined
      ? this.#select("WHERE answer IS NULL")
      : this.#select("WHERE answer IS NULL AND job_id = ?", jobId);
  }

  *#answerInTransaction(
    id: string,
    decision: ApprovalDecision,
    { by, reason, note }: { by: string; reason: string | null; note: string | null },
  ): SqlProgram<{ applied: boolean; approval: Approval }> {
    const approval = yield* this.#getOrThrow(id);
    if (approval.answer !== null) return { applied: false, approval };
    if (this.#isExpired(approval))
      return { applied: false, approval: yield* this.#expireOne(approval) };
    const end = {
      ...normalizeDecision(approval, decision),
      reason,
      answered_by: by,
      answered_note: note,
    };
    const answered = yield* this.#settle(approval, end);
    if (end.scope !== null) yield* recordRule(answered, end.scope, by, this.clock());
    return { applied: true, approval: answered };
  }

  *#consumeInTransaction(id: string): SqlProgram<boolean> {
    // defence: approval-single-use
    return yield* this.#consumeIfGranted(yield* this.#getOrThrow(id));
  }

  *#consumeEarlierInTransaction(jobId: string, hash: string): SqlProgram<Approval | undefined> {
    const earlier = yield* this.#select("WHERE job_id = ? AND input_hash = ?", jobId, hash);
    for (const approval of earlier) {
      if (yield* this.#consumeIfGranted(approval)) return yield* this.#getOrThrow(approval.id);
    }
    return undefined;
  }

  *#expireInTransaction(): SqlProgram<Approval[]> {
    const expired: Approval[] = [];
    for (const approval of yield* this.#selectOpen()) {
      if (this.#isExpired(approval)) expired.push(yield* this.#expireOne(approval));
    }
    return expired;
  }

  *#voidAttemptInTransaction(jobId: string, attempt: number): SqlProgram<Approval[]> {
    const own = (yield* this.#selectOpen(jobId)).filter((approval) => approval.attempt === attempt);
    const voided: Approval[] = [];
    for (const approval of own) {
      voided.push(yield* this.#settle(approval, { answer: "void", reply: null }));
    }
    return voided;
  }

  #isExpired(approval: Approval): boolean {
    return Date.parse(approval.expires_at) <= this.clock().getTime();
  }

  /** Expires an approval, with its default reply if it has one. */
  #expireOne(approval: Approval): SqlProgram<Approval> {
    const reply = approval.default_reply;
    return this.#settle(approval, { answer: reply === null ? "expired" : "default", reply });
  }

  #settle(
    approval: Approval,
    end: Pick<Approval, "answer" | "reply"> & Partial<Approval>,
  ): SqlProgram<Approval> {
    const answered_at = this.clock().toISOString();
    return this.#save({ ...approval, answered_by: null, ...end, answered_at });
  }

  *#consumeIfGranted(approval: Approval): SqlProgram<boolean> {
    const isGranted = approval.answer === "allow" || approval.answer === "reply";
    if (!isGranted || approval.used) return false;
    yield* this.#save({ ...approval, used: true });
    return true;
  }

  *#save(approval: Approval): SqlProgram<Approval> {
    const sql = "UPDATE approvals SET record = ? WHERE id = ?";
    yield* execute(sql, JSON.stringify(approval), approval.id);
    return approval;
  }

  *#getOrThrow(id: string): SqlProgram<Approval> {
    const [approval] = yield* this.#select("WHERE id = ?", id);
    if (!approval) throw new UserError("usage", `there is no approval ${id}`);
    return approval;
  }

  *#select(where: string, ...values: SqlValue[]): SqlProgram<Approval[]> {
    const rows = yield* queryRows(
      `SELECT id, record FROM approvals ${where} ORDER BY seq`,
      ...values,
    );
    return rows.map((row) => readRecord(this.database, approvalSchema, row));
  }
}

const emptyQuestion = {
  question: null,
  choices: null,
  free_text: false,
  multiple: false,
  default_reply: null,
};
