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
import { buildDeniedTools, buildSettings } from "./claude-settings.ts";
import type { PrivateFiles } from "./private-files.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

/**
 * The flags of one run, identical to those that the SDK passes for the same options. Values that may
 * contain secrets are passed in files, the prompt on stdin.
 */
export function buildClaudeArguments(options: ExecuteOptions, files: Pick<PrivateFiles, "mcpConfig" | "systemPrompt">): string[] {
  if (stryMutAct_9fa48("0")) {
    {}
  } else {
    stryCov_9fa48("0");
    const {
      agent
    } = options;
    const bypassesPermissions = stryMutAct_9fa48("3") ? agent.permission_mode !== "bypassPermissions" : stryMutAct_9fa48("2") ? false : stryMutAct_9fa48("1") ? true : (stryCov_9fa48("1", "2", "3"), agent.permission_mode === (stryMutAct_9fa48("4") ? "" : (stryCov_9fa48("4"), "bypassPermissions")));
    return stryMutAct_9fa48("5") ? [] : (stryCov_9fa48("5"), [
    // defence: no-repository-settings
    ...formatFlag(stryMutAct_9fa48("6") ? "" : (stryCov_9fa48("6"), "--setting-sources"), agent.setting_sources.join(stryMutAct_9fa48("7") ? "" : (stryCov_9fa48("7"), ","))), // defence: strict-mcp-config
    stryMutAct_9fa48("8") ? "" : (stryCov_9fa48("8"), "--strict-mcp-config"), ...formatFlag(stryMutAct_9fa48("9") ? "" : (stryCov_9fa48("9"), "--mcp-config"), /* defence: private-mcp-config */files.mcpConfig), ...formatFlag(stryMutAct_9fa48("10") ? "" : (stryCov_9fa48("10"), "--settings"), JSON.stringify(buildSettings(options))), ...formatFlag(stryMutAct_9fa48("11") ? "" : (stryCov_9fa48("11"), "--permission-mode"), agent.permission_mode), ...(bypassesPermissions ? stryMutAct_9fa48("12") ? [] : (stryCov_9fa48("12"), [stryMutAct_9fa48("13") ? "" : (stryCov_9fa48("13"), "--allow-dangerously-skip-permissions")]) : stryMutAct_9fa48("14") ? ["Stryker was here"] : (stryCov_9fa48("14"), [])), ...formatFlag(stryMutAct_9fa48("15") ? "" : (stryCov_9fa48("15"), "--add-dir"), options.cwd), ...formatFlag(stryMutAct_9fa48("16") ? "" : (stryCov_9fa48("16"), "--allowedTools"), agent.allowed_tools.join(stryMutAct_9fa48("17") ? "" : (stryCov_9fa48("17"), ","))), ...formatFlag(stryMutAct_9fa48("18") ? "" : (stryCov_9fa48("18"), "--disallowedTools"), buildDeniedTools(agent).join(stryMutAct_9fa48("19") ? "" : (stryCov_9fa48("19"), ","))), ...formatFlag(stryMutAct_9fa48("20") ? "" : (stryCov_9fa48("20"), "--append-system-prompt-file"), files.systemPrompt), ...formatFlag(stryMutAct_9fa48("21") ? "" : (stryCov_9fa48("21"), "--model"), agent.model), ...formatFlag(stryMutAct_9fa48("22") ? "" : (stryCov_9fa48("22"), "--fallback-model"), agent.fallback_model), ...formatFlag(stryMutAct_9fa48("23") ? "" : (stryCov_9fa48("23"), "--effort"), agent.effort), ...formatFlag(stryMutAct_9fa48("24") ? "" : (stryCov_9fa48("24"), "--max-turns"), agent.max_turns), ...formatFlag(stryMutAct_9fa48("25") ? "" : (stryCov_9fa48("25"), "--max-budget-usd"), agent.max_budget_usd), ...agent.plugins.flatMap(stryMutAct_9fa48("26") ? () => undefined : (stryCov_9fa48("26"), path => formatFlag(stryMutAct_9fa48("27") ? "" : (stryCov_9fa48("27"), "--plugin-dir"), path))), ...sessionFlags(options.session)]);
  }
}
function sessionFlags(session: ExecuteOptions["session"]): string[] {
  if (stryMutAct_9fa48("28")) {
    {}
  } else {
    stryCov_9fa48("28");
    if (stryMutAct_9fa48("31") ? session.kind !== "fresh" : stryMutAct_9fa48("30") ? false : stryMutAct_9fa48("29") ? true : (stryCov_9fa48("29", "30", "31"), session.kind === (stryMutAct_9fa48("32") ? "" : (stryCov_9fa48("32"), "fresh")))) return formatFlag(stryMutAct_9fa48("33") ? "" : (stryCov_9fa48("33"), "--session-id"), session.sessionId);
    if (stryMutAct_9fa48("36") ? session.kind !== "resume" : stryMutAct_9fa48("35") ? false : stryMutAct_9fa48("34") ? true : (stryCov_9fa48("34", "35", "36"), session.kind === (stryMutAct_9fa48("37") ? "" : (stryCov_9fa48("37"), "resume")))) return formatFlag(stryMutAct_9fa48("38") ? "" : (stryCov_9fa48("38"), "--resume"), session.sessionId);
    return stryMutAct_9fa48("39") ? [] : (stryCov_9fa48("39"), [...formatFlag(stryMutAct_9fa48("40") ? "" : (stryCov_9fa48("40"), "--resume"), session.from), stryMutAct_9fa48("41") ? "" : (stryCov_9fa48("41"), "--fork-session"), ...formatFlag(stryMutAct_9fa48("42") ? "" : (stryCov_9fa48("42"), "--resume-session-at"), session.at), ...formatFlag(stryMutAct_9fa48("43") ? "" : (stryCov_9fa48("43"), "--session-id"), session.sessionId)]);
  }
}
function formatFlag(name: string, value: string | number | undefined): string[] {
  if (stryMutAct_9fa48("44")) {
    {}
  } else {
    stryCov_9fa48("44");
    return (stryMutAct_9fa48("47") ? value === undefined && value === "" : stryMutAct_9fa48("46") ? false : stryMutAct_9fa48("45") ? true : (stryCov_9fa48("45", "46", "47"), (stryMutAct_9fa48("49") ? value !== undefined : stryMutAct_9fa48("48") ? false : (stryCov_9fa48("48", "49"), value === undefined)) || (stryMutAct_9fa48("51") ? value !== "" : stryMutAct_9fa48("50") ? false : (stryCov_9fa48("50", "51"), value === (stryMutAct_9fa48("52") ? "Stryker was here!" : (stryCov_9fa48("52"), "")))))) ? stryMutAct_9fa48("53") ? ["Stryker was here"] : (stryCov_9fa48("53"), []) : stryMutAct_9fa48("54") ? [] : (stryCov_9fa48("54"), [stryMutAct_9fa48("55") ? `` : (stryCov_9fa48("55"), `${name}=${value}`)]);
  }
}

/** Flags for streams of JSON messages on stdin and stdout. */
export function buildStreamFlags({
  onPermission,
  partialMessages
}: Pick<ExecuteOptions, "onPermission" | "partialMessages">): string[] {
  if (stryMutAct_9fa48("56")) {
    {}
  } else {
    stryCov_9fa48("56");
    return stryMutAct_9fa48("57") ? [] : (stryCov_9fa48("57"), [stryMutAct_9fa48("58") ? "" : (stryCov_9fa48("58"), "-p"), stryMutAct_9fa48("59") ? "" : (stryCov_9fa48("59"), "--output-format=stream-json"), stryMutAct_9fa48("60") ? "" : (stryCov_9fa48("60"), "--verbose"), stryMutAct_9fa48("61") ? "" : (stryCov_9fa48("61"), "--input-format=stream-json"), ...(onPermission ? stryMutAct_9fa48("62") ? [] : (stryCov_9fa48("62"), [stryMutAct_9fa48("63") ? "" : (stryCov_9fa48("63"), "--permission-prompt-tool=stdio")]) : stryMutAct_9fa48("64") ? ["Stryker was here"] : (stryCov_9fa48("64"), [])), ...(partialMessages ? stryMutAct_9fa48("65") ? [] : (stryCov_9fa48("65"), [stryMutAct_9fa48("66") ? "" : (stryCov_9fa48("66"), "--include-partial-messages")]) : stryMutAct_9fa48("67") ? ["Stryker was here"] : (stryCov_9fa48("67"), []))]);
  }
}