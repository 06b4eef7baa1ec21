import { z } from "zod";

/** The subject of a pause: one agent, or every agent that shares a credential. */
const pauseSubjectSchema = z.templateLiteral([
  z.enum(["agent", "credential"]),
  ":",
  z.string().min(1),
]);
export type PauseSubject = z.infer<typeof pauseSubjectSchema>;

export const pauseSchema = z.object({
  subject: pauseSubjectSchema,
  reason: z.enum(["operator", "auth_failed", "billing"]),
  message: z.string(),
  since: z.iso.datetime(),
});
export type Pause = z.infer<typeof pauseSchema>;
