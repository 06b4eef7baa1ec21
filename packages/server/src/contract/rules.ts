import { permissionRuleSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";

export const ruleEndpoints = {
  rules: defineEndpoint("rules", {
    summary:
      "List permissions that people gave for more than one call, oldest first. `job_id` is set if a rule is only for the attempts of that job.",
    query: z.strictObject({ agent: z.string().optional() }),
    response: z.object({ rules: z.array(permissionRuleSchema) }),
    handle: async ({ control }, { query }) => ({ rules: await control.rules.list(query) }),
  }),
  removeRule: defineEndpoint("removeRule", {
    summary: "Revoke a rule, from the next run on.",
    params: z.object({ id: z.string() }),
    response: permissionRuleSchema,
    handle: ({ control }, { params }) => control.rules.remove(params.id),
  }),
};
