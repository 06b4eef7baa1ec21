import { z } from "zod";
import { UserError } from "../errors/user-error.ts";

const choiceSchema = z.object({ label: z.string(), description: z.string().nullable() });

/** A question to a person, and its accepted answers. */
export const questionFields = {
  question: z.string(),
  /** Null for a question without choices. */
  choices: z.array(choiceSchema).nullable(),
  /** Whether answers other than the choices are accepted. */
  free_text: z.boolean(),
  /** Whether multiple choices are accepted. */
  multiple: z.boolean(),
  /** The answer after a timeout, if configured. */
  default_reply: z.string().nullable(),
};
const questionSpecSchema = z.object(questionFields);
export type QuestionSpec = z.infer<typeof questionSpecSchema>;

/** A question and the tool call that asked it. */
export interface Question extends QuestionSpec {
  tool: string;
  input: Record<string, unknown>;
  expires_at: string;
}

/** The result of a question. `none`: it expired, or a person declined. */
export const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("reply"), text: z.string() }),
  z.object({ kind: z.literal("default"), text: z.string() }),
  z.object({
    kind: z.literal("none"),
    why: z.enum(["expired", "declined", "nobody", "withdrawn"]),
    /** The reason that the person gave for declining. */
    reason: z.string().optional(),
  }),
]);
export type Reply = z.infer<typeof replySchema>;

const maxReplyCharacters = 20_000;

/** Normalizes an answer, to the exact label if it is a choice. Throws if it is not accepted. */
export function parseReply(
  { choices, free_text }: Pick<QuestionSpec, "choices" | "free_text">,
  input: string,
): string {
  const text = input.trim();
  if (text === "") throw new UserError("reply_unfit", "the answer is empty");
  if (text.length > maxReplyCharacters)
    throw new UserError("reply_unfit", `the answer exceeds ${maxReplyCharacters} characters`);
  const matchingChoice = choices?.find(({ label }) => isSameText(label, text));
  if (matchingChoice) return matchingChoice.label;
  if (choices === null || free_text) return text;
  const offered = choices.map(({ label }) => label).join(", ");
  throw new UserError("reply_unfit", `“${text}” is not among the choices: ${offered}`);
}

function isSameText(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.toLowerCase();
}
