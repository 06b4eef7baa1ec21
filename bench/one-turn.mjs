// One turn of claude, bare and as a job of a running fleet, from the request to the recorded outcome.
import { query } from "@anthropic-ai/claude-agent-sdk";
import { atRest, inTurns, timeOf } from "./measure.mjs";
import { herdctl, startFleet } from "./running-fleet.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";
import { timed } from "./timed.mjs";

/** Times of `claude` differ by a third from one run to the next: fewer would judge the machine. */
const rounds = 91;
/** A spare is up half a second after the job before; more would only make the whole longer. */
const rest = 1_000;
const fleetFile = (agents) => `version: 1
fleet: { name: bench }
defaults: { permission_mode: bypassPermissions, default_prompt: hello }
agents:
${agents.map((agent) => `  - ${agent}`).join("\n")}
`;

/** Each beside the bare thing that it is made of. */
export async function oneTurn() {
  const agents = ["{ name: cli, runtime: cli }", "{ name: sdk, runtime: sdk }"];
  return await throughFleet(agents, async ({ stage, control }) => {
    const command = [herdctl, "trigger", "cli", "--wait", "--json"];
    const times = await inTurns(rounds, {
      claude: atRest(() => bareClaude(stage), rest),
      query: atRest(() => bareQuery(stage), rest),
      cli: atRest(() => viaSocket(control, "cli"), rest),
      sdk: atRest(() => viaSocket(control, "sdk"), rest),
      command: atRest(() => timed(process.execPath, command, stage), rest),
    });
    const [claude, sdk] = [
      { beside: "claude -p", bare: times.claude },
      { beside: "query()", bare: times.query },
    ];
    return [
      { what: "query(), bare", ours: times.query, ...claude },
      { what: "job at the socket, CLI", ours: times.cli, ...claude, bound: { ratio: 1.1 } },
      { what: "job at the socket, SDK", ours: times.sdk, ...sdk, bound: { ratio: 1.1 } },
      { what: "trigger --wait", ours: times.command, ...claude, bound: { ratio: 1.3 } },
    ];
  });
}

/** A `claude` was started ahead of the job; the pause lets the fleet start the next one. */
export async function warmTurn() {
  return await throughFleet(
    ["{ name: cli, runtime: cli, warm: 1 }"],
    async ({ stage, control }) => {
      const times = await inTurns(31, {
        bare: atRest(() => bareClaude(stage)),
        ours: atRest(() => viaSocket(control, "cli")),
      });
      return {
        what: "job at the socket, warm: 1",
        beside: "claude -p",
        ...times,
        bound: { ratio: 0.5 },
      };
    },
  );
}

/** The command brings up a fleet of its own for the one job. */
export async function aloneTurn() {
  const stage = await rehearsedFleet();
  try {
    const times = await inTurns(12, {
      bare: () => bareClaude(stage),
      ours: () => timed(process.execPath, [herdctl, "trigger", "hello", "--wait", "--json"], stage),
    });
    return { what: "trigger --wait, no fleet up", beside: "claude -p", ...times };
  } finally {
    await stage.dispose();
  }
}

async function throughFleet(agents, measure) {
  const stage = await rehearsedFleet({ fleetFile: fleetFile(agents) });
  const fleet = await startFleet(stage);
  try {
    return await measure({ stage, control: fleet.control });
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

function bareClaude(stage) {
  return timed(bundledClaude(), ["-p", "hello", "--setting-sources", "user"], stage);
}

function bareQuery({ folder, env }) {
  return timeOf(async () => {
    const options = { cwd: folder, env, settingSources: ["user"] };
    let last;
    for await (const message of query({ prompt: "hello", options })) last = message;
    if (last?.subtype !== "success") throw new Error(`query() ended with ${last?.subtype}`);
  });
}

function viaSocket(control, agent) {
  return timeOf(async () => {
    const { job } = await control.trigger({ trigger: "manual", agent });
    const { status } = await control.wait(job.id);
    if (status !== "completed") throw new Error(`the job ended as ${status}`);
  });
}
