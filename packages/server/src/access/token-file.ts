import { randomBytes } from "node:crypto";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { assertOwned, UserError } from "@herdctl/core";

const shortest = 32;

/** The token of a fleet whose user named none: made at its first start, for this user alone. */
export function tokenFile(stateDir: string): string {
  const file = join(stateDir, "token");
  if (!lstatSync(file, { throwIfNoEntry: false })) make(stateDir, file);
  return readToken(file);
}

export function readToken(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) throw unusable(`${file} is not a file`);
  assertOwned([file]);
  // Somebody may have copied it here, with the usual mode.
  if ((found.mode & 0o077) !== 0) chmodSync(file, 0o600);
  const token = readFileSync(file, "utf8").trim();
  if (token.length < shortest || /\s/.test(token)) throw unusable(`${file} holds no usable token`);
  return token;
}

/** Whole or not at all: half a token would be one. */
function make(stateDir: string, file: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, file);
  } finally {
    rmSync(draft);
  }
}

function unusable(message: string): UserError {
  return new UserError("token_unusable", message);
}
