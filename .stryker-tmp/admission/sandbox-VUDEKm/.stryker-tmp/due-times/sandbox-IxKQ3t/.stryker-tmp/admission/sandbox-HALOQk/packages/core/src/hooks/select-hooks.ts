import { createHash } from "node:crypto";
import { type Hook, InvalidValue, parseCondition, type ResolvedAgent } from "@herdctl/config";
import type { HookRun, Job, JobStatus, PlannedHook } from "@herdctl/protocol";
import { evaluateCondition } from "./evaluate-condition.ts";

const hookEvents = ["after_run", "on_error"] as const;

/** The hooks of its agent that a finished job triggers, in the order of the configuration. */
export function selectHooks(job: Job, agent: ResolvedAgent): PlannedHook[] {
  return hookEvents.flatMap((event) =>
    agent.hooks[event].flatMap((hook, position) =>
      isTriggered(hook, event, job)
        ? [{ agent: agent.name, event, position, type: hook.type, config_hash: hookHash(hook) }]
        : [],
    ),
  );
}

/** The current configuration of a hook. A changed hook counts as another one. */
export function findHook(agent: ResolvedAgent | undefined, run: HookRun): Hook | undefined {
  const hooks = agent?.hooks[run.event] ?? [];
  const isSameHook = (hook: Hook | undefined) =>
    hook !== undefined && hookHash(hook) === run.config_hash;
  const atSamePosition = hooks[run.position];
  return isSameHook(atSamePosition) ? atSamePosition : hooks.find(isSameHook);
}

/**
 * The statuses that trigger hooks by default. Other jobs trigger only hooks that name their
 * outcome.
 */
const defaultStatuses: Record<(typeof hookEvents)[number], readonly JobStatus[]> = {
  after_run: ["completed", "failed", "cancelled"],
  on_error: ["failed"],
};

function isTriggered(hook: Hook, event: (typeof hookEvents)[number], job: Job): boolean {
  const code = job.outcome?.code;
  const isWanted = hook.outcomes
    ? hook.outcomes.some((outcomeCode) => outcomeCode === code) &&
      (event === "after_run" || !isSuccess(job))
    : defaultStatuses[event].includes(job.status);
  if (!isWanted || hook.when === undefined) return isWanted;
  const condition = parseCondition(hook.when);
  return !(condition instanceof InvalidValue) && evaluateCondition(condition, job);
}

function isSuccess({ status }: Job): boolean {
  return status === "completed";
}

/** The hash covers what the hook does. Changed retries or timeouts do not make it another hook. */
function hookHash({ retry: _, timeout: __, ...hook }: Hook): string {
  return createHash("sha256").update(JSON.stringify(hook)).digest("hex").slice(0, 16);
}
