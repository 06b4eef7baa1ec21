import type { SDKMessage } from "@herdctl/core";
import { z } from "zod";
import type { TestHarness } from "../support/harness.ts";
import { initOf, type RuntimeExecution, toolResultTexts } from "../support/runtimes-under-test.ts";

const bodySchema = z.looseObject({
  model: z.string(),
  max_tokens: z.number(),
  speed: z.string().optional(),
  thinking: z.looseObject({}).optional(),
  output_config: z.looseObject({}).optional(),
  system: z.array(z.looseObject({ text: z.string() })),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  messages: z.array(z.unknown()),
});
type ModelRequestBody = z.output<typeof bodySchema>;

/** What the model and Claude Code saw of a run. */
export interface ObservedRun {
  harness: TestHarness;
  init: ReturnType<typeof initOf>;
  messages: SDKMessage[];
  /** The first request of the main conversation. */
  body: ModelRequestBody;
  betas: readonly string[];
  subagentBodies: ModelRequestBody[];
  /** Every request, as text. */
  requests: string;
  toolResults: string;
  stderr: string;
}

export function observe({ harness, messages, stderr }: RuntimeExecution): ObservedRun {
  const { ledger } = harness.rehearsal;
  const [first] = ledger.main;
  return {
    harness,
    messages,
    init: initOf(messages),
    body: bodySchema.parse(first?.body),
    betas: first?.betas ?? [],
    subagentBodies: ledger.filter({ kind: "subagent" }).map(({ body }) => bodySchema.parse(body)),
    requests: JSON.stringify(ledger.entries.map(({ body }) => body)),
    toolResults: toolResultTexts(messages).join("\n"),
    stderr,
  };
}

/** Claude Code's own system prompt has a version line before its text. */
export function systemText({ system }: ModelRequestBody): string {
  return system.map(({ text }) => text).join("\n");
}

export function toolNames({ tools }: ModelRequestBody): string[] {
  return tools.map(({ name }) => name);
}
