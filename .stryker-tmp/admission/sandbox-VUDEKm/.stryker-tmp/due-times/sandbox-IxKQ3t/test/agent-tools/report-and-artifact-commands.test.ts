import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const prompt = [
  toolCallPrompt(["Bash", { command: "echo one > 'a b.txt'" }]),
  toolCallPrompt(["mcp__herd__artifact", { path: "a b.txt" }]),
  toolCallPrompt([
    "mcp__herd__memory",
    { action: "write", name: "release-steps", text: "# Release\n" },
  ]),
  toolCallPrompt(["mcp__herd__report", { report: { title: "done", count: 2 } }]),
].join("\n\n");

/** Runs a job that hands in every kind of deliverable. */
async function runWithDeliverables() {
  const harness: TestHarness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(
    harness,
    "  - { name: one, runtime: cli, tools: [report, artifact, memory] }",
  );
  const folder = dirname(file);
  const run = (...args: string[]) => runHerdctl(args, { cwd: folder, env: harness.env });
  const { stdout } = await run("trigger", "one", "-p", prompt, "--wait", "--json");
  return { folder, run, job: JSON.parse(stdout) };
}

test("shows the report and the files of a job", async () => {
  const { run, job } = await runWithDeliverables();
  expect(job).toMatchObject({ outcome: { code: "success" }, report: { title: "done", count: 2 } });
  const { stdout } = await run("job", job.id);
  expect(stdout).toMatch(/files +a b\.txt \(4 B\)/);
  expect(stdout).toMatch(/report +\{\n +"title": "done",\n +"count": 2/);
  const shown = JSON.parse((await run("job", job.id, "--json")).stdout);
  expect(shown).toMatchObject({ report: job.report, artifacts: [{ name: "a b.txt", bytes: 4 }] });
});

test("lists files and copies them out without overwriting", async () => {
  const { run, job, folder } = await runWithDeliverables();
  expect((await run("artifacts", job.id)).stdout).toMatch(/4 B +\d+ s +a b\.txt/);
  const listed = JSON.parse((await run("artifacts", job.id, "--json")).stdout);
  expect(listed).toMatchObject({ artifacts: [{ name: "a b.txt", bytes: 4 }] });

  expect(await run("artifacts", job.id, "a b.txt")).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "a b.txt"), "utf8")).toBe("one\n");
  const again = await run("artifacts", job.id, "a b.txt");
  expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining("already exists") });
  expect(await run("artifacts", job.id, "a b.txt", "-o", "c.txt")).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, "c.txt"))).toBe(true);
  const unknown = await run("artifacts", job.id, "b.txt");
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("a b.txt") });
});

test("lists and shows the notes of an agent", async () => {
  const { run, folder } = await runWithDeliverables();
  writeFileSync(join(folder, ".herdctl/memory/one/by-hand.md"), "by a person");
  expect((await run("memory", "one")).stdout).toMatch(/by-hand\n.*release-steps/);
  expect((await run("memory", "one", "release-steps")).stdout).toBe("# Release\n");
  const { notes } = JSON.parse((await run("memory", "one", "--json")).stdout);
  expect(notes).toMatchObject([{ name: "by-hand" }, { name: "release-steps", bytes: 10 }]);
  for (const args of [["one", "nothing"], ["one", "../../herd.db"], ["../x"]])
    expect((await run("memory", ...args)).code).toBe(2);
});
