import type { AuditEntry, Login } from "@herdctl/protocol";

/** Every change is one transaction with its audit record. */
export interface LoginStore {
  create(login: Login, audit: AuditEntry): Promise<Login>;
  get(id: string): Promise<Login | undefined>;
  /** Newest first, without expired ones. */
  list(): Promise<Login[]>;
  /**
   * Ends logins by id, or by the start of the id that `login:` identities show. Resolves with their
   * number.
   */
  revoke(id: string, audit: AuditEntry): Promise<number>;
  revokeAll(audit: AuditEntry): Promise<number>;
}
