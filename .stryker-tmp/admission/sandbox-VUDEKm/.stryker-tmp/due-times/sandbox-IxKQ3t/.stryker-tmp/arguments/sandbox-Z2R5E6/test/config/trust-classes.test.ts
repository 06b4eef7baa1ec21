import { expect, test } from "vitest";
import { z } from "zod";
import { agentSchema } from "../../packages/config/src/schema/agent.ts";
import { trustRuleOf } from "../../packages/config/src/schema/trust.ts";

test("declares a trust class for every field of the agent schema", () => {
  const { fields, missing } = fieldsOf(agentSchema);
  expect(missing).toEqual([]);
  expect(fields).toBeGreaterThan(150);
});

test("finds a field without a trust class at any depth", () => {
  const inner = z.strictObject({ forgotten: z.string() });
  const { missing } = fieldsOf(agentSchema.extend({ extra: z.array(inner.optional()) }));
  expect(missing).toEqual(["extra", "extra[].forgotten"]);
});

function fieldsOf(schema: z.core.$ZodType) {
  const missing: string[] = [];
  let fields = 0;
  const visit = (one: z.core.$ZodType, path: string): void => {
    // zod's public types stop at the base class; its documentation recommends this cast.
    const { def } = (one as z.core.$ZodTypes)._zod;
    if (def.type === "object") {
      for (const [key, field] of Object.entries(def.shape)) {
        const name = path === "" ? key : `${path}.${key}`;
        fields += 1;
        if (!trustRuleOf(field)) missing.push(name);
        visit(field, name);
      }
    } else if (def.type === "union") for (const option of def.options) visit(option, path);
    else if (def.type === "record") visit(def.valueType, `${path}.<name>`);
    else if (def.type === "array") visit(def.element, `${path}[]`);
    else if (def.type === "pipe") visit(def.in, path);
    else if ("innerType" in def) visit(def.innerType as z.core.$ZodType, path);
  };
  visit(schema, "");
  return { fields, missing };
}
