import { type ConfigEdit, formatPath, type Problem } from "@herdctl/protocol";
import { agentSchema } from "../schema/agent.ts";
import type { TrustRule } from "../schema/trust.ts";
import { listLayerFields } from "../trust/layer-fields.ts";
import { parseTree } from "../yaml/parse.ts";

/** What a limited agent file must be granted, but an operator at the dashboard may set. */
const allowedGrants = ["folder", "tool_rules", "agents"];

/** Other keys of an entry under `agents` (`path`, `trust`, `overrides`, …) say what a file may do. */
const agentKeys = new Set(Object.keys(agentSchema.shape));

const variableHint = "Write it in the file: it could show a secret of the fleet.";

/**
 * The dashboard may set what concerns the agent itself. Fields that run programs on the host or use
 * the fleet's secrets can only be written in the file, so that a stolen login cannot use them.
 */
export function checkEdit(file: string, { agent, changes }: Omit<ConfigEdit, "create">): Problem[] {
  const at = (path: readonly (string | number)[]) => ({
    ...{ file, line: 1, column: 1 },
    path: formatPath([...path]),
  });
  const message = "a variable cannot be used here";
  const nameProblems = /* defence: dashboard-edit-name */ hasVariable(agent)
    ? [{ ...at(["name"]), message, hint: variableHint }]
    : [];
  const problems = changes.flatMap(({ path, value }) => {
    const changed = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value ?? null);
    // JSON is YAML. Without variables, `${X}` stays a text.
    const { tree } = parseTree(file, JSON.stringify(changed));
    const forbidden = (tree ? listLayerFields(tree, agentSchema) : []).filter(
      ({ rule }) => /* defence: dashboard-edit-classes */ !isEditable(rule),
    );
    return [
      .../* defence: dashboard-edit-keys */ (agentKeys.has(path[0] ?? "")
        ? []
        : [cannotChange(at(path.slice(0, 1)), "it is no field of an agent")]),
      ...forbidden.map(({ path: field, rule }) => cannotChange(at(field), reasonOf(rule))),
      .../* defence: dashboard-edit-variables */ (hasVariable(value)
        ? [{ ...at(path), message, hint: variableHint }]
        : []),
    ];
  });
  return [...nameProblems, ...problems];
}

function hasVariable(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes("${");
}

function cannotChange(place: Omit<Problem, "message" | "hint">, reason: string): Problem {
  const message = `${place.path} cannot be changed here`;
  return { ...place, message, hint: `Change it in the file: ${reason}.` };
}

function isEditable(rule: TrustRule): boolean {
  if (rule.class === "granted") return allowedGrants.includes(rule.grant);
  return rule.class !== "fleet";
}

function reasonOf(rule: TrustRule): string {
  return rule.class === "fleet" ? rule.reason : "it can start programs or read files of the host";
}
