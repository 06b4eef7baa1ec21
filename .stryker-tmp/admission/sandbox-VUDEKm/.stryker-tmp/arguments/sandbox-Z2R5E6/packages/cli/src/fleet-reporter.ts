import type { FleetEvent, FleetStatus } from "@herdctl/protocol";
import { type BannerInfo, bannerLines } from "./render/fleet-banner.ts";
import { FleetEventRenderer } from "./render/fleet-event-renderer.ts";
import { fleetFooterLine } from "./render/fleet-footer.ts";
import { sanitizeDeep } from "./render/sanitize-text.ts";
import { createLiveScreen, createPlainScreen } from "./render/screen.ts";
import { toTerminalJson } from "./render/terminal-json.ts";
import { terminalStyleOf } from "./render/terminal-style.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The output of a fleet in the foreground. Events during the takeover from an earlier fleet process
 * are buffered until the banner is printed; problems are printed immediately.
 */
export interface FleetReporter {
  onStarted(status: FleetStatus, facts: BannerInfo): void;
  onEvent(event: FleetEvent): void;
  /** `deadline` is the time at which jobs that still run are cancelled. */
  onStopping(deadline: number): void;
  close(): void;
}

export function createFleetReporter(
  terminal: Terminal,
  fetchStatus: () => Promise<FleetStatus>,
): FleetReporter {
  return bufferUntilStarted(
    terminal.isJson ? createJsonReporter(terminal) : createTerminalReporter(terminal, fetchStatus),
  );
}

function bufferUntilStarted(reporter: FleetReporter): FleetReporter {
  let bufferedEvents: FleetEvent[] | undefined = [];
  return {
    ...reporter,
    onStarted: (status, facts) => {
      reporter.onStarted(status, facts);
      for (const event of bufferedEvents ?? []) reporter.onEvent(event);
      bufferedEvents = undefined;
    },
    onEvent: (event) => {
      if (bufferedEvents && event.type !== "fleet:problem") bufferedEvents.push(event);
      else reporter.onEvent(event);
    },
  };
}

/** One line for the fleet, then one line per event. */
function createJsonReporter({ print }: Terminal): FleetReporter {
  return {
    onStarted: ({ fleet }, { socket }) =>
      print(toTerminalJson({ type: "fleet:started", fleet, socket })),
    onEvent: (event) => print(toTerminalJson(event)),
    onStopping: () => undefined,
    close: () => undefined,
  };
}

const refreshIntervalMs = 1_000;

function createTerminalReporter(
  terminal: Terminal,
  fetchStatus: () => Promise<FleetStatus>,
): FleetReporter {
  const style = terminalStyleOf(terminal);
  const screen = terminal.canRedraw
    ? createLiveScreen(terminal.write)
    : createPlainScreen(terminal.print);
  let renderer = new FleetEventRenderer([], style);
  let status: FleetStatus | undefined;
  let deadline: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isRefreshing = false;
  const show = (lines: string[]) => {
    const width = terminal.columns;
    const footer = status
      ? ["", fleetFooterLine(status, deadline, new Date(), { ...style, width })]
      : [];
    screen.show(lines, timer ? footer : []);
  };
  /** Updates the footer. One request at a time: the status of a fleet with a long queue is slow. */
  const refresh = async () => {
    if (!timer || isRefreshing) return;
    isRefreshing = true;
    try {
      status = sanitizeDeep(await fetchStatus());
      show([]);
    } finally {
      isRefreshing = false;
    }
  };
  return {
    onStarted: (first, facts) => {
      status = sanitizeDeep(first);
      renderer = new FleetEventRenderer(
        status.agents.map(({ name }) => name),
        style,
      );
      for (const { name, running } of status.agents)
        for (const { job_id } of running) renderer.rememberJob(job_id, name);
      if (terminal.canRedraw)
        timer = setInterval(() => void refresh().catch(() => undefined), refreshIntervalMs);
      show([...bannerLines(status, facts, style), ""]);
    },
    onEvent: (event) => {
      if (event.type === "job:output") show(renderer.render(event, new Date()));
      else {
        show(renderer.render(event, new Date()));
        void refresh().catch(() => undefined);
      }
    },
    onStopping: (newDeadline) => {
      deadline = newDeadline;
      show([]);
    },
    close: () => {
      clearInterval(timer);
      timer = undefined;
      show([]);
      screen.close();
    },
  };
}
