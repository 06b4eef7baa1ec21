function stryNS_9fa48() {
  var g = typeof globalThis === 'object' && globalThis && globalThis.Math === Math && globalThis || new Function("return this")();
  var ns = g.__stryker__ || (g.__stryker__ = {});
  if (ns.activeMutant === undefined && g.process && g.process.env && g.process.env.__STRYKER_ACTIVE_MUTANT__) {
    ns.activeMutant = g.process.env.__STRYKER_ACTIVE_MUTANT__;
  }
  function retrieveNS() {
    return ns;
  }
  stryNS_9fa48 = retrieveNS;
  return retrieveNS();
}
stryNS_9fa48();
function stryCov_9fa48() {
  var ns = stryNS_9fa48();
  var cov = ns.mutantCoverage || (ns.mutantCoverage = {
    static: {},
    perTest: {}
  });
  function cover() {
    var c = cov.static;
    if (ns.currentTestId) {
      c = cov.perTest[ns.currentTestId] = cov.perTest[ns.currentTestId] || {};
    }
    var a = arguments;
    for (var i = 0; i < a.length; i++) {
      c[a[i]] = (c[a[i]] || 0) + 1;
    }
  }
  stryCov_9fa48 = cover;
  cover.apply(null, arguments);
}
function stryMutAct_9fa48(id) {
  var ns = stryNS_9fa48();
  function isActive(id) {
    if (ns.activeMutant === id) {
      if (ns.hitCount !== void 0 && ++ns.hitCount > ns.hitLimit) {
        throw new Error('Stryker: Hit count limit reached (' + ns.hitCount + ')');
      }
      return true;
    }
    return false;
  }
  stryMutAct_9fa48 = isActive;
  return isActive(id);
}
import type { UnfinishedJob } from "@herdctl/protocol";
import { occupiesAgentSlot } from "../dispatch/claim.ts";
type WaitingJob = Pick<UnfinishedJob, "id" | "agent" | "status" | "waits_for" | "due_at" | "assigned">;

/**
 * Whether a job of this agent could ever start while the asking job waits for it. A job that waits
 * for another agent keeps its agent's slot, so two chains could wait for each other forever. This
 * check before every wait prevents that.
 */
export function canStartWhileWaiting(agent: string, askingId: string, live: readonly WaitingJob[], limits: ReadonlyMap<string, number>): boolean {
  if (stryMutAct_9fa48("32")) {
    {}
  } else {
    stryCov_9fa48("32");
    const requestedJob: WaitingJob = stryMutAct_9fa48("33") ? {} : (stryCov_9fa48("33"), {
      id: stryMutAct_9fa48("34") ? "Stryker was here!" : (stryCov_9fa48("34"), ""),
      agent,
      status: stryMutAct_9fa48("35") ? "" : (stryCov_9fa48("35"), "pending"),
      waits_for: stryMutAct_9fa48("36") ? ["Stryker was here"] : (stryCov_9fa48("36"), []),
      due_at: null
    });
    const jobs = live.map(stryMutAct_9fa48("37") ? () => undefined : (stryCov_9fa48("37"), job => (stryMutAct_9fa48("40") ? job.id !== askingId : stryMutAct_9fa48("39") ? false : stryMutAct_9fa48("38") ? true : (stryCov_9fa48("38", "39", "40"), job.id === askingId)) ? stryMutAct_9fa48("41") ? {} : (stryCov_9fa48("41"), {
      ...job,
      waits_for: stryMutAct_9fa48("42") ? [] : (stryCov_9fa48("42"), [...job.waits_for, requestedJob.id])
    }) : job));
    return findFinishable(stryMutAct_9fa48("43") ? [] : (stryCov_9fa48("43"), [...jobs, requestedJob]), limits).has(requestedJob.id);
  }
}

/** The jobs that can finish, either alone or after others have finished. */
function findFinishable(jobs: readonly WaitingJob[], limits: ReadonlyMap<string, number>): Set<string> {
  if (stryMutAct_9fa48("44")) {
    {}
  } else {
    stryCov_9fa48("44");
    const live = new Set(jobs.map(stryMutAct_9fa48("45") ? () => undefined : (stryCov_9fa48("45"), ({
      id
    }) => id)));
    const finishable = new Set<string>();
    for (let before = stryMutAct_9fa48("46") ? +1 : (stryCov_9fa48("46"), -1); stryMutAct_9fa48("49") ? before >= finishable.size : stryMutAct_9fa48("48") ? before <= finishable.size : stryMutAct_9fa48("47") ? false : (stryCov_9fa48("47", "48", "49"), before < finishable.size);) {
      if (stryMutAct_9fa48("50")) {
        {}
      } else {
        stryCov_9fa48("50");
        before = finishable.size;
        for (const job of jobs) if (stryMutAct_9fa48("52") ? false : stryMutAct_9fa48("51") ? true : (stryCov_9fa48("51", "52"), canFinish(job, jobs, stryMutAct_9fa48("53") ? {} : (stryCov_9fa48("53"), {
          live,
          finishable,
          limits
        })))) if (stryMutAct_9fa48("54")) {
          ;
        } else {
          stryCov_9fa48("54");
          finishable.add(job.id);
        }
      }
    }
    return finishable;
  }
}
interface Progress {
  live: ReadonlySet<string>;
  finishable: ReadonlySet<string>;
  limits: ReadonlyMap<string, number>;
}
function canFinish(job: WaitingJob, jobs: readonly WaitingJob[], {
  live,
  finishable,
  limits
}: Progress): boolean {
  if (stryMutAct_9fa48("55")) {
    {}
  } else {
    stryCov_9fa48("55");
    if (stryMutAct_9fa48("57") ? false : stryMutAct_9fa48("56") ? true : (stryCov_9fa48("56", "57"), occupiesAgentSlot(job))) return stryMutAct_9fa48("58") ? job.waits_for.some(id => finishable.has(id) || !live.has(id)) : (stryCov_9fa48("58"), job.waits_for.every(stryMutAct_9fa48("59") ? () => undefined : (stryCov_9fa48("59"), id => stryMutAct_9fa48("62") ? finishable.has(id) && !live.has(id) : stryMutAct_9fa48("61") ? false : stryMutAct_9fa48("60") ? true : (stryCov_9fa48("60", "61", "62"), finishable.has(id) || (stryMutAct_9fa48("63") ? live.has(id) : (stryCov_9fa48("63"), !live.has(id)))))));
    const stuck = stryMutAct_9fa48("64") ? jobs : (stryCov_9fa48("64"), jobs.filter(stryMutAct_9fa48("65") ? () => undefined : (stryCov_9fa48("65"), other => stryMutAct_9fa48("68") ? other.agent === job.agent && occupiesAgentSlot(other) || !finishable.has(other.id) : stryMutAct_9fa48("67") ? false : stryMutAct_9fa48("66") ? true : (stryCov_9fa48("66", "67", "68"), (stryMutAct_9fa48("70") ? other.agent === job.agent || occupiesAgentSlot(other) : stryMutAct_9fa48("69") ? true : (stryCov_9fa48("69", "70"), (stryMutAct_9fa48("72") ? other.agent !== job.agent : stryMutAct_9fa48("71") ? true : (stryCov_9fa48("71", "72"), other.agent === job.agent)) && occupiesAgentSlot(other))) && (stryMutAct_9fa48("73") ? finishable.has(other.id) : (stryCov_9fa48("73"), !finishable.has(other.id)))))));
    return stryMutAct_9fa48("77") ? stuck.length >= (limits.get(job.agent) ?? 1) : stryMutAct_9fa48("76") ? stuck.length <= (limits.get(job.agent) ?? 1) : stryMutAct_9fa48("75") ? false : stryMutAct_9fa48("74") ? true : (stryCov_9fa48("74", "75", "76", "77"), stuck.length < (stryMutAct_9fa48("78") ? limits.get(job.agent) && 1 : (stryCov_9fa48("78"), limits.get(job.agent) ?? 1)));
  }
}