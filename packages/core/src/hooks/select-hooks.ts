import { createHash } from "node:crypto";
import {
  type ComparisonOperator,
  type Condition,
  type ConditionValue,
  type Hook,
  InvalidValue,
  type Operand,
  parseCondition,
  type ResolvedAgent,
} from "@herdctl/config";
import type { HookRun, Job, JobStatus, PlannedHook } from "@herdctl/protocol";

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

/**
 * Whether a condition holds for a finished job. Unknown values are `null`, which is neither less
 * nor more than any value.
 */
export function evaluateCondition(condition: Condition, job: Job): boolean {
  switch (condition.kind) {
    case "and":
      return condition.parts.every((part) => evaluateCondition(part, job));
    case "or":
      return condition.parts.some((part) => evaluateCondition(part, job));
    case "not":
      return !evaluateCondition(condition.part, job);
    case "holds":
      return Boolean(operandValue(condition.operand, job));
    case "compare":
      return comparators[condition.sign](
        operandValue(condition.left, job),
        operandValue(condition.right, job),
      );
  }
}

const comparators: Record<
  ComparisonOperator,
  (left: ConditionValue, right: ConditionValue) => boolean
> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": numericOnly((left, right) => left < right),
  "<=": numericOnly((left, right) => left <= right),
  ">": numericOnly((left, right) => left > right),
  ">=": numericOnly((left, right) => left >= right),
};

/** Only numbers can be less or more than each other, so that a wrong type never triggers a hook. */
function numericOnly(compareNumbers: (left: number, right: number) => boolean) {
  return (left: ConditionValue, right: ConditionValue) =>
    typeof left === "number" && typeof right === "number" && compareNumbers(left, right);
}

function operandValue(operand: Operand, job: Job): ConditionValue {
  if (operand.kind === "value") return operand.value;
  return toScalar(operand.path.reduce<unknown>(readOwnProperty, conditionVariables(job)));
}

function conditionVariables(job: Job): Record<string, unknown> {
  const { status, cost_usd, duration_seconds, attempts, agent, schedule, metadata, report } = job;
  const outcome = job.outcome?.code;
  const trigger = job.trigger_type;
  return {
    outcome,
    status,
    cost_usd,
    duration_seconds,
    attempts,
    agent,
    schedule,
    trigger,
    metadata,
    report,
  };
}

function readOwnProperty(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

/** Lists and objects count as true; conditions cannot inspect them further. */
function toScalar(value: unknown): ConditionValue {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  return value === undefined || value === null ? null : true;
}
