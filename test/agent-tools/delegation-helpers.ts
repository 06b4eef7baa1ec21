import type { FleetControl, Job } from "@herdctl/protocol";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

export const delegatePrompt = (input: object) => toolCallPrompt(["mcp__herd__delegate", input]);

export interface ChainAgent {
  name: string;
  runtime?: string;
  mayTrigger?: string[];
  /** The agent's system prompt from the fleet file. */
  systemPrompt?: string;
  more?: string;
}

/** YAML of an agent that may delegate to `mayTrigger`. */
export function chainAgentYaml({
  name,
  runtime = "cli",
  mayTrigger = [],
  systemPrompt,
  more,
}: ChainAgent): string {
  const prompt =
    systemPrompt === undefined ? "" : `, system_prompt: ${JSON.stringify(systemPrompt)}`;
  const trigger = `tools: [delegate, report], may_trigger: ${JSON.stringify(mayTrigger)}`;
  return `  - { name: ${name}, runtime: ${runtime}, ${trigger}${prompt}${more ? `, ${more}` : ""} }`;
}

/** `a` delegates to `b`, `b` to `c` and `c` to `a`, whatever their prompt is. */
export function circularChain(runtime: string, wait: boolean): string {
  const next = (agent: string) => delegatePrompt({ agent, prompt: "Go on.", wait });
  return [
    chainAgentYaml({ name: "a", runtime, mayTrigger: ["b"], systemPrompt: next("b") }),
    chainAgentYaml({ name: "b", runtime, mayTrigger: ["c"], systemPrompt: next("c") }),
    chainAgentYaml({ name: "c", runtime, mayTrigger: ["*"], systemPrompt: next("a") }),
  ].join("\n");
}

/** Returns every job of a chain once all have finished. */
export async function waitForChain(fleet: FleetControl, id: string): Promise<Job[]> {
  for (;;) {
    const open = (await fleet.jobs.chain(id)).find(({ finished_at }) => finished_at === null);
    if (!open) return fleet.jobs.chain(id);
    await fleet.jobs.wait(open.id);
  }
}

/** The tool results that the model received in a job. */
export async function readToolResults(job: Job): Promise<string> {
  return toolResultTexts(await readJobMessages(job)).join("\n");
}
