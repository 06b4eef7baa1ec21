import type { Problem } from "@herdctl/protocol";
import type { z } from "zod";
import type { Environment } from "./environment.ts";
import type { ResolvedAgent } from "./resolve-agent.ts";
import type { webhookFields } from "./schema/webhook.ts";
import { type Tree, treeAt, valuePositionOf } from "./yaml/tree.ts";

type SignatureKind = z.output<typeof webhookFields.signature>["kind"];

/** A shorter secret can be guessed from one recorded delivery. */
const minSecretBytes = 16;

/** The key that deliveries are signed with. Standard Webhooks encodes it in base64. */
export function decodeWebhookKey(kind: SignatureKind, secret: string): string | Buffer {
  if (kind !== "standard") return secret;
  const prefix = "whsec_";
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  return Buffer.from(encoded, "base64");
}

export function isStrongWebhookSecret(kind: SignatureKind, secret: string): boolean {
  return Buffer.byteLength(decodeWebhookKey(kind, secret.trim())) >= minSecretBytes;
}

/**
 * Finds webhook secrets that are set but too short. If a secret is not set, deliveries are refused
 * until it is.
 */
export function checkWebhookSecrets(
  agent: Pick<ResolvedAgent, "schedules">,
  tree: Tree,
  environment: Environment,
): Problem[] {
  return Object.entries(agent.schedules).flatMap(([name, schedule]) => {
    if (schedule.type !== "webhook") return [];
    const { kind, secret_env } = schedule.signature;
    const path = ["schedules", name, "signature", "secret_env"];
    return [secret_env].flat().flatMap((variable, index) => {
      const secret = environment[variable]?.trim();
      // defence: strong-webhook-secret
      if (!secret || isStrongWebhookSecret(kind, secret)) return [];
      const item = [...path, String(index)];
      const place = valuePositionOf(tree, treeAt(tree, item) ? item : path);
      return [{ ...place, path: path.join("."), ...weakSecretProblem(kind, variable) }];
    });
  });
}

function weakSecretProblem(
  kind: SignatureKind,
  variable: string,
): { message: string; hint: string } {
  const standard = "`whsec_` and the output of `openssl rand -base64 32`";
  const example = kind === "standard" ? standard : "the output of `openssl rand -hex 32`";
  return {
    message: `the webhook secret in ${variable} has fewer than ${minSecretBytes} bytes`,
    hint: `Set it to ${example}, and update the sender.`,
  };
}
