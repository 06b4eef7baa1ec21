import type { FleetManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { expect } from "vitest";
import { githubHeaders } from "./webhook-harness.ts";

/** The value of the variable `SECRET` in the harness environment. */
export const webhookSecret = "a secret that both sides know";

/** An agent with one webhook, whose secret is in the variable `SECRET`. */
export function agentWithHook(schedule: string, fields = ""): string {
  const signatureYaml =
    "signature: { kind: github, secret_env: SECRET }, allowed_senders: { anyone: true }";
  return `  - name: coder
    runtime: cli
    ${fields}
    schedules:
      issues: { type: webhook, ${signatureYaml}, ${schedule} }`;
}

/** Passes an issue with this title to the receiver directly and returns its job. */
export async function deliverIssue(fleet: FleetManager, title: string): Promise<Job> {
  const body = JSON.stringify({ action: "opened", issue: { title } });
  const headers = {
    "content-type": "application/json",
    ...githubHeaders(body, { key: webhookSecret }),
  };
  const target = { agent: "coder", schedule: "issues" };
  const receipt = await fleet.webhooks.receiver.receive(target, {
    headers,
    body: Buffer.from(body),
  });
  if (receipt.kind !== "recorded" || !receipt.admission) expect.fail("it was not taken");
  return receipt.admission.job;
}
