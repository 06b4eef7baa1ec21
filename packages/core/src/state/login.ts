import { z } from "zod";
import { scopeSchema } from "./access-token.ts";
import type { AuditEntry } from "./audit.ts";

const time = z.iso.datetime();

/** A browser that is signed in. Its cookie is good as long as this record exists. */
export const loginSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{24}$/),
  scope: scopeSchema,
  signed_in_at: time,
  expires_at: time,
  /** The address that it signed in from. */
  address: z.string(),
  /** What the browser said that it is. */
  user_agent: z.string().nullable(),
  /** Who made the link that it signed in with. */
  link_by: z.string(),
});
export type Login = z.infer<typeof loginSchema>;

/** Every change is one transaction with its audit record. */
export interface LoginStore {
  create(login: Login, audit: AuditEntry): Promise<Login>;
  get(id: string): Promise<Login | undefined>;
  /** The newest first, without those that have expired. */
  list(): Promise<Login[]>;
  /** By id, or by the first characters of it that `login:` identities show. How many were ended. */
  end(id: string, audit: AuditEntry): Promise<number>;
  endAll(audit: AuditEntry): Promise<number>;
}
