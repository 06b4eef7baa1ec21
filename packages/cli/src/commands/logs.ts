import { loadFleet } from "@herdctl/config";
import type { StateManager } from "@herdctl/core";
import { readJobOutput } from "@herdctl/core/internal";
import { isFinished, type Job, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { createExitSignal } from "../exit-signal.ts";
import { type FleetClient, findFleet, resolveFleetFile } from "../find-fleet.ts";
import { findJobIfAny } from "../find-job.ts";
import { createJobEndSignal } from "../job-end-signal.ts";
import { readState } from "../read-state.ts";
import { jobEndLines } from "../render/job-end-lines.ts";
import { LiveJobDisplay } from "../render/live-job-display.ts";
import { parseLogMessage } from "../render/parse-log-message.ts";
import { createLiveScreen, createPlainScreen } from "../render/screen.ts";
import { toTerminalJson } from "../render/terminal-json.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const fleet = await findFleet(context);
  try {
    return await showJobLog(context, fleet);
  } finally {
    fleet?.close();
  }
}

async function showJobLog(
  context: CommandContext,
  fleet: FleetClient | undefined,
): Promise<number> {
  const { options, terminal } = context;
  return readState(context, async (state) => {
    const job = await findLogJob(context, state, context.arguments[0]);
    if (!job) {
      const [agent] = context.arguments;
      terminal.printNote(agent === undefined ? "No jobs yet." : `${agent} has no jobs yet.`);
      return 0;
    }
    const isFollowing = options.follow === true && !isFinished(job.status);
    // The output stream of a running fleet ends with the job, after its last attempt.
    const createSignal = () => (fleet ? createExitSignal() : createJobEndSignal(state, job));
    const following = isFollowing ? createSignal() : undefined;
    const follow = following?.signal;
    try {
      const lines =
        fleet?.jobs.output(job.id, { follow: true, signal: follow }) ??
        readJobOutput(state, job, { follow });
      if (!terminal.isJson) return await printLog(context, state, job, lines, isFollowing);
      for await (const { message } of lines) terminal.print(toTerminalJson(message));
      return 0;
    } finally {
      following?.dispose();
    }
  });
}

/** The named job, the latest job of the named agent, or without a name the latest job. */
async function findLogJob(
  context: CommandContext,
  state: StateManager,
  agentOrJob: string | undefined,
): Promise<Job | undefined> {
  const { jobs } = await state.jobs.list({ agent: agentOrJob, limit: 1 });
  const found = jobs[0] ?? (agentOrJob && (await findJobIfAny(state, agentOrJob)));
  if (found || agentOrJob === undefined) return found || undefined;
  const { fleet } = loadFleet(resolveFleetFile(context), context.env);
  if (fleet.agents.some(({ name }) => name === agentOrJob)) return undefined;
  throw new UserError("job_not_found", `there is neither a job nor an agent ${agentOrJob}`, {
    hint: `Agents: ${fleet.agents.map(({ name }) => name).join(", ")}. \`herdctl jobs\` lists jobs.`,
  });
}

async function printLog(
  { terminal }: CommandContext,
  state: StateManager,
  job: Job,
  lines: AsyncIterable<{ message: object }>,
  isFollowing: boolean,
): Promise<number> {
  const style = terminalStyleOf(terminal);
  const isLive = isFollowing && terminal.canRedraw;
  const screen = isLive ? createLiveScreen(terminal.write) : createPlainScreen(terminal.print);
  const display = new LiveJobDisplay(screen, style);
  terminal.print(`${style.colors.bold(job.agent)}  ${style.colors.dim(job.id)}`);
  display.start(Date.parse(job.started_at ?? job.created_at));
  try {
    for await (const { message } of lines) {
      // The log contains each complete text as well as its pieces.
      for (const event of parseLogMessage({ ...message }))
        if (event.kind !== "text_piece") display.addEvent(event);
    }
  } finally {
    display.end();
  }
  const latestJob = (await state.jobs.get(job.id)) ?? job;
  for (const line of ["", ...jobEndLines(latestJob, display.turns, style)]) terminal.print(line);
  return 0;
}
