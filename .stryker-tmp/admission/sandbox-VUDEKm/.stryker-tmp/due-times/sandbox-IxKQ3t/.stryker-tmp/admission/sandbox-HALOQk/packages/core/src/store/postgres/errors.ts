import { errorCode, UserError } from "@herdctl/protocol";
import type { StoreAddress } from "./store-address.ts";

/** This process has closed the store. */
export class StoreClosedError extends Error {}

/** The server did not answer a query in the time that the caller allowed. */
export class QueryTimeoutError extends Error {}

/** The kind of a database failure, for callers that decide how to handle it. */
export type FailureKind =
  /** The connection is lost, or could not be made. */
  | "lost"
  /** The server is available but cannot do it now. */
  | "busy"
  /** The server refuses access, or lacks something required. */
  | "refused"
  /** The node that writes has lost its lease. */
  | "fenced"
  /** Two transactions conflicted: retry. */
  | "again";

const fencedSqlState = "HN001";

/** By SQLSTATE, or its first two characters. */
const failureKinds: Record<string, FailureKind> = {
  [fencedSqlState]: "fenced",
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

/** Errors of the operating system and the driver, which have no SQLSTATE. */
const lostCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT|EACCES|EADDR|ERR_STREAM|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_)/;
const lostMessages =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed)|Cannot use a pool|There was an error establishing an SSL)/;
const refusedMessages = /^(SASL|SCRAM-|The server does not support SSL)/;

export function classifyFailure(error: unknown): FailureKind | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const code = errorCode(error) ?? "";
  const known =
    failureKinds[code] ?? (code.length === 5 ? failureKinds[code.slice(0, 2)] : undefined);
  if (known) return known;
  if (error instanceof StoreClosedError || error instanceof QueryTimeoutError) return "lost";
  if (refusedMessages.test(error.message)) return "refused";
  if (
    error instanceof AggregateError &&
    error.errors.some((inner) => classifyFailure(inner) === "lost")
  ) {
    return "lost";
  }
  if (lostCodes.test(code) || lostMessages.test(error.message)) return "lost";
  return diskMessages[code] === undefined ? undefined : "busy";
}

/** Disk faults that tests inject on this machine stand for faults of the server's disk. */
const diskMessages: Record<string, string> = {
  ENOSPC: "the disk is full",
  EIO: "the disk reports an error",
};

/**
 * Turns an error of PostgreSQL into a readable one without the password; returns others unchanged.
 */
export function toPostgresUserError(address: StoreAddress, cause: unknown): unknown {
  const failureKind = classifyFailure(cause);
  if (failureKind === undefined || cause instanceof UserError || !(cause instanceof Error))
    return cause;
  if (failureKind === "fenced") {
    const message = "this node was declared lost, so its write was refused";
    return new UserError("node_fenced", message, { cause });
  }
  return new UserError(
    "state_unavailable",
    `${address.name} cannot be used: ${describeError(cause)}`,
    {
      hint: `Check that the PostgreSQL server at ${address.server} is running and reachable from this machine.`,
      cause,
    },
  );
}

/**
 * The same for opening a store: a refusal then means a wrong address, and waiting does not help.
 */
export function toPostgresOpenError(address: StoreAddress, cause: unknown): unknown {
  if (classifyFailure(cause) !== "refused" || !(cause instanceof Error))
    return toPostgresUserError(address, cause);
  return new UserError(
    "store_refused",
    `${address.name} rejected the connection: ${describeError(cause)}`,
    {
      cause,
    },
  );
}

const messagesByCode: Record<string, string> = {
  ...diskMessages,
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved at the moment",
  ENOENT: "the socket does not exist",
  ETIMEDOUT: "it does not respond",
  "25P03": "the connection was cut",
  "57014": "the query took too long",
};

function describeError(error: Error): string {
  const known = messagesByCode[errorCode(error) ?? ""];
  if (known) return known;
  const isTimeout =
    error instanceof QueryTimeoutError ||
    /Query read timeout|timeout expired|connection timeout/.test(error.message);
  if (isTimeout) return "it does not respond";
  if (error.message.startsWith("Connection terminated")) return "the connection was cut";
  if (/^(SASL|SCRAM-)/.test(error.message)) return "it requires a password, and none is given";
  if (error instanceof AggregateError)
    return describeError(error.errors[0] ?? new Error("no answer"));
  return error.message;
}
