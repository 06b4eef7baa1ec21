import type { ResolvedAgent } from "@herdctl/config";
import { formatToolRule } from "@herdctl/protocol";
import { effectiveRules } from "../../store/model/permission-rules.ts";
import type { StateManager } from "../../store/state-manager.ts";

/** The agent with the rules that people wrote for it, as if they were in `allowed_tools`. */
export async function withPermissionRules(
  state: Pick<StateManager, "rules">,
  agent: ResolvedAgent,
  jobId: string,
): Promise<ResolvedAgent> {
  const rules = await state.rules.listForRun(agent.name, jobId);
  const added = effectiveRules(rules, agent.denied_tools).flatMap((rule) =>
    rule.rules.map(formatToolRule),
  );
  if (added.length === 0) return agent;
  const extend = (tools: readonly string[]) => [...new Set([...tools, ...added])];
  const { host_tools: hostTools } = agent;
  return {
    ...agent,
    allowed_tools: extend(agent.allowed_tools),
    ...(hostTools && {
      host_tools: { ...hostTools, allowed_tools: extend(hostTools.allowed_tools) },
    }),
  };
}
