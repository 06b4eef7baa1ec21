import { z } from "zod";
import type { RunOrder } from "../runner/run-order.ts";
import { processIdentitySchema } from "../state/process-identity.ts";

/** What a spare is told, once, on its standard input. The environment holds secrets: it is never stored. */
export interface RunnerAssignment {
  stateDir: string;
  order: RunOrder;
  environment: Record<string, string>;
}

/**
 * `jobs/<id>/runner-<attempt>.json`, linked into place before anything is started. Whoever makes it
 * first owns the attempt: a fleet that finds no such file makes it itself with `void: true`, and a
 * runner that comes too late does nothing.
 */
export const runnerFileSchema = z.object({
  version: z.literal(1),
  attempt: z.number().int().positive(),
  runner: processIdentitySchema.nullable(),
  void: z.boolean(),
  session_id: z.string().nullable(),
  started_at: z.iso.datetime(),
});
export type RunnerFile = z.infer<typeof runnerFileSchema>;

/** Lines of JSON on `jobs/<id>/runner.sock`. What the agent says is read from `output.jsonl`. */
export type FromRunner =
  | { type: "hello"; job_id: string; attempt: number }
  | {
      type: "approval";
      request_id: string;
      tool: string;
      input: Record<string, unknown>;
      description?: string;
    }
  | { type: "approval_withdrawn"; request_id: string };

export type ToRunner =
  | { type: "stop"; reason: "cancelled" | "interrupted"; force: boolean }
  | { type: "answer"; request_id: string; behavior: "allow" | "deny"; message: string };
