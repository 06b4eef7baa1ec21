import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type SDKMessage, StateManager } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { logOf, runJob, stateDirOf } from "../support/job.ts";
import { httpMcpServer } from "../support/mcp-http.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const mcpServer = fileURLToPath(new URL("../runtime/programs/mcp-server.mjs", import.meta.url));

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("what a tool left behind is gone when the job is over", async () => {
    const on = await stage({ mode: "obedient" });
    const { job } = await runJob(on, {
      yaml: `runtime: ${runtime}`,
      prompt: obey(["Bash", { command: "setsid nohup sleep 600 >/dev/null 2>&1 & echo left" }]),
    });
    expect(job.outcome?.code).toBe("success");
    expect(processesWith(job.id)).toEqual([]);
  });

  test("in mode default a request is a durable approval, and the answer counts once", async () => {
    for (const word of ["allow", "deny"] as const) {
      const on = await stage({ mode: "obedient" });
      const statuses: string[] = [];
      const { job } = await runJob(on, {
        yaml: `runtime: ${runtime}\npermission_mode: default`,
        prompt: obey(["Bash", { command: "touch asked" }]),
        askPerson: async (approval) => {
          const state = await new StateManager(stateDirOf(on)).open({ readOnly: true });
          statuses.push((await state.jobs.get(approval.job_id))?.status ?? "?");
          expect(await state.approvals.open(approval.job_id)).toHaveLength(1);
          await state.close();
          return word;
        },
      });
      expect(statuses).toEqual(["waiting"]);
      expect(job.outcome?.code).toBe(word === "allow" ? "success" : "finished_with_denials");
      expect(readdirSync(on.workspace).includes("asked")).toBe(word === "allow");
    }
  });

  test("with nobody to ask, the tool is denied and the outcome says so", async () => {
    const on = await stage({ mode: "obedient" });
    const { job } = await runJob(on, {
      yaml: `runtime: ${runtime}\npermission_mode: default`,
      prompt: obey(["Bash", { command: "touch asked" }]),
    });
    expect(job.outcome).toMatchObject({ code: "finished_with_denials" });
    expect(job.outcome?.message).toContain("Bash");
  });

  test("the secrets of MCP servers are in no file of the state, though a server fails too", async () => {
    const on = await stage({ mode: "obedient" });
    const { url } = await httpMcpServer();
    const [token, header] = [`token-${randomUUID()}`, `header-${randomUUID()}`];
    const { job } = await runJob(on, {
      yaml: `
runtime: ${runtime}
mcp_servers:
  echo: { command: node, args: ["${mcpServer}"], env: { LOUDNESS: loud, TOKEN: ${token} } }
  quiet: { type: http, url: "${url}", headers: { Authorization: "Bearer ${header}" } }
  gone: { type: http, url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${header}" } }
  broken: { command: "false", env: { TOKEN: ${token} } }
`,
      prompt: obey(["mcp__echo__shout", { text: "hey" }], ["mcp__quiet__whisper", { text: "HEY" }]),
    });
    const log = readFileSync(job.output_file, "utf8");
    expect(log).toContain("HEY loud");
    expect(log).toContain("hey by http");
    const files = readdirSync(stateDirOf(on), { recursive: true, withFileTypes: true })
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

  test("a secret of `.env` that a tool prints is in no message, no file of the state and no summary", async () => {
    const on = await stage({ mode: "obedient" });
    const secret = `canary-${randomUUID()}`;
    const { "herdctl.yaml": yaml = "" } = inlineAgent(
      `runtime: ${runtime}\npermission_mode: bypassPermissions\nworking_directory: ${on.workspace}`,
    );
    const loaded = load({ "herdctl.yaml": yaml, ".env": `PLAIN=${secret}\n` });
    const agent = agentOf(loaded, "one");
    const seen: SDKMessage[] = [];
    const { job } = await runJob(on, {
      agent,
      prompt: obey(["Bash", { command: `cat '${agent.fleet_dir}/.env'` }]),
      onMessage: (message) => seen.push(message),
    });
    expect(job.outcome?.code).toBe("success");
    expect(readFileSync(job.output_file, "utf8")).toContain("PLAIN=[redacted]");
    expect(JSON.stringify(seen)).toContain("PLAIN=[redacted]");
    expect(job.summary).toContain("[redacted]");
    expect(JSON.stringify([job, seen])).not.toContain(secret);
    const files = readdirSync(stateDirOf(on), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = readFileSync(join(file.parentPath, file.name), "latin1");
      expect([file.name, text.includes(secret)]).toEqual([file.name, false]);
    }
  });
});

test("the log grows while the agent works, and is readable by its owner only", async () => {
  const on = await stage({ mode: "obedient" });
  const sizes: number[] = [];
  const { job } = await runJob(on, {
    jobId: "job-test-log",
    prompt: obey(["Bash", { command: "echo one" }]),
    onMessage: () => {
      sizes.push(statSync(join(stateDirOf(on), "jobs/job-test-log/output.jsonl")).size);
    },
  });
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  expect(statSync(job.output_file).mode & 0o777).toBe(0o600);
  expect((await logOf(job)).length).toBe(sizes.length);
});

test("the metadata file of this run is kept with the job; an old or wrong one is not", async () => {
  const on = await stage({ mode: "obedient" });
  const yaml = "metadata_file: out/meta.json";
  const write = (text: string) =>
    obey(["Bash", { command: `mkdir -p out && printf '%s' '${text}' > out/meta.json` }]);
  const good = await runJob(on, { yaml, prompt: write('{"fixed": 3}') });
  expect(good.job.metadata).toEqual({ fixed: 3 });
  const stale = await runJob(on, { yaml, prompt: "do nothing" });
  expect(stale.job.metadata).toBeNull();
  const wrong = await runJob(on, { yaml, prompt: write("not json") });
  expect(wrong.job.metadata).toBeNull();
  expect(wrong.job.warnings.join()).toContain("not a JSON object");
});

test("a metadata file that leads out of the workspace is not read", async () => {
  const on = await stage({ mode: "obedient" });
  writeFileSync(join(on.home, "secret.json"), '{"secret": true}');
  const { job } = await runJob(on, {
    yaml: "metadata_file: meta.json",
    prompt: obey([
      "Bash",
      { command: "ln -s ../home/secret.json meta.json; touch -h meta.json ../home/secret.json" },
    ]),
  });
  expect(job.metadata).toBeNull();
  expect(job.warnings.join()).toContain("does not lie in the working directory");
});

test("the private files of a run are gone when it is over", async () => {
  const on = await stage({ mode: "obedient" });
  const { job } = await runJob(on, { prompt: "hello" });
  const left = readdirSync(join(stateDirOf(on), "jobs", job.id)).sort();
  expect(left).toEqual([
    "outcome.json",
    "output.jsonl",
    "runner-1.json",
    "spend-1.jsonl",
    "stderr.log",
  ]);
});

test("a tool that was denied is known from the session file too", async () => {
  const on = await stage({ mode: "obedient" });
  const { job } = await runJob(on, {
    yaml: "runtime: { type: cli, stream: session-file }\npermission_mode: dontAsk",
    prompt: obey(["Bash", { command: "mkfifo x" }]),
  });
  expect(job.outcome).toMatchObject({ code: "finished_with_denials" });
  expect(job.outcome?.message).toContain("Bash");
});

test("a job that is cancelled while its clone is made is cancelled, and no half clone is left", async () => {
  const on = await stage({ mode: "obedient" });
  const stopping = new AbortController();
  stopping.abort();
  const root = join(on.home, "clones");
  const { job } = await runJob(on, {
    yaml: `working_directory: { repo: "${on.workspace}", root: "${root}" }`,
    signal: stopping.signal,
  });
  expect(job).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" }, attempts: 0 });
  expect(existsSync(join(root, "one"))).toBe(false);
});
