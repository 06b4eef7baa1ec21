import type { ComparisonOperator, Condition, ConditionValue, Operand } from "@herdctl/config";
import type { Job } from "@herdctl/protocol";

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
