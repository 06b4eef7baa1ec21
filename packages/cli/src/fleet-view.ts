import type { FleetEvent, FleetStatus } from "@herdctl/core";
import { type BannerFacts, bannerLines } from "./show/fleet-banner.ts";
import { footerLine } from "./show/fleet-footer.ts";
import { FleetPainter } from "./show/fleet-painter.ts";
import { harmlessAll } from "./show/harmless.ts";
import { jsonText } from "./show/json-text.ts";
import { lookOf } from "./show/look.ts";
import { liveScreen, plainScreen } from "./show/screen.ts";
import type { Terminal } from "./terminal.ts";

/**
 * What somebody sees who runs a fleet in the foreground. What happens while it takes over from an
 * earlier one is held back until it has begun, unless that is what keeps it from beginning.
 */
export interface FleetView {
  begin(status: FleetStatus, facts: BannerFacts): void;
  see(event: FleetEvent): void;
  /** By when a fleet that stops ends what is still at work. */
  stopping(deadline: number): void;
  close(): void;
}

export function openFleetView(terminal: Terminal, look: () => Promise<FleetStatus>): FleetView {
  return inOrder(terminal.json ? jsonView(terminal) : liveView(terminal, look));
}

function inOrder(view: FleetView): FleetView {
  let held: FleetEvent[] | undefined = [];
  return {
    ...view,
    begin: (status, facts) => {
      view.begin(status, facts);
      for (const event of held ?? []) view.see(event);
      held = undefined;
    },
    see: (event) => {
      if (held && event.type !== "fleet:problem") held.push(event);
      else view.see(event);
    },
  };
}

/** A line for the fleet, then one for every event. */
function jsonView({ print }: Terminal): FleetView {
  return {
    begin: ({ fleet }, { socket }) => print(jsonText({ type: "fleet:started", fleet, socket })),
    see: (event) => print(jsonText(event)),
    stopping: () => undefined,
    close: () => undefined,
  };
}

const lookEvery = 1_000;

function liveView(terminal: Terminal, lookAgain: () => Promise<FleetStatus>): FleetView {
  const look = lookOf(terminal);
  const screen = terminal.live ? liveScreen(terminal.write) : plainScreen(terminal.print);
  let painter = new FleetPainter([], look);
  let status: FleetStatus | undefined;
  let deadline: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  const show = (lines: string[]) => {
    const width = terminal.columns;
    const footer = status ? ["", footerLine(status, deadline, new Date(), { ...look, width })] : [];
    screen.show(lines, timer ? footer : []);
  };
  /** Only for a footer, and one look at a time: with a long queue each takes a while. */
  const refresh = async () => {
    if (!timer || looking) return;
    looking = true;
    try {
      status = harmlessAll(await lookAgain());
      show([]);
    } finally {
      looking = false;
    }
  };
  return {
    begin: (first, facts) => {
      status = harmlessAll(first);
      painter = new FleetPainter(
        status.agents.map(({ name }) => name),
        look,
      );
      for (const { name, running } of status.agents)
        for (const { job_id } of running) painter.know(job_id, name);
      if (terminal.live)
        timer = setInterval(() => void refresh().catch(() => undefined), lookEvery);
      show([...bannerLines(status, facts, look), ""]);
    },
    see: (event) => {
      if (event.type === "job:output") show(painter.paint(event, new Date()));
      else {
        show(painter.paint(event, new Date()));
        void refresh().catch(() => undefined);
      }
    },
    stopping: (by) => {
      deadline = by;
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
