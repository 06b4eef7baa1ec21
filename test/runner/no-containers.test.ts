import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RuntimeFactory, UserError } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { agentFor, runJob, stateDirOf } from "../support/job.ts";
import { type Stage, stage } from "../support/stage.ts";

/** A `claude` that leaves a trace as soon as anybody starts it, whatever for. */
function tracedClaude(on: Stage): { path: string; trace: string } {
  const [path, trace] = [join(on.home, "claude"), join(on.home, "claude-was-started")];
  writeFileSync(path, `#!/bin/sh\ntouch ${trace}\necho '2.1.325 (Claude Code)'\n`);
  chmodSync(path, 0o755);
  return { path, trace };
}

describe.each(["sdk", "cli", "{ type: cli, stream: session-file }"])("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}\ndocker: { enabled: true }`;

  test("an agent that is to run in a container is not run on the host instead", async () => {
    const on = await stage({ mode: "obedient" });
    const claude = tracedClaude(on);
    const { success, job, error } = await runJob(on, { yaml, claudePath: claude.path });
    expect(success).toBe(false);
    expect(job).toMatchObject({ status: "failed", attempts: 0, place: null });
    expect(job.outcome).toMatchObject({
      code: "docker_unavailable",
      message: expect.stringContaining("Nothing was run"),
      hint: expect.stringContaining("docker.enabled: false"),
    });
    expect(error?.outcome?.code).toBe("docker_unavailable");
    expect(existsSync(claude.trace)).toBe(false);
    expect(existsSync(join(stateDirOf(on), "jobs", job.id, "output.jsonl"))).toBe(false);
    expect(on.rehearsal.ledger.entries).toEqual([]);

    await runJob(on, { yaml: `runtime: ${runtime}`, claudePath: claude.path });
    expect(existsSync(claude.trace)).toBe(true);
  });

  test("it gets no runtime from the factory either", async () => {
    const on = await stage();
    const create = () => RuntimeFactory.create(agentFor(on, yaml), { stateDir: stateDirOf(on) });
    expect(create).toThrow(UserError);
    expect(create).toThrow(/container/);
  });
});

test("it is refused before its repository is cloned", async () => {
  const on = await stage();
  const root = join(on.home, "clones");
  const { job } = await runJob(on, {
    yaml: `working_directory: { repo: "${on.workspace}", root: "${root}" }\ndocker: { enabled: true }`,
  });
  expect(job.outcome?.code).toBe("docker_unavailable");
  expect(existsSync(root)).toBe(false);
});
