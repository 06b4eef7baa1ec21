import type { PermissionRule, RulesApi } from "@herdctl/protocol";
import { createAuditEntry } from "../audit-log-writer.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetRules implements RulesApi {
  constructor(private readonly context: FleetContext) {}

  list(query?: { agent?: string }): Promise<PermissionRule[]> {
    return this.context.read(({ state }) => state.rules.list(query));
  }

  remove(ruleId: string): Promise<PermissionRule> {
    const audit = createAuditEntry(this.context.actor, { action: "rule.remove", target: ruleId });
    return this.context.read(({ state }) => state.rules.remove(ruleId, audit));
  }
}
