import {
  type AllowScope,
  type Approval,
  type AuditEntry,
  type PermissionRule,
  UserError,
} from "@herdctl/protocol";
import { permissionRuleSchema } from "@herdctl/protocol/schemas";
import { newRuleId } from "../model/ids.ts";
import { appendAudit } from "./audit-store.ts";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlProgram,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

/** Recorded with the answer that gives the permission. */
export function* recordRule(
  approval: Approval,
  scope: AllowScope,
  by: string,
  now: Date,
): SqlProgram<void> {
  const job = yield* queryRow("SELECT agent FROM jobs WHERE id = ?", approval.job_id);
  if (!job || scope === "once") return;
  const { suggested_rules: rules, tool, input, input_hash } = approval;
  const rule = permissionRuleSchema.parse({
    id: newRuleId(),
    agent: job.agent,
    job_id: scope === "job" ? approval.job_id : null,
    ...{ rules, tool, input, input_hash },
    approval_id: approval.id,
    created_at: now.toISOString(),
    created_by: by,
  });
  const sql = "INSERT INTO permission_rules (id, job_id, record) VALUES (?, ?, ?)";
  yield* execute(sql, rule.id, rule.job_id, JSON.stringify(rule));
}

export class RuleStore extends SqlStore {
  /** Oldest first. */
  async list({ agent }: { agent?: string } = {}): Promise<PermissionRule[]> {
    const [where, values] = agent === undefined ? ["", []] : ["WHERE agent = ?", [agent]];
    return this.database.read(() => this.#select(where, ...values));
  }

  /** The rules for a run of this job: those of its agent, and those of the job itself. */
  async listForRun(agent: string, jobId: string): Promise<PermissionRule[]> {
    const where = "WHERE agent = ? AND (job_id IS NULL OR job_id = ?)";
    return this.database.read(() => this.#select(where, agent, jobId));
  }

  /** Removes the rule in one transaction with its audit record. */
  async remove(id: string, audit: AuditEntry): Promise<PermissionRule> {
    const now = this.clock();
    return this.database.transaction(() => this.#removeInTransaction(id, audit, now));
  }

  *#removeInTransaction(id: string, audit: AuditEntry, now: Date): SqlProgram<PermissionRule> {
    const [rule] = yield* this.#select("WHERE id = ?", id);
    if (!rule) throw new UserError("rule_not_found", `there is no rule ${id}`);
    yield* execute("DELETE FROM permission_rules WHERE id = ?", id);
    yield* appendAudit(this.database, audit, now);
    return rule;
  }

  *#select(where: string, ...values: SqlValue[]): SqlProgram<PermissionRule[]> {
    const sql = `SELECT id, record FROM permission_rules ${where} ORDER BY seq`;
    const rows = yield* queryRows(sql, ...values);
    return rows.map((row) => readRecord(this.database, permissionRuleSchema, row));
  }
}
