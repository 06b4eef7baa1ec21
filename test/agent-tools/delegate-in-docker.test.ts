import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { containersOfJob, startDockerHarness } from "../support/docker-harness.ts";
import { startFleetProcess } from "../support/fleet-child-process.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import {
  chainAgentYaml,
  delegatePrompt,
  readToolResults,
  waitForChain,
} from "./delegation-helpers.ts";

const engine = await sharedEngine();

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("delegates from one container agent to another, waits, and is stopped in a circle", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const contained = { runtime, more: "docker: { enabled: true }" };
    const back = delegatePrompt({ agent: "a", prompt: "Back to you.", wait: true });
    const agents = [
      chainAgentYaml({ name: "a", mayTrigger: ["b"], ...contained }),
      chainAgentYaml({ name: "b", mayTrigger: ["a"], systemPrompt: back, ...contained }),
    ].join("\n");
    const fleet = await startFleetProcess(
      harness,
      writeFleetFile(harness, agents, "max_concurrent: 1"),
    );
    const prompt = delegatePrompt({ agent: "b", prompt: "Go.", wait: true });
    const { job } = await fleet.control.jobs.trigger({ agent: "a", prompt });
    const [first, second, refused] = await waitForChain(fleet.control, job.id);
    expect([first, second]).toMatchObject([
      { session_home: "docker", outcome: { code: "success" } },
      { session_home: "docker", outcome: { code: "success" }, chain: { parent: job.id } },
    ]);
    expect(refused).toMatchObject({ status: "skipped", outcome: { code: "chain_limit" } });
    expect(first && (await readToolResults(first))).toContain(second?.id);
    expect(second && (await readToolResults(second))).toContain("a → b → a");
    for (const { id } of [first, second].flatMap((one) => one ?? []))
      expect(containersOfJob(engine, id)).toEqual([]);
    await fleet.stop();
  });
});
