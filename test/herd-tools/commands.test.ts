import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { herdctl } from "../cli/herdctl.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";

const prompt = [
  obey(["Bash", { command: "echo one > 'a b.txt'" }]),
  obey(["mcp__herd__artifact", { path: "a b.txt" }]),
  obey(["mcp__herd__memory", { action: "write", name: "release-steps", text: "# Release\n" }]),
  obey(["mcp__herd__report", { report: { title: "done", count: 2 } }]),
].join("\n\n");

/** A job that handed in something of every kind. */
async function handedIn() {
  const on: Stage = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli, tools: [report, artifact, memory] }");
  const folder = dirname(file);
  const run = (...args: string[]) => herdctl(args, { cwd: folder, env: on.env });
  const { stdout } = await run("trigger", "one", "-p", prompt, "--wait", "--json");
  return { folder, run, job: JSON.parse(stdout) };
}

test("a job shows the report and the files that were handed in", async () => {
  const { run, job } = await handedIn();
  expect(job).toMatchObject({ outcome: { code: "success" }, report: { title: "done", count: 2 } });
  const { stdout } = await run("job", job.id);
  expect(stdout).toMatch(/files +a b\.txt \(4 B\)/);
  expect(stdout).toMatch(/report +\{\n +"title": "done",\n +"count": 2/);
  const shown = JSON.parse((await run("job", job.id, "--json")).stdout);
  expect(shown).toMatchObject({ report: job.report, artifacts: [{ name: "a b.txt", bytes: 4 }] });
});

test("files are listed and copied out, and never over another", async () => {
  const { run, job, folder } = await handedIn();
  expect((await run("artifacts", job.id)).stdout).toMatch(/4 B +\d+ s +a b\.txt/);
  const listed = JSON.parse((await run("artifacts", job.id, "--json")).stdout);
  expect(listed).toMatchObject({ artifacts: [{ name: "a b.txt", bytes: 4 }] });

  expect(await run("artifacts", job.id, "a b.txt")).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "a b.txt"), "utf8")).toBe("one\n");
  const again = await run("artifacts", job.id, "a b.txt");
  expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining("already a file") });
  expect(await run("artifacts", job.id, "a b.txt", "-o", "c.txt")).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, "c.txt"))).toBe(true);
  const unknown = await run("artifacts", job.id, "b.txt");
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("a b.txt") });
});

test("notes of an agent are listed and shown", async () => {
  const { run, folder } = await handedIn();
  writeFileSync(join(folder, ".herdctl/memory/one/by-hand.md"), "by a person");
  expect((await run("memory", "one")).stdout).toMatch(/by-hand\n.*release-steps/);
  expect((await run("memory", "one", "release-steps")).stdout).toBe("# Release\n");
  const { notes } = JSON.parse((await run("memory", "one", "--json")).stdout);
  expect(notes).toMatchObject([{ name: "by-hand" }, { name: "release-steps", bytes: 10 }]);
  for (const args of [["one", "nothing"], ["one", "../../herd.db"], ["../x"]])
    expect((await run("memory", ...args)).code).toBe(2);
});
