import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Job } from "@herdctl/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { openInWorkspace } from "../../packages/core/src/runner/workspace-file.ts";
import { folderWith } from "../support/folder.ts";
import { logOf, runJob } from "../support/job.ts";
import { obedientStage, obey, toolResults } from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";

const keep = (path: string, name?: string) => obey(["mcp__herd__artifact", { path, name }]);
const kept = (job: Job, name: string) =>
  readFileSync(join(dirname(job.output_file), "artifacts", name), "utf8");

describe.each(sliceOf(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}\npermission_mode: dontAsk\nallowed_tools: [Bash]\ntools: [artifact]`;

  test("a file of the workspace is kept with the job, by whichever path it is named", async () => {
    const on = await obedientStage();
    const { job } = await runJob(on, {
      yaml,
      prompt: [
        obey(["Bash", { command: "mkdir out; echo one > out/a.txt; echo two > b.txt" }]),
        keep("out/a.txt"),
        keep(join(on.workspace, "b.txt"), "second (b).txt"),
        obey(["Bash", { command: "echo three > out/a.txt" }]),
        obey(["mcp__herd__artifact", { path: "./out/a.txt" }]),
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
    expect(kept(job, "a.txt")).toBe("three\n");
    expect(kept(job, "second (b).txt")).toBe("two\n");
  });

  test("what lies outside of the workspace is refused and recorded, whatever leads there", async () => {
    const on = await obedientStage();
    const secret = join(on.home, "secret.txt");
    writeFileSync(secret, "secret");
    symlinkSync(secret, join(on.workspace, "link.txt"));
    symlinkSync(on.home, join(on.workspace, "folder"));
    const paths = [secret, "../secret.txt", "link.txt", "folder/secret.txt", "a/../../secret.txt"];
    const { job } = await runJob(on, {
      yaml,
      prompt: paths.map((path) => keep(path)).join("\n\n"),
    });
    const answers = toolResults(await logOf(job));
    expect(answers).toHaveLength(paths.length);
    for (const answer of answers) expect(answer).toContain("does not lie in the working directory");
    expect(job.artifacts).toEqual([]);
    expect(job.warnings).toHaveLength(paths.length);
    expect(job.warnings[0]).toBe(
      `refused: artifact: \`${secret}\` was not kept: it does not lie in the working directory.`,
    );
  });
});

describe("limits", () => {
  const yaml = "runtime: cli\ntools: [artifact]";

  test("only files that are there, not too large, and named so that they can be files", async () => {
    const on = await obedientStage();
    writeFileSync(join(on.workspace, "large.bin"), "");
    truncateSync(join(on.workspace, "large.bin"), 64 * 1024 ** 2 + 1);
    const { job } = await runJob(on, {
      yaml,
      prompt: [
        keep("missing.txt"),
        keep("large.bin"),
        obey(["Bash", { command: "mkfifo pipe; mkdir folder; echo x > x" }]),
        keep("pipe"),
        keep("folder"),
        keep("x", "../x"),
        keep("x", ".x"),
      ].join("\n\n"),
    });
    const answers = toolResults(await logOf(job));
    const [missing, large, , pipe, folder, up, hidden] = answers;
    expect(missing).toContain("there is no such file");
    expect(large).toContain("larger than 64 MB");
    expect(pipe).toContain("not a file");
    expect(folder).toContain("not a file");
    expect([up, hidden].join()).toMatch(/no name for a kept file.*no name for a kept file/);
    expect(job.artifacts).toEqual([]);
  });

  test("a job keeps a hundred files and no more", async () => {
    const on = await obedientStage();
    writeFileSync(join(on.workspace, "x"), "x");
    const calls = Array.from({ length: 101 }, (_, n): [string, object] => [
      "mcp__herd__artifact",
      { path: "x", name: `x${n}` },
    ]);
    const { job } = await runJob(on, { yaml, prompt: obey(...calls) });
    expect(job.artifacts).toHaveLength(100);
    expect(job.warnings).toEqual([expect.stringContaining("100 files already")]);
  });
});

test("a folder that turns into a link at the wrong moment brings out nothing", async () => {
  const home = realpathSync(folderWith({ "secret/file.txt": "secret" }));
  const cwd = realpathSync(folderWith({ "real/file.txt": "own" }));
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
      const opened = await openInWorkspace({ place: "docker", cwd, closed: [] }, "out/file.txt");
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
