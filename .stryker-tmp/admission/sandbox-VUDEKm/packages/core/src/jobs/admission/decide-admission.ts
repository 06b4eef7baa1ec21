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
import type { ResolvedAgent } from "@herdctl/config";
import type { Outcome, UnfinishedJob } from "@herdctl/protocol";
import type { AdmissionDecision, AdmissionSnapshot } from "../../store/model/admission.ts";
import { type Budget, findExceededLimit, type OverBudget } from "./budget.ts";
import { type Delegation, decideChain } from "./decide-chain.ts";
export type Overlap = ResolvedAgent["schedules"][string]["overlap"];

/**
 * The facts about a trigger that decide its admission. Triggers without a schedule never overlap.
 */
export interface Applicant {
  schedule: string | null;
  overlap: Overlap;
  agent?: string;
  /** The outcome if the gate is closed. */
  gate?: Outcome;
  /** Dollars to reserve until the job is finished. */
  reserve?: number;
  budgets?: {
    fleet: Budget;
    agent: Budget;
  };
  /** Set if another agent delegates the job. */
  delegated?: Delegation;
}

/** Each decider checks one thing. The first refusal gives the reason. */
const deciders: ((applicant: Applicant, snapshot: AdmissionSnapshot) => AdmissionDecision)[] = stryMutAct_9fa48("79") ? [] : (stryCov_9fa48("79"), [decideOverlap, decideGate, stryMutAct_9fa48("80") ? () => undefined : (stryCov_9fa48("80"), ({
  agent = stryMutAct_9fa48("81") ? "Stryker was here!" : (stryCov_9fa48("81"), ""),
  reserve,
  delegated
}, {
  chain
}) => delegated ? decideChain(stryMutAct_9fa48("82") ? {} : (stryCov_9fa48("82"), {
  agent,
  reserve
}), delegated, chain) : accept()), decideBudget]);
export function decideAdmission(applicant: Applicant, snapshot: AdmissionSnapshot): AdmissionDecision {
  if (stryMutAct_9fa48("83")) {
    {}
  } else {
    stryCov_9fa48("83");
    const cancel = new Set<string>();
    let maxUsd: number | undefined;
    for (const decide of deciders) {
      if (stryMutAct_9fa48("84")) {
        {}
      } else {
        stryCov_9fa48("84");
        const decision = decide(applicant, snapshot);
        if (stryMutAct_9fa48("87") ? decision.kind !== "skip" : stryMutAct_9fa48("86") ? false : stryMutAct_9fa48("85") ? true : (stryCov_9fa48("85", "86", "87"), decision.kind === (stryMutAct_9fa48("88") ? "" : (stryCov_9fa48("88"), "skip")))) return decision;
        for (const id of decision.jobsToCancel) if (stryMutAct_9fa48("89")) {
          ;
        } else {
          stryCov_9fa48("89");
          cancel.add(id);
        }
        maxUsd = stryMutAct_9fa48("90") ? decision.maxUsd && maxUsd : (stryCov_9fa48("90"), decision.maxUsd ?? maxUsd);
      }
    }
    return stryMutAct_9fa48("91") ? {} : (stryCov_9fa48("91"), {
      ...accept(stryMutAct_9fa48("92") ? [] : (stryCov_9fa48("92"), [...cancel])),
      ...(stryMutAct_9fa48("95") ? maxUsd !== undefined || {
        maxUsd
      } : stryMutAct_9fa48("94") ? false : stryMutAct_9fa48("93") ? true : (stryCov_9fa48("93", "94", "95"), (stryMutAct_9fa48("97") ? maxUsd === undefined : stryMutAct_9fa48("96") ? true : (stryCov_9fa48("96", "97"), maxUsd !== undefined)) && (stryMutAct_9fa48("98") ? {} : (stryCov_9fa48("98"), {
        maxUsd
      }))))
    });
  }
}

/** With `overlap: allow`, live jobs are not read: there may be thousands. */
export function needsLiveJobs({
  schedule,
  overlap
}: Applicant): boolean {
  if (stryMutAct_9fa48("99")) {
    {}
  } else {
    stryCov_9fa48("99");
    return stryMutAct_9fa48("102") ? schedule !== null || overlap !== "allow" : stryMutAct_9fa48("101") ? false : stryMutAct_9fa48("100") ? true : (stryCov_9fa48("100", "101", "102"), (stryMutAct_9fa48("104") ? schedule === null : stryMutAct_9fa48("103") ? true : (stryCov_9fa48("103", "104"), schedule !== null)) && (stryMutAct_9fa48("106") ? overlap === "allow" : stryMutAct_9fa48("105") ? true : (stryCov_9fa48("105", "106"), overlap !== (stryMutAct_9fa48("107") ? "" : (stryCov_9fa48("107"), "allow")))));
  }
}
function decideOverlap({
  schedule,
  overlap
}: Applicant, snapshot: AdmissionSnapshot): AdmissionDecision {
  if (stryMutAct_9fa48("108")) {
    {}
  } else {
    stryCov_9fa48("108");
    if (stryMutAct_9fa48("111") ? schedule === null && overlap === "allow" : stryMutAct_9fa48("110") ? false : stryMutAct_9fa48("109") ? true : (stryCov_9fa48("109", "110", "111"), (stryMutAct_9fa48("113") ? schedule !== null : stryMutAct_9fa48("112") ? false : (stryCov_9fa48("112", "113"), schedule === null)) || (stryMutAct_9fa48("115") ? overlap !== "allow" : stryMutAct_9fa48("114") ? false : (stryCov_9fa48("114", "115"), overlap === (stryMutAct_9fa48("116") ? "" : (stryCov_9fa48("116"), "allow")))))) return accept();
    return (stryMutAct_9fa48("119") ? snapshot.liveJobs.length !== 0 : stryMutAct_9fa48("118") ? false : stryMutAct_9fa48("117") ? true : (stryCov_9fa48("117", "118", "119"), snapshot.liveJobs.length === 0)) ? accept() : overlapPolicies[overlap](snapshot.liveJobs);
  }
}

/** Decisions for a trigger whose schedule has unfinished jobs. */
const overlapPolicies: Record<Exclude<Overlap, "allow">, (live: readonly UnfinishedJob[]) => AdmissionDecision> = stryMutAct_9fa48("120") ? {} : (stryCov_9fa48("120"), {
  skip: stryMutAct_9fa48("121") ? () => undefined : (stryCov_9fa48("121"), () => skipForOverlap(stryMutAct_9fa48("122") ? "" : (stryCov_9fa48("122"), "has not finished"))),
  queue: stryMutAct_9fa48("123") ? () => undefined : (stryCov_9fa48("123"), live => (stryMutAct_9fa48("124") ? live.every(job => job.status === "pending") : (stryCov_9fa48("124"), live.some(stryMutAct_9fa48("125") ? () => undefined : (stryCov_9fa48("125"), job => stryMutAct_9fa48("128") ? job.status !== "pending" : stryMutAct_9fa48("127") ? false : stryMutAct_9fa48("126") ? true : (stryCov_9fa48("126", "127", "128"), job.status === (stryMutAct_9fa48("129") ? "" : (stryCov_9fa48("129"), "pending"))))))) ? skipForOverlap(stryMutAct_9fa48("130") ? "" : (stryCov_9fa48("130"), "has not started")) : accept()),
  cancel_running: stryMutAct_9fa48("131") ? () => undefined : (stryCov_9fa48("131"), live => accept(live.map(stryMutAct_9fa48("132") ? () => undefined : (stryCov_9fa48("132"), job => job.id))))
});
function decideGate({
  gate
}: Applicant): AdmissionDecision {
  if (stryMutAct_9fa48("133")) {
    {}
  } else {
    stryCov_9fa48("133");
    return gate ? stryMutAct_9fa48("134") ? {} : (stryCov_9fa48("134"), {
      kind: stryMutAct_9fa48("135") ? "" : (stryCov_9fa48("135"), "skip"),
      outcome: gate
    }) : accept();
  }
}
function decideBudget({
  agent = stryMutAct_9fa48("136") ? "Stryker was here!" : (stryCov_9fa48("136"), ""),
  reserve,
  budgets
}: Applicant, {
  spending
}: AdmissionSnapshot): AdmissionDecision {
  if (stryMutAct_9fa48("137")) {
    {}
  } else {
    stryCov_9fa48("137");
    if (stryMutAct_9fa48("140") ? !spending && !budgets : stryMutAct_9fa48("139") ? false : stryMutAct_9fa48("138") ? true : (stryCov_9fa48("138", "139", "140"), (stryMutAct_9fa48("141") ? spending : (stryCov_9fa48("141"), !spending)) || (stryMutAct_9fa48("142") ? budgets : (stryCov_9fa48("142"), !budgets)))) return accept();
    const own = findExceededLimit(budgets.agent, spending.agents.get(agent), reserve);
    if (stryMutAct_9fa48("144") ? false : stryMutAct_9fa48("143") ? true : (stryCov_9fa48("143", "144"), own)) return skipForBudget(stryMutAct_9fa48("145") ? `` : (stryCov_9fa48("145"), `\`${agent}\``), own, stryMutAct_9fa48("146") ? `` : (stryCov_9fa48("146"), ` ${agent}`));
    const all = findExceededLimit(budgets.fleet, spending.fleet, reserve);
    return all ? skipForBudget(stryMutAct_9fa48("147") ? "" : (stryCov_9fa48("147"), "The fleet"), all, stryMutAct_9fa48("148") ? "Stryker was here!" : (stryCov_9fa48("148"), "")) : accept();
  }
}
function accept(cancel: string[] = stryMutAct_9fa48("149") ? ["Stryker was here"] : (stryCov_9fa48("149"), [])): Extract<AdmissionDecision, {
  kind: "accept";
}> {
  if (stryMutAct_9fa48("150")) {
    {}
  } else {
    stryCov_9fa48("150");
    return stryMutAct_9fa48("151") ? {} : (stryCov_9fa48("151"), {
      kind: stryMutAct_9fa48("152") ? "" : (stryCov_9fa48("152"), "accept"),
      jobsToCancel: cancel
    });
  }
}
function skipForOverlap(state: string): AdmissionDecision {
  if (stryMutAct_9fa48("153")) {
    {}
  } else {
    stryCov_9fa48("153");
    const outcome: Outcome = stryMutAct_9fa48("154") ? {} : (stryCov_9fa48("154"), {
      code: stryMutAct_9fa48("155") ? "" : (stryCov_9fa48("155"), "overlap"),
      message: stryMutAct_9fa48("156") ? `` : (stryCov_9fa48("156"), `An earlier run of this schedule ${state}.`),
      hint: stryMutAct_9fa48("157") ? "" : (stryCov_9fa48("157"), "To change this, set another `overlap` for the schedule.")
    });
    return stryMutAct_9fa48("158") ? {} : (stryCov_9fa48("158"), {
      kind: stryMutAct_9fa48("159") ? "" : (stryCov_9fa48("159"), "skip"),
      outcome
    });
  }
}
function skipForBudget(subject: string, {
  kind,
  limit,
  used
}: OverBudget, agent: string): AdmissionDecision {
  if (stryMutAct_9fa48("160")) {
    {}
  } else {
    stryCov_9fa48("160");
    const outcome: Outcome = stryMutAct_9fa48("161") ? {} : (stryCov_9fa48("161"), {
      code: stryMutAct_9fa48("162") ? "" : (stryCov_9fa48("162"), "budget_exceeded"),
      message: stryMutAct_9fa48("163") ? `` : (stryCov_9fa48("163"), `${subject} has used ${used} of ${limit} (\`daily_${kind}\`) today.`),
      hint: stryMutAct_9fa48("164") ? `` : (stryCov_9fa48("164"), `Raise it for today with \`herdctl budget raise${agent} --${kind} …\`, or permanently in the configuration.`)
    });
    return stryMutAct_9fa48("165") ? {} : (stryCov_9fa48("165"), {
      kind: stryMutAct_9fa48("166") ? "" : (stryCov_9fa48("166"), "skip"),
      outcome
    });
  }
}