import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { UsableCredential } from "../../packages/core/src/claude/credential.ts";
import {
  type RunOrder,
  sessionHomeKindOf,
} from "../../packages/core/src/runner/contract/run-order.ts";
import { openProxies } from "../../packages/core/src/runner/execution/open-proxies.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { runJob } from "../support/run-job.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import {
  bashTool,
  costPerCallUsd,
  directCalls,
  model,
  scriptForCommand,
  scriptForTools,
} from "./api-call-scripts.ts";

const token = "made-up-token-of-a-subscription";
const key: UsableCredential = { kind: "api_key", upstream: { kind: "api_key", value: "made-up" } };
const keyInside: UsableCredential = { ...key, inside: true };
const subscriptionToken: UsableCredential = { kind: "subscription", oauthToken: token };
const subscriptionLogin: UsableCredential = { kind: "subscription" };

function runOrder(docker: string): RunOrder {
  const cwd = tempFolderWith({});
  const agent = agentOf(
    loadTestFleet(inlineAgent(`working_directory: ${cwd}\ndocker: ${docker}`)),
    "one",
  );
  return {
    ...{ jobId: "job-1", attempt: 1, agent, prompt: "", place: sessionHomeKindOf(agent), cwd },
    ...{ session: { kind: "fresh", sessionId: "s" }, configDir: cwd, outputSchema: undefined },
    ...{ claude: { path: "claude", version: null }, partialMessages: false },
  };
}

test.each<[what: string, docker: string, credential: UsableCredential, hasGateway: boolean]>([
  ["a key, on the host", "{}", key, true],
  ["a key, in a container", "{ enabled: true }", key, true],
  ["a key, in a container with a network", "{ enabled: true, network: bridge }", key, true],
  ["a key inside a container", "{ enabled: true, auth: env }", keyInside, true],
  ["a token, in a container", "{ enabled: true, auth: env }", subscriptionToken, true],
  [
    "a token, in a container with a network",
    "{ enabled: true, auth: env, network: bridge }",
    subscriptionToken,
    true,
  ],
  ["a login, in a container", "{ enabled: true, auth: mount }", subscriptionLogin, true],
  [
    "a login, in a container with a network",
    "{ enabled: true, auth: mount, network: bridge }",
    subscriptionLogin,
    false,
  ],
  ["a token, on the host", "{}", subscriptionToken, false],
  ["a login, on the host", "{}", subscriptionLogin, false],
])(
  "decides whether `claude` calls the API through a gateway with %s",
  async (_, docker, credential, hasGateway) => {
    const use = { account: { meter: undefined }, onEnd: () => undefined };
    const proxies = await openProxies(
      runOrder(docker),
      {},
      credential,
      join(tempFolderWith({}), "proxy"),
      use,
    );
    onTestFinished(() => proxies.close());
    expect(proxies.gateway !== undefined).toBe(hasGateway);
  },
);

describe("subscription without a gateway", () => {
  const signedIn = { CLAUDE_CODE_OAUTH_TOKEN: token };
  const onSubscription = { prompt: "spend", env: signedIn };
  const yaml = `runtime: cli\nmodel: ${model}`;
  const calls = (count: number) => `ANTHROPIC_API_KEY=own; ${directCalls(count)}`;

  function directCount(harness: TestHarness): number {
    const { entries } = harness.rehearsal.ledger;
    return entries.filter(({ prompt, usage }) => usage && prompt?.includes("direct call")).length;
  }

  test("ends a run in `claude` at `max_budget_usd`", async () => {
    const harness = await startHarness({
      script: scriptForTools({ spend: Array(20).fill(bashTool("true")) }),
    });
    const limited = `${yaml}\nmax_budget_usd: 0.002`;
    const { job } = await runJob(harness, { ...onSubscription, yaml: limited });
    expect(job).toMatchObject({
      credential: "subscription",
      outcome: { code: "budget_exceeded", message: "The job used up `max_budget_usd`." },
    });
    expect(job.cost_usd).toBeLessThan(0.01);
  });

  test("neither counts nor refuses direct API calls of tools", async () => {
    const harness = await startHarness({ script: scriptForCommand(calls(2)) });
    const { job } = await runJob(harness, {
      ...onSubscription,
      yaml: `${yaml}\nmax_budget_usd: 0.1`,
    });
    expect(directCount(harness)).toBe(2);
    expect(job.outcome?.code).toBe("success");
    expect(job.cost_usd).toBeLessThan(costPerCallUsd);
  });

  test("records no cost for an interrupted run and leaves the day's budget open", async () => {
    const harness = await startHarness({ script: scriptForCommand("kill -9 $PPID") });
    const limited = `${yaml}\nbudget: { daily_usd: 0.0001 }`;
    for (let count = 0; count < 2; count += 1) {
      const { job } = await runJob(harness, { ...onSubscription, yaml: limited });
      expect(job).toMatchObject({ outcome: { code: "runtime_crashed" }, cost_usd: null });
    }
  });

  test("checks the day's budget at admission only", async () => {
    const harness = await startHarness({ script: scriptForCommand("true") });
    const limited = `${yaml}\nbudget: { daily_usd: 0.0001 }`;
    const { job } = await runJob(harness, { ...onSubscription, yaml: limited });
    expect(job.outcome?.code).toBe("success");
    expect(job.cost_usd).toBeGreaterThan(0.0001);
    const next = await runJob(harness, { ...onSubscription, yaml: limited });
    expect(next.job).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
  });
});
