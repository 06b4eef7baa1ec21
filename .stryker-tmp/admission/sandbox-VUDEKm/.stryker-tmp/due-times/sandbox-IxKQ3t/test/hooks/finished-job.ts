import type { Job } from "@herdctl/protocol";

export function finishedJob(changes: Partial<Job> = {}): Job {
  return {
    id: "job-2026-03-01-abc",
    agent: "one",
    prompt: "do it",
    trigger_type: "manual",
    schedule: null,
    priority: 0,
    idempotency_key: null,
    resumed_from: null,
    forked_from: null,
    status: "completed",
    outcome: { code: "success", message: "The agent finished.", hint: "Nothing to do." },
    session_id: null,
    summary: "All is done.",
    cost_usd: 0.5,
    usage: null,
    runtime: "cli",
    session_home: "cli",
    credential: "api_key",
    container_id: null,
    container_image: null,
    claude_version: null,
    metadata: null,
    warnings: [],
    artifacts: [],
    runner: null,
    due_at: null,
    attempts: 1,
    crashes: 0,
    created_at: "2026-03-01T09:00:00.000Z",
    started_at: "2026-03-01T09:00:01.000Z",
    finished_at: "2026-03-01T09:00:31.000Z",
    duration_seconds: 30,
    output_file: "/nowhere/output.jsonl",
    ...changes,
  } as Job;
}

export function outcomeOf(code: NonNullable<Job["outcome"]>["code"]): NonNullable<Job["outcome"]> {
  return { code, message: `It ended in ${code}.`, hint: "Look." };
}
