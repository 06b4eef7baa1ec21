import type { Job, StateManager } from "@herdctl/core";
import { isFinished, UserError } from "@herdctl/core/light";
import { readLog } from "@herdctl/core/state";
import type { Call } from "../command.ts";
import { findJobIfAny } from "../find-job.ts";
import { type FleetClient, findFleet } from "../fleet-access.ts";
import { followJob } from "../follow-job.ts";
import { readState } from "../read-state.ts";
import { endingLines } from "../show/ending.ts";
import { eventsOfLine } from "../show/events-of-line.ts";
import { jsonText } from "../show/json-text.ts";
import { LiveJob } from "../show/live-job.ts";
import { lookOf } from "../show/look.ts";
import { liveScreen, plainScreen } from "../show/screen.ts";
import { untilLeft } from "../until-left.ts";

export async function run(call: Call): Promise<number> {
  const fleet = await findFleet(call);
  try {
    return await show(call, fleet);
  } finally {
    fleet?.close();
  }
}

async function show(call: Call, fleet: FleetClient | undefined): Promise<number> {
  const { options, terminal } = call;
  return readState(call, async (state) => {
    const job = await chosenJob(state, call.arguments[0]);
    if (!job) {
      terminal.note("Nothing has run here yet.");
      return 0;
    }
    const isFollowing = options.follow === true && !isFinished(job.status);
    // A fleet ends what it sends with the job, which may have several attempts.
    const begin = () => (fleet ? untilLeft() : followJob(state, job));
    const following = isFollowing ? begin() : undefined;
    const follow = following?.signal;
    try {
      const lines = fleet?.output(job.id, { follow }) ?? readLog(state, job, { follow });
      if (!terminal.json) return await showLog(call, state, job, lines, isFollowing);
      for await (const { message } of lines) terminal.print(jsonText(message));
      return 0;
    } finally {
      following?.dispose();
    }
  });
}

/** An agent stands for its latest job; without a name it is the latest of all. */
async function chosenJob(state: StateManager, typed: string | undefined): Promise<Job | undefined> {
  const { jobs } = await state.jobs.list({ agent: typed, limit: 1 });
  const found = jobs[0] ?? (typed && (await findJobIfAny(state, typed)));
  if (found || typed === undefined) return found || undefined;
  const isEmpty = (await state.jobs.list({ limit: 1 })).jobs.length === 0;
  if (isEmpty) return undefined;
  throw new UserError(
    "job_not_found",
    `no job is called ${typed}, and no agent of that name has run`,
  );
}

async function showLog(
  { terminal }: Call,
  state: StateManager,
  job: Job,
  lines: AsyncIterable<{ message: object }>,
  isFollowing: boolean,
): Promise<number> {
  const look = lookOf(terminal);
  const isLive = isFollowing && terminal.live;
  const screen = isLive ? liveScreen(terminal.write) : plainScreen(terminal.print);
  const live = new LiveJob(screen, look);
  terminal.print(`${look.colors.bold(job.agent)}  ${look.colors.dim(job.id)}`);
  live.begin(Date.parse(job.started_at ?? job.created_at));
  try {
    for await (const { message } of lines) {
      // Whole texts are in the log as well as their pieces.
      for (const event of eventsOfLine({ ...message }))
        if (event.kind !== "text_piece") live.see(event);
    }
  } finally {
    live.end();
  }
  const now = (await state.jobs.get(job.id)) ?? job;
  for (const line of ["", ...endingLines(now, live.turns, look)]) terminal.print(line);
  return 0;
}
