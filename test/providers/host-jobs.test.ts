import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { readJobMessages, runJob, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";
import { canaries, providerCases } from "./provider-cases.ts";

const byRuntime = (offset: number) =>
  providerCases.map((provider, index) => ({
    ...provider,
    runtime: (index + offset) % 2 === 0 ? "sdk" : "cli",
  }));
/** Each provider on one of the runtimes; the other half in the wide round. */
const combinations = testSubset([...byRuntime(0), ...byRuntime(1)], providerCases.length);

test.each(combinations)(
  "runs a job through $type on $runtime without a credential in its environment",
  async ({ type, runtime, yaml, credential, model }) => {
    const harness = await startHarness({ mode: "obedient" });
    const env = { ...canaries, HERDCTL_REHEARSAL_URL: harness.rehearsal.url ?? "" };
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}\nprovider: ${yaml}\n`,
      env,
      prompt: toolCallPrompt([
        "Bash",
        {
          command:
            "env; for p in self $PPID; do cat /proc/$p/environ /proc/$p/cmdline; done | tr '\\0' '\\n'",
        },
      ]),
    });
    expect(job.outcome).toMatchObject({ code: "success" });
    expect(job).toMatchObject({ credential: "provider", provider: { type, credential } });
    expect(job.cost_usd).toBeGreaterThan(0);
    const calls = harness.rehearsal.ledger.main;
    expect(calls.length).toBeGreaterThan(1);
    expect(calls.every((call) => call.provider === type && call.status === 200)).toBe(true);
    expect(calls[0]?.model).toContain(model);
    const messages = await readJobMessages(job);
    expect(toolResultTexts(messages).join()).toContain("HERDCTL_JOB");
    const texts = [
      JSON.stringify(messages),
      JSON.stringify(job),
      ...filesBelow(stateDirOf(harness)),
    ];
    for (const secret of [...Object.values(canaries), "rehearsal-secret-access-key"])
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  },
);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"));
}
