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
import {
  type Approval,
  type HookCause,
  type HookEvent,
  type HookRun,
  type Job,
  type JobStatus,
  outcomes,
  type PlannedHook,
} from "@herdctl/protocol";

const endEvents = ["after_run", "on_error"] as const;

/** The hooks of its agent that a finished job triggers, in the order of the configuration. */
export function selectHooks(job: Job, agent: ResolvedAgent): PlannedHook[] {
  return endEvents.flatMap((event) =>
    planHooks(agent, { event, cause: null }, (hook) => isTriggered(hook, event, job)),
  );
}

/** What happened to a job that has not finished. */
export type NoticedEvent =
  | { cause: Extract<HookCause, { kind: "question" }>; approval: Approval }
  | { cause: Extract<HookCause, { kind: "wait" }> };

/** The hooks that a question or a wait triggers. */
export function selectNoticeHooks(
  job: Job,
  agent: ResolvedAgent,
  notice: NoticedEvent,
): PlannedHook[] {
  const { cause } = notice;
  const facts = "approval" in notice ? questionFacts(job, notice.approval) : job;
  const waiting = cause.kind === "wait" ? { ...job, outcome: cause.outcome } : facts;
  return planHooks(agent, { event: noticeEvent(cause), cause }, (hook) => {
    const hasOutcome = cause.kind === "question" || isOutcomeWanted(hook, cause.outcome.code);
    return hasOutcome && fulfilsCondition(hook, waiting);
  });
}

function noticeEvent(cause: HookCause): HookEvent {
  if (cause.kind === "question") return "on_question";
  return outcomes[cause.outcome.code].retry === "wait" ? "on_limit" : "on_waiting";
}

function planHooks(
  { name, hooks }: ResolvedAgent,
  { event, cause }: Pick<PlannedHook, "event" | "cause">,
  isWanted: (hook: Hook) => boolean,
): PlannedHook[] {
  return hooks[event].flatMap((hook, position) =>
    isWanted(hook)
      ? [{ agent: name, event, cause, position, type: hook.type, config_hash: hookHash(hook) }]
      : [],
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
const defaultStatuses: Record<(typeof endEvents)[number], readonly JobStatus[]> = {
  after_run: ["completed", "failed", "cancelled"],
  on_error: ["failed"],
};

function isTriggered(hook: Hook, event: (typeof endEvents)[number], job: Job): boolean {
  const code = job.outcome?.code;
  const isWanted = hook.outcomes
    ? hook.outcomes.some((outcomeCode) => outcomeCode === code) &&
      (event === "after_run" || !isSuccess(job))
    : defaultStatuses[event].includes(job.status);
  return isWanted && fulfilsCondition(hook, job);
}

function isOutcomeWanted({ outcomes: wanted }: Hook, code: string): boolean {
  return wanted === undefined || wanted.some((outcomeCode) => outcomeCode === code);
}

function fulfilsCondition({ when }: Hook, facts: ConditionFacts): boolean {
  if (when === undefined) return true;
  const condition = parseCondition(when);
  return !(condition instanceof InvalidValue) && evaluateCondition(condition, facts);
}

/** A job, and the open request if the event is one. */
type ConditionFacts = Job & { request?: Approval["kind"]; tool?: string };

function questionFacts(job: Job, { kind, tool }: Approval): ConditionFacts {
  return { ...job, request: kind, tool };
}

function isSuccess({ status }: Job): boolean {
  return status === "completed";
}

/** The hash covers what the hook does. Changed retries or timeouts do not make it another hook. */
function hookHash({ retry: _, timeout: __, ...hook }: Hook): string {
  return createHash("sha256").update(JSON.stringify(hook)).digest("hex").slice(0, 16);
}

/**
 * Whether a condition holds for a job. Unknown values are `null`, which is neither less
 * nor more than any value.
 */
export function evaluateCondition(condition: Condition, job: ConditionFacts): boolean {
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

function operandValue(operand: Operand, job: ConditionFacts): ConditionValue {
  if (operand.kind === "value") return operand.value;
  return toScalar(operand.path.reduce<unknown>(readOwnProperty, conditionVariables(job)));
}

function conditionVariables(job: ConditionFacts): Record<string, unknown> {
  const { status, cost_usd, duration_seconds, attempts, agent, schedule, metadata, report } = job;
  const { request, tool } = job;
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
    request,
    tool,
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
