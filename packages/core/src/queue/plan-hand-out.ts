import type {
  HandOutDecision,
  HandOutFacts,
  HomeWish,
  NewAssignment,
  WaitNote,
} from "../state/hand-out.ts";
import type { Job, LiveJob } from "../state/job.ts";
import type { Node } from "../state/node.ts";
import { type ClaimLimits, claim, isAtWork } from "./claim.ts";
import { type LoadedNode, type PlaceRules, type Places, place } from "./place.ts";

export interface HandOutRules extends ClaimLimits {
  /** Where jobs of an agent may run. */
  places: ReadonlyMap<string, PlaceRules>;
  /** Among which sessions the one is found that a job goes on with by itself. */
  latestOf(job: LiveJob): HomeWish["latest"];
}

/** Of more jobs than this none is asked where it belongs: others write meanwhile, or want to. */
const mostHomes = 500;

/**
 * Who gets which job, by the limits of the whole fleet and the room on each node. What an earlier
 * process of a node, or a node that is gone, was given and has not begun goes back into the queue.
 * A job whose home is not known is not placed: its home is asked for first.
 */
export function planHandOut(
  { live, nodes, homes }: HandOutFacts,
  rules: HandOutRules,
  here: string,
  now: Date,
): HandOutDecision {
  const giveBack = new Set(live.filter((job) => isUnbegun(job) && !isHeld(job, nodes)));
  const snapshot = live.map((job) => (giveBack.has(job) ? { ...job, assigned: null } : job));
  const print = nodes.find(({ id }) => id === here)?.config_print ?? "";
  const loaded = nodes.map((node) => ({ node, busy: countAtWork(snapshot, node) }));
  const plan = {
    assign: [] as NewAssignment[],
    notes: [] as WaitNote[],
    unknown: [] as HomeWish[],
  };
  claim(snapshot, rules, now, (job) => {
    const rule = rules.places.get(job.agent);
    if (!rule) return false;
    const home = homes.get(job.id);
    if (home === undefined) {
      if (homes.size >= mostHomes) return false;
      plan.unknown.push({ id: job.id, latest: rules.latestOf(job) });
      // Counted as if it started, so that no more are asked for than could.
      return true;
    }
    return settle(job, home, rule, { nodes: loaded, here, print }, now, plan);
  });
  return { ...plan, giveBack: [...giveBack].map(({ id }) => id) };
}

function settle(
  job: LiveJob,
  home: string | null,
  rule: PlaceRules,
  places: Places & { nodes: LoadedNode[] },
  now: Date,
  plan: { assign: NewAssignment[]; notes: WaitNote[] },
): boolean {
  const placed = place(home, rule, places);
  if (placed.kind === "waits") plan.notes.push({ id: job.id, warning: placed.message });
  if (placed.kind !== "at") return false;
  const chosen = places.nodes.find(({ node }) => node === placed.node);
  if (chosen) chosen.busy += 1;
  const { id: node, epoch } = placed.node;
  const assigned = { node, epoch, at: now.toISOString() };
  const warnings = placed.movedFrom === undefined ? [] : [moved(placed.movedFrom)];
  plan.assign.push({ id: job.id, assigned, warnings });
  return true;
}

/** Given to somebody who has not said yet that an attempt began. */
export function isUnbegun({
  assigned,
  status,
  due_at,
}: Pick<Job, "status" | "due_at"> & Pick<LiveJob, "assigned">): boolean {
  if (assigned == null) return false;
  return status === "pending" || (status === "waiting" && due_at !== null);
}

function isHeld({ assigned }: LiveJob, nodes: readonly Node[]): boolean {
  const node = nodes.find(({ id }) => id === assigned?.node);
  return node?.status === "live" && node.epoch === assigned?.epoch;
}

function countAtWork(snapshot: readonly LiveJob[], { id }: Node): number {
  return snapshot.filter((job) => isAtWork(job) && (job.assigned?.node ?? job.node) === id).length;
}

function moved(from: string): string {
  return `node ${from}, where it ran before or where its session is, is gone: it went to another node, where a fresh session is begun`;
}
