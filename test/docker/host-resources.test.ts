import { execFileSync } from "node:child_process";
import { chownSync, statSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { dockerStage, insider, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";

const engine = await testEngine();
const megabyte = 1024 * 1024;

/** One message of 40 MB and 4,000 of 1 kB, on the standard output of `claude` itself. */
const flood = `perl -e '
  sub message { print "{\\"type\\":\\"system\\",\\"subtype\\":\\"noise\\",\\"text\\":\\"", "x" x $_[0], "\\"}\\n" }
  message(40 * 1024 * 1024);
  message(1024) for 1..4000;
' > /proc/$PPID/fd/1`;

test.each(["sdk", "cli"])(
  "a flood of messages fills neither the memory nor the disk, and the result is kept, with runtime %s",
  async (runtime) => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const { job } = await runContained(on, {
      yaml: `runtime: ${runtime}\nmax_log_size: 1m`,
      prompt: obey(["Bash", { command: flood }]),
    });
    expect(job.outcome?.code).toBe("success");
    expect(job.warnings).toEqual([
      expect.stringMatching(/^a message of 41 MB was dropped/),
      expect.stringMatching(/reached `max_log_size`: \d+ messages/),
    ]);
    expect(statSync(job.output_file).size).toBeLessThan(1.2 * megabyte);
    const log = await logOf(job);
    const markers = log
      .filter((one) => "reason" in one)
      .map((one) => "reason" in one && one.reason);
    expect(markers).toEqual(["line_too_long", "log_full"]);
    expect(log.at(-1)).toMatchObject({ type: "result", subtype: "success" });
  },
);

test("a run is stopped before it has filled the disk of its workspace, and not begun on a full one", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const options = "mode=0755,size=64m";
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", on.workspace]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", on.workspace]));
  chownSync(on.workspace, insider.uid, insider.gid);
  const yaml = "docker: { enabled: true, min_free_disk: 32m }";
  const command = "dd if=/dev/zero of=big bs=1M count=48; sleep 6";
  const { job } = await runContained(on, { yaml, prompt: obey(["Bash", { command }]) });
  expect(job.outcome).toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("was almost full"),
  });
  const asked = on.rehearsal.ledger.main.length;
  const next = await runContained(on, { yaml });
  expect(next.job.outcome).toMatchObject({
    code: "disk_full",
    message: expect.stringContaining(`Less than 32 MB are free on the disk of ${on.workspace}`),
  });
  expect(on.rehearsal.ledger.main).toHaveLength(asked);
});

test("a file is no larger than `docker.disk`", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const command = "dd if=/dev/zero of=big bs=1M count=12 2> /dev/null; stat -c %s big";
  const { job } = await runContained(on, {
    yaml: "docker: { enabled: true, disk: 8m }",
    prompt: obey(["Bash", { command }]),
  });
  expect(toolResults(await logOf(job))).toEqual([expect.stringContaining(String(8 * megabyte))]);
});
