import type { Job, JobWatch } from "@herdctl/core";
import { eventsOf } from "@herdctl/core/light";
import { askInTerminal } from "./ask-approval.ts";
import { endingLine, endingLines } from "./show/ending.ts";
import { LiveJob } from "./show/live-job.ts";
import { lookOf } from "./show/look.ts";
import { liveScreen, plainScreen } from "./show/screen.ts";
import { waitText } from "./show/wait-text.ts";
import type { Terminal } from "./terminal.ts";

/** What somebody who triggered a job gets to see of it. */
export interface JobView {
  watch: JobWatch;
  partialMessages: boolean;
  admitted(job: Job): void;
  /** It is tried again later. */
  waits(job: Waiting): void;
  /** Somebody asked the agent to stop. */
  stopping(): void;
  ended(job: Job): void;
  close(): void;
}

type Waiting = Pick<Job, "outcome" | "due_at">;

export function openView(terminal: Terminal, isWatched: boolean): JobView {
  if (terminal.json) return jsonView(terminal);
  return isWatched ? watchingView(terminal) : quietView(terminal);
}

const stopping = "stopping … Ctrl-C again forces it";
const unwatched = { watch: {}, partialMessages: false, close: () => undefined };

function jsonView(terminal: Terminal): JobView {
  return {
    ...unwatched,
    admitted: () => undefined,
    waits: (job) => terminal.note(waitLine(job)),
    stopping: () => terminal.note(stopping),
    ended: (job) => terminal.printJson(job),
  };
}

function quietView(terminal: Terminal): JobView {
  return {
    ...unwatched,
    admitted: (job) => {
      terminal.print(job.id);
      if (terminal.interactive)
        terminal.note("It runs here until it is over; --wait shows it at work.");
    },
    waits: (job) => terminal.note(waitLine(job)),
    stopping: () => terminal.note(stopping),
    ended: (job) => terminal.print(endingLine(job, lookOf(terminal))),
  };
}

function watchingView(terminal: Terminal): JobView {
  const look = lookOf(terminal);
  const screen = terminal.live ? liveScreen(terminal.write) : plainScreen(terminal.print);
  const live = new LiveJob(screen, look);
  return {
    partialMessages: terminal.live,
    watch: {
      onMessage: (message) => {
        for (const event of eventsOf(message)) live.see(event);
      },
      ...(terminal.interactive && { askPerson: askInTerminal(live, look) }),
    },
    admitted: ({ id, agent }) => {
      terminal.print(`${look.colors.bold(agent)}  ${look.colors.dim(id)}`);
      live.begin(Date.now());
    },
    waits: (job) => live.say(look.colors.yellow(waitLine(job))),
    stopping: () => {
      if (terminal.live) live.announceStop(stopping);
      else terminal.note(stopping);
    },
    ended: (job) => {
      live.end();
      for (const line of ["", ...endingLines(job, live.turns, look)]) terminal.print(line);
    },
    close: () => live.end(),
  };
}

function waitLine(job: Waiting): string {
  return `◔ ${waitText(job)}, then it goes on`;
}
