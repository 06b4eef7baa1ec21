import type { FleetEventDetails } from "@herdctl/protocol";
import {
  describeFleetEvent,
  type FleetEventEntry,
  type KnownJobs,
} from "./describe-fleet-event.ts";
import { sanitizeText } from "./sanitize-text.ts";
import { fallbackWidthColumns, type TerminalStyle } from "./terminal-style.ts";
import { displayWidth, padEnd, truncate } from "./text-width.ts";

const maxNameColumns = 20;
const separator = "  ";
const minDetailColumns = 8;

/** Converts fleet events to lines of text. */
export class FleetEventRenderer {
  private readonly knownJobs: KnownJobs = {
    agentByJob: new Map(),
    workingDirectories: new Map(),
    startedAttempts: new Map(),
  };
  private readonly nameWidth: number;

  constructor(
    private readonly agents: string[],
    private readonly style: TerminalStyle,
  ) {
    this.nameWidth = Math.min(Math.max(...["fleet", ...agents].map(displayWidth)), maxNameColumns);
  }

  /** For a job that was created before this renderer. */
  rememberJob(jobId: string, agent: string): void {
    this.knownJobs.agentByJob.set(jobId, agent);
  }

  render(event: FleetEventDetails, now: Date): string[] {
    return describeFleetEvent(event, this.knownJobs).map((one) => this.renderEntry(one, now));
  }

  private renderEntry({ agent, headline, color, detail = "" }: FleetEventEntry, now: Date): string {
    const { dim } = this.style.colors;
    const time = now.toLocaleTimeString("sv");
    const name = padEnd(truncate(sanitizeText(agent ?? "fleet"), this.nameWidth), this.nameWidth);
    const width = this.style.width ?? fallbackWidthColumns;
    const room = Math.max(
      width - displayWidth(time + separator + name + separator),
      minDetailColumns,
    );
    const first = truncate(toOneLine(headline), room);
    const left = room - displayWidth(first + separator);
    const suffix =
      detail === "" || left < minDetailColumns ? "" : separator + truncate(toOneLine(detail), left);
    const colored = color === undefined ? first : this.style.colors[color](first);
    return `${dim(time)}${separator}${this.nameColor(agent)(name)}${separator}${colored}${suffix}`;
  }

  private nameColor(agent: string | undefined): (text: string) => string {
    const { bold, cyan, magenta, green, blue, yellow } = this.style.colors;
    const palette = [cyan, magenta, green, blue, yellow];
    const index = agent === undefined ? -1 : this.agents.indexOf(agent);
    return palette[index % palette.length] ?? bold;
  }
}

function toOneLine(text: string): string {
  return sanitizeText(text).replaceAll("\n", " ⏎ ");
}
