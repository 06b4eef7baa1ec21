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
import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import { hookEvents } from "./hook-events.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";
const ruleListSchema = z.array(z.string()).optional();
const secondsSchema = z.number().positive().optional();
const onFailure = z.enum(stryMutAct_9fa48("68") ? [] : (stryCov_9fa48("68"), [stryMutAct_9fa48("69") ? "" : (stryCov_9fa48("69"), "continue"), stryMutAct_9fa48("70") ? "" : (stryCov_9fa48("70"), "block")])).optional();
const hookSchema = z.discriminatedUnion(stryMutAct_9fa48("71") ? "" : (stryCov_9fa48("71"), "type"), stryMutAct_9fa48("72") ? [] : (stryCov_9fa48("72"), [z.looseObject(stryMutAct_9fa48("73") ? {} : (stryCov_9fa48("73"), {
  type: z.literal(stryMutAct_9fa48("74") ? "" : (stryCov_9fa48("74"), "command")),
  command: z.string(),
  timeout: secondsSchema,
  onFailure
})), z.looseObject(stryMutAct_9fa48("75") ? {} : (stryCov_9fa48("75"), {
  type: z.literal(stryMutAct_9fa48("76") ? "" : (stryCov_9fa48("76"), "http")),
  url: z.url(),
  timeout: secondsSchema,
  onFailure
})), z.looseObject(stryMutAct_9fa48("77") ? {} : (stryCov_9fa48("77"), {
  type: z.literal(stryMutAct_9fa48("78") ? "" : (stryCov_9fa48("78"), "prompt")),
  prompt: z.string(),
  timeout: secondsSchema
})), z.looseObject(stryMutAct_9fa48("79") ? {} : (stryCov_9fa48("79"), {
  type: z.literal(stryMutAct_9fa48("80") ? "" : (stryCov_9fa48("80"), "agent")),
  prompt: z.string(),
  timeout: secondsSchema
})), z.looseObject(stryMutAct_9fa48("81") ? {} : (stryCov_9fa48("81"), {
  type: z.literal(stryMutAct_9fa48("82") ? "" : (stryCov_9fa48("82"), "mcp_tool")),
  server: z.string(),
  tool: z.string()
}))]));
const hookMatcherSchema = z.looseObject(stryMutAct_9fa48("83") ? {} : (stryCov_9fa48("83"), {
  matcher: z.string().optional(),
  hooks: z.array(hookSchema)
}));

/**
 * The Claude Code settings that herdctl and its users depend on. A single value of a wrong type makes
 * Claude Code silently drop the whole object, so it is validated before the start.
 */
const claudeSettingsSchema = z.looseObject(stryMutAct_9fa48("84") ? {} : (stryCov_9fa48("84"), {
  cleanupPeriodDays: z.int().positive().optional(),
  env: z.record(z.string(), z.string()).optional(),
  permissions: z.looseObject(stryMutAct_9fa48("85") ? {} : (stryCov_9fa48("85"), {
    allow: ruleListSchema,
    deny: ruleListSchema,
    ask: ruleListSchema,
    additionalDirectories: ruleListSchema,
    defaultMode: z.enum(stryMutAct_9fa48("86") ? [] : (stryCov_9fa48("86"), [stryMutAct_9fa48("87") ? "" : (stryCov_9fa48("87"), "default"), stryMutAct_9fa48("88") ? "" : (stryCov_9fa48("88"), "acceptEdits"), stryMutAct_9fa48("89") ? "" : (stryCov_9fa48("89"), "auto"), stryMutAct_9fa48("90") ? "" : (stryCov_9fa48("90"), "bypassPermissions"), stryMutAct_9fa48("91") ? "" : (stryCov_9fa48("91"), "plan"), stryMutAct_9fa48("92") ? "" : (stryCov_9fa48("92"), "dontAsk")])).optional()
  })).optional(),
  hooks: z.partialRecord(z.enum(hookEvents), z.array(hookMatcherSchema)).optional(),
  disableAllHooks: z.boolean().optional(),
  model: z.string().optional(),
  outputStyle: z.string().optional(),
  apiKeyHelper: z.string().optional(),
  sandbox: z.looseObject({}).optional()
}));
export type ClaudeSettings = z.output<typeof claudeSettingsSchema>;

/** By default, Claude Code deletes transcripts after 30 days; keep them so that they can be resumed. */
const transcriptRetentionDays = 36_500;

/** Set by herdctl. Otherwise `env` in a user's settings would override the process environment. */
const herdctlVariables = stryMutAct_9fa48("93") ? [] : (stryCov_9fa48("93"), [stryMutAct_9fa48("94") ? "" : (stryCov_9fa48("94"), "ANTHROPIC_UNIX_SOCKET"), stryMutAct_9fa48("95") ? "" : (stryCov_9fa48("95"), "CLAUDE_CODE_DISABLE_CRON"), stryMutAct_9fa48("96") ? "" : (stryCov_9fa48("96"), "CLAUDE_CODE_DISABLE_FILE_MENTIONS")]);

/** The settings object passed to every run with `--settings`. */
export function buildSettings({
  env,
  settings = {}
}: Pick<ExecuteOptions, "env" | "settings">): ClaudeSettings {
  if (stryMutAct_9fa48("97")) {
    {}
  } else {
    stryCov_9fa48("97");
    const guardedEntries = herdctlVariables.flatMap(name => {
      if (stryMutAct_9fa48("98")) {
        {}
      } else {
        stryCov_9fa48("98");
        const value = env[name];
        return (stryMutAct_9fa48("101") ? value !== undefined : stryMutAct_9fa48("100") ? false : stryMutAct_9fa48("99") ? true : (stryCov_9fa48("99", "100", "101"), value === undefined)) ? stryMutAct_9fa48("102") ? ["Stryker was here"] : (stryCov_9fa48("102"), []) : stryMutAct_9fa48("103") ? [] : (stryCov_9fa48("103"), [[name, value] as const]);
      }
    });
    const herdctlSettings = stryMutAct_9fa48("104") ? {} : (stryCov_9fa48("104"), {
      cleanupPeriodDays: transcriptRetentionDays,
      env: Object.fromEntries(guardedEntries)
    });
    return mergeSettings(parseSettings(settings), herdctlSettings);
  }
}

/** Concatenates lists and merges objects; herdctl's settings win. A hook that cannot run blocks. */
function mergeSettings(userSettings: ClaudeSettings, herdctlSettings: ClaudeSettings): ClaudeSettings {
  if (stryMutAct_9fa48("105")) {
    {}
  } else {
    stryCov_9fa48("105");
    const hooks = stryMutAct_9fa48("108") ? userSettings.hooks || Object.entries(userSettings.hooks).map(([event, matchers]) => [event, withBlockingHooks(matchers)]) : stryMutAct_9fa48("107") ? false : stryMutAct_9fa48("106") ? true : (stryCov_9fa48("106", "107", "108"), userSettings.hooks && Object.entries(userSettings.hooks).map(stryMutAct_9fa48("109") ? () => undefined : (stryCov_9fa48("109"), ([event, matchers]) => stryMutAct_9fa48("110") ? [] : (stryCov_9fa48("110"), [event, withBlockingHooks(matchers)]))));
    const withHooks = hooks ? stryMutAct_9fa48("111") ? {} : (stryCov_9fa48("111"), {
      ...userSettings,
      hooks: Object.fromEntries(hooks)
    }) : userSettings;
    return claudeSettingsSchema.parse(mergeValues(withHooks, herdctlSettings));
  }
}
function parseSettings(settings: unknown): ClaudeSettings {
  if (stryMutAct_9fa48("112")) {
    {}
  } else {
    stryCov_9fa48("112");
    const {
      data,
      error
    } = claudeSettingsSchema.safeParse(settings);
    if (stryMutAct_9fa48("114") ? false : stryMutAct_9fa48("113") ? true : (stryCov_9fa48("113", "114"), data)) return data;
    const problems = error.issues.map(stryMutAct_9fa48("115") ? () => undefined : (stryCov_9fa48("115"), ({
      path,
      message
    }) => stryMutAct_9fa48("116") ? `` : (stryCov_9fa48("116"), `\`${path.join(stryMutAct_9fa48("117") ? "" : (stryCov_9fa48("117"), "."))}\`: ${message}`)));
    throw new UserError(stryMutAct_9fa48("119") ? "" : (stryCov_9fa48("119"), "settings_rejected"), stryMutAct_9fa48("120") ? `` : (stryCov_9fa48("120"), `invalid Claude Code settings: ${problems.join(stryMutAct_9fa48("121") ? "" : (stryCov_9fa48("121"), "; "))}`), stryMutAct_9fa48("122") ? {} : (stryCov_9fa48("122"), {
      hint: stryMutAct_9fa48("123") ? "" : (stryCov_9fa48("123"), "Correct them. Otherwise Claude Code would silently drop all of them.")
    }));
  }
}
type HookMatchers = z.output<typeof hookMatcherSchema>[];

/** By default, Claude Code ignores a hook whose program is missing and runs the tool. */
function withBlockingHooks(matchers: HookMatchers = stryMutAct_9fa48("124") ? ["Stryker was here"] : (stryCov_9fa48("124"), [])): HookMatchers {
  if (stryMutAct_9fa48("125")) {
    {}
  } else {
    stryCov_9fa48("125");
    return matchers.map(stryMutAct_9fa48("126") ? () => undefined : (stryCov_9fa48("126"), matcher => stryMutAct_9fa48("127") ? {} : (stryCov_9fa48("127"), {
      ...matcher,
      hooks: matcher.hooks.map(stryMutAct_9fa48("128") ? () => undefined : (stryCov_9fa48("128"), hook => (stryMutAct_9fa48("131") ? hook.type === "command" && hook.type === "http" : stryMutAct_9fa48("130") ? false : stryMutAct_9fa48("129") ? true : (stryCov_9fa48("129", "130", "131"), (stryMutAct_9fa48("133") ? hook.type !== "command" : stryMutAct_9fa48("132") ? false : (stryCov_9fa48("132", "133"), hook.type === (stryMutAct_9fa48("134") ? "" : (stryCov_9fa48("134"), "command")))) || (stryMutAct_9fa48("136") ? hook.type !== "http" : stryMutAct_9fa48("135") ? false : (stryCov_9fa48("135", "136"), hook.type === (stryMutAct_9fa48("137") ? "" : (stryCov_9fa48("137"), "http")))))) ? stryMutAct_9fa48("138") ? {} : (stryCov_9fa48("138"), {
        onFailure: stryMutAct_9fa48("139") ? "" : (stryCov_9fa48("139"), "block"),
        ...hook
      }) : hook))
    })));
  }
}
function mergeValues(base: unknown, override: unknown): unknown {
  if (stryMutAct_9fa48("140")) {
    {}
  } else {
    stryCov_9fa48("140");
    if (stryMutAct_9fa48("143") ? Array.isArray(base) || Array.isArray(override) : stryMutAct_9fa48("142") ? false : stryMutAct_9fa48("141") ? true : (stryCov_9fa48("141", "142", "143"), Array.isArray(base) && Array.isArray(override))) return stryMutAct_9fa48("144") ? [] : (stryCov_9fa48("144"), [...base, ...override]);
    if (stryMutAct_9fa48("147") ? !isObject(base) && !isObject(override) : stryMutAct_9fa48("146") ? false : stryMutAct_9fa48("145") ? true : (stryCov_9fa48("145", "146", "147"), (stryMutAct_9fa48("148") ? isObject(base) : (stryCov_9fa48("148"), !isObject(base))) || (stryMutAct_9fa48("149") ? isObject(override) : (stryCov_9fa48("149"), !isObject(override))))) return (stryMutAct_9fa48("152") ? override !== undefined : stryMutAct_9fa48("151") ? false : stryMutAct_9fa48("150") ? true : (stryCov_9fa48("150", "151", "152"), override === undefined)) ? base : override;
    const keys = new Set(stryMutAct_9fa48("153") ? [] : (stryCov_9fa48("153"), [...Object.keys(base), ...Object.keys(override)]));
    return Object.fromEntries((stryMutAct_9fa48("154") ? [] : (stryCov_9fa48("154"), [...keys])).map(stryMutAct_9fa48("155") ? () => undefined : (stryCov_9fa48("155"), key => stryMutAct_9fa48("156") ? [] : (stryCov_9fa48("156"), [key, mergeValues(base[key], override[key])]))));
  }
}
function isObject(value: unknown): value is Record<string, unknown> {
  if (stryMutAct_9fa48("157")) {
    {}
  } else {
    stryCov_9fa48("157");
    return stryMutAct_9fa48("160") ? typeof value === "object" && value !== null || !Array.isArray(value) : stryMutAct_9fa48("159") ? false : stryMutAct_9fa48("158") ? true : (stryCov_9fa48("158", "159", "160"), (stryMutAct_9fa48("162") ? typeof value === "object" || value !== null : stryMutAct_9fa48("161") ? true : (stryCov_9fa48("161", "162"), (stryMutAct_9fa48("164") ? typeof value !== "object" : stryMutAct_9fa48("163") ? true : (stryCov_9fa48("163", "164"), typeof value === (stryMutAct_9fa48("165") ? "" : (stryCov_9fa48("165"), "object")))) && (stryMutAct_9fa48("167") ? value === null : stryMutAct_9fa48("166") ? true : (stryCov_9fa48("166", "167"), value !== null)))) && (stryMutAct_9fa48("168") ? Array.isArray(value) : (stryCov_9fa48("168"), !Array.isArray(value))));
  }
}

/** Tools with which a session can start further turns by itself later. */
const wakeupTools = stryMutAct_9fa48("169") ? [] : (stryCov_9fa48("169"), [stryMutAct_9fa48("170") ? "" : (stryCov_9fa48("170"), "CronCreate"), stryMutAct_9fa48("171") ? "" : (stryCov_9fa48("171"), "CronDelete"), stryMutAct_9fa48("172") ? "" : (stryCov_9fa48("172"), "CronList"), stryMutAct_9fa48("173") ? "" : (stryCov_9fa48("173"), "ScheduleWakeup")]);

/** An unattended session may only wake itself up if its configuration allows it. */
export function buildDeniedTools({
  denied_tools,
  self_wakeup
}: Pick<ResolvedAgent, "denied_tools" | "self_wakeup">): string[] {
  if (stryMutAct_9fa48("174")) {
    {}
  } else {
    stryCov_9fa48("174");
    return stryMutAct_9fa48("175") ? [] : (stryCov_9fa48("175"), [...denied_tools, ...(/* defence: no-self-wakeup */self_wakeup ? stryMutAct_9fa48("176") ? ["Stryker was here"] : (stryCov_9fa48("176"), []) : wakeupTools)]);
  }
}