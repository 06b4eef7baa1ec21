import type { Options } from "@anthropic-ai/claude-agent-sdk";

/** A flag of `claude`, without its dashes; null for a flag without a value. */
type Flag = readonly [name: string, value: string | null];

/**
 * The fields of the control request `initialize` that herdctl uses. The SDK sends it by itself; the
 * other runtimes send it as the first line.
 */
export interface InitializeFields {
  /** Replaces Claude Code's system prompt. */
  systemPrompt?: string[];
  /** Added to the end of Claude Code's system prompt. */
  appendSystemPrompt?: string;
  excludeDynamicSections?: boolean;
  systemPromptSnapshot?: boolean;
  planModeInstructions?: string;
  agents?: Options["agents"];
  skills?: string[];
  toolAliases?: Record<string, string>;
  title?: string;
  forwardSubagentText?: boolean;
  jsonSchema?: Record<string, unknown>;
  supportedDialogKinds?: string[];
}

/** Where an option reaches Claude Code. */
export interface Channels {
  flags?: readonly Flag[];
  env?: Readonly<Record<string, string>>;
  initialize?: InitializeFields;
}

type FlagValue = string | number | boolean | readonly string[] | undefined;

/** `true` is a flag without a value, a list repeats the flag, and undefined or false omits it. */
export function flag(name: string, value: FlagValue): Channels {
  if (value === undefined || value === false) return {};
  if (value === true) return { flags: [[name, null]] };
  const values = typeof value === "object" ? value : [String(value)];
  return { flags: values.map((one) => [name, one] as const) };
}

/** A flag whose values are separated by commas; omitted without values. */
export function listFlag(name: string, values: readonly string[] = []): Channels {
  return flag(name, values.length > 0 ? values.join(",") : undefined);
}

/** A variable of the environment; omitted if the value is undefined. */
export function variable(name: string, value: string | number | boolean | undefined): Channels {
  return value === undefined ? {} : { env: { [name]: String(value) } };
}

export function initializeWith(fields: InitializeFields): Channels {
  return { initialize: fields };
}

export function mergeChannels(all: readonly Channels[]): Required<Channels> {
  return {
    flags: all.flatMap(({ flags = [] }) => flags),
    env: Object.assign({}, ...all.map(({ env }) => env)),
    initialize: definedFields(Object.assign({}, ...all.map(({ initialize }) => initialize))),
  };
}

function definedFields(fields: InitializeFields): InitializeFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
