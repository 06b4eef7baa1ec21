import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { sessionFilePath } from "../../packages/core/src/claude/session-files/session-file-path.ts";
import { startHarness } from "../support/harness.ts";
import { runJob } from "../support/run-job.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const lineSchema = z.looseObject({ type: z.string(), uuid: z.string().optional() });

/** The id of the first message of the user in a transcript. */
function firstMessageOf(transcript: string): string {
  const lines = readFileSync(transcript, "utf8").trim().split("\n");
  const messages = lines.map((line) => lineSchema.parse(JSON.parse(line)));
  return messages.find(({ type }) => type === "user")?.uuid ?? "";
}

test.each(testSubset(["cli", "sdk"], 2))(
  "keeps copies of changed files, from which claude restores them (%s)",
  async (runtime) => {
    const harness = await startHarness({ mode: "obedient" });
    const { workspace, configDir, env } = harness;
    const [changed, created, byCommand] = ["changed", "created", "command"].map((name) =>
      join(workspace, name),
    );
    writeFileSync(changed ?? "", "before");
    const prompt = toolCallPrompt(
      ["Read", { file_path: changed }],
      ["Write", { file_path: changed, content: "after" }],
      ["Write", { file_path: created, content: "new" }],
      ["Bash", { command: `touch ${byCommand}` }],
    );
    const yaml = `runtime: ${runtime}\nfile_checkpointing: true`;
    const { job } = await runJob(harness, { yaml, prompt });
    expect(readFileSync(changed ?? "", "utf8")).toBe("after");
    const session = job.session_id ?? "";
    const home = { place: "cli" as const, configDir, cwd: workspace };
    const message = firstMessageOf(sessionFilePath(home, session));
    const { code, stderr } = await harness.claude(
      "325",
      ["-p", `--resume=${session}`, `--rewind-files=${message}`],
      { env: { ...env, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" }, cwd: workspace },
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(readFileSync(changed ?? "", "utf8")).toBe("before");
    expect([existsSync(created ?? ""), existsSync(byCommand ?? "")]).toEqual([false, true]);
  },
);
