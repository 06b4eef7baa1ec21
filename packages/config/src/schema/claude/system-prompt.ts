import { z } from "zod";
import { hostPath, nonEmptyText } from "../strings.ts";
import { block, free, granted } from "../trust.ts";

const promptFile = block({
  file: granted(hostPath.describe("File with the text."), "schema_file"),
});
const text = z.union([nonEmptyText, promptFile]);

const systemPromptBlock = block({
  append: free(text.optional().describe("Text added to Claude Code's system prompt.")),
  replace: free(
    z
      .union([nonEmptyText, promptFile, z.array(nonEmptyText).min(1)])
      .optional()
      .describe("Text, or list of text blocks, instead of Claude Code's system prompt."),
  ),
  exclude_dynamic: free(
    z
      .boolean()
      .optional()
      .describe(
        "Move what differs between machines to the first message, so that agents share a prompt cache.",
      ),
  ),
  snapshot: free(
    z
      .boolean()
      .optional()
      .describe(
        "`false`: resumed sessions use the current text. Default: they keep the text of their first run.",
      ),
  ),
});
type SystemPromptBlock = z.output<typeof systemPromptBlock>;

/** `system_prompt: text` is short for `system_prompt: { append: text }`. */
export const systemPrompt = z.codec(
  z.union([nonEmptyText, systemPromptBlock]),
  z.custom<SystemPromptBlock>(),
  {
    decode: (input) => (typeof input === "string" ? { append: input } : input),
    encode: (block) => block,
  },
);
