import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIRuntime, JobExecutor, type RunOrder, type RuntimeInterface } from "@herdctl/core";
import { expect, test } from "vitest";
import { hostServers } from "../../packages/core/src/runner/runtime/mcp/host-servers.ts";
import { richServer } from "../support/bridged.ts";
import { claudeBinary } from "../support/claude.ts";
import { folderWith } from "../support/folder.ts";
import { agentFor, stateDirOf } from "../support/job.ts";
import { processesWith } from "../support/processes.ts";
import { obedientStage, obey } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

/** Carries out a job whose MCP servers are with us, as those of an agent in Docker are. */
async function execute(on: Stage, servers: string, prompt: string) {
  const agent = agentFor(on, `docker: { enabled: true }\nmcp_servers:\n${servers}`);
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  const jobDir = join(stateDirOf(on), "jobs", jobId);
  mkdirSync(jobDir, { recursive: true });
  const order: RunOrder = {
    jobId,
    attempt: 1,
    agent: { ...agent, docker: { ...agent.docker, enabled: false } },
    prompt,
    place: "cli",
    cwd: on.workspace,
    session: { kind: "fresh", sessionId: randomUUID() },
    configDir: on.configDir,
    claude: { path: claudeBinary("325"), version: "2.1.325" },
    partialMessages: false,
  };
  const runtime: RuntimeInterface = {
    execute: (options) =>
      new CLIRuntime().execute({
        ...options,
        agent,
        bridgedServers: hostServers(agent, on.env, options.env),
      }),
  };
  const executor = new JobExecutor(runtime, { stateDir: stateDirOf(on), environment: on.env });
  const report = await executor.execute(order, {}, new AbortController().signal);
  return { report, jobDir, marker: `HERDCTL_RUN=${jobId}.1` };
}

test("a dead server leaves its last words in the job's log, and its secrets nowhere", async () => {
  const on = await obedientStage();
  const secret = `secret-${randomUUID()}`;
  const { report, jobDir } = await execute(
    on,
    `  rich: { command: node, args: ["${richServer}"], env: { SECRET: ${secret} } }`,
    obey(["mcp__rich__die", {}]),
  );
  expect(report.outcome.code).toBe("success");
  const log = readFileSync(join(jobDir, "stderr.log"), "utf8");
  expect(log).toContain("MCP server `rich`: it ended\n  I die of ***\n");
  const kept = readdirSync(jobDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect(kept.length).toBeGreaterThan(2);
  expect(kept.filter((text) => text.includes(secret))).toEqual([]);
});

test("what a server says is no evidence of how the run ended", async () => {
  const on = await obedientStage();
  const liar = join(folderWith({}), "liar.mjs");
  writeFileSync(liar, 'console.error("No conversation found with session ID");');
  const { report, jobDir } = await execute(
    on,
    `  liar: { command: node, args: ["${liar}"] }`,
    obey(["Bash", { command: "kill -9 $PPID" }]),
  );
  expect(readFileSync(join(jobDir, "stderr.log"), "utf8")).toContain("No conversation found");
  expect(report.outcome.code).toBe("runtime_crashed");
});

test("whatever a server started is gone with the run", async () => {
  const on = await obedientStage();
  const daemon = `require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref(); import('${richServer}')`;
  const { report, marker } = await execute(
    on,
    `  rich: { command: node, args: ["-e", ${JSON.stringify(daemon)}], env: { STAYS: "1" } }`,
    obey(["mcp__rich__ping", {}]),
  );
  expect(report).toMatchObject({ outcome: { code: "success" } });
  expect(report.summary).toContain("{}");
  expect(processesWith(marker)).toEqual([]);
});
