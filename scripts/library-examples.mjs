/**
 * One example for each value that `@herdctl/core` exports, in the order of the reference page.
 * test/docs checks the types of all of them and runs those that need no Docker.
 */
export const librarySections = {
  "Run a fleet": {
    FleetManager: `import { FleetManager } from "@herdctl/core";

await using fleet = new FleetManager({ file: "herdctl.yaml" });
fleet.on("job:completed", ({ at, job }) => console.log(at, job.id, job.outcome?.code));
await fleet.start();
const { job } = await fleet.jobs.trigger({ agent: "greeter", prompt: "Say hello." });
const { outcome } = await fleet.jobs.wait(job.id);
console.log(outcome?.code);`,
    connectFleet: `import { connectFleet } from "@herdctl/core";

await using fleet = await connectFleet({ file: "herdctl.yaml" });
if (fleet) for (const { name, running } of await fleet.agents.list()) console.log(name, running.length);
else console.log("no fleet is running");`,
    loadFleet: `import { loadFleet } from "@herdctl/core";

const { fleet } = loadFleet("herdctl.yaml");
for (const { name, runtime } of fleet.agents) console.log(name, runtime.type);`,
    isFinished: `import { type Job, isFinished } from "@herdctl/core";

const countOpen = (jobs: Job[]) => jobs.filter(({ status }) => !isFinished(status)).length;
console.log(countOpen([]));`,
    toJobEvents: `import { toJobEvents } from "@herdctl/core";

const message = { type: "user", message: { content: "Hello." }, parent_tool_use_id: null } as const;
for (const event of toJobEvents(message)) console.log(event.kind);`,
    outcomes: `import { outcomes } from "@herdctl/core";

const { message, hint } = outcomes.budget_exceeded;
console.log(message, hint);`,
    version: `import { version } from "@herdctl/core";

console.log(version);`,
  },
  "Run an agent without a fleet": {
    runAgent: `import { runAgent } from "@herdctl/core";

const { success, summary, error } = await runAgent({
  agent: { name: "greeter", permissions: { mode: "plan" } },
  prompt: "Say hello.",
  stateDir: ".herdctl",
});
console.log(success ? summary : error?.message);`,
    AgentRunner: `import { AgentRunner } from "@herdctl/core";

const runner = new AgentRunner(".herdctl");
const first = await runner.run({ agent: { name: "greeter" }, prompt: "Say hello." });
const second = await runner.resume(first.sessionId, "And now goodbye.");
console.log(first.summary, second.sessionId === first.sessionId);`,
    AgentConfigSchema: `import { AgentConfigSchema, runAgent } from "@herdctl/core";

const agent = AgentConfigSchema.parse({ name: "greeter", permission_mode: "plan", max_turns: 5 });
const { summary } = await runAgent({ agent, prompt: "Say hello.", stateDir: ".herdctl" });
console.log(summary);`,
    PermissionsSchema: `import { PermissionsSchema } from "@herdctl/core";

const permissions = PermissionsSchema.parse({ mode: "acceptEdits", allowed_tools: ["Read"] });
console.log(permissions.denied_tools);`,
    DockerSchema: `import { DockerSchema } from "@herdctl/core";

const docker = DockerSchema.parse({ enabled: true, memory: "2g" });
console.log(docker.memory);`,
    McpServerSchema: `import { McpServerSchema } from "@herdctl/core";

const server = McpServerSchema.parse({ command: "npx", args: ["some-mcp-server"] });
console.log(server);`,
  },
  Errors: {
    UserError: `import { loadFleet, UserError } from "@herdctl/core";

try {
  loadFleet("missing.yaml");
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.log(error.code, error.message, error.hint);
}`,
    ProblemsError: `import { loadFleet, ProblemsError } from "@herdctl/core";

try {
  loadFleet("herdctl.yaml");
} catch (error) {
  if (!(error instanceof ProblemsError)) throw error;
  for (const { file, line, message } of error.problems) console.log(file, line, message);
}`,
    errorTable: `import { errorTable } from "@herdctl/core";

for (const [code, { meaning, status }] of Object.entries(errorTable)) console.log(code, status, meaning);`,
    RunnerError: `import { RunnerError, runAgent } from "@herdctl/core";

const agent = { name: "greeter" };
const { error } = await runAgent({ agent, prompt: "Say hello.", stateDir: ".herdctl" });
if (error instanceof RunnerError) console.log(error.jobId, error.outcome?.code, error.cause);`,
    SDKError: `import { runAgent, SDKError } from "@herdctl/core";

const agent = { name: "greeter" };
const { error } = await runAgent({ agent, prompt: "Say hello.", stateDir: ".herdctl" });
if (error instanceof SDKError) console.log(error.jobId, error.sdkMessage);`,
  },
  Runtimes: {
    RuntimeFactory: `import { RuntimeFactory } from "@herdctl/core";

const agent = { name: "greeter", runtime: "cli" } as const;
const runtime = RuntimeFactory.create(agent);
for await (const message of runtime.execute({ agent, prompt: "Say hello." })) console.log(message.type);`,
    SDKRuntime: `import { SDKRuntime } from "@herdctl/core";

const agent = { name: "greeter" };
for await (const message of new SDKRuntime().execute({ agent, prompt: "Say hello." }))
  console.log(message.type);`,
    CLIRuntime: `import { CLIRuntime } from "@herdctl/core";

const agent = { name: "greeter", runtime: "cli" } as const;
for await (const message of new CLIRuntime().execute({ agent, prompt: "Say hello." }))
  console.log(message.type);`,
    SessionFileRuntime: `import { SessionFileRuntime } from "@herdctl/core";

const agent = { name: "greeter", runtime: "cli" } as const;
for await (const message of new SessionFileRuntime().execute({ agent, prompt: "Say hello." }))
  console.log(message.type);`,
    ContainerRunner: `import { ContainerRunner, resolveDockerConfig, SDKRuntime } from "@herdctl/core";

const agent = { name: "greeter", docker: { enabled: true } };
const runtime = new ContainerRunner(new SDKRuntime(), resolveDockerConfig(agent.docker), ".herdctl");
for await (const message of runtime.execute({ agent, prompt: "Say hello." })) console.log(message.type);`,
    resolveDockerConfig: `import { resolveDockerConfig } from "@herdctl/core";

const { image, network } = resolveDockerConfig({ enabled: true, network: "none" });
console.log(image, network);`,
    ContainerManager: `import { ContainerManager } from "@herdctl/core";

const manager = await ContainerManager.connect(process.env);
console.log(manager);`,
    JobExecutor: `import { JobExecutor, SDKRuntime } from "@herdctl/core";

const executor = new JobExecutor(new SDKRuntime(), { stateDir: ".herdctl", environment: process.env });
console.log(typeof executor.execute);`,
  },
  State: {
    StateManager: `import { StateManager } from "@herdctl/core";

const state = await new StateManager(".herdctl").initialize();
console.log(state.location);
await state.close();`,
    createJob: `import { createJob, runAgent } from "@herdctl/core";

const stateDir = ".herdctl";
const prompt = "Say hello.";
const { id: jobId } = await createJob(stateDir, { agent: "greeter", prompt });
const { job } = await runAgent({ agent: { name: "greeter" }, prompt, stateDir, jobId });
console.log(job?.id === jobId);`,
    updateJob: `import { createJob, updateJob } from "@herdctl/core";

const job = await createJob(".herdctl", { agent: "greeter", prompt: "Say hello." });
const outcome = { code: "cancelled", message: "Not needed any more.", hint: "Trigger it again." } as const;
await updateJob(".herdctl", job.id, { status: "cancelled", outcome });
console.log("cancelled");`,
    appendJobOutput: `import { appendJobOutput, createJob } from "@herdctl/core";

const job = await createJob(".herdctl", { agent: "greeter", prompt: "Say hello." });
await appendJobOutput(".herdctl", job.id, { type: "system", subtype: "note" });`,
    saveSessionInfo: `import { saveSessionInfo } from "@herdctl/core";

const session = await saveSessionInfo(".herdctl", {
  agent: "greeter",
  session_id: "2f1c3c8e-0000-4000-8000-000000000000",
  session_home: "sdk",
  cwd: process.cwd(),
});
console.log(session.agent);`,
  },
  "Connectors and work sources": {
    ChatError: `import { ChatError } from "@herdctl/core";

function refused(channel: string): ChatError {
  return new ChatError(\`cannot post in \${channel}\`, "Invite the bot to the channel.", false);
}
console.log(refused("#builds").isTransient);`,
    chatCommands: `import { chatCommands } from "@herdctl/core";

// What a platform shows when a person types "/".
for (const [name, { summary }] of Object.entries(chatCommands)) console.log(\`/\${name}\`, summary);`,
    downloadAttachment: `import { ChatError, downloadAttachment } from "@herdctl/core";

const maxBytes = 5 * 1024 * 1024;

/** For \`download\` of a connector. */
async function fetchAttachment(address: string): Promise<Buffer> {
  const url = new URL(address);
  if (url.hostname !== "files.example.com")
    throw new ChatError("The file is not on this platform.", "", false);
  return downloadAttachment(url, maxBytes);
}
console.log(fetchAttachment.name);`,
  },
};
