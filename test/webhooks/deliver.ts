import type { FleetManager, Job } from "@herdctl/core";
import { expect } from "vitest";
import { fromGithub } from "./hook-stage.ts";

/** For the variable `SECRET` of the stage's environment. */
export const webhookSecret = "a secret that both sides know";

/** An agent with one webhook, whose secret is in the variable `SECRET`. */
export function agentWithHook(schedule: string, fields = ""): string {
  const proof = "signature: { kind: github, secret_env: SECRET }, from: { anyone: true }";
  return `  - name: coder
    runtime: cli
    ${fields}
    schedules:
      issues: { type: webhook, ${proof}, ${schedule} }`;
}

/** Brings an issue with this title to the door itself, and gives the job that it was told of. */
export async function deliver(fleet: FleetManager, title: string): Promise<Job> {
  const body = JSON.stringify({ action: "opened", issue: { title } });
  const headers = {
    "content-type": "application/json",
    ...fromGithub(body, { key: webhookSecret }),
  };
  const target = { agent: "coder", schedule: "issues" };
  const receipt = await fleet.webhooks.door.receive(target, { headers, body: Buffer.from(body) });
  if (receipt.kind !== "recorded" || !receipt.admission) expect.fail("it was not taken");
  return receipt.admission.job;
}
