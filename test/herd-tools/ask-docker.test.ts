import { dirname } from "node:path";
import type { AskPerson, FleetControl } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { herdctl } from "../cli/herdctl.ts";
import { dockerStage, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";

const engine = await testEngine();

const ask = (more: object = {}) =>
  obey(["mcp__herd__ask", { question: "Which colour?", choices: ["Red", "Blue"], ...more }]);
const options = ["Apple", "Pear"].map((label) => ({ label, description: "a fruit" }));
const own = obey([
  "AskUserQuestion",
  { questions: [{ question: "Which fruit?", header: "Fruit", multiSelect: false, options }] },
]);

describe.each(["sdk", "cli"])("runtime: %s in a container", (runtime) => {
  test("both kinds of questions reach a person outside, and the answers the model", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const replies: Record<string, string> = { "Which colour?": "blue", "Which fruit?": "Pear" };
    const askPerson: AskPerson = async ({ question }) => ({ reply: replies[question ?? ""] ?? "" });
    const { job } = await runContained(on, {
      yaml: `runtime: ${runtime}\ntools: [ask]`,
      prompt: [ask(), own].join("\n\n"),
      askPerson,
    });
    const told = toolResults(await logOf(job)).join();
    expect(told).toContain("A person answered: Blue");
    expect(told).toMatch(/Which fruit\?\W+Pear/);
    expect(job.outcome).toMatchObject({ code: "success" });
  });

  test("nobody answers: the model is told so, or the default counts where it may", async () => {
    const silent: AskPerson = () => new Promise(() => undefined);
    for (const [config, told] of [
      ["{}", "Nobody answered in time."],
      ["{ use_default: true }", "your default counts: Red"],
    ]) {
      const on = await dockerStage(engine, { mode: "obedient" });
      const { job } = await runContained(on, {
        yaml: `runtime: ${runtime}\ntools: [ask]\nask: ${config}`,
        prompt: ask({ expires: "1s", default: "Red" }),
        askPerson: silent,
      });
      expect(toolResults(await logOf(job)).join()).toContain(told);
    }
  });

  test("the fleet is killed while an agent in a container waits; the next one takes the answer from a command", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const agents = `  - { name: one, runtime: ${runtime}, tools: [ask], docker: { enabled: true } }`;
    const file = fleetFile(on, agents);
    const first = await fleetProgram(on, file);
    const manual = { trigger: "manual" as const, agent: "one", prompt: ask() };
    const { job } = await first.control.trigger(manual);
    const id = await askedIn(first.control);
    await first.kill();

    const second = await fleetProgram(on, file);
    const answer = await herdctl(["answer", id, "Red"], { cwd: dirname(file), env: on.env });
    expect(answer).toMatchObject({ code: 0 });
    const ended = await second.control.wait(job.id);
    expect(toolResults(await logOf(ended)).join()).toContain("A person answered: Red");
    expect(ended).toMatchObject({ attempts: 1, outcome: { code: "success" } });
    await second.stop();
  });
});

async function askedIn(control: FleetControl): Promise<string> {
  return until("the question", async () => (await control.approvals())[0]?.id, 60_000);
}
