import { dirname } from "node:path";
import type { Problem } from "@herdctl/protocol";
import { resolvePath } from "../resolve-agent.ts";
import type { AgentConfig } from "../schema/agent.ts";
import { type SystemPrompt, withTexts } from "../system-prompt-texts.ts";
import { readText } from "../yaml/read-document.ts";
import { type Tree, treeAt, valuePositionOf } from "../yaml/tree.ts";
import type { SchemaFile } from "./output-schemas.ts";

type SystemPromptConfig = NonNullable<AgentConfig["system_prompt"]>;

interface SystemPromptResult {
  prompt: SystemPrompt | undefined;
  problems: Problem[];
  files: SchemaFile[];
}

/** Reads the files that a system prompt names. */
export function readSystemPrompt(
  config: SystemPromptConfig | undefined,
  tree: Tree,
): SystemPromptResult {
  const result: SystemPromptResult = { prompt: undefined, problems: [], files: [] };
  if (config === undefined) return result;
  const read = (path: string, key: "append" | "replace") => {
    const written = ["system_prompt", key, "file"];
    const configFile = treeAt(tree, written)?.place.file ?? "";
    const file: SchemaFile = { file: resolvePath(dirname(configFile), path), path: written };
    result.files.push(file);
    try {
      file.text = readText(file.file);
    } catch (error) {
      result.problems.push({
        ...valuePositionOf(tree, written),
        path: written.join("."),
        message: error instanceof Error ? error.message : String(error),
        hint: "Write the path of a text file, relative to this file.",
      });
    }
    return file.text ?? "";
  };
  result.prompt = withTexts(config, read);
  return result;
}
