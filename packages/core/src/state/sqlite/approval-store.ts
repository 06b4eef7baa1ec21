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
import type { Database, Value } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqliteApprovalStore implements ApprovalStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
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
      answered_at: null,
      used: false,
    });
    this.#database.transaction(() =>
      this.#database.run(
        "INSERT INTO approvals (id, job_id, record) VALUES (?, ?, ?)",
        approval.id,
        approval.job_id,
        JSON.stringify(approval),
      ),
    );
    return approval;
  }

  async get(id: string): Promise<Approval | undefined> {
    return this.#select("WHERE id = ?", id)[0];
  }

  async open(jobId?: string): Promise<Approval[]> {
    return jobId === undefined
      ? this.#select("WHERE answer IS NULL")
      : this.#select("WHERE answer IS NULL AND job_id = ?", jobId);
  }

  async ofJob(jobId: string): Promise<Approval[]> {
    return this.#select("WHERE job_id = ?", jobId);
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
  ): Promise<{ applied: boolean; approval: Approval }> {
    return this.#database.transaction(() => {
      const approval = this.#expect(id);
      if (approval.answer !== null) return { applied: false, approval };
      if (this.#isLate(approval)) return { applied: false, approval: this.#lapse(approval) };
      const end = { ...fitWord(approval, word), reason: reason ?? null };
      return { applied: true, approval: this.#close(approval, end, by) };
    });
  }

  async use(id: string): Promise<boolean> {
    return this.#database.transaction(() => this.#spend(this.#expect(id)));
  }

  async useEarlier(jobId: string, tool: string, input: unknown): Promise<Approval | undefined> {
    return this.#database.transaction(() => {
      const hash = hashRequest(tool, input);
      const earlier = this.#select("WHERE job_id = ? AND input_hash = ?", jobId, hash);
      const spent = earlier.find((approval) => this.#spend(approval));
      return spent && this.#expect(spent.id);
    });
  }

  async expire(): Promise<Approval[]> {
    return this.#database.transaction(() =>
      this.#select("WHERE answer IS NULL")
        .filter((approval) => this.#isLate(approval))
        .map((approval) => this.#lapse(approval)),
    );
  }

  async voidAttempt(jobId: string, attempt: number): Promise<Approval[]> {
    return this.#database.transaction(() =>
      this.#select("WHERE answer IS NULL AND job_id = ?", jobId)
        .filter((approval) => approval.attempt === attempt)
        .map((approval) => this.#close(approval, { answer: "void", reply: null })),
    );
  }

  #isLate(approval: Approval): boolean {
    return Date.parse(approval.expires_at) <= this.#clock().getTime();
  }

  /** Nobody answered in time; what then counts was said when it was asked. */
  #lapse(approval: Approval): Approval {
    const reply = approval.default_reply;
    return this.#close(approval, { answer: reply === null ? "expired" : "default", reply });
  }

  #close(
    approval: Approval,
    end: Pick<Approval, "answer" | "reply"> & { reason?: string | null },
    by: string | null = null,
  ): Approval {
    const answered_at = this.#clock().toISOString();
    return this.#save({ ...approval, ...end, answered_by: by, answered_at });
  }

  #spend(approval: Approval): boolean {
    const isGiven = approval.answer === "allow" || approval.answer === "reply";
    if (!isGiven || approval.used) return false;
    this.#save({ ...approval, used: true });
    return true;
  }

  #save(approval: Approval): Approval {
    const sql = "UPDATE approvals SET record = ? WHERE id = ?";
    this.#database.run(sql, JSON.stringify(approval), approval.id);
    return approval;
  }

  #expect(id: string): Approval {
    const [approval] = this.#select("WHERE id = ?", id);
    if (!approval) throw new UserError("usage", `there is no approval ${id}`);
    return approval;
  }

  #select(where: string, ...values: Value[]): Approval[] {
    return this.#database
      .all(`SELECT id, record FROM approvals ${where} ORDER BY seq`, ...values)
      .map((row) => readRecord(this.#database, approvalSchema, row));
  }
}

const noQuestion = {
  question: null,
  choices: null,
  free_text: false,
  several: false,
  default_reply: null,
};
