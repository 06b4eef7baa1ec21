import { dirname } from "node:path";
import type { AskPerson } from "@herdctl/core/internal";
import type { FleetControl } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

const askPrompt = (more: object = {}) =>
  toolCallPrompt([
    "mcp__herd__ask",
    { question: "Which colour?", choices: ["Red", "Blue"], ...more },
  ]);
const options = ["Apple", "Pear"].map((label) => ({ label, description: "a fruit" }));
const askUserQuestionPrompt = toolCallPrompt([
  "AskUserQuestion",
  { questions: [{ question: "Which fruit?", header: "Fruit", multiSelect: false, options }] },
]);

describe.each(["sdk", "cli"])("runtime: %s in a container", (runtime) => {
  test("passes both kinds of questions to a person outside and the answers to the model", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const replies: Record<string, string> = { "Which colour?": "blue", "Which fruit?": "Pear" };
    const askPerson: AskPerson = async ({ question }) => ({ reply: replies[question ?? ""] ?? "" });
    const { job } = await runJobInContainer(harness, {
      yaml: `runtime: ${runtime}\ntools: [ask]`,
      prompt: [askPrompt(), askUserQuestionPrompt].join("\n\n"),
      askPerson,
    });
    const toolResults = toolResultTexts(await readJobMessages(job)).join();
    expect(toolResults).toContain("A person answered: Blue");
    expect(toolResults).toMatch(/Which fruit\?\W+Pear/);
    expect(job.outcome).toMatchObject({ code: "success" });
  });

  test("reports a missing answer to the model, or applies the default where configured", async () => {
    const silent: AskPerson = () => new Promise(() => undefined);
    for (const [config, expected] of [
      ["{}", "There was no answer in time."],
      ["{ use_default: true }", "your default instead: Red"],
    ]) {
      const harness = await startDockerHarness(engine, { mode: "obedient" });
      const { job } = await runJobInContainer(harness, {
        yaml: `runtime: ${runtime}\ntools: [ask]\nask: ${config}`,
        prompt: askPrompt({ expires: "1s", default: "Red" }),
        askPerson: silent,
      });
      expect(toolResultTexts(await readJobMessages(job)).join()).toContain(expected);
    }
  });

  test("accepts an answer after the fleet was killed while a container agent waits", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const agents = `  - { name: one, runtime: ${runtime}, tools: [ask], docker: { enabled: true } }`;
    const file = writeFleetFile(harness, agents);
    const first = await startFleetProcess(harness, file);
    const manual = { agent: "one", prompt: askPrompt() };
    const { job } = await first.control.jobs.trigger(manual);
    const id = await waitForQuestion(first.control);
    await first.kill();

    const second = await startFleetProcess(harness, file);
    const answer = await runHerdctl(["answer", id, "Red"], {
      cwd: dirname(file),
      env: harness.env,
    });
    expect(answer).toMatchObject({ code: 0 });
    const ended = await second.control.jobs.wait(job.id);
    expect(toolResultTexts(await readJobMessages(ended)).join()).toContain(
      "A person answered: Red",
    );
    expect(ended).toMatchObject({ attempts: 1, outcome: { code: "success" } });
    await second.stop();
  });
});

async function waitForQuestion(control: FleetControl): Promise<string> {
  return waitUntil("the question", async () => (await control.approvals.list())[0]?.id, 60_000);
}
