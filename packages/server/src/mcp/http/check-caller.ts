import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { UserError } from "@herdctl/core";

export interface CallerRules {
  /** Names of ours besides loopback. */
  hosts: readonly string[];
  token: string | undefined;
  tokenVariable: string | undefined;
}

const loopback = ["localhost", "127.0.0.1", "[::1]"];
/** Stand for every address, and so for none that a caller could mean. */
const anyAddress = ["0.0.0.0", "[::]"];
const shortestToken = 16;

/** Lets through who asks for us by a name of ours, from no other page, with the token; else throws. */
export function checkCaller(headers: IncomingHttpHeaders, rules: CallerRules): void {
  checkHost(headers, rules.hosts);
  checkOrigin(headers);
  checkToken(headers, rules);
}

/** A page whose name was pointed at this machine still asks by its own name. */
function checkHost({ host = "" }: IncomingHttpHeaders, hosts: readonly string[]): void {
  const ours = [...loopback, ...hosts.map((name) => hostName(name))];
  const asked = hostName(host);
  if (asked !== undefined && ours.includes(asked) && !anyAddress.includes(asked)) return;
  throw new UserError("caller_refused", "this is not a name of this fleet's port", {
    hint: "Ask for `127.0.0.1`, or list the name under `server.mcp.hosts`.",
  });
}

/** Only browsers send one; a page of somebody else has no business here, whatever it knows. */
function checkOrigin({ host, origin }: IncomingHttpHeaders): void {
  if (origin === undefined) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new UserError("caller_refused", "pages of other origins are not answered");
}

function checkToken({ authorization = "" }: IncomingHttpHeaders, rules: CallerRules): void {
  const token = rules.token?.trim() ?? "";
  if (token.length < shortestToken) {
    const what = token === "" ? "is not set" : `has fewer than ${shortestToken} characters`;
    throw new UserError("secret_missing", `the token in ${rules.tokenVariable} ${what}`, {
      hint: "Put one there that nobody can guess, such as the output of `openssl rand -hex 32`.",
    });
  }
  const [scheme = "", given = ""] = authorization.split(/ +/, 2);
  const isRight = timingSafeEqual(digest(given), digest(token));
  if (isRight && scheme.toLowerCase() === "bearer") return;
  throw new UserError("token_wrong", "the token does not fit");
}

/** Without the port, in the spelling of a URL; undefined when it is no host at all. */
function hostName(host: string): string | undefined {
  const spelled = host.includes("::") && !host.startsWith("[") ? `[${host}]` : host;
  const url = `http://${spelled}`;
  return /^[\w.:[\]-]+$/.test(spelled) && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Tokens of any length become equally long. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
