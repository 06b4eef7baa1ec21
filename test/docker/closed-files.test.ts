import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dockerStage, giveAll, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { logOf, stateDirOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";

const engine = await testEngine();

test("what is hidden from a container comes out neither as an artifact nor as metadata", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const state = stateDirOf(on);
  mkdirSync(state, { recursive: true });
  writeFileSync(join(on.home, ".env"), "ANTHROPIC_API_KEY=CANARY-key\n");
  writeFileSync(join(state, "token"), "CANARY-token\n");
  writeFileSync(join(state, "token.json"), '{"token":"CANARY-json"}');
  writeFileSync(join(on.home, "own.txt"), "own\n");
  symlinkSync("state/token", join(on.home, "link.txt"));
  giveAll(join(on.home, "own.txt"));
  const paths = [".env", "state/token", "/workspace/state/token.json", "link.txt", "own.txt"];
  const { job } = await runContained(on, {
    yaml: `working_directory: ${on.home}\ndocker: { enabled: true, workspace_mode: ro, user: "1000" }\ntools: [artifact]\nmetadata_file: state/token.json`,
    prompt: obey(
      ...paths.map((path, at): [string, object] => [
        "mcp__herd__artifact",
        { path, name: `${at}.txt` },
      ]),
    ),
  });
  expect(job.outcome?.code).toBe("success");
  const answers = toolResults(await logOf(job));
  expect(answers).toHaveLength(paths.length);
  for (const answer of answers.slice(0, 4)) expect(answer).toContain("closed to the agent");
  expect(job.artifacts.map(({ name }) => name)).toEqual(["4.txt"]);
  expect(job.metadata).toBeNull();
  expect(job.warnings.join("\n")).toContain("state/token.json was not used");
  expect(JSON.stringify(job)).not.toContain("CANARY");
});
