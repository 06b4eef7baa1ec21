import {
  type FailPoint,
  type Fault,
  type FaultKind,
  failPoints,
} from "../../packages/core/src/testing/failpoints.ts";
import type { FaultCase, FaultPlace } from "./run-fault-case.ts";
import { type TriggerKind, triggerKinds } from "./trigger-kinds.ts";

/** Places where one fleet process has the state for itself. */
const singleNodePlaces = ["host SDK", "host CLI", "Docker"] as const;

/** All cases: single kills, double kills, delays and failed writes. */
export function listFaultCases(): FaultCase[] {
  const pairsIn = (these: readonly FaultPlace[]) =>
    triggerKinds.flatMap((trigger) => these.map((place) => ({ trigger, place })));
  const pairs = pairsIn(singleNodePlaces);
  return [
    ...[...pairs, ...pairsIn(["nodes"])].flatMap((pair) =>
      killSequences(pair.trigger).map((faults) => ({ ...pair, faults })),
    ),
    // The other node takes a different path than a restart on the same node.
    ...pairsIn(["lost node"]).flatMap((pair) =>
      killSequences(pair.trigger)
        .filter((faults) => faults.length === 1)
        .map((faults) => ({ ...pair, faults })),
    ),
    ...combine(repeatedPointKills, pairs),
    ...combine(delays, pairs),
    ...triggerKinds.flatMap((trigger) =>
      failedWrites.map((fault, index) => ({ trigger, place: placeAt(index), faults: [fault] })),
    ),
  ];
}

/**
 * The failpoint that the next process passes after a kill at the first one. The points within
 * recovery are only reached this way.
 */
const nextFailpoint: Partial<Record<FailPoint, FailPoint | null>> = {
  "message received": "message taken",
  "message taken": "reply begun",
  "reply begun": "reply posted",
  "reply posted": "reply recorded",
  "reply recorded": "chat job known",
  "chat job known": "job claimed",
  "schedule due": "trigger accepted",
  "delivery verified": "job stored",
  "trigger accepted": "job stored",
  "job stored": "job claimed",
  "job claimed": "attempt begun",
  "attempt begun": "attempt void",
  "runner spawned": "recovery begun",
  "runner began": "dead run swept",
  "init seen": "dead run swept",
  "message seen": "dead run reported",
  "message kept": "dead run swept",
  "result seen": "dead run reported",
  "outcome made": "dead run reported",
  "outcome stored": "report read",
  "runner done": "report read",
  "report read": "run settled",
  "run settled": "hooks decided",
  "job cleaned": "hook recorded",
  "hooks decided": "hook begun",
  "hook begun": "hook cut off",
  "hook ran": "hook cut off",
  "hook recorded": "recovery done",
  "reply finished": "reply finished",
  "message answered": null,
};

/** Points that only one kind of trigger passes. */
const triggerOfFailpoint: Partial<Record<FailPoint, TriggerKind>> = {
  "message received": "chat",
  "message taken": "chat",
  "reply begun": "chat",
  "reply posted": "chat",
  "reply recorded": "chat",
  "chat job known": "chat",
  "reply finished": "chat",
  "message answered": "chat",
  "schedule due": "cron",
  "delivery verified": "webhook",
};

function killSequences(trigger: TriggerKind): Fault[][] {
  return failPoints.flatMap((point) => {
    const next = nextFailpoint[point];
    if (next === undefined || (triggerOfFailpoint[point] ?? trigger) !== trigger) return [];
    const first = fault("kill", point, point === "message seen" ? 2 : 1);
    return next === null ? [[first]] : [[first], [first, fault("kill", next)]];
  });
}

const numbersUpTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

/** Kills in the middle of points that are passed repeatedly. */
const repeatedPointKills: Fault[] = [
  ...numbersUpTo(5).map((nth) => fault("kill", "message seen", nth)),
  ...numbersUpTo(7).map((nth) => fault("kill", "message kept", nth)),
  ...numbersUpTo(12).map((nth) => fault("kill", "database write", nth)),
  ...numbersUpTo(6).map((nth) => fault("kill", "log write", nth)),
  fault("kill", "claim write"),
  fault("kill", "file write"),
];

const delays = Object.keys(nextFailpoint)
  .filter((point): point is FailPoint => point in nextFailpoint && !(point in triggerOfFailpoint))
  .map((point) => fault("delay", point));

const failedWrites = (["ENOSPC", "EIO"] as const).flatMap((kind) => [
  ...numbersUpTo(12).map((nth) => fault(kind, "database write", nth)),
  ...numbersUpTo(6).map((nth) => fault(kind, "log write", nth)),
  fault(kind, "claim write"),
  fault(kind, "file write"),
]);

/** Included in every round: the node that runs the job dies, and another takes over. */
export const lostNodeCase: FaultCase = {
  trigger: "manual",
  place: "lost node",
  faults: [fault("kill", "attempt begun")],
};

/** Each of these found a bug that has been fixed. */
export const regressionCases: FaultCase[] = [
  { trigger: "manual", place: "host CLI", faults: [fault("kill", "database write", 2)] },
  { trigger: "manual", place: "host SDK", faults: [fault("ENOSPC", "log write", 1)] },
  { trigger: "chat", place: "host CLI", faults: [fault("ENOSPC", "database write", 8)] },
  { trigger: "chat", place: "host SDK", faults: [fault("ENOSPC", "database write", 7)] },
  { trigger: "chat", place: "host CLI", faults: [fault("delay", "runner spawned")] },
];

function fault(kind: FaultKind, point: FailPoint, nth = 1): Fault {
  return { point, kind, nth };
}

/** Each fault once, with a different pair each time. */
function combine(
  faults: readonly Fault[],
  pairs: readonly Pick<FaultCase, "trigger" | "place">[],
): FaultCase[] {
  return faults.flatMap((one, index) => {
    const pair = pairs[(index * 5) % pairs.length];
    return pair ? [{ ...pair, faults: [one] }] : [];
  });
}

function placeAt(index: number): FaultPlace {
  return singleNodePlaces[index % singleNodePlaces.length] ?? "host CLI";
}
