import { describe, expect, test } from "vitest";
import { containersOf, dockerStage } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram } from "../support/fleet-program.ts";
import { chainOver, delegate, member, told } from "./delegating.ts";

const engine = await testEngine();

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("an agent in a container hands work to one in another, waits, and is stopped in a circle", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const contained = { runtime, more: "docker: { enabled: true }" };
    const back = delegate({ agent: "a", prompt: "Back to you.", wait: true });
    const agents = [
      member({ name: "a", may: ["b"], ...contained }),
      member({ name: "b", may: ["a"], told: back, ...contained }),
    ].join("\n");
    const fleet = await fleetProgram(on, fleetFile(on, agents, "max_concurrent: 1"));
    const prompt = delegate({ agent: "b", prompt: "Go.", wait: true });
    const { job } = await fleet.control.trigger({ trigger: "manual", agent: "a", prompt });
    const [first, second, refused] = await chainOver(fleet.control, job.id);
    expect([first, second]).toMatchObject([
      { place: "docker", outcome: { code: "success" } },
      { place: "docker", outcome: { code: "success" }, chain: { parent: job.id } },
    ]);
    expect(refused).toMatchObject({ status: "skipped", outcome: { code: "chain_limit" } });
    expect(first && (await told(first))).toContain(second?.id);
    expect(second && (await told(second))).toContain("a → b → a");
    for (const { id } of [first, second].flatMap((one) => one ?? []))
      expect(containersOf(engine, id)).toEqual([]);
    await fleet.stop();
  });
});
