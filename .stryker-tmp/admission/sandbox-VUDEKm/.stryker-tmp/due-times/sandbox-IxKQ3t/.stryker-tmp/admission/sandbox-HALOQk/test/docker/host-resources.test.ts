import { execFileSync } from "node:child_process";
import { chownSync, statSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerUser, runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();
const megabyte = 1024 * 1024;

/** Prints one message of 40 MB and 4,000 of 1 kB to the standard output of `claude` itself. */
const floodCommand = `perl -e '
  sub message { print "{\\"type\\":\\"system\\",\\"subtype\\":\\"noise\\",\\"text\\":\\"", "x" x $_[0], "\\"}\\n" }
  message(40 * 1024 * 1024);
  message(1024) for 1..4000;
' > /proc/$PPID/fd/1`;

test.each(["sdk", "cli"])(
  "keeps memory and disk bounded in a flood of messages, and keeps the result, with runtime %s",
  async (runtime) => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const { job } = await runJobInContainer(harness, {
      yaml: `runtime: ${runtime}\nmax_log_size: 1m`,
      prompt: toolCallPrompt(["Bash", { command: floodCommand }]),
    });
    expect(job.outcome?.code).toBe("success");
    expect(job.warnings).toEqual([
      expect.stringMatching(/^a message of 41 MB was dropped/),
      expect.stringMatching(/reached `max_log_size`: \d+ messages/),
    ]);
    expect(statSync(job.output_file).size).toBeLessThan(1.2 * megabyte);
    const log = await readJobMessages(job);
    const markers = log
      .filter((one) => "reason" in one)
      .map((one) => "reason" in one && one.reason);
    expect(markers).toEqual(["line_too_long", "log_full"]);
    expect(log.at(-1)).toMatchObject({ type: "result", subtype: "success" });
  },
);

test("stops a run before it fills the disk of its workspace, and starts none on a full disk", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const options = "mode=0755,size=64m";
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", harness.workspace]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", harness.workspace]));
  chownSync(harness.workspace, containerUser.uid, containerUser.gid);
  const yaml = "docker: { enabled: true, min_free_disk: 32m }";
  const command = "dd if=/dev/zero of=big bs=1M count=48; sleep 6";
  const { job } = await runJobInContainer(harness, {
    yaml,
    prompt: toolCallPrompt(["Bash", { command }]),
  });
  expect(job.outcome).toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("was almost full"),
  });
  const asked = harness.rehearsal.ledger.main.length;
  const next = await runJobInContainer(harness, { yaml });
  expect(next.job.outcome).toMatchObject({
    code: "disk_full",
    message: expect.stringContaining(
      `Less than 32 MB are free on the disk of ${harness.workspace}`,
    ),
  });
  expect(harness.rehearsal.ledger.main).toHaveLength(asked);
});

test("limits a file to `docker.disk`", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const command = "dd if=/dev/zero of=big bs=1M count=12 2> /dev/null; stat -c %s big";
  const { job } = await runJobInContainer(harness, {
    yaml: "docker: { enabled: true, disk: 8m }",
    prompt: toolCallPrompt(["Bash", { command }]),
  });
  expect(toolResultTexts(await readJobMessages(job))).toEqual([
    expect.stringContaining(String(8 * megabyte)),
  ]);
});
