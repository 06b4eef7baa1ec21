import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Job } from "@herdctl/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorkspaceFile } from "../../packages/core/src/runner/execution/workspace-file.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { testSubset } from "../support/test-subset.ts";

const artifactPrompt = (path: string, name?: string) =>
  toolCallPrompt(["mcp__herd__artifact", { path, name }]);
const readArtifact = (job: Job, name: string) =>
  readFileSync(join(dirname(job.output_file), "artifacts", name), "utf8");

describe.each(testSubset(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}\npermission_mode: dontAsk\nallowed_tools: [Bash]\ntools: [artifact]`;

  test("keeps a workspace file with the job, named by a relative or an absolute path", async () => {
    const harness = await startObedientHarness();
    const { job } = await runJob(harness, {
      yaml,
      prompt: [
        toolCallPrompt(["Bash", { command: "mkdir out; echo one > out/a.txt; echo two > b.txt" }]),
        artifactPrompt("out/a.txt"),
        artifactPrompt(join(harness.workspace, "b.txt"), "second (b).txt"),
        toolCallPrompt(["Bash", { command: "echo three > out/a.txt" }]),
        toolCallPrompt(["mcp__herd__artifact", { path: "./out/a.txt" }]),
      ].join("\n\n"),
    });
    expect(job).toMatchObject({
      outcome: { code: "success" },
      artifacts: [
        { name: "a.txt", bytes: 6 },
        { name: "second (b).txt", bytes: 4 },
      ],
      warnings: [],
    });
    expect(readArtifact(job, "a.txt")).toBe("three\n");
    expect(readArtifact(job, "second (b).txt")).toBe("two\n");
  });

  test("refuses and records a file outside the workspace, however the path leads there", async () => {
    const harness = await startObedientHarness();
    const secret = join(harness.home, "secret.txt");
    writeFileSync(secret, "secret");
    symlinkSync(secret, join(harness.workspace, "link.txt"));
    symlinkSync(harness.home, join(harness.workspace, "folder"));
    const paths = [secret, "../secret.txt", "link.txt", "folder/secret.txt", "a/../../secret.txt"];
    const { job } = await runJob(harness, {
      yaml,
      prompt: paths.map((path) => artifactPrompt(path)).join("\n\n"),
    });
    const answers = toolResultTexts(await readJobMessages(job));
    expect(answers).toHaveLength(paths.length);
    for (const answer of answers) expect(answer).toContain("is not in the working directory");
    expect(job.artifacts).toEqual([]);
    expect(job.warnings).toHaveLength(paths.length);
    expect(job.warnings[0]).toBe(
      `refused: artifact: \`${secret}\` was not kept: it is not in the working directory.`,
    );
  });
});

describe("artifact limits", () => {
  const yaml = "runtime: cli\ntools: [artifact]";

  test("accepts only existing files that are small enough and have a valid name", async () => {
    const harness = await startObedientHarness();
    writeFileSync(join(harness.workspace, "large.bin"), "");
    truncateSync(join(harness.workspace, "large.bin"), 64 * 1024 ** 2 + 1);
    const { job } = await runJob(harness, {
      yaml,
      prompt: [
        artifactPrompt("missing.txt"),
        artifactPrompt("large.bin"),
        toolCallPrompt(["Bash", { command: "mkfifo pipe; mkdir folder; echo x > x" }]),
        artifactPrompt("pipe"),
        artifactPrompt("folder"),
        artifactPrompt("x", "../x"),
        artifactPrompt("x", ".x"),
      ].join("\n\n"),
    });
    const answers = toolResultTexts(await readJobMessages(job));
    const [missing, large, , pipe, folder, up, hidden] = answers;
    expect(missing).toContain("there is no such file");
    expect(large).toContain("larger than 64 MB");
    expect(pipe).toContain("not a regular file");
    expect(folder).toContain("not a regular file");
    expect([up, hidden].join()).toMatch(
      /not a valid name for a kept file.*not a valid name for a kept file/,
    );
    expect(job.artifacts).toEqual([]);
  });

  test("keeps at most a hundred files per job", async () => {
    const harness = await startObedientHarness();
    writeFileSync(join(harness.workspace, "x"), "x");
    const calls = Array.from({ length: 101 }, (_, n): [string, object] => [
      "mcp__herd__artifact",
      { path: "x", name: `x${n}` },
    ]);
    const { job } = await runJob(harness, { yaml, prompt: toolCallPrompt(...calls) });
    expect(job.artifacts).toHaveLength(100);
    expect(job.warnings).toEqual([expect.stringContaining("100 files already")]);
  });
});

test("exports nothing when a folder is replaced by a link during the copy", async () => {
  const home = realpathSync(tempFolderWith({ "secret/file.txt": "secret" }));
  const cwd = realpathSync(tempFolderWith({ "real/file.txt": "own" }));
  symlinkSync(join(home, "secret"), join(cwd, "link"));
  const swap = `const { renameSync } = require("node:fs");
    for (;;) for (const from of ["real", "link"]) try {
      renameSync(from, "out"); renameSync("out", from);
    } catch {}`;
  const swapper = spawn(process.execPath, ["-e", swap], { cwd, stdio: "ignore" });
  onTestFinished(async () => {
    const gone = once(swapper, "exit");
    swapper.kill("SIGKILL");
    await gone;
  });
  const seen = new Set<string>();
  const deadline = Date.now() + 30_000;
  while ((!seen.has("own") || !seen.has("refused")) && Date.now() < deadline) {
    for (let n = 0; n < 200; n++) {
      const opened = await openWorkspaceFile(
        { place: "docker", cwd, closedPaths: [] },
        "out/file.txt",
      );
      if (opened.kind !== "open") {
        if (opened.reason.includes("working directory")) seen.add("refused");
        continue;
      }
      seen.add(await opened.file.readFile("utf8"));
      await opened.file.close();
    }
  }
  expect(seen).toEqual(new Set(["own", "refused"]));
});
