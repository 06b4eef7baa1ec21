import type { Condition, Operand, Scalar, Sign } from "../config/condition/parse.ts";
import type { Job } from "../state/job.ts";

/** Whether a condition holds for a finished job. What is not known is `null`, and no less or more. */
export function evaluate(condition: Condition, job: Job): boolean {
  switch (condition.kind) {
    case "and":
      return condition.parts.every((part) => evaluate(part, job));
    case "or":
      return condition.parts.some((part) => evaluate(part, job));
    case "not":
      return !evaluate(condition.part, job);
    case "holds":
      return Boolean(worthOf(condition.operand, job));
    case "compare":
      return compare[condition.sign](worthOf(condition.left, job), worthOf(condition.right, job));
  }
}

const compare: Record<Sign, (left: Scalar, right: Scalar) => boolean> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": ordered((left, right) => left < right),
  "<=": ordered((left, right) => left <= right),
  ">": ordered((left, right) => left > right),
  ">=": ordered((left, right) => left >= right),
};

/** Only numbers are less or more than one another, so that a wrong kind never fires a hook. */
function ordered(holds: (left: number, right: number) => boolean) {
  return (left: Scalar, right: Scalar) =>
    typeof left === "number" && typeof right === "number" && holds(left, right);
}

function worthOf(operand: Operand, job: Job): Scalar {
  if (operand.kind === "value") return operand.value;
  return scalar(operand.path.reduce<unknown>(inside, factsOf(job)));
}

function factsOf(job: Job): Record<string, unknown> {
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

function inside(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

/** Lists and objects are there, and that is all that can be asked of them. */
function scalar(value: unknown): Scalar {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  return value === undefined || value === null ? null : true;
}
