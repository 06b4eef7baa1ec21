import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetManager } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import { chainAgentYaml, delegatePrompt } from "../agent-tools/delegation-helpers.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { startObedientHarness, toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";
import { deliverIssue, webhookSecret } from "../webhooks/issue-delivery.ts";

const canary = "canary of the file";

interface MentionHarness {
  fleet: FleetManager;
  /** Untrusted text that mentions a file with the canary. */
  text: string;
}

/** Every way in which untrusted text becomes a prompt; each returns the job. */
const promptSources: Record<string, (scene: MentionHarness) => Promise<string>> = {
  "a delivery of a webhook": async ({ fleet, text }) => (await deliverIssue(fleet, text)).id,
  "a trigger by a program": async ({ fleet, text }) =>
    (await fleet.jobs.trigger({ agent: "coder", prompt: text })).job.id,
  "a chat message": async ({ fleet, text }) => {
    const message = { agent: "coder", prompt: text, conversation: true, expand: true };
    return (await fleet.jobs.trigger(message)).job.id;
  },
  "the output of a gate": async ({ fleet }) =>
    (await fleet.jobs.trigger({ agent: "coder", schedule: "gated", expand: true })).job.id,
  "another agent": async ({ fleet, text }) => {
    const prompt = delegatePrompt({ agent: "coder", prompt: text, wait: true });
    const { job } = await fleet.jobs.trigger({ agent: "giver", prompt });
    await fleet.jobs.wait(job.id);
    const [, given] = await fleet.jobs.chain(job.id);
    return given?.id ?? expect.fail("nothing was delegated");
  },
  "a run that the agent planned": async ({ fleet, text }) => {
    const prompt = toolCallPrompt([
      "mcp__herd__schedule",
      { action: "plan", in: "3s", prompt: text },
    ]);
    await fleet.jobs.trigger({ agent: "planner", prompt });
    return waitUntil("the planned run", async () => {
      const { jobs } = await fleet.jobs.list({ agent: "planner", limit: 5 });
      return jobs.find(({ trigger_type }) => trigger_type === "at")?.id;
    });
  },
};

async function startMentionFleet(runtime: string) {
  const baseHarness = await startObedientHarness();
  const harness = { ...baseHarness, env: { ...baseHarness.env, SECRET: webhookSecret } };
  const secret = join(harness.root, "secret.txt");
  writeFileSync(secret, `${canary}\n`);
  mkdirSync(join(harness.configDir, "commands"), { recursive: true });
  writeFileSync(join(harness.configDir, "commands", "leak.md"), "a command\n");
  const text = `@${secret} /leak`;
  const agents = `  - name: coder
    runtime: ${runtime}
    prompts: expanded
    schedules:
      issues: { type: webhook, signature: { kind: github, secret_env: SECRET }, allowed_senders: { anyone: true }, prompt: "{{payload.issue.title}}" }
      gated: { type: cron, cron: "0 0 1 1 *", gate: { command: "echo '${text}'" }, prompt: "Look: {{gate.output}}" }
      own: { type: cron, cron: "0 0 1 1 *", prompt: "Look at @${secret}" }
${chainAgentYaml({ name: "giver", runtime, mayTrigger: ["coder"] })}
  - { name: planner, runtime: ${runtime}, prompts: expanded, tools: [schedule], may_schedule: { max_pending: 1, min_delay: 1s } }`;
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agents));
  return { on: harness, fleet, text, secret };
}

describe.each(testSubset(["cli", "sdk"], 1))("%s, agent with `prompts: expanded`", (runtime) => {
  test("sends untrusted text to the model as written, whatever its source", async () => {
    const { on, fleet, text } = await startMentionFleet(runtime);
    for (const [kind, bring] of Object.entries(promptSources)) {
      const job = await fleet.jobs.wait(await bring({ fleet, text }));
      expect(job, kind).toMatchObject({ outcome: { code: "success" }, expand_prompt: false });
      const request = on.rehearsal.ledger.main.findLast(
        ({ sessionId }) => sessionId === job.session_id,
      );
      expect(request?.prompt, kind).toContain(text);
      expect(JSON.stringify(request?.body), kind).not.toContain(canary);
    }
  });

  test("expands a prompt of the operator", async () => {
    const { on, fleet, secret } = await startMentionFleet(runtime);
    const manual = { agent: "coder" };
    const given = [{ schedule: "own" }, { prompt: `Look at @${secret}`, expand: true }];
    for (const one of given) {
      const { job } = await fleet.jobs.trigger({ ...manual, ...one });
      await fleet.jobs.wait(job.id);
      const last = on.rehearsal.ledger.main.at(-1);
      expect(JSON.stringify(last?.body)).toContain(canary);
    }
  });
});
