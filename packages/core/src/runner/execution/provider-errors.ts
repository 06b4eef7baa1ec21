import { type Outcome, type OutcomeCode, outcomes } from "@herdctl/protocol";
import type { ProviderEvidence } from "./evidence.ts";

interface ErrorRule {
  /** Matched against `type: message` of the error. */
  pattern: RegExp;
  /** Only errors with these statuses. */
  statuses?: readonly number[];
  code: OutcomeCode;
  hint?: string;
}

const modelHint = "Enable the model for this account and region, or choose another `model`.";

/**
 * Errors that have another meaning than their status alone. The first match applies; for all other
 * errors, the status decides as it does for the Anthropic API.
 */
const rules: readonly ErrorRule[] = [
  {
    pattern: /billing|INVALID_PAYMENT_INSTRUMENT|payment|credit balance/i,
    statuses: [400, 402, 403],
    code: "billing",
  },
  {
    pattern: /access to the model|model access|is not enabled|DeploymentNotFound|Publisher Model/i,
    statuses: [403, 404],
    code: "config_error",
    hint: modelHint,
  },
  {
    pattern: /model identifier is invalid|on-demand throughput|end of its life/i,
    statuses: [400, 404],
    code: "config_error",
    hint: modelHint,
  },
  { pattern: /ExpiredToken|UnrecognizedClient|InvalidSignature/i, code: "auth_failed" },
  { pattern: /per day|daily/i, statuses: [429], code: "usage_limit" },
  { pattern: /ThrottlingException/i, code: "rate_limited" },
  {
    pattern: /ServiceUnavailable|ModelNotReady|ModelTimeout|InternalServer|ModelStreamError/i,
    code: "overloaded",
  },
];

/** The outcome of a run whose last call the provider refused; undefined if its status tells enough. */
export function classifyProviderError(provider: ProviderEvidence | undefined): Outcome | undefined {
  if (provider === undefined) return undefined;
  const { label, credential, credentialProblem, error } = provider;
  if (credentialProblem) {
    const { message, hint } = credentialProblem;
    return { ...outcomeOf("auth_failed", hint), message: `${capitalize(message)}.` };
  }
  if (!error) return undefined;
  const text = [error.type, error.message].filter(Boolean).join(": ");
  const rule = rules.find(
    ({ pattern, statuses }) =>
      pattern.test(text) && (statuses === undefined || statuses.includes(error.status)),
  );
  const code = rule?.code ?? ([401, 403].includes(error.status) ? "auth_failed" : undefined);
  if (code === undefined) return undefined;
  if (code === "auth_failed")
    return {
      ...outcomeOf(code, `Check ${credential}, then run \`herdctl doctor\` and resume the agent.`),
      message: `${capitalize(label)} rejected the credential from ${credential} (${text || error.status}).`,
    };
  const message = text === "" ? outcomes[code].message : `${capitalize(label)}: ${text}`;
  return { ...outcomeOf(code, rule?.hint), message };
}

function outcomeOf(code: OutcomeCode, hint: string = outcomes[code].hint): Outcome {
  return { code, message: outcomes[code].message, hint };
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
