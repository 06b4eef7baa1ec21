import type { Word } from "@herdctl/core";
import { z } from "zod";

/** One of the two, as the approval is a request for permission or a question. */
export const answerSchema = z
  .strictObject({
    word: z.enum(["allow", "deny"]).optional(),
    reply: z.string().optional(),
    by: z.string().min(1).max(200).optional(),
    reason: z.string().max(10_000).optional(),
  })
  .transform(({ word, reply, by, reason }, context) => {
    const said: Word | undefined = reply === undefined ? word : { reply };
    if (said !== undefined && (word === undefined || reply === undefined))
      return { word: said, by, reason };
    context.addIssue({ code: "custom", message: "either `word` or `reply`, and not both" });
    return z.NEVER;
  });
