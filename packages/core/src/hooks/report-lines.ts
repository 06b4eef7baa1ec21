import type { HookContext } from "./context.ts";

/** What a message says of a job, in parts that each chat lays out in its way. */
export interface JobLines {
  title: string;
  colour: number;
  facts: [name: string, value: string][];
  summary: string;
}

export function linesOf({ fleet, job }: HookContext): JobLines {
  const ending = endings[job.status] ?? endings.failed;
  const outcome = job.outcome;
  return {
    title: `${ending.mark} ${job.agent}: ${outcome?.code ?? job.status}`,
    colour: ending.colour,
    facts: [
      ["Outcome", outcome?.message ?? job.status],
      ["Cost", job.cost_usd === null ? "–" : `$${job.cost_usd.toFixed(2)}`],
      ["Duration", durationText(job.duration_seconds)],
      ["Job", `${job.id} (${fleet})`],
    ],
    summary: job.summary ?? "",
  };
}

/** At most so long; what is left out is shown to be left out. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Half of a character that has two parts would be none.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** A mention rings somebody's bell: an agent, or whoever it read, does not get to do that. */
export function withoutMentions(text: string): string {
  return text.replaceAll("@", "@\u200b");
}

const endings = {
  completed: { mark: "✅", colour: 0x2e_a0_43 },
  failed: { mark: "❌", colour: 0xcf_22_2e },
  cancelled: { mark: "⏹️", colour: 0x6e_77_81 },
  skipped: { mark: "⏭️", colour: 0x6e_77_81 },
  pending: { mark: "⏳", colour: 0x6e_77_81 },
  running: { mark: "⏳", colour: 0x6e_77_81 },
  waiting: { mark: "⏳", colour: 0x6e_77_81 },
};

function durationText(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
