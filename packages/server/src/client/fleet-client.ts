import type { FleetControl } from "@herdctl/core";

/** A fleet reached over its socket; whoever got one closes it. */
export interface FleetClient extends FleetControl {
  /** A link that signs one browser in. */
  loginLink(options: { read_only?: boolean }): Promise<{ url: string; expires_at: string }>;
  close(): void;
}
