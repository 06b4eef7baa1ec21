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
import type { Fleet } from "@herdctl/config";
import type { Chain, ChainSpending, OutcomeCode } from "@herdctl/protocol";
import type { AdmissionDecision } from "../../store/model/admission.ts";
export type ChainLimits = Fleet["fleet"]["chain"];

/** The facts about a job that one agent delegates to another. */
export interface Delegation {
  /** Position of the new job in the chain. */
  chain: Chain;
  /** The configuration allows the delegating agent to trigger the other one. */
  isAllowed: boolean;
  limits: ChainLimits;
  /** Why the job could never start while the delegating job waits for it. */
  deadlock?: string;
}
interface ChainTarget {
  agent: string;
  reserve?: number;
}

/**
 * Whether a job may be delegated. The limits count the whole chain, whichever of its jobs
 * delegates. The remaining dollars are the maximum cost of the new job.
 */
export function decideChain(receiver: ChainTarget, delegated: Delegation, spent: ChainSpending = stryMutAct_9fa48("167") ? {} : (stryCov_9fa48("167"), {
  jobs: 0,
  usd: 0
})): AdmissionDecision {
  if (stryMutAct_9fa48("168")) {
    {}
  } else {
    stryCov_9fa48("168");
    for (const rule of rules) {
      if (stryMutAct_9fa48("169")) {
        {}
      } else {
        stryCov_9fa48("169");
        const refusal = rule(receiver, delegated, spent);
        if (stryMutAct_9fa48("171") ? false : stryMutAct_9fa48("170") ? true : (stryCov_9fa48("170", "171"), refusal)) return stryMutAct_9fa48("172") ? {} : (stryCov_9fa48("172"), {
          kind: stryMutAct_9fa48("173") ? "" : (stryCov_9fa48("173"), "skip"),
          outcome: refusal
        });
      }
    }
    return stryMutAct_9fa48("174") ? {} : (stryCov_9fa48("174"), {
      kind: stryMutAct_9fa48("175") ? "" : (stryCov_9fa48("175"), "accept"),
      jobsToCancel: stryMutAct_9fa48("176") ? ["Stryker was here"] : (stryCov_9fa48("176"), []),
      maxUsd: stryMutAct_9fa48("177") ? delegated.limits.max_cost_usd + spent.usd : (stryCov_9fa48("177"), delegated.limits.max_cost_usd - spent.usd)
    });
  }
}
interface Refusal {
  code: OutcomeCode;
  message: string;
  hint: string;
}

/** The first rule that refuses gives the reason. */
const rules: ((receiver: ChainTarget, delegated: Delegation, spent: ChainSpending) => Refusal | undefined)[] = stryMutAct_9fa48("178") ? [] : (stryCov_9fa48("178"), [stryMutAct_9fa48("179") ? () => undefined : (stryCov_9fa48("179"), ({
  agent
}, {
  isAllowed,
  chain
}) =>
// defence: chain-allowed-agents
isAllowed ? undefined : stryMutAct_9fa48("180") ? {} : (stryCov_9fa48("180"), {
  code: stryMutAct_9fa48("181") ? "" : (stryCov_9fa48("181"), "not_allowed"),
  message: stryMutAct_9fa48("182") ? `` : (stryCov_9fa48("182"), `\`${chain.agents.at(stryMutAct_9fa48("183") ? +1 : (stryCov_9fa48("183"), -1))}\` may not trigger \`${agent}\`.`),
  hint: stryMutAct_9fa48("184") ? "" : (stryCov_9fa48("184"), "Add it to `may_trigger` to allow this.")
})), stryMutAct_9fa48("185") ? () => undefined : (stryCov_9fa48("185"), ({
  agent
}, {
  chain
}) => chain.agents.includes(/* defence: chain-no-cycle */agent) ? chainLimit(stryMutAct_9fa48("186") ? `` : (stryCov_9fa48("186"), `\`${agent}\` is already in this chain: ${chainPath(chain, agent)}.`), stryMutAct_9fa48("187") ? "" : (stryCov_9fa48("187"), "Let agents delegate in one direction only.")) : undefined), stryMutAct_9fa48("188") ? () => undefined : (stryCov_9fa48("188"), (_, {
  chain,
  limits
}) =>
// defence: chain-depth
(stryMutAct_9fa48("192") ? chain.depth <= limits.max_depth : stryMutAct_9fa48("191") ? chain.depth >= limits.max_depth : stryMutAct_9fa48("190") ? false : stryMutAct_9fa48("189") ? true : (stryCov_9fa48("189", "190", "191", "192"), chain.depth > limits.max_depth)) ? chainLimit(stryMutAct_9fa48("193") ? `` : (stryCov_9fa48("193"), `The chain has reached its maximum depth of ${limits.max_depth}.`), raiseHint(stryMutAct_9fa48("194") ? "" : (stryCov_9fa48("194"), "max_depth"))) : undefined), stryMutAct_9fa48("195") ? () => undefined : (stryCov_9fa48("195"), (_, {
  limits
}, {
  jobs
}) =>
// defence: chain-jobs
(stryMutAct_9fa48("199") ? jobs < limits.max_jobs : stryMutAct_9fa48("198") ? jobs > limits.max_jobs : stryMutAct_9fa48("197") ? false : stryMutAct_9fa48("196") ? true : (stryCov_9fa48("196", "197", "198", "199"), jobs >= limits.max_jobs)) ? chainLimit(stryMutAct_9fa48("200") ? `` : (stryCov_9fa48("200"), `The chain already has ${jobs} jobs.`), raiseHint(stryMutAct_9fa48("201") ? "" : (stryCov_9fa48("201"), "max_jobs"))) : undefined), stryMutAct_9fa48("202") ? () => undefined : (stryCov_9fa48("202"), ({
  reserve = 0
}, {
  limits
}, {
  usd
}) =>
// defence: chain-cost
(stryMutAct_9fa48("206") ? limits.max_cost_usd - usd >= Math.max(reserve, minUsd) : stryMutAct_9fa48("205") ? limits.max_cost_usd - usd <= Math.max(reserve, minUsd) : stryMutAct_9fa48("204") ? false : stryMutAct_9fa48("203") ? true : (stryCov_9fa48("203", "204", "205", "206"), (stryMutAct_9fa48("207") ? limits.max_cost_usd + usd : (stryCov_9fa48("207"), limits.max_cost_usd - usd)) < (stryMutAct_9fa48("208") ? Math.min(reserve, minUsd) : (stryCov_9fa48("208"), Math.max(reserve, minUsd))))) ? chainLimit(stryMutAct_9fa48("209") ? `` : (stryCov_9fa48("209"), `The chain has used ${stryMutAct_9fa48("210") ? Math.round(usd * 1e4) * 1e4 : (stryCov_9fa48("210"), Math.round(stryMutAct_9fa48("211") ? usd / 1e4 : (stryCov_9fa48("211"), usd * 1e4)) / 1e4)} of ${limits.max_cost_usd} dollars.`), raiseHint(stryMutAct_9fa48("212") ? "" : (stryCov_9fa48("212"), "max_cost_usd"))) : undefined), stryMutAct_9fa48("213") ? () => undefined : (stryCov_9fa48("213"), (_, {
  deadlock
}) => (stryMutAct_9fa48("216") ? deadlock !== undefined : stryMutAct_9fa48("215") ? false : stryMutAct_9fa48("214") ? true : (stryCov_9fa48("214", "215", "216"), deadlock === undefined)) ? undefined : chainLimit(deadlock, stryMutAct_9fa48("217") ? "" : (stryCov_9fa48("217"), "Raise `max_concurrent` of the agents, or do not wait.")))]);

/** Sums of prices have rounding errors. */
const minUsd = 1e-6;
function chainLimit(message: string, hint: string): Refusal {
  if (stryMutAct_9fa48("218")) {
    {}
  } else {
    stryCov_9fa48("218");
    return stryMutAct_9fa48("219") ? {} : (stryCov_9fa48("219"), {
      code: stryMutAct_9fa48("220") ? "" : (stryCov_9fa48("220"), "chain_limit"),
      message,
      hint
    });
  }
}
function raiseHint(key: keyof ChainLimits): string {
  if (stryMutAct_9fa48("221")) {
    {}
  } else {
    stryCov_9fa48("221");
    return stryMutAct_9fa48("222") ? `` : (stryCov_9fa48("222"), `Raise \`fleet.chain.${key}\` to allow more.`);
  }
}
function chainPath({
  agents
}: Chain, agent: string): string {
  if (stryMutAct_9fa48("223")) {
    {}
  } else {
    stryCov_9fa48("223");
    return (stryMutAct_9fa48("224") ? [] : (stryCov_9fa48("224"), [...agents, agent])).join(stryMutAct_9fa48("225") ? "" : (stryCov_9fa48("225"), " → "));
  }
}