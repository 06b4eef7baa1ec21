import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CLIRuntime,
  JobExecutor,
  type RunOrder,
  type RuntimeInterface,
} from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { createHostServers } from "../../packages/core/src/runner/runtimes/mcp/bridges.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import type { TestHarness } from "../support/harness.ts";
import { richMcpServer } from "../support/mcp-bridge.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { loadAgent, stateDirOf } from "../support/run-job.ts";
import { startObedientHarness, toolCallPrompt } from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

/** Runs a job with bridged MCP servers, as for an agent in Docker. */
async function execute(harness: TestHarness, servers: string, prompt: string) {
  const agent = loadAgent(harness, `docker: { enabled: true }\nmcp_servers:\n${servers}`);
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  const jobDir = join(stateDirOf(harness), "jobs", jobId);
  mkdirSync(jobDir, { recursive: true });
  const order: RunOrder = {
    jobId,
    attempt: 1,
    agent: { ...agent, docker: { ...agent.docker, enabled: false } },
    prompt,
    place: "cli",
    cwd: harness.workspace,
    session: { kind: "fresh", sessionId: randomUUID() },
    configDir: harness.configDir,
    claude: { path: claudeBinary("325"), version: "2.1.325" },
    partialMessages: false,
  };
  const runtime: RuntimeInterface = {
    execute: (options) =>
      new CLIRuntime().execute({
        ...options,
        agent,
        bridgedServers: createHostServers(agent, harness.env, options.env ?? {}),
      }),
  };
  const executor = new JobExecutor(runtime, {
    stateDir: stateDirOf(harness),
    environment: harness.env,
  });
  const report = await executor.execute(order, {}, new AbortController().signal);
  return { report, jobDir, marker: `HERDCTL_RUN=${jobId}.1` };
}

test("keeps the last output of a dead server in the job's log without its secrets", async () => {
  const harness = await startObedientHarness();
  const secret = `secret-${randomUUID()}`;
  const { report, jobDir } = await execute(
    harness,
    `  rich: { command: node, args: ["${richMcpServer}"], env: { SECRET: ${secret} } }`,
    toolCallPrompt(["mcp__rich__die", {}]),
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

test("ignores a server's output as evidence of the outcome", async () => {
  const harness = await startObedientHarness();
  const liar = join(tempFolderWith({}), "liar.mjs");
  writeFileSync(liar, 'console.error("No conversation found with session ID");');
  const { report, jobDir } = await execute(
    harness,
    `  liar: { command: node, args: ["${liar}"] }`,
    toolCallPrompt(["Bash", { command: "kill -9 $PPID" }]),
  );
  expect(readFileSync(join(jobDir, "stderr.log"), "utf8")).toContain("No conversation found");
  expect(report.outcome.code).toBe("runtime_crashed");
});

test("ends everything that a server started with the run", async () => {
  const harness = await startObedientHarness();
  const daemon = `require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref(); import('${richMcpServer}')`;
  const { report, marker } = await execute(
    harness,
    `  rich: { command: node, args: ["-e", ${JSON.stringify(daemon)}], env: { STAYS: "1" } }`,
    toolCallPrompt(["mcp__rich__ping", {}]),
  );
  expect(report).toMatchObject({ outcome: { code: "success" } });
  expect(report.summary).toContain("{}");
  expect(processesWithMarker(marker)).toEqual([]);
});
