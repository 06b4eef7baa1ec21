import { z } from "zod";
import { scopeSchema } from "./access-token.ts";

const time = z.iso.datetime();

/** A signed-in browser. Its cookie is valid as long as this record exists. */
export const loginSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{24}$/),
  scope: scopeSchema,
  signed_in_at: time,
  expires_at: time,
  /** The network address at sign-in. */
  address: z.string(),
  /** The `User-Agent` header at sign-in. */
  user_agent: z.string().nullable(),
  /** The identity that created the login link. */
  link_created_by: z.string(),
});
export type Login = z.infer<typeof loginSchema>;
