import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  chownToContainerUser,
  runJobInContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { readJobMessages, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

test("does not export hidden files as artifact or metadata", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const state = stateDirOf(harness);
  mkdirSync(state, { recursive: true });
  writeFileSync(join(harness.home, ".env"), "ANTHROPIC_API_KEY=CANARY-key\n");
  writeFileSync(join(state, "token"), "CANARY-token\n");
  writeFileSync(join(state, "token.json"), '{"token":"CANARY-json"}');
  writeFileSync(join(harness.home, "own.txt"), "own\n");
  symlinkSync("state/token", join(harness.home, "link.txt"));
  chownToContainerUser(join(harness.home, "own.txt"));
  const paths = [".env", "state/token", "/workspace/state/token.json", "link.txt", "own.txt"];
  const { job } = await runJobInContainer(harness, {
    yaml: `working_directory: ${harness.home}\ndocker: { enabled: true, workspace_mode: ro, user: "1000" }\ntools: [artifact]\nmetadata_file: state/token.json`,
    prompt: toolCallPrompt(
      ...paths.map((path, at): [string, object] => [
        "mcp__herd__artifact",
        { path, name: `${at}.txt` },
      ]),
    ),
  });
  expect(job.outcome?.code).toBe("success");
  const answers = toolResultTexts(await readJobMessages(job));
  expect(answers).toHaveLength(paths.length);
  for (const answer of answers.slice(0, 4)) expect(answer).toContain("closed to the agent");
  expect(job.artifacts.map(({ name }) => name)).toEqual(["4.txt"]);
  expect(job.metadata).toBeNull();
  expect(job.warnings.join("\n")).toContain("state/token.json was not used");
  expect(JSON.stringify(job)).not.toContain("CANARY");
});
