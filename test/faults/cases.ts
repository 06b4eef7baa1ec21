import type { Fault, FaultKind } from "../../packages/core/src/faults/fail-point.ts";
import { type FailPoint, failPoints } from "../../packages/core/src/faults/fail-points.ts";
import type { FaultCase, PlaceName } from "./run-case.ts";
import { type TriggerKind, triggerKinds } from "./trigger-kinds.ts";

/** Places that have the whole state for themselves. */
const machines = ["host SDK", "host CLI", "Docker"] as const;

/** Every case: kills by one and by two, delays, and writes that fail. */
export function everyCase(): FaultCase[] {
  const pairsIn = (these: readonly PlaceName[]) =>
    triggerKinds.flatMap((trigger) => these.map((place) => ({ trigger, place })));
  const pairs = pairsIn(machines);
  return [
    ...[...pairs, ...pairsIn(["nodes"])].flatMap((pair) =>
      killsOf(pair.trigger).map((faults) => ({ ...pair, faults })),
    ),
    // What the other node does with it is not what the same one would do.
    ...pairsIn(["lost node"]).flatMap((pair) =>
      killsOf(pair.trigger)
        .filter((faults) => faults.length === 1)
        .map((faults) => ({ ...pair, faults })),
    ),
    ...spread(killsWithin, pairs),
    ...spread(delays, pairs),
    ...triggerKinds.flatMap((trigger) =>
      failedWrites.map((fault, index) => ({ trigger, place: placeAt(index), faults: [fault] })),
    ),
  ];
}

/**
 * Where a process is killed first, and where the next one is killed that has to deal with it. The
 * points within recovery are reached only so.
 */
const roads: Partial<Record<FailPoint, FailPoint | null>> = {
  "message heard": "message taken",
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
  "message seen": "dead run told",
  "message kept": "dead run swept",
  "result seen": "dead run told",
  "outcome made": "dead run told",
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
const only: Partial<Record<FailPoint, TriggerKind>> = {
  "message heard": "chat",
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

function killsOf(trigger: TriggerKind): Fault[][] {
  return failPoints.flatMap((point) => {
    const next = roads[point];
    if (next === undefined || (only[point] ?? trigger) !== trigger) return [];
    const first = fault("kill", point, point === "message seen" ? 2 : 1);
    return next === null ? [[first]] : [[first], [first, fault("kill", next)]];
  });
}

const upTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

/** In the middle of what comes more than once. */
const killsWithin: Fault[] = [
  ...upTo(5).map((nth) => fault("kill", "message seen", nth)),
  ...upTo(7).map((nth) => fault("kill", "message kept", nth)),
  ...upTo(12).map((nth) => fault("kill", "database write", nth)),
  ...upTo(6).map((nth) => fault("kill", "log write", nth)),
  fault("kill", "claim write"),
  fault("kill", "file write"),
];

const delays = Object.keys(roads)
  .filter((point): point is FailPoint => point in roads && !(point in only))
  .map((point) => fault("delay", point));

const failedWrites = (["ENOSPC", "EIO"] as const).flatMap((kind) => [
  ...upTo(12).map((nth) => fault(kind, "database write", nth)),
  ...upTo(6).map((nth) => fault(kind, "log write", nth)),
  fault(kind, "claim write"),
  fault(kind, "file write"),
]);

/** One for every round: the node that runs the job dies, and another takes it over. */
export const onLostNode: FaultCase = {
  trigger: "manual",
  place: "lost node",
  faults: [fault("kill", "attempt begun")],
};

/** Each of these once found something that was mended since. */
export const onceFound: FaultCase[] = [
  { trigger: "manual", place: "host CLI", faults: [fault("kill", "database write", 2)] },
  { trigger: "manual", place: "host SDK", faults: [fault("ENOSPC", "log write", 1)] },
  { trigger: "chat", place: "host CLI", faults: [fault("ENOSPC", "database write", 8)] },
  { trigger: "chat", place: "host SDK", faults: [fault("ENOSPC", "database write", 7)] },
  { trigger: "chat", place: "host CLI", faults: [fault("delay", "runner spawned")] },
];

function fault(kind: FaultKind, point: FailPoint, nth = 1): Fault {
  return { point, kind, nth };
}

/** Each once, in ever another combination. */
function spread(
  faults: readonly Fault[],
  pairs: readonly Pick<FaultCase, "trigger" | "place">[],
): FaultCase[] {
  return faults.flatMap((one, index) => {
    const pair = pairs[(index * 5) % pairs.length];
    return pair ? [{ ...pair, faults: [one] }] : [];
  });
}

function placeAt(index: number): PlaceName {
  return machines[index % machines.length] ?? "host CLI";
}
