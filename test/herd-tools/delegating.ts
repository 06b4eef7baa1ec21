import type { FleetControl, Job } from "@herdctl/core";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";

export const delegate = (input: object) => obey(["mcp__herd__delegate", input]);

export interface Member {
  name: string;
  runtime?: string;
  may?: string[];
  /** What the agent is told by its operator. */
  told?: string;
  more?: string;
}

/** An agent of a fleet file that may hand work on. */
export function member({ name, runtime = "cli", may = [], told, more }: Member): string {
  const prompt = told === undefined ? "" : `, system_prompt: ${JSON.stringify(told)}`;
  const trigger = `tools: [delegate, report], may_trigger: ${JSON.stringify(may)}`;
  return `  - { name: ${name}, runtime: ${runtime}, ${trigger}${prompt}${more ? `, ${more}` : ""} }`;
}

/** `a` hands on to `b`, `b` to `c`, `c` to `a`, whatever each of them is told. */
export function circle(runtime: string, wait: boolean): string {
  const next = (agent: string) => delegate({ agent, prompt: "Go on.", wait });
  return [
    member({ name: "a", runtime, may: ["b"], told: next("b") }),
    member({ name: "b", runtime, may: ["c"], told: next("c") }),
    member({ name: "c", runtime, may: ["*"], told: next("a") }),
  ].join("\n");
}

/** Every job of a chain by its agent, when all of them are over. */
export async function chainOver(fleet: FleetControl, id: string): Promise<Job[]> {
  for (;;) {
    const open = (await fleet.chain(id)).find(({ finished_at }) => finished_at === null);
    if (!open) return fleet.chain(id);
    await fleet.wait(open.id);
  }
}

/** What the tools told the model of a job. */
export async function told(job: Job): Promise<string> {
  return toolResults(await logOf(job)).join("\n");
}
