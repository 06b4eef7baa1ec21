import type { AgentConfig } from "./schema/agent.ts";

type SystemPromptConfig = NonNullable<AgentConfig["system_prompt"]>;

/** The system prompt of an agent with the texts of its files. */
export interface SystemPrompt extends Pick<SystemPromptConfig, "exclude_dynamic" | "snapshot"> {
  append?: string;
  /** Text blocks instead of Claude Code's system prompt. */
  replace?: string[];
}

/** Replaces the names of files by their texts. */
export function withTexts(
  { append, replace, ...others }: SystemPromptConfig,
  read: (path: string, key: "append" | "replace") => string,
): SystemPrompt {
  const isFile = (text: unknown): text is { file: string } =>
    typeof text === "object" && !Array.isArray(text);
  const blocks = isFile(replace) ? read(replace.file, "replace") : replace;
  return {
    ...others,
    ...(append !== undefined && { append: isFile(append) ? read(append.file, "append") : append }),
    ...(blocks !== undefined && { replace: [blocks].flat() }),
  };
}
