// One turn of `claude` as a job of a running fleet, compared with the same turn without herdctl.
import { query } from "@anthropic-ai/claude-agent-sdk";
import { bundledClaude, herdctl, withFleet } from "./bench-fleet.mjs";
import { alternate, rested, timeOf, timeOfJob, timeOfProgram } from "./measure.mjs";

/** The times of `claude` differ by a third from sample to sample, so that a ratio needs many. */
const rounds = 91;
/** The next idle runner is up half a second after a job. */
const restMs = 1_000;

const fleetFile = (agents) => `version: 1
fleet: { name: bench }
defaults: { permission_mode: bypassPermissions, default_prompt: hello }
agents:
${agents.map((agent) => `  - ${agent}`).join("\n")}
`;

/** Jobs of both runtimes at the socket, and the command. */
export function hostJobs() {
  const agents = ["{ name: cli, runtime: cli }", "{ name: sdk, runtime: sdk }"];
  return withFleet({ fleetFile: fleetFile(agents) }, async (fleet) => {
    const command = [herdctl, "trigger", "cli", "--wait", "--json"];
    const times = await alternate(rounds, {
      claude: rested(() => bareClaude(fleet), restMs),
      query: rested(() => bareQuery(fleet), restMs),
      cli: rested(() => timeOfJob(fleet.control, "cli"), restMs),
      sdk: rested(() => timeOfJob(fleet.control, "sdk"), restMs),
      command: rested(() => timeOfProgram(process.execPath, command, fleet), restMs),
    });
    const claude = { name: "claude -p", values: times.claude };
    const sdk = { name: "query()", values: times.query };
    return [
      row("job at the socket, CLI", times.cli, claude, { ratio: 1.15 }),
      row("job at the socket, SDK", times.sdk, sdk, { ratio: 1.15 }),
      row("herdctl trigger --wait", times.command, claude, { ratio: 1.35 }),
    ];
  });
}

/** A job whose `claude` the fleet started before the request. */
export function preStartedJob() {
  const agent = "{ name: cli, runtime: cli, keep_alive: { processes: 1 } }";
  return withFleet({ fleetFile: fleetFile([agent]) }, async (fleet) => {
    const { claude, job } = await alternate(31, {
      claude: rested(() => bareClaude(fleet)),
      job: rested(() => timeOfJob(fleet.control, "cli")),
    });
    const baseline = { name: "claude -p", values: claude };
    return row("job at the socket, pre-started process", job, baseline, { ratio: 0.55 });
  });
}

const row = (name, values, baseline, bound) => ({ name, values, baseline, bound });

function bareClaude(stage) {
  return timeOfProgram(bundledClaude(), ["-p", "hello", "--setting-sources", "user"], stage);
}

function bareQuery({ folder, env }) {
  return timeOf(async () => {
    const options = { cwd: folder, env, settingSources: ["user"] };
    let last;
    for await (const message of query({ prompt: "hello", options })) last = message;
    if (last?.subtype !== "success") throw new Error(`query() ended with ${last?.subtype}`);
  });
}
