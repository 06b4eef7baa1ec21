import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type SDKMessage, StateManager } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { startHarness } from "../support/harness.ts";
import { httpMcpServer } from "../support/mcp-http-servers.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { readJobMessages, runJob, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const mcpServer = fileURLToPath(new URL("../runtimes/programs/mcp-server.mjs", import.meta.url));

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("ends leftover processes of a tool with the job", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}`,
      prompt: toolCallPrompt([
        "Bash",
        { command: "setsid nohup sleep 600 >/dev/null 2>&1 & echo left" },
      ]),
    });
    expect(job.outcome?.code).toBe("success");
    expect(processesWithMarker(job.id)).toEqual([]);
  });

  test("turns a request in mode default into a durable approval and counts the answer once", async () => {
    for (const word of ["allow", "deny"] as const) {
      const harness = await startHarness({ mode: "obedient" });
      const statuses: string[] = [];
      const { job } = await runJob(harness, {
        yaml: `runtime: ${runtime}\npermission_mode: default`,
        prompt: toolCallPrompt(["Bash", { command: "touch asked" }]),
        askPerson: async (approval) => {
          const state = await new StateManager(stateDirOf(harness)).open({ readOnly: true });
          statuses.push((await state.jobs.get(approval.job_id))?.status ?? "?");
          expect(await state.approvals.listOpen(approval.job_id)).toHaveLength(1);
          await state.close();
          return word;
        },
      });
      expect(statuses).toEqual(["waiting"]);
      expect(job.outcome?.code).toBe(word === "allow" ? "success" : "finished_with_denials");
      if (word === "deny") expect(job.outcome?.message).toContain("you denied Bash");
      expect(readdirSync(harness.workspace).includes("asked")).toBe(word === "allow");
    }
  });

  test("denies the tool and reports it in the outcome when there is no one to ask", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}\npermission_mode: default`,
      prompt: toolCallPrompt(["Bash", { command: "touch asked" }]),
    });
    expect(job.outcome).toMatchObject({ code: "finished_with_denials" });
    expect(job.outcome?.message).toContain("Bash");
  });

  test("writes no secret of MCP servers to the state, also when a server fails", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { url } = await httpMcpServer();
    const [token, header] = [`token-${randomUUID()}`, `header-${randomUUID()}`];
    const { job } = await runJob(harness, {
      yaml: `
runtime: ${runtime}
mcp_servers:
  echo: { command: node, args: ["${mcpServer}"], env: { LOUDNESS: loud, TOKEN: ${token} } }
  quiet: { type: http, url: "${url}", headers: { Authorization: "Bearer ${header}" } }
  gone: { type: http, url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${header}" } }
  broken: { command: "false", env: { TOKEN: ${token} } }
`,
      prompt: toolCallPrompt(
        ["mcp__echo__shout", { text: "hey" }],
        ["mcp__quiet__whisper", { text: "HEY" }],
      ),
    });
    const log = readFileSync(job.output_file, "utf8");
    expect(log).toContain("HEY loud");
    expect(log).toContain("hey by http");
    const files = readdirSync(stateDirOf(harness), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.map((file) => basename(file))).toEqual(
      expect.arrayContaining(["herd.db", "outcome.json", "output.jsonl", "stderr.log"]),
    );
    const telling = files.filter((file) => {
      const text = readFileSync(file, "latin1");
      return text.includes(token) || text.includes(header);
    });
    expect(telling).toEqual([]);
  });

  test("removes a secret of `.env` that a tool prints from every message, file and summary", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const secret = `canary-${randomUUID()}`;
    const { "herdctl.yaml": yaml = "" } = inlineAgent(
      `runtime: ${runtime}\npermission_mode: bypassPermissions\nworking_directory: ${harness.workspace}`,
    );
    const loaded = loadTestFleet({ "herdctl.yaml": yaml, ".env": `PLAIN=${secret}\n` });
    const agent = agentOf(loaded, "one");
    const seen: SDKMessage[] = [];
    const { job } = await runJob(harness, {
      agent,
      prompt: toolCallPrompt(["Bash", { command: `cat '${agent.fleet_dir}/.env'` }]),
      onMessage: (message) => seen.push(message),
    });
    expect(job.outcome?.code).toBe("success");
    expect(readFileSync(job.output_file, "utf8")).toContain("PLAIN=[redacted]");
    expect(JSON.stringify(seen)).toContain("PLAIN=[redacted]");
    expect(job.summary).toContain("[redacted]");
    expect(JSON.stringify([job, seen])).not.toContain(secret);
    const files = readdirSync(stateDirOf(harness), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = readFileSync(join(file.parentPath, file.name), "latin1");
      expect([file.name, text.includes(secret)]).toEqual([file.name, false]);
    }
  });
});

test("writes the log while the agent works, readable by its owner only", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const sizes: number[] = [];
  const { job } = await runJob(harness, {
    jobId: "job-test-log",
    prompt: toolCallPrompt(["Bash", { command: "echo one" }]),
    onMessage: () => {
      sizes.push(statSync(join(stateDirOf(harness), "jobs/job-test-log/output.jsonl")).size);
    },
  });
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  expect(statSync(job.output_file).mode & 0o777).toBe(0o600);
  expect((await readJobMessages(job)).length).toBe(sizes.length);
});

test("keeps the metadata file of this run with the job, but not an old or invalid one", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const yaml = "metadata_file: out/meta.json";
  const write = (text: string) =>
    toolCallPrompt(["Bash", { command: `mkdir -p out && printf '%s' '${text}' > out/meta.json` }]);
  const good = await runJob(harness, { yaml, prompt: write('{"fixed": 3}') });
  expect(good.job.metadata).toEqual({ fixed: 3 });
  const stale = await runJob(harness, { yaml, prompt: "do nothing" });
  expect(stale.job.metadata).toBeNull();
  const wrong = await runJob(harness, { yaml, prompt: write("not json") });
  expect(wrong.job.metadata).toBeNull();
  expect(wrong.job.warnings.join()).toContain("not a JSON object");
});

test("does not read a metadata file outside the workspace", async () => {
  const harness = await startHarness({ mode: "obedient" });
  writeFileSync(join(harness.home, "secret.json"), '{"secret": true}');
  const { job } = await runJob(harness, {
    yaml: "metadata_file: meta.json",
    prompt: toolCallPrompt([
      "Bash",
      { command: "ln -s ../home/secret.json meta.json; touch -h meta.json ../home/secret.json" },
    ]),
  });
  expect(job.metadata).toBeNull();
  expect(job.warnings.join()).toContain("is not in the working directory");
});

test("removes the private files of a run at its end", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { job } = await runJob(harness, { prompt: "hello" });
  const left = readdirSync(join(stateDirOf(harness), "jobs", job.id)).sort();
  expect(left).toEqual([
    "outcome.json",
    "output.jsonl",
    "runner-1.json",
    "spend-1.jsonl",
    "stderr.log",
  ]);
});

test("detects a denied tool from the session file as well", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { job } = await runJob(harness, {
    yaml: "runtime: { type: cli, stream: session-file }\npermission_mode: dontAsk",
    prompt: toolCallPrompt(["Bash", { command: "mkfifo x" }]),
  });
  expect(job.outcome).toMatchObject({ code: "finished_with_denials" });
  expect(job.outcome?.message).toContain("Bash");
});

test("cancels a job during its clone and leaves no partial clone", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const stopping = new AbortController();
  stopping.abort();
  const root = join(harness.home, "clones");
  const { job } = await runJob(harness, {
    yaml: `working_directory: { repo: "${harness.workspace}", root: "${root}" }`,
    signal: stopping.signal,
  });
  expect(job).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" }, attempts: 0 });
  expect(existsSync(join(root, "one"))).toBe(false);
});
