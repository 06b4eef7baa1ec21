import { z } from "zod";

const modelChange = { original_model: z.string(), fallback_model: z.string() };
const uncheckedReason = "auto_mode_no_check_in_session";

/** Messages by which Claude Code says that it did something else than configured. */
const changeSchema = z.discriminatedUnion("subtype", [
  z.looseObject({ subtype: z.literal("model_refusal_fallback"), ...modelChange }),
  z.looseObject({
    subtype: z.literal("model_refusal_no_fallback"),
    original_model: modelChange.original_model,
  }),
  z.looseObject({
    subtype: z.literal("model_fallback"),
    ...modelChange,
    trigger: z.string().catch("failed"),
  }),
  z.looseObject({
    subtype: z.literal("permission_denied"),
    decision_reason_code: z.literal(uncheckedReason),
  }),
]);

/** A warning with its remedy; undefined for all other messages. */
export function silentChangeWarning(message: unknown): string | undefined {
  const { data } = changeSchema.safeParse(message);
  if (data?.subtype === "model_refusal_fallback")
    return `the model ${data.original_model} refused, and the session continued with ${data.fallback_model}; to end such runs instead: settings: { switchModelsOnFlag: false }`;
  if (data?.subtype === "model_refusal_no_fallback")
    return `the model ${data.original_model} refused; change the task or \`model\``;
  if (data?.subtype === "model_fallback")
    return `the model ${data.original_model} was not available (${data.trigger.replaceAll("_", " ")}), and ${data.fallback_model} answered instead; check \`model\` and \`fallback_model\``;
  if (data)
    return "`permission_mode: auto` had no effect: the API did not check the agent's actions, so they were denied; use another mode, or an API that supports it";
  return undefined;
}

/** Warnings about models that Claude Code does not know, from its error output. */
export function unknownModelWarnings(stderr: string): string[] {
  const models = [...stderr.matchAll(/\[claude-code:unrecognized_model\] (\{.*\})/g)].flatMap(
    ([, json = ""]) => modelOf(json) ?? [],
  );
  return [...new Set(models)].map(
    (model) =>
      `Claude Code does not know the model ${model}, and sent it to the API as it is; check \`model\` and \`fallback_model\``,
  );
}

function modelOf(json: string): string | undefined {
  try {
    return z.looseObject({ model: z.string() }).safeParse(JSON.parse(json)).data?.model;
  } catch {
    return undefined;
  }
}
