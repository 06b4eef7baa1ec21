import { type ConfigChange, formatPath, type Problem } from "@herdctl/protocol";
import { agentSchema } from "../schema/agent.ts";
import type { TrustRule } from "../schema/trust.ts";
import { listLayerFields } from "../trust/layer-fields.ts";
import { parseTree } from "../yaml/parse.ts";

/** What a limited agent file must be granted, but an operator at the dashboard may set. */
const allowedGrants = ["folder", "tool_rules", "agents"];

/**
 * The dashboard may set what concerns the agent itself. Fields that run programs on the host or use
 * the fleet's secrets can only be written in the file, so that a stolen login cannot use them.
 */
export function checkChanges(file: string, changes: readonly ConfigChange[]): Problem[] {
  return changes.flatMap(({ path, value }) => {
    const changed = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value ?? null);
    // JSON is YAML. Without variables, `${X}` stays a text.
    const { tree } = parseTree(file, JSON.stringify(changed));
    const place = { file, line: 1, column: 1, path: formatPath([...path]) };
    const forbidden = (tree ? listLayerFields(tree, agentSchema) : []).filter(
      ({ rule }) => /* defence: dashboard-edit-classes */ !isEditable(rule),
    );
    const problems = forbidden.map(({ path: field, rule }) => ({
      ...place,
      path: formatPath(field),
      message: `${formatPath(field)} cannot be changed here`,
      hint: `Change it in the file: ${reasonOf(rule)}.`,
    }));
    if (!(/* defence: dashboard-edit-variables */ JSON.stringify(value ?? null).includes("${")))
      return problems;
    const hint = "Write it in the file: it could put a secret of the fleet into a prompt.";
    return [...problems, { ...place, message: "a variable cannot be used here", hint }];
  });
}

function isEditable(rule: TrustRule): boolean {
  if (rule.class === "granted") return allowedGrants.includes(rule.grant);
  return rule.class !== "fleet";
}

function reasonOf(rule: TrustRule): string {
  return rule.class === "fleet" ? rule.reason : "it can start programs or read files of the host";
}
