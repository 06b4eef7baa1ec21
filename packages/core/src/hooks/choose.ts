import { createHash } from "node:crypto";
import { parseCondition } from "../config/condition/parse.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { Hook } from "../config/schema/hooks.ts";
import { Wrong } from "../config/schema/wrong.ts";
import type { CalledHook, HookRun } from "../state/hook-run.ts";
import type { Job } from "../state/job.ts";
import type { JobStatus } from "../state/job-status.ts";
import { evaluate } from "./evaluate.ts";

const events = ["after_run", "on_error"] as const;

/** Which hooks of its agent a finished job calls for, in the order they are written. */
export function chooseHooks(job: Job, agent: ResolvedAgent): CalledHook[] {
  return events.flatMap((event) =>
    agent.hooks[event].flatMap((hook, position) =>
      isCalled(hook, event, job)
        ? [{ agent: agent.name, event, position, type: hook.type, print: printOf(hook) }]
        : [],
    ),
  );
}

/** The hook as it is configured now. One that was changed since is another hook. */
export function findHook(agent: ResolvedAgent | undefined, run: HookRun): Hook | undefined {
  const hooks = agent?.hooks[run.event] ?? [];
  const isIt = (hook: Hook | undefined) => hook !== undefined && printOf(hook) === run.print;
  const inPlace = hooks[run.position];
  return isIt(inPlace) ? inPlace : hooks.find(isIt);
}

/** What ran calls hooks by itself; what a person ended or nobody began, only where its code is named. */
const calledFor: Record<(typeof events)[number], readonly JobStatus[]> = {
  after_run: ["completed", "failed", "cancelled"],
  on_error: ["failed"],
};

function isCalled(hook: Hook, event: (typeof events)[number], job: Job): boolean {
  const code = job.outcome?.code;
  const isWanted = hook.on
    ? hook.on.some((named) => named === code) && (event === "after_run" || !isSuccess(job))
    : calledFor[event].includes(job.status);
  if (!isWanted || hook.when === undefined) return isWanted;
  const condition = parseCondition(hook.when);
  return !(condition instanceof Wrong) && evaluate(condition, job);
}

function isSuccess({ status }: Job): boolean {
  return status === "completed";
}

/** Of what it does: how patient it is may change without making it another hook. */
function printOf({ retry: _, timeout: __, ...hook }: Hook): string {
  return createHash("sha256").update(JSON.stringify(hook)).digest("hex").slice(0, 16);
}
