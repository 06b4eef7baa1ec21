import type { FleetControl } from "@herdctl/protocol";

/** A client for a fleet's socket. The caller must close it. */
export interface FleetClient extends FleetControl {
  /** Creates a link that signs in one browser. */
  createLoginLink(options: { read_only?: boolean }): Promise<{ url: string; expires_at: string }>;
  close(): void;
}
