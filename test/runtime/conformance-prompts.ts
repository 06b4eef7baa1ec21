import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { perform, type RuntimeUnderTest, seenWorkspace } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";

const canary = "canary of the file";
const commandText = "canary of the command";

/** A workspace with a file to mention, and a command to call; both hold a canary. */
async function mentionStage(runtime: RuntimeUnderTest) {
  const on = await stage({ script: { default: "Done." } });
  writeFileSync(join(on.workspace, "secret.txt"), `${canary}\n`);
  chmodSync(join(on.workspace, "secret.txt"), 0o644);
  const commands = join(on.configDir, "commands");
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, "leak.md"), `---\ndescription: leak\n---\n${commandText}\n`);
  return { on, file: join(seenWorkspace(runtime, on), "secret.txt") };
}

function requestsOf(on: Stage): string {
  return JSON.stringify(on.rehearsal.ledger.main.map(({ body }) => body));
}

/** How every runtime treats `@path` and `/command` in a prompt. */
export function promptConformance(runtime: RuntimeUnderTest): void {
  test("a prompt that names a file or a command reaches the model as written", async () => {
    const { on, file } = await mentionStage(runtime);
    const sessionId = randomUUID();
    const fresh = { session: { kind: "fresh" as const, sessionId } };
    const resumed = { session: { kind: "resume" as const, sessionId } };
    await perform(runtime, on, { prompt: `@${file} /init`, options: fresh });
    await perform(runtime, on, { prompt: `/leak @${file}`, options: resumed });
    const prompts = on.rehearsal.ledger.main.map(({ prompt }) => prompt);
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toContain(`@${file} /init`);
    expect(prompts[1]).toContain(`/leak @${file}`);
    expect(requestsOf(on)).not.toContain(canary);
    expect(requestsOf(on)).not.toContain(commandText);
  });

  test("with `expand` a prompt that names a file brings the file", async () => {
    const { on, file } = await mentionStage(runtime);
    await perform(runtime, on, { prompt: `look at @${file}`, options: { expand: true } });
    expect(requestsOf(on)).toContain(canary);
  });
}
