import type { JobCallbacks } from "@herdctl/core";
import { type Job, toJobEvents } from "@herdctl/protocol";
import { createTerminalAsker } from "./approval-prompt.ts";
import { jobEndLines, shortJobEndLines } from "./render/job-end-lines.ts";
import { LiveJobDisplay } from "./render/live-job-display.ts";
import { createLiveScreen, createPlainScreen } from "./render/screen.ts";
import { terminalStyleOf } from "./render/terminal-style.ts";
import { formatWait } from "./render/wait-text.ts";
import type { Terminal } from "./terminal.ts";

/** The output of `trigger` and `schedules run` about their job. */
export interface JobReporter {
  watch: JobCallbacks;
  wantsPartialMessages: boolean;
  onAdmitted(job: Job): void;
  /** The job waits for its next attempt. */
  onWaiting(job: WaitingJob): void;
  /** Why the job does not run; undefined while it runs. */
  onExplained(reason: string | undefined): void;
  /** The user pressed Ctrl-C. */
  onStopping(): void;
  onEnded(job: Job): void;
  close(): void;
}

type WaitingJob = Pick<Job, "outcome" | "due_at">;

export function createJobReporter(terminal: Terminal, isWatched: boolean): JobReporter {
  if (terminal.isJson) return createJsonReporter(terminal);
  return isWatched ? createLiveReporter(terminal) : createQuietReporter(terminal);
}

const stopping = "Stopping … Press Ctrl-C again to kill the agent.";
const unwatchedDefaults = {
  watch: {},
  wantsPartialMessages: false,
  onExplained: () => undefined,
  close: () => undefined,
};

function createJsonReporter(terminal: Terminal): JobReporter {
  return {
    ...unwatchedDefaults,
    onAdmitted: () => undefined,
    onWaiting: (job) => terminal.printNote(waitLine(job)),
    onStopping: () => terminal.printNote(stopping),
    onEnded: (job) => terminal.printJson(job),
  };
}

function createQuietReporter(terminal: Terminal): JobReporter {
  return {
    ...unwatchedDefaults,
    onAdmitted: (job) => {
      terminal.print(job.id);
      if (terminal.isInteractive)
        terminal.printNote("The job runs in this terminal until it ends. Add --wait to watch it.");
    },
    onWaiting: (job) => terminal.printNote(waitLine(job)),
    onStopping: () => terminal.printNote(stopping),
    onEnded: (job) => {
      for (const line of shortJobEndLines(job, terminalStyleOf(terminal))) terminal.print(line);
    },
  };
}

function createLiveReporter(terminal: Terminal): JobReporter {
  const style = terminalStyleOf(terminal);
  const screen = terminal.canRedraw
    ? createLiveScreen(terminal.write)
    : createPlainScreen(terminal.print);
  const display = new LiveJobDisplay(screen, style);
  let lastReason: string | undefined;
  return {
    wantsPartialMessages: terminal.canRedraw,
    watch: {
      onMessage: (message) => {
        for (const event of toJobEvents(message)) display.addEvent(event);
      },
      ...(terminal.isInteractive && { askPerson: createTerminalAsker(display, style) }),
    },
    onAdmitted: ({ id, agent }) => {
      terminal.print(`${style.colors.bold(agent)}  ${style.colors.dim(id)}`);
      display.start(Date.now());
    },
    onWaiting: (job) => display.addLine(style.colors.yellow(waitLine(job))),
    onExplained: (reason) => {
      if (terminal.canRedraw) display.showWait(reason ?? "");
      else if (reason !== undefined && reason !== lastReason) terminal.printNote(`○ ${reason}`);
      lastReason = reason;
    },
    onStopping: () => {
      if (terminal.canRedraw) display.showStopMessage(stopping);
      else terminal.printNote(stopping);
    },
    onEnded: (job) => {
      display.end();
      for (const line of ["", ...jobEndLines(job, display.turns, style)]) terminal.print(line);
    },
    close: () => display.end(),
  };
}

function waitLine(job: WaitingJob): string {
  return `◔ ${formatWait(job)}, then continues`;
}
