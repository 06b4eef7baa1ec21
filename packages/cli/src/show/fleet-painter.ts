import type { FleetEvent } from "@herdctl/core";
import { type Happening, happenings, type KnownJobs } from "./fleet-happenings.ts";
import { harmless } from "./harmless.ts";
import { type Look, widthInFile } from "./look.ts";
import { cut, padEnd, widthOf } from "./width.ts";

const longestName = 20;
const gap = "  ";
const leastRest = 8;

/** Turns what happens in a fleet into lines. It writes nothing itself. */
export class FleetPainter {
  private readonly known: KnownJobs = {
    agents: new Map(),
    folders: new Map(),
    attempts: new Map(),
  };
  private readonly nameWidth: number;

  constructor(
    private readonly agents: string[],
    private readonly look: Look,
  ) {
    this.nameWidth = Math.min(Math.max(...["fleet", ...agents].map(widthOf)), longestName);
  }

  /** For a job that was there before. */
  know(jobId: string, agent: string): void {
    this.known.agents.set(jobId, agent);
  }

  paint(event: FleetEvent, now: Date): string[] {
    return happenings(event, this.known).map((one) => this.line(one, now));
  }

  private line({ agent, head, colour, rest = "" }: Happening, now: Date): string {
    const { dim } = this.look.colors;
    const time = now.toLocaleTimeString("sv");
    const name = padEnd(cut(harmless(agent ?? "fleet"), this.nameWidth), this.nameWidth);
    const width = this.look.width ?? widthInFile;
    const room = Math.max(width - widthOf(time + gap + name + gap), leastRest);
    const first = cut(oneLine(head), room);
    const left = room - widthOf(first + gap);
    const more = rest === "" || left < leastRest ? "" : gap + cut(oneLine(rest), left);
    const shown = colour === undefined ? first : this.look.colors[colour](first);
    return `${dim(time)}${gap}${this.nameColour(agent)(name)}${gap}${shown}${more}`;
  }

  private nameColour(agent: string | undefined): (text: string) => string {
    const { bold, cyan, magenta, green, blue, yellow } = this.look.colors;
    const palette = [cyan, magenta, green, blue, yellow];
    const at = agent === undefined ? -1 : this.agents.indexOf(agent);
    return palette[at % palette.length] ?? bold;
  }
}

function oneLine(text: string): string {
  return harmless(text).replaceAll("\n", " ⏎ ");
}
