import { UserError } from "../../errors/user-error.ts";
import type { StoreAddress } from "./address.ts";

/** What happened on the way to the database, for whoever decides what to do about it. */
export type Trouble =
  /** The connection is gone, or was never there. */
  | "lost"
  /** The server is there and cannot do it now. */
  | "busy"
  /** It does not let us in, or has not what it should. */
  | "refused"
  /** The node whose writes these are has lost its lease. */
  | "fenced"
  /** Two transactions were in each other's way: once more. */
  | "again";

const fenced = "HN001";

/** By SQLSTATE, or its first two characters. */
const troubles: Record<string, Trouble> = {
  [fenced]: "fenced",
  "40001": "again",
  "40P01": "again",
  "08": "lost",
  "57P01": "lost",
  "57P02": "lost",
  "57P03": "lost",
  "57P05": "lost",
  "25P03": "lost",
  "25P04": "lost",
  "25006": "busy",
  "53": "busy",
  "55P03": "busy",
  "57014": "busy",
  "58": "busy",
  "28": "refused",
  "3D": "refused",
  "3F": "refused",
  "42501": "refused",
};

/** What the operating system and the driver say, which have no SQLSTATE. */
const lostCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT|EACCES|EADDR|ERR_STREAM|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_)/;
const lostWords =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed)|Cannot use a pool|There was an error establishing an SSL)/;
const refusedWords = /^(SASL|SCRAM-|The server does not support SSL)/;

export function troubleOf(error: unknown): Trouble | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = troubles[code] ?? (code.length === 5 ? troubles[code.slice(0, 2)] : undefined);
  if (known) return known;
  if (refusedWords.test(error.message)) return "refused";
  if (error instanceof AggregateError && error.errors.some((one) => troubleOf(one) === "lost")) {
    return "lost";
  }
  if (lostCodes.test(code) || lostWords.test(error.message)) return "lost";
  return diskWords[code] === undefined ? undefined : "busy";
}

/** What a fault of this machine's disk, as tests play it, would be on the server's. */
const diskWords: Record<string, string> = {
  ENOSPC: "the disk is full",
  EIO: "the disk reports an error",
};

/** An error of PostgreSQL in a person's words, without the password; any other as it is. */
export function explain(address: StoreAddress, cause: unknown): unknown {
  const trouble = troubleOf(cause);
  if (trouble === undefined || cause instanceof UserError || !(cause instanceof Error))
    return cause;
  if (trouble === "fenced") {
    const message = "this node is no longer counted among the live ones: what it wrote was refused";
    return new UserError("node_fenced", message, { cause });
  }
  return new UserError("state_unavailable", `${address.name} cannot be used: ${said(cause)}`, {
    hint: `Check that the PostgreSQL server at ${address.server} runs and can be reached from here.`,
    cause,
  });
}

/** The same when it is opened: what is wrong then is the address, and waiting does not help. */
export function explainOpening(address: StoreAddress, cause: unknown): unknown {
  if (troubleOf(cause) !== "refused" || !(cause instanceof Error)) return explain(address, cause);
  return new UserError("store_refused", `${address.name} refuses herdctl: ${said(cause)}`, {
    cause,
  });
}

const words: Record<string, string> = {
  ...diskWords,
  ECONNREFUSED: "nobody listens there",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "there is no host of that name just now",
  ENOENT: "there is no socket",
  ETIMEDOUT: "it does not answer",
  "25P03": "the connection was cut",
  "57014": "it takes too long to answer",
};

function said(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = words[code];
  if (known) return known;
  if (/Query read timeout|timeout expired|connection timeout/.test(error.message)) {
    return "it does not answer";
  }
  if (error.message.startsWith("Connection terminated")) return "the connection was cut";
  if (/^(SASL|SCRAM-)/.test(error.message)) return "it wants a password, and there is none";
  if (error instanceof AggregateError) return said(error.errors[0] ?? new Error("no answer"));
  return error.message;
}
