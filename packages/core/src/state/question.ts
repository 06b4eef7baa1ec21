import { z } from "zod";
import { UserError } from "../errors/user-error.ts";

const choiceSchema = z.object({ label: z.string(), description: z.string().nullable() });

/** What is asked of a person, and which answers are taken. */
export const questionShape = {
  question: z.string(),
  /** Null when there is nothing to choose from. */
  choices: z.array(choiceSchema).nullable(),
  /** Whether something else than a choice may be answered. */
  free_text: z.boolean(),
  /** Whether more than one may be chosen. */
  several: z.boolean(),
  /** The answer when nobody gives one in time; only where the configuration says so. */
  default_reply: z.string().nullable(),
};
const questionFactsSchema = z.object(questionShape);
export type QuestionFacts = z.infer<typeof questionFactsSchema>;

/** A question with the tool call that it comes from. */
export interface Question extends QuestionFacts {
  tool: string;
  input: Record<string, unknown>;
  expires_at: string;
}

/** What became of a question. Silence, and a person who declines, are no answer. */
export const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("reply"), text: z.string() }),
  z.object({ kind: z.literal("default"), text: z.string() }),
  z.object({
    kind: z.literal("none"),
    why: z.enum(["expired", "declined", "nobody", "withdrawn"]),
    /** Of whoever declined. */
    reason: z.string().optional(),
  }),
]);
export type Reply = z.infer<typeof replySchema>;

const longestReply = 20_000;

/** The answer as it is kept: a choice by its own label; or the reason why it is none. */
export function readReply(
  { choices, free_text }: Pick<QuestionFacts, "choices" | "free_text">,
  given: string,
): string {
  const text = given.trim();
  if (text === "") throw new UserError("reply_unfit", "an answer must say something");
  if (text.length > longestReply)
    throw new UserError("reply_unfit", `an answer has at most ${longestReply} characters`);
  const chosen = choices?.find(({ label }) => sameWords(label, text));
  if (chosen) return chosen.label;
  if (choices === null || free_text) return text;
  const offered = choices.map(({ label }) => label).join(", ");
  throw new UserError("reply_unfit", `“${text}” is not among the choices: ${offered}`);
}

function sameWords(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.toLowerCase();
}
