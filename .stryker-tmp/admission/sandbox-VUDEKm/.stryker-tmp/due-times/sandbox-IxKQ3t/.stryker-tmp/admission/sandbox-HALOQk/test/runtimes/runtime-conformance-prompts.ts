import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHarness, type TestHarness } from "../support/harness.ts";
import {
  executeOnRuntime,
  type RuntimeUnderTest,
  workspaceInRuntime,
} from "../support/runtimes-under-test.ts";

const canary = "canary of the file";
const commandText = "canary of the command";

/** A workspace with a file to mention and a command to call; both contain a canary. */
async function startMentionHarness(runtime: RuntimeUnderTest) {
  const harness = await startHarness({ script: { default: "Done." } });
  writeFileSync(join(harness.workspace, "secret.txt"), `${canary}\n`);
  chmodSync(join(harness.workspace, "secret.txt"), 0o644);
  const commands = join(harness.configDir, "commands");
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, "leak.md"), `---\ndescription: leak\n---\n${commandText}\n`);
  return { on: harness, file: join(workspaceInRuntime(runtime, harness), "secret.txt") };
}

function requestBodies(harness: TestHarness): string {
  return JSON.stringify(harness.rehearsal.ledger.main.map(({ body }) => body));
}

/** How every runtime must treat `@path` and `/command` in a prompt. */
export function describePromptConformance(runtime: RuntimeUnderTest): void {
  test("sends a prompt that names a file or a command to the model as written", async () => {
    const { on, file } = await startMentionHarness(runtime);
    const sessionId = randomUUID();
    const fresh = { session: { kind: "fresh" as const, sessionId } };
    const resumed = { session: { kind: "resume" as const, sessionId } };
    await executeOnRuntime(runtime, on, { prompt: `@${file} /init`, options: fresh });
    await executeOnRuntime(runtime, on, { prompt: `/leak @${file}`, options: resumed });
    const prompts = on.rehearsal.ledger.main.map(({ prompt }) => prompt);
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toContain(`@${file} /init`);
    expect(prompts[1]).toContain(`/leak @${file}`);
    expect(requestBodies(on)).not.toContain(canary);
    expect(requestBodies(on)).not.toContain(commandText);
  });

  test("includes a file that a prompt names with `expand`", async () => {
    const { on, file } = await startMentionHarness(runtime);
    await executeOnRuntime(runtime, on, {
      prompt: `look at @${file}`,
      options: { expandsReferences: true },
    });
    expect(requestBodies(on)).toContain(canary);
  });
}
