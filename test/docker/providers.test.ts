import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canaries, providerCases } from "../providers/provider-cases.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  docker,
  runJobInContainer,
  runningContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { readJobMessages, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";
import { isWide, wideTest } from "../support/test-subset.ts";

const engine = await sharedEngine();
const secrets = [...Object.values(canaries), "rehearsal-secret-access-key", "REHEARSALKEYID"];

/** The three clouds concurrently; in the wide round all providers on both runtimes. */
const runs = providerCases.flatMap((provider, index) =>
  (["cli", "sdk"] as const)
    .filter((_, offset) => isWide || (index < 3 && index % 2 === offset))
    .map((runtime) => ({ ...provider, runtime })),
);

test("runs jobs through providers in containers without a network or a credential", async () => {
  const jobs = runs.map(async ({ type, yaml, runtime, credential }, index) => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const search = `grep -rslE '${secrets.map(toSelfHidingPattern).join("|")}' / --exclude-dir=proc --exclude-dir=sys 2>/dev/null | head`;
    const running = runJobInContainer(harness, {
      yaml: `runtime: ${runtime}\nprovider: ${yaml}\n`,
      env: { ...canaries, HERDCTL_REHEARSAL_URL: harness.rehearsal.url ?? "" },
      prompt: toolCallPrompt(
        [
          "Bash",
          {
            command:
              "env; for p in /proc/[0-9]*; do cat $p/environ $p/cmdline; done | tr '\\0' '\\n'",
          },
        ],
        ["Bash", { command: `echo found: $(${search})` }],
        ["Bash", { command: `ls /sys/class/net; sleep ${index === 0 ? 4 : 0}` }],
      ),
    });
    // One is enough: polling for several containers would block this process.
    const seen =
      index === 0 ? docker(engine, "inspect", await runningContainer(engine, harness)) : "";
    const { job } = await running;
    expect(job.outcome, job.outcome?.message).toMatchObject({ code: "success" });
    expect(job).toMatchObject({
      session_home: "docker",
      provider: { type, credential },
    });
    expect(job.cost_usd).toBeGreaterThan(0);
    expect(harness.rehearsal.ledger.main.every((call) => call.provider === type)).toBe(true);
    const messages = await readJobMessages(job);
    const results = toolResultTexts(messages);
    expect(results).toHaveLength(3);
    expect(results[1]).toBe(JSON.stringify("found:"));
    expect(results[2]).toBe(JSON.stringify("lo"));
    const kept = [
      seen,
      JSON.stringify(job),
      JSON.stringify(messages),
      ...filesBelow(stateDirOf(harness)),
    ];
    for (const secret of secrets) expect(kept.filter((text) => text.includes(secret))).toEqual([]);
  });
  await Promise.all(jobs);
});

wideTest("refuses the call of a container that exceeds its budget at Bedrock", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const { job } = await runJobInContainer(harness, {
    yaml: "runtime: cli\nprovider: { type: bedrock, region: eu-central-1 }\nmax_budget_usd: 0.001\n",
    env: { HERDCTL_REHEARSAL_URL: harness.rehearsal.url ?? "" },
    prompt: toolCallPrompt(["Bash", { command: "true" }]),
  });
  expect(job).toMatchObject({ outcome: { code: "budget_exceeded" } });
  expect(harness.rehearsal.ledger.main).toHaveLength(1);
});

/** Matches the start of the secret, but not the prompt that contains the pattern. */
function toSelfHidingPattern(secret: string): string {
  return `[${secret.charAt(0)}]${secret.slice(1, 14)}`;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"));
}
