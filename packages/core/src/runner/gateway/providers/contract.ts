import type { ResolvedProvider } from "../../../claude/provider/resolve-provider.ts";

/** What a request is for: only messages cost anything; probes carry no credential. */
export type RouteUse = "message" | "free" | "probe";

export interface ProviderRoute {
  method: "GET" | "HEAD" | "POST";
  /** Matched verbatim against the path without its query. */
  path: RegExp;
  use: RouteUse;
}

/** The facts about a call that are in its path instead of its body. */
export interface PathFacts {
  model?: string;
  isStream?: boolean;
}

/** How one provider differs from the others on the wire. */
export interface ProviderProtocol {
  /** All other requests are refused. */
  routes(provider: ResolvedProvider): readonly ProviderRoute[];
  /** Undefined if everything is in the body. */
  readPath?(path: string): PathFacts;
  /** Headers of every request, besides those of the credential. */
  headers?(provider: ResolvedProvider): Record<string, string>;
  /**
   * The variables that make Claude Code use this provider at the base URL without a credential of its
   * own. `placeholder` is for providers that need some key.
   */
  clientVariables(
    baseUrl: string,
    provider: ResolvedProvider,
    placeholder: string,
  ): Record<string, string>;
  /** A message call that the service refuses as invalid after it has checked the credential. */
  probePath(provider: ResolvedProvider): string;
}

/** A request as it is sent upstream. */
export interface OutgoingCall {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Adds the credential to the requests of a run. */
export interface RequestSigner {
  /** Fetches the credential if it is missing or expires soon. Throws a `UserError` if there is none. */
  prepare(): Promise<void>;
  /** The headers that authenticate a request. */
  sign(call: OutgoingCall): Promise<Record<string, string>>;
  /** Drops a rejected credential. False if it is fixed, so that a retry cannot help. */
  renew(): boolean;
  /** The secrets that requests contain now, for masking. */
  secrets(): readonly string[];
}
