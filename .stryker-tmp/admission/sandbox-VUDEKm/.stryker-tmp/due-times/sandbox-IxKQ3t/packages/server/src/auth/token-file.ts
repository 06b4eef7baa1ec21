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
import { assertOwnership, UserError } from "@herdctl/protocol";

const minTokenLength = 32;

/** The generated token of a fleet without a configured one. Created at the first start, readable by this user only. */
export function readOrCreateToken(stateDir: string): string {
  const file = join(stateDir, "token");
  if (!lstatSync(file, { throwIfNoEntry: false })) createTokenFile(stateDir, file);
  return readToken(file);
}

export function readToken(file: string): string {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw unusableTokenError(`${file} is not a file`);
  assertOwnership([file]);
  // The file may have been copied with a default mode.
  if (/* defence: token-file-mode */ (stats.mode & 0o077) !== 0) chmodSync(file, 0o600);
  const token = readFileSync(file, "utf8").trim();
  if (token.length < minTokenLength || /\s/.test(token))
    throw unusableTokenError(`${file} does not contain a valid token`);
  return token;
}

/** Creates the file atomically: half a token would be accepted as one. */
function createTokenFile(stateDir: string, file: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const tempFile = `${file}.${process.pid}`;
  writeFileSync(tempFile, `${randomBytes(32).toString("base64url")}\n`, {
    mode: 0o600,
    flag: "wx",
  });
  try {
    linkSync(tempFile, file);
  } finally {
    rmSync(tempFile);
  }
}

function unusableTokenError(message: string): UserError {
  return new UserError("token_unusable", message);
}
