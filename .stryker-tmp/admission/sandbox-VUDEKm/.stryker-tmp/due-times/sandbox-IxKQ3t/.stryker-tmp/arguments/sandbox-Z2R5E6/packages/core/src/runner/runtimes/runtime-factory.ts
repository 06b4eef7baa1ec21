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
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { resolveDockerConfig } from "../../docker/docker-config.ts";
import { CLIRuntime } from "./cli-runtime.ts";
import { ContainerRunner } from "./container-runner.ts";
import { ContainerSessionRuntime } from "./container-session-runtime.ts";
import { KeepAliveRuntime } from "./keep-alive-runtime.ts";
import type { RuntimeInterface } from "./runtime-interface.ts";
import { SDKRuntime } from "./sdk-runtime.ts";
import { SessionFileRuntime } from "./session-file-runtime.ts";
export interface RuntimeFactoryOptions {
  /** The state directory, in which containers of the agent keep their sessions. */
  stateDir: string;
  /** Selects the engine with the same variables as the `docker` command (default: `process.env`). */
  environment?: Environment;
}
const multiTurnRuntimes = stryMutAct_9fa48("177") ? {} : (stryCov_9fa48("177"), {
  sdk: stryMutAct_9fa48("178") ? () => undefined : (stryCov_9fa48("178"), () => new SDKRuntime()),
  cli: stryMutAct_9fa48("179") ? () => undefined : (stryCov_9fa48("179"), () => new CLIRuntime())
});
const runtimes: Record<string, (agent: ResolvedAgent) => RuntimeInterface> = stryMutAct_9fa48("180") ? {} : (stryCov_9fa48("180"), {
  ...multiTurnRuntimes,
  cli: stryMutAct_9fa48("181") ? () => undefined : (stryCov_9fa48("181"), ({
    runtime
  }) => (stryMutAct_9fa48("184") ? runtime.stream !== "session-file" : stryMutAct_9fa48("183") ? false : stryMutAct_9fa48("182") ? true : (stryCov_9fa48("182", "183", "184"), runtime.stream === (stryMutAct_9fa48("185") ? "" : (stryCov_9fa48("185"), "session-file")))) ? new SessionFileRuntime() : multiTurnRuntimes.cli())
});

/** Creates the runtime that an agent is configured with. */
export const RuntimeFactory = stryMutAct_9fa48("186") ? {} : (stryCov_9fa48("186"), {
  create(agent: ResolvedAgent, options: RuntimeFactoryOptions): RuntimeInterface {
    if (stryMutAct_9fa48("187")) {
      {}
    } else {
      stryCov_9fa48("187");
      const createRuntime = runtimes[agent.runtime.type];
      if (stryMutAct_9fa48("189") ? false : stryMutAct_9fa48("188") ? true : (stryCov_9fa48("188", "189"), createRuntime)) return runInContainer(agent, createRuntime(agent), options);
      throw new UserError(stryMutAct_9fa48("191") ? "" : (stryCov_9fa48("191"), "usage"), stryMutAct_9fa48("192") ? `` : (stryCov_9fa48("192"), `unknown runtime \`${agent.runtime.type}\``), stryMutAct_9fa48("193") ? {} : (stryCov_9fa48("193"), {
        hint: stryMutAct_9fa48("194") ? `` : (stryCov_9fa48("194"), `Supported: ${Object.keys(runtimes).join(stryMutAct_9fa48("195") ? "" : (stryCov_9fa48("195"), ", "))}.`)
      }));
    }
  },
  /** A runtime whose `claude` keeps running between the turns of a session. */
  createKeepAlive(agent: ResolvedAgent, {
    stateDir,
    environment = process.env
  }: RuntimeFactoryOptions): KeepAliveRuntime {
    if (stryMutAct_9fa48("196")) {
      {}
    } else {
      stryCov_9fa48("196");
      const runtime = multiTurnRuntimes[agent.runtime.type]();
      if (stryMutAct_9fa48("199") ? false : stryMutAct_9fa48("198") ? true : stryMutAct_9fa48("197") ? agent.docker.enabled : (stryCov_9fa48("197", "198", "199"), !agent.docker.enabled)) return new KeepAliveRuntime(runtime);
      const containerOptions = stryMutAct_9fa48("200") ? {} : (stryCov_9fa48("200"), {
        config: resolveDockerConfig(agent),
        stateDir,
        environment
      });
      return new KeepAliveRuntime(new ContainerSessionRuntime(runtime, containerOptions));
    }
  }
});
function runInContainer(agent: ResolvedAgent, runtime: RuntimeInterface, {
  stateDir,
  environment
}: RuntimeFactoryOptions): RuntimeInterface {
  if (stryMutAct_9fa48("201")) {
    {}
  } else {
    stryCov_9fa48("201");
    if (stryMutAct_9fa48("204") ? false : stryMutAct_9fa48("203") ? true : stryMutAct_9fa48("202") ? agent.docker.enabled : (stryCov_9fa48("202", "203", "204"), !agent.docker.enabled)) return runtime;
    return new ContainerRunner(runtime, resolveDockerConfig(agent), stateDir, environment);
  }
}